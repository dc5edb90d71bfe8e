#include "network/model/head.h"

#include <math.h>

#include "base/memory.h"

#define HALF_RADIUS 0.5 /* of symbols and of positions: B_X is twice that */

static wt_status layout(wt_context *context, wt_network *network) {
    wt_network_spec *spec = &network->spec;
    size_t d = spec->dim;
    if (d == 0)
        return wt_fail(context, WT_USAGE, "a head needs tokens of 1 dimension or more");
    if (spec->embedding_drop > 0 || spec->attention_drop > 0 || spec->block_drop > 0)
        return wt_fail(context, WT_USAGE,
                       "a head has no dropout: give 0 for embedding, attention and block, not %g, "
                       "%g and %g",
                       spec->embedding_drop, spec->attention_drop, spec->block_drop);
    spec->heads = 1;
    spec->hidden = d;
    spec->fixed_positions = true;
    wt_network_law small = {.spread = 0.02}, wide = {.spread = 1 / sqrt((double)d)},
                   ball = {.radius = HALF_RADIUS};
    wt_status status;
    WT_TRY(wt_network_add(context, network, "w_qk", d, d, small, false));
    WT_TRY(wt_network_add(context, network, "w_v", d, d, wide, false));
    WT_TRY(wt_network_add(context, network, "w", 0, d, wide, false));
    WT_TRY(wt_network_add(context, network, "cls", 0, d, wide, false));
    WT_TRY(wt_network_add(context, network, "symbols", 2, d, ball, true));
    WT_TRY(wt_network_add(context, network, "positions", spec->length, d, ball, true));
done:
    return status;
}

static const char *const activations[] = {"relu", "gelu", "tanh", "identity", NULL};

const wt_network_kind wt_kind_head = {.name = "head",
                                      .activations = activations,
                                      .layout = layout,
                                      .gradient = wt_head_gradient,
                                      .evaluate = wt_head_evaluate,
                                      .attention = wt_head_attention,
                                      .close = wt_release};
