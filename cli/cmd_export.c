/* `wattle export`: a layer as a checkpoint that other programs read. */
#include <string.h>

#include "commands.h"
#include "layer_options.h"
#include "set_options.h"
#include "wattle/text.h"

typedef struct {
    cli_layer_values layer;
    const char *as, *rank, *output;
    cli_counts only;
} values;

static const cli_option options[] = {
    {"as", 0, CLI_CHOICE, offsetof(values, as), "torch|bert|wattle", "torch",
     "torch: what load_state_dict of a torch.nn.MultiheadAttention takes; bert: names of layer 0 "
     "of a BERT; wattle: a layer of ours, Theta and W in double."},
    {"only", 0, CLI_COUNTS, offsetof(values, only), "LIST", NULL, "Heads to keep, from 0: 0,3."},
    {"rank", 0, CLI_TEXT, offsetof(values, rank), "R", "auto",
     "Refuse heads of a higher rank, but for singular values below 1e-5 of their head's largest, "
     "as a "
     "recovery from float32 answers has; auto: those above d / m, which no such checkpoint holds."},
    CLI_LAYER_OPTIONS(values),
    CLI_LAYER_HEADS(values),
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE.safetensors", NULL,
     "Where the checkpoint goes."},
};

static wt_status read_options(cli_call *call, wt_layer_export_options *out) {
    const values *given = call->values;
    uint64_t rank = 0;
    WT_INIT(wt_layer_export_options, out);
    if (given->output == NULL)
        return wt_fail(call->context, WT_USAGE, "wattle export needs --output");
    if (strcmp(given->rank, "auto") != 0 && (!wt_unsigned_parse(given->rank, &rank) || rank == 0))
        return wt_fail(call->context, WT_USAGE, "--rank is auto or a number of 1 or more, not '%s'",
                       given->rank);
    out->as = given->as;
    out->rank = (size_t)rank;
    return cli_layer_check(call, &given->layer, 1);
}

static wt_status show(cli_call *call, const wt_layer *layer, const char *form, size_t rank) {
    const values *given = call->values;
    size_t heads = wt_layer_heads(layer), dim = wt_layer_dim(layer);
    if (call->common.json)
        return cli_emit(call, "output:s as:s heads:u dim:u width:u rank:u form:s", given->output,
                        given->as, heads, dim, dim / heads, rank, form);
    cli_print_row("as", "%s", given->as);
    if (rank == 0) {
        cli_print_row("heads", "%zu in %zu dimensions", heads, dim);
    } else {
        cli_print_row("heads", "%zu of width %zu", heads, dim / heads);
        cli_print_row("largest rank", "%zu", rank);
    }
    cli_print_row("form", "%s", form);
    return WT_OK;
}

static wt_status run(cli_call *call) {
    const values *given = call->values;
    wt_layer_export_options how;
    wt_layer_form form = WT_SIZED(wt_layer_form);
    char words[WT_LAYER_FORM_TEXT];
    wt_layer *whole = NULL, *part = NULL;
    size_t rank = 0;
    wt_status status;
    WT_TRY(read_options(call, &how));
    WT_TRY(cli_layer_open(call, &given->layer, call->operands[0], 0, &whole));
    if (given->only.count > 0)
        WT_TRY(wt_layer_keep(call->context, whole, given->only.count, given->only.values, &part));
    const wt_layer *layer = part != NULL ? part : whole;
    if (strcmp(given->as, "wattle") == 0)
        WT_TRY(wt_layer_save(call->context, layer, given->output));
    else
        WT_TRY(wt_layer_export(call->context, layer, &how, given->output, &rank));
    WT_TRY(wt_layer_get_form(call->context, layer, &form));
    WT_TRY(show(call, layer, wt_layer_form_print(&form, words), rank));
done:
    wt_layer_free(whole);
    wt_layer_free(part);
    return status;
}

const cli_command cli_export = {
    .name = "export",
    .summary = "write a layer, or some of its heads, as a checkpoint or as a file of ours",
    .operands = "LAYER",
    .description =
        "Factors Theta_h = W_Q W_K^T / sqrt(r) and W_h = W_V W_O of every head, r = d / m, and "
        "writes these matrices with their biases under the names that PyTorch or BERT have for "
        "them. Refused where the layer has other outputs than d, m does not divide d, or a head "
        "has a rank above r. A mask, a norm and a residual connection have no place in such a "
        "file: its metadata names them, and its user must apply them. As wattle nothing is "
        "factored: "
        "the file is what draw, recover and compare take, which all heads fit in.",
    .examples =
        "wattle export layer.safetensors -o mha.safetensors\n"
        "wattle export layer.safetensors --as bert --rank 32 -o bert.safetensors\n"
        "wattle export bert.safetensors --index 0 --only 0,1,2 --as wattle -o heads.safetensors",
    CLI_OPTIONS(options, values),
    .run = run,
};
