/* Products with J^T P J for Theta of a given rank, by their factors, in float.
 *
 * With Theta_i = A_i B_g^T the scores of head i move by
 *   dS_i = (Q dA_i) (X B_g)^T + (Q A_i) (X dB_g)^T
 * and the outputs by the sum of (A .* (dS_i - mean)) X W_i, and of A X dV_g O_i where heads share
 * values: products with r or p columns a sequence, and with d alone where tokens meet the columns
 * of a factor. No (d, d) matrix is formed, which for r well below d is a small part of the work of
 * jacobian.h. */
#ifndef WT_LAYER_LEARN_TANGENT_H
#define WT_LAYER_LEARN_TANGENT_H

#include "layer/learn/factors.h"

/* Tokens times the columns of some factor, all its blocks side by side, and what moves with it. */
typedef struct wt_tangent_side {
    size_t tokens, dim, blocks, columns; /* a block */
    float *token;                        /* (tokens, dim); borrowed */
    float *factor;                       /* (dim, blocks columns) */
    float *now, *move;                   /* (tokens, blocks columns) */
} wt_tangent_side;

typedef struct wt_tangent {
    const wt_projection *at;
    const wt_factors *factors;
    float *weights, *qt, *key, *query; /* as the projection has them */
    wt_tangent_side asked;             /* queries and A: a block a head */
    wt_tangent_side known;             /* keys and B: a block a group */
    wt_tangent_side valued;            /* keys and V, where heads share values: the same */
    float *values, *o;                 /* (L, m p) = X W, (m v, p) */
    float *span, *out;                 /* (spanned, p), (R, p) */
    float *signs, *turned;             /* (R, p); (R, d): C W z of a head */
    float *scratch;                    /* a worker: scores, and rows of v */
    size_t scratch_each, scores_each;
    wt_arena arena;
} wt_tangent;

/* Room for products at projections of this shape. signs: (R, p), of curvatures; NULL where none
 * will be asked for. */
wt_status wt_tangent_new(wt_context *context, const wt_projection *at, const wt_factors *factors,
                         const double *signs, wt_tangent *out);
void wt_tangent_free(wt_tangent *tangent);
/* From now on at this projection, and the factors as they stand. */
wt_status wt_tangent_load(wt_context *context, wt_tangent *tangent, const wt_projection *at);
/* product = J^T P J direction, both as the factors are laid out. */
wt_status wt_tangent_multiply(wt_context *context, wt_tangent *tangent, const double *direction,
                              double *product);
/* out (heads, d, d): mean_r (C_r W_i z_r)(C_r W_i z_r)^T with the signs z_r. */
wt_status wt_tangent_curvature(wt_context *context, wt_tangent *tangent, double *out);

#endif
