#include "network/model/mlp.h"

#include <math.h>

#include "base/memory.h"

static wt_status layout(wt_context *context, wt_network *network) {
    wt_network_spec *spec = &network->spec;
    size_t hidden = spec->hidden == 0 ? 4 * spec->dim : spec->hidden;
    if (hidden == 0 || spec->dim > SIZE_MAX / 64)
        return wt_fail(context, WT_USAGE, "an mlp needs a hidden layer of 1 unit or more");
    spec->hidden = hidden;
    spec->heads = 0;
    /* Variance 2 / inputs keeps the size of what ReLU lets through. */
    wt_network_law first = {.spread = sqrt(2 / (double)spec->length)},
                   other = {.spread = sqrt(2 / (double)hidden)}, zero = {0};
    wt_status status;
    WT_TRY(wt_network_add(context, network, "w1", spec->length, hidden, first, false));
    WT_TRY(wt_network_add(context, network, "b1", 0, hidden, zero, false));
    WT_TRY(wt_network_add(context, network, "w2", hidden, hidden, other, false));
    WT_TRY(wt_network_add(context, network, "b2", 0, hidden, zero, false));
    WT_TRY(wt_network_add(context, network, "w3", hidden, 2, other, false));
    WT_TRY(wt_network_add(context, network, "b3", 0, 2, zero, false));
done:
    return status;
}

static const char *const activations[] = {"relu", "gelu", NULL};

const wt_network_kind wt_kind_mlp = {.name = "mlp",
                                     .activations = activations,
                                     .layout = layout,
                                     .gradient = wt_mlp_gradient,
                                     .evaluate = wt_mlp_evaluate,
                                     .close = wt_release};
