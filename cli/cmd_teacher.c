#include <stdio.h>

#include "commands.h"
#include "wattle/layer.h"

typedef struct {
    size_t heads, dim, outputs, rank, parity;
    double scale;
    bool zero_sum;
    const char *output;
} values;

static const cli_option options[] = {
    {"heads", 'm', CLI_COUNT, offsetof(values, heads), "M", "2", "Heads of the layer."},
    {"dim", 'd', CLI_COUNT, offsetof(values, dim), "D", "8", "Dimension of the tokens."},
    {"out-dim", 'p', CLI_COUNT, offsetof(values, outputs), "P", NULL,
     "Outputs a token; the dimension of the tokens unless given."},
    {"scale", 0, CLI_REAL, offsetof(values, scale), "S", "2", "Frobenius norm of every Theta."},
    {"rank", 'r', CLI_COUNT, offsetof(values, rank), "R", NULL,
     "Rank of every Theta; full unless given."},
    {"zero-sum", 0, CLI_FLAG, offsetof(values, zero_sum), NULL, NULL,
     "Take the mean of all W_i off each of them, so that they sum to 0."},
    {"parity", 0, CLI_COUNT, offsetof(values, parity), "N", NULL,
     "The hard instance instead: N heads that compute the parity of N bits."},
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE", NULL,
     "Where the layer goes (.safetensors): theta (m,d,d), w (m,d,p)."},
};

static wt_status make_random(cli_call *call, wt_layer **layer) {
    const values *given = call->values;
    const wt_teacher_options made_as = {.size = sizeof made_as,
                                        .heads = given->heads,
                                        .dim = given->dim,
                                        .outputs = given->outputs,
                                        .scale = given->scale,
                                        .rank = given->rank,
                                        .seed = call->common.seed};
    if (given->zero_sum && given->heads < 2)
        return wt_fail(call->context, WT_USAGE, "--zero-sum leaves nothing of a single head");
    wt_status status = wt_layer_teacher(call->context, &made_as, layer);
    if (status == WT_OK && given->zero_sum)
        wt_layer_zero_sum(*layer);
    return status;
}

static wt_status make(cli_call *call, wt_layer **layer) {
    const values *given = call->values;
    static const char *const random_only[] = {"heads", "out-dim", "scale", "rank", "zero-sum"};
    if (given->parity == 0)
        return make_random(call, layer);
    for (size_t i = 0; i < sizeof random_only / sizeof *random_only; i++)
        if (cli_given(call, random_only[i]))
            return wt_fail(call->context, WT_USAGE, "--parity and --%s exclude each other",
                           random_only[i]);
    return wt_layer_parity(call->context, given->parity, given->dim, layer);
}

static wt_status run(cli_call *call) {
    const values *given = call->values;
    wt_layer *layer = NULL;
    wt_status status;
    if (given->output == NULL) {
        status = wt_fail(call->context, WT_USAGE, "wattle teacher needs --output");
        goto done;
    }
    WT_TRY(make(call, &layer));
    WT_TRY(wt_layer_save(call->context, layer, given->output));
    if (call->common.json)
        WT_TRY(cli_emit(call, "output:s heads:u dim:u outputs:u", given->output,
                        wt_layer_heads(layer), wt_layer_dim(layer), wt_layer_outputs(layer)));
    else
        cli_print("%s: %zu heads in %zu dimensions, %zu outputs\n", given->output,
                  wt_layer_heads(layer), wt_layer_dim(layer), wt_layer_outputs(layer));
done:
    wt_layer_free(layer);
    return status;
}

const cli_command cli_teacher = {
    .name = "teacher",
    .summary = "make an attention layer to learn from",
    .operands = "",
    .least = 0,
    .most = 0,
    .description =
        "A layer F(X) = sum_i softmax(X Theta_i X^T) X W_i with Gaussian Theta_i of the given norm "
        "(and rank) and W_i Gaussian over sqrt(d).\n\n"
        "--parity N builds the hard instance: on two Boolean tokens with coordinate 0 at +1 and "
        "-1, the first output row is the parity of coordinates 1 to N of the first token, up to a "
        "constant.",
    .examples = "wattle teacher --heads 2 --dim 8 --seed 1 -o teacher.safetensors\n"
                "wattle teacher --parity 4 --dim 12 -o parity.safetensors",
    CLI_OPTIONS(options, values),
    .run = run,
};
