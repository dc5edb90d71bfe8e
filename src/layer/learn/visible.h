/* Tokens that leave directions of R^d out show nothing of Theta and W there. */
#ifndef WT_LAYER_LEARN_VISIBLE_H
#define WT_LAYER_LEARN_VISIBLE_H

#include "layer/model/layer.h"
#include "layer/task/sequences.h"
#include "wattle/recover.h"

/* The data in coordinates of the span of its tokens: x' = x U, U (d, rank) orthonormal. */
typedef struct wt_visible {
    wt_sequences data; /* y is borrowed; all of it where the rank is d */
    size_t dim, rank;
    double *basis; /* (d, rank); NULL where the rank is d */
    wt_layer *start;
    wt_recover_options options; /* with the start in those coordinates */
} wt_visible;

wt_status wt_visible_make(wt_context *context, const wt_sequences *data,
                          const wt_recover_options *options, wt_visible *out);
/* Accepts a cleared struct. */
void wt_visible_free(wt_visible *visible);
/* The layer in the coordinates of R^d, 0 in every direction that no token has: Theta = U Theta'
 * U^T, W = U W'. The given one is replaced. */
wt_status wt_visible_lift(wt_context *context, const wt_visible *visible, wt_layer *layer);

#endif
