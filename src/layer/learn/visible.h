/* The data as the heads of a layer see it, and what it shows of them.
 *
 * Tokens go through the norm before the layer, and what the residual connection adds is taken off
 * y. With biases the mean of the tokens is taken off them: it is no more than another u and c. Then
 * tokens that leave directions of R^d out show nothing of Theta and W there: the heads are found in
 * coordinates of their span. Tokens after a LayerNorm with gain and shift are such: they lie on a
 * plane, whose offset the mean is.
 *
 * Tokens on a plane <a, x> = 1 have biases for nothing: Theta + a u^T adds <u, x_b> to the scores,
 * W + a c^T adds c. Theta + v a^T, which adds the same to the scores of all keys, is invisible,
 * and so are W_i + a t_i^T whose t_i sum to 0. The heads are then found on the plane, with biases,
 * which are part of Theta and W in the end: Theta a = 0, and all W_i^T a are equal. */
#ifndef WT_LAYER_LEARN_VISIBLE_H
#define WT_LAYER_LEARN_VISIBLE_H

#include "base/memory.h"
#include "layer/model/layer.h"
#include "layer/task/sequences.h"
#include "wattle/recover.h"

/* The data in coordinates of the span of its tokens: x' = (norm(x) - mean) U, and back to the span
 * by x' B^T; U and B (d, rank), U^T B = I. Where directions differ much in size x' is whitened, so
 * that a step finds its way in all of them: U = V / s and B = V s, V orthonormal, s the sizes over
 * their mean square; else U = B = V. */
typedef struct wt_visible {
    wt_sequences data; /* borrows what stays as it was */
    size_t dim, rank;
    double *mean;   /* (d); NULL without biases */
    double *normal; /* (d): the tokens lie on <normal, x> = 1, and the biases found are no part of
                       the layer; NULL with biases, and where there is no such plane */
    double *basis;  /* U; NULL where coordinates are as they were */
    double *back;   /* B */
    wt_layer *start;
    wt_recover_options
        options; /* of what is left: biases and mask, the start in those coordinates */
    wt_arena arena;
} wt_visible;

wt_status wt_visible_make(wt_context *context, const wt_sequences *data,
                          const wt_recover_options *options, wt_visible *out);
/* Of the tokens' linear span: one more than `rank` on a plane that does not go through 0. */
size_t wt_visible_span(const wt_visible *visible);
/* Accepts a cleared struct. */
void wt_visible_free(wt_visible *visible);
/* The layer in the coordinates of R^d, of the form that `options` asked for, 0 in every direction
 * that no token has: Theta = U Theta' U^T, W = U W', and what belongs to the mean in u and c. The
 * given one is replaced. */
wt_status wt_visible_lift(wt_context *context, const wt_visible *visible,
                          const wt_recover_options *options, wt_layer *layer);

#endif
