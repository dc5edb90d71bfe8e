/* The net over the affine hull of the heads: which m of its points are the heads? */
#ifndef WT_LAYER_LEARN_SCULPT_NET_H
#define WT_LAYER_LEARN_SCULPT_NET_H

#include "layer/model/layer.h"
#include "layer/task/sequences.h"

typedef struct wt_net_result {
    size_t points, tuples; /* of the net itself, before the search around its best tuple */
    double error;          /* |y - F(x)| / |y| on held-out rows */
} wt_net_result;

/* Tries Theta_i = center + sum_j c_ij directions_j over all m-tuples of a net of c, with W by least
 * squares on one part of the sequences, and keeps the tuple of least error on another part; then
 * moves its points, one head at a time, by steps that halve. center (d^2), directions
 * (heads - 1, d^2) orthonormal. `out` has room for the layer. */
wt_status wt_net_search(wt_context *context, const wt_sequences *data, const double *center,
                        const double *directions, wt_layer *out, wt_net_result *result);

#endif
