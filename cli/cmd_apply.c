/* `wattle apply`: a layer or a trained network on data. */
#include <math.h>
#include <string.h>

#include "apply.h"
#include "commands.h"
#include "layer_options.h"
#include "set_options.h"
#include "wattle/network.h"

typedef struct {
    cli_layer_values layer;
    const char *output;
} values;

static const cli_option options[] = {
    CLI_LAYER_OPTIONS(values),
    CLI_LAYER_HEADS(values),
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE.npy|.npz", NULL,
     "Where the outputs go: y (n,k,p) alone, or x and y as `wattle draw` writes them. Of a network "
     "probability (n), and bits."},
};

static wt_status save(cli_call *call, const wt_sequences *found) {
    const values *given = call->values;
    wt_tensor y = {.name = "y",
                   .rank = 3,
                   .shape = {wt_sequences_samples(found), wt_sequences_length(found),
                             wt_sequences_outputs(found)},
                   .values = wt_sequences_y(found)};
    if (given->output == NULL)
        return WT_OK;
    if (cli_has_suffix(given->output, ".npz"))
        return wt_sequences_save(call->context, found, given->output);
    return wt_npy_write(call->context, given->output, &y);
}

static wt_status show(cli_call *call, const wt_sequences *found, const char *form, double error) {
    const values *given = call->values;
    if (call->common.json)
        return cli_emit(call, "output:s form:s samples:u length:u dim:u outputs:u error:r",
                        given->output, form, wt_sequences_samples(found),
                        wt_sequences_length(found), wt_sequences_dim(found),
                        wt_sequences_outputs(found), error);
    cli_print_row("form", "%s", form);
    cli_print_row("sequences", "%zu of %zu tokens", wt_sequences_samples(found),
                  wt_sequences_length(found));
    cli_print_row("outputs", "%zu", wt_sequences_outputs(found));
    cli_print_number("error against y", error);
    return WT_OK;
}

static wt_status run_layer(cli_call *call) {
    const values *given = call->values;
    wt_layer *layer = NULL;
    wt_sequences *data = NULL, *found = NULL;
    wt_layer_form form = WT_SIZED(wt_layer_form);
    char words[WT_LAYER_FORM_TEXT];
    double error;
    wt_status status;
    WT_TRY(cli_layer_check(call, &given->layer, 1));
    WT_TRY(cli_layer_open(call, &given->layer, call->operands[0], 0, &layer));
    WT_TRY(wt_sequences_load(call->context, call->operands[1], &data));
    if (given->output == NULL && wt_sequences_outputs(data) == 0)
        WT_TRY(wt_fail(call->context, WT_USAGE,
                       "%s has no y to compare with: give --output for the outputs",
                       call->operands[1]));
    status = wt_layer_evaluate(call->context, layer, data, &found, &error);
    if (status == WT_DATA)
        status = wt_fail(call->context, WT_DATA, "%s: %s", call->operands[1],
                         wt_context_message(call->context));
    WT_TRY(status);
    WT_TRY(save(call, found));
    WT_TRY(wt_layer_get_form(call->context, layer, &form));
    WT_TRY(show(call, found, wt_layer_form_print(&form, words), error));
done:
    wt_layer_free(layer);
    wt_sequences_free(data);
    wt_sequences_free(found);
    return status;
}

static wt_status run(cli_call *call) {
    const values *given = call->values;
    const char *name = cli_first_given(call, "index map fold rope heads");
    if (!wt_network_in_file(call->context, call->operands[0]))
        return run_layer(call);
    if (name != NULL)
        return wt_fail(call->context, WT_USAGE, "--%s is for layers: %s is a network", name,
                       call->operands[0]);
    return cli_apply_network(call, given->output);
}

const cli_command cli_apply = {
    .name = "apply",
    .summary = "run a layer or a trained network on data",
    .operands = "MODEL DATA.npz",
    .description =
        "Outputs of an attention layer, of a file of ours or of a checkpoint, for the sequences x "
        "(n,k,d) of the data. Where these have y, the error |y - F(x)| / |y| is printed. With "
        "lengths or a mask in the data, tokens that are there come first, and rows after them "
        "are 0.\n\nOf a network of `wattle train`, the probability of label 1 for the bits (n,T) "
        "of "
        "the data; where these have labels, accuracy and mean cross-entropy are printed.",
    .examples = "wattle apply layer.safetensors data.npz -o y.npy\n"
                "wattle apply model.safetensors data.npz --index 3 -o with-outputs.npz\n"
                "wattle apply network.safetensors bits.npz -o probability.npy",
    CLI_OPTIONS(options, values),
    .run = run,
};
