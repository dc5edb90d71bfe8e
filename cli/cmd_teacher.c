#include <stdio.h>

#include "commands.h"
#include "wattle/layer.h"

typedef struct {
    wt_teacher_options teacher;
    bool zero_sum;
    const char *output;
} values;

static const cli_table tables[] = {CLI_TABLE(values, teacher, wt_teacher_fields, ""), {0}};
static const cli_option options[] = {
    {"zero-sum", 0, CLI_FLAG, offsetof(values, zero_sum), NULL, NULL,
     "Take the mean of all W_i off each of them, so that they sum to 0."},
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE.safetensors", NULL,
     "Where the layer goes: theta (m,d,d), w (m,d,p)."},
};

static wt_status make(cli_call *call, wt_layer **layer) {
    values *given = call->values;
    if (given->teacher.parity > 0)
        WT_PASS(cli_exclude(call, "--parity", "heads out-dim scale rank groups zero-sum"));
    if (given->zero_sum && given->teacher.heads < 2)
        return wt_fail(call->context, WT_USAGE, "--zero-sum leaves nothing of a single head");
    given->teacher.seed = call->common.seed;
    WT_PASS(wt_layer_teacher(call->context, &given->teacher, layer));
    if (given->zero_sum)
        wt_layer_zero_sum(*layer);
    return WT_OK;
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
    .description =
        "A layer F(X) = sum_i softmax(X Theta_i X^T) X W_i with Gaussian Theta_i of the given norm "
        "(and rank) and W_i Gaussian over sqrt(d).\n\n"
        "--parity N builds the hard instance: on two Boolean tokens with coordinate 0 at +1 and "
        "-1, the first output row is the parity of coordinates 1 to N of the first token, up to a "
        "constant.",
    .examples = "wattle teacher --heads 2 --dim 8 --seed 1 -o teacher.safetensors\n"
                "wattle teacher --parity 4 --dim 12 -o parity.safetensors",
    .tables = tables,
    CLI_OPTIONS(options, values),
    .run = run,
};
