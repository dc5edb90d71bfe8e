#include "network/model/transformer_fast.h"

#define SPREAD 0.02 /* of all matrices at the start */

static wt_status add_all(wt_context *context, wt_network *network) {
    size_t d = network->spec.dim, hidden = network->spec.hidden, length = network->spec.length;
    const wt_network_law normal = {.spread = SPREAD}, one = {.fill = 1}, zero = {0};
    const struct {
        const char *name;
        size_t rows, columns; /* rows 0: a vector */
        wt_network_law law;
    } tensors[] = {
        [WT_TOK_EMB] = {"tok_emb", 3, d, normal}, [WT_POS_EMB] = {"pos_emb", length + 1, d, normal},
        [WT_LN1_G] = {"ln1_g", 0, d, one},        [WT_LN1_B] = {"ln1_b", 0, d, zero},
        [WT_WQ] = {"wq", d, d, normal},           [WT_BQ] = {"bq", 0, d, zero},
        [WT_WK] = {"wk", d, d, normal},           [WT_BK] = {"bk", 0, d, zero},
        [WT_WV] = {"wv", d, d, normal},           [WT_BV] = {"bv", 0, d, zero},
        [WT_WO] = {"wo", d, d, normal},           [WT_BO] = {"bo", 0, d, zero},
        [WT_LN2_G] = {"ln2_g", 0, d, one},        [WT_LN2_B] = {"ln2_b", 0, d, zero},
        [WT_W1] = {"w1", d, hidden, normal},      [WT_B1] = {"b1", 0, hidden, zero},
        [WT_W2] = {"w2", hidden, d, normal},      [WT_B2] = {"b2", 0, d, zero},
        [WT_LNF_G] = {"lnf_g", 0, d, one},        [WT_LNF_B] = {"lnf_b", 0, d, zero},
        [WT_HEAD] = {"head", d, 2, normal},
    };
    for (size_t i = 0; i < WT_TRANSFORMER_TENSORS; i++)
        WT_PASS(wt_network_add(context, network, tensors[i].name, tensors[i].rows,
                               tensors[i].columns, tensors[i].law,
                               i == WT_POS_EMB && network->spec.fixed_positions));
    return WT_OK;
}

static wt_status layout(wt_context *context, wt_network *network) {
    wt_network_spec *spec = &network->spec;
    if (spec->dim == 0 || spec->heads == 0 || spec->dim % spec->heads != 0)
        return wt_fail(context, WT_USAGE,
                       "a transformer needs heads that divide its dim, not %zu heads of %zu",
                       spec->heads, spec->dim);
    if (spec->length > UINT32_MAX / 4 || spec->dim > UINT32_MAX / 4) /* rows have 32-bit numbers */
        return wt_fail(context, WT_MEMORY, "%zu tokens of %zu numbers do not fit in memory",
                       spec->length, spec->dim);
    if (spec->hidden == 0)
        spec->hidden = 4 * spec->dim;
    return add_all(context, network);
}

static const char *const activations[] = {"gelu", NULL};

const wt_network_kind wt_kind_transformer = {.name = "transformer",
                                             .activations = activations,
                                             .layout = layout,
                                             .gradient = wt_transformer_gradient,
                                             .evaluate = wt_transformer_evaluate,
                                             .attention = wt_transformer_attention,
                                             .close = wt_transformer_work_free};
