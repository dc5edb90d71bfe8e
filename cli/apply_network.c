#include "apply.h"

#include <math.h>
#include <string.h>

#include "set_options.h"
#include "wattle/io.h"
#include "wattle/memory.h"
#include "wattle/network.h"

static wt_status save(cli_call *call, const char *output, wt_bits *bits, const double *answers) {
    size_t n = wt_bits_samples(bits), length = wt_bits_length(bits);
    double *wide = NULL;
    wt_tensor all[] = {{.name = "probability", .rank = 1, .shape = {n}, .values = answers},
                       {.name = "bits", .rank = 2, .shape = {n, length}}};
    wt_status status;
    if (!cli_has_suffix(output, ".npz"))
        return wt_npy_write(call->context, output, all);
    WT_TRY(WT_NEW2(call->context, &wide, n, length, "bits"));
    for (size_t i = 0; i < n * length; i++)
        wide[i] = wt_bits_sample(bits, 0)[i];
    all[1].values = wide;
    WT_TRY(wt_npz_write(call->context, output, all, 2));
done:
    wt_release(wide);
    return status;
}

static wt_status show(cli_call *call, const char *output, const wt_network *network, size_t samples,
                      double accuracy, double loss) {
    const wt_network_spec *spec = wt_network_get_spec(network);
    if (call->common.json)
        return cli_emit(call, "output:s kind:s samples:u length:u accuracy:r loss:r", output,
                        spec->kind, samples, spec->length, accuracy, loss);
    cli_print_row("kind", "%s", spec->kind);
    cli_print_row("samples", "%zu of %zu bits", samples, spec->length);
    cli_print_number("accuracy", accuracy);
    cli_print_number("loss", loss);
    return WT_OK;
}

wt_status cli_apply_network(cli_call *call, const char *output) {
    wt_network *network = NULL;
    wt_network_result result = WT_SIZED(wt_network_result);
    wt_bits *bits = NULL;
    float *parameters = NULL, *answers = NULL;
    double *wide = NULL;
    bool labelled;
    wt_status status;
    WT_TRY(wt_network_load(call->context, call->operands[0], &network, &parameters));
    WT_TRY(wt_bits_load_inputs(call->context, call->operands[1], &labelled, &bits));
    if (!labelled && output == NULL)
        WT_TRY(wt_fail(call->context, WT_USAGE,
                       "%s has no labels to compare with: give --output for the answers",
                       call->operands[1]));
    size_t n = wt_bits_samples(bits), length = wt_network_get_spec(network)->length;
    if (wt_bits_length(bits) != length)
        WT_TRY(wt_fail(call->context, WT_DATA,
                       "%s: samples of %zu bits do not fit a network of %zu", call->operands[1],
                       wt_bits_length(bits), length));
    WT_TRY(WT_NEW(call->context, &answers, n, "answers"));
    WT_TRY(WT_NEW(call->context, &wide, n, "answers"));
    WT_TRY(wt_network_predict(call->context, network, parameters, bits, answers));
    for (size_t i = 0; i < n; i++)
        wide[i] = answers[i];
    if (labelled)
        WT_TRY(wt_network_evaluate(call->context, network, parameters, bits, SIZE_MAX, &result));
    if (output != NULL)
        WT_TRY(save(call, output, bits, wide));
    WT_TRY(show(call, output, network, n, labelled ? (double)result.correct / (double)n : NAN,
                labelled ? result.loss : NAN));
done:
    wt_network_free(network);
    wt_bits_free(bits);
    wt_release(parameters);
    wt_release(answers);
    wt_release(wide);
    return status;
}
