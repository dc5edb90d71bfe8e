/* Where the tokens of a layer lie, and what of it they show.
 *
 * Tokens x = o + U z with U (d, r) orthonormal and o orthogonal to it:
 *   x_a^T Theta x_b + <u, x_b> = z_a^T (U^T Theta U) z_b + <U^T (u + Theta^T o), z_b> + ..
 * where .. is the same for all keys x_b, and changes no attention; and with weights A_i
 *   sum_i A_i X W_i + c = sum_i A_i Z (U^T W_i) + c + sum_i W_i^T o.
 * Two layers that agree in what stands on the right are one function of such tokens. */
#ifndef WT_LAYER_MODEL_SPAN_H
#define WT_LAYER_MODEL_SPAN_H

#include "base/memory.h"
#include "layer/model/layer.h"
#include "layer/task/sequences.h"

typedef struct wt_span {
    size_t dim, rank; /* d, r */
    double *basis;    /* (d, r); NULL = all of R^d */
    double *offset;   /* (d); NULL = 0 */
    wt_arena arena;
} wt_span;

/* Tokens after the norm of the form into x (n, k, d), 0 past the end of a sequence, where anything
 * may stand; off their mean (d), unless that is NULL. Returns how many there are. */
size_t wt_span_tokens(const wt_layer_form *form, const wt_sequences *data, double *x, double *mean);
/* Directions of the rows of x (n, d): unit vectors (d, d), one a row, and the squares of the rows
 * along them, increasing. The first *skip, never all, count as none: they are within `part` of
 * `size`, or of the largest where that is more. */
wt_status wt_span_directions(wt_context *context, size_t n, size_t d, const double *x, double part,
                             double size, double *vectors, double *values, size_t *skip);
/* basis (d, d - skip): the directions after those, one a column. */
void wt_span_basis(size_t d, size_t skip, const double *vectors, double *basis);

/* The span of the data's tokens after the norm of the form; without data (NULL) of any tokens,
 * which a LayerNorm makes orthogonal to (1, .., 1). Directions that tokens have no more of than the
 * rounding of float32 count as none. */
wt_status wt_span_of(wt_context *context, const wt_layer_form *form, size_t dim,
                     const wt_sequences *data, wt_span *out);
/* Accepts a cleared struct. */
void wt_span_free(wt_span *span);
/* The layer in coordinates of the span, as above; with biases, whatever it has. */
wt_status wt_span_see(wt_context *context, const wt_span *span, const wt_layer *layer,
                      wt_layer **out);

#endif
