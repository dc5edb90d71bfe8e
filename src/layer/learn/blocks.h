/* The preconditioner of linear systems in factors of Theta: the blocks of J^T J that belong to one
 * factor alone, each as a Kronecker product of a matrix of its tokens and one of its columns. With
 * S = sum_r q_r q_r^T, and K_i = mean_r C_ri W_i W_i^T C_ri, of which random signs z_r give
 * mean_r (C_ri W_i z_r)(C_ri W_i z_r)^T,
 *   A_i: S (x) B^T K_i B
 *   B_g: sum_i R K_i (x) A_i^T (S / R) A_i
 *   V_g: sum_i H_i^T H_i (x) O_i O_i^T
 * What one factor does to another, and P, are left out, but for the size of the whole.
 */
#ifndef WT_LAYER_LEARN_BLOCKS_H
#define WT_LAYER_LEARN_BLOCKS_H

#include "layer/learn/tangent.h"

/* Eigenvectors, one a row, and eigenvalues of a symmetric matrix. */
typedef struct wt_blocks_side {
    size_t n;
    double *vectors, *values;
} wt_blocks_side;

typedef struct wt_blocks {
    const wt_factors *factors;
    wt_blocks_side tokens;        /* S */
    wt_blocks_side *a;            /* (heads): columns of A_i */
    wt_blocks_side *b_tokens, *b; /* (groups) */
    wt_blocks_side *v_tokens, *v; /* (groups), where heads share values */
    double *known;                /* (heads, d, d): K_i */
    double *spare, *turned;       /* (e, r or v) */
    double size;                  /* all blocks are so many times what is said above */
    wt_arena arena;
} wt_blocks;

wt_status wt_blocks_new(wt_context *context, const wt_factors *factors, const wt_projection *at,
                        wt_blocks *out);
void wt_blocks_free(wt_blocks *blocks);
/* At the projection and the factors that the tangent was loaded with; mean: of the diagonal of
 * J^T P J. */
wt_status wt_blocks_load(wt_context *context, wt_blocks *blocks, wt_tangent *tangent, double mean);
/* out = (M + shift I)^-1 x of unknowns as the factors are laid out. */
wt_status wt_blocks_solve(wt_context *context, wt_blocks *blocks, double shift, const double *x,
                          double *out);

#endif
