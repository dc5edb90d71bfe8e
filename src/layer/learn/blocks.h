/* The preconditioner of linear systems in factors of Theta: the blocks of J^T J that belong to one
 * factor alone, each as a Kronecker product of a matrix of its tokens and one of its columns. With
 * S = sum_r q_r q_r^T, and K_i = mean_r C_ri W_i W_i^T C_ri, of which random signs z_r give
 * mean_r (C_ri W_i z_r)(C_ri W_i z_r)^T,
 *   A_i: S (x) B^T K_i B
 *   B_g: sum_i R K_i (x) A_i^T (S / R) A_i
 *   V_g: sum_i H_i^T H_i (x) O_i O_i^T
 * What one factor does to another, and P, are left out, but for the size of the whole.
 *
 * Sums over rows are the engine's (device/recover.h), eigenvectors are made here, and engines apply
 * them. */
#ifndef WT_LAYER_LEARN_BLOCKS_H
#define WT_LAYER_LEARN_BLOCKS_H

#include "device/recover.h"
#include "layer/learn/factors.h"

typedef struct wt_blocks {
    const wt_factors *factors;
    wt_recover_sums sums;   /* where an engine leaves them; making blocks spoils them */
    wt_recover_blocks made; /* of them */
    double *spare, *turned; /* (e, r) */
    wt_arena arena;
} wt_blocks;

wt_status wt_blocks_new(wt_context *context, const wt_factors *factors, const wt_rows *rows,
                        wt_blocks *out);
void wt_blocks_free(wt_blocks *blocks);
/* Blocks of the sums in place, at the factors as they stand; mean: of the diagonal of J^T P J. */
wt_status wt_blocks_make(wt_context *context, wt_blocks *blocks, double mean);

/* out = (M + shift I)^-1 x of unknowns as the factors are laid out; spare: twice as many numbers as
 * the largest factor has. */
wt_status wt_blocks_solve(wt_context *context, const wt_recover_blocks *blocks,
                          const wt_factors *factors, double shift, const double *x, double *spare,
                          double *out);

#endif
