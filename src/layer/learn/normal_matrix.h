/* The normal matrix J^T P J of a small problem, formed once a step. */
#ifndef WT_LAYER_LEARN_NORMAL_MATRIX_H
#define WT_LAYER_LEARN_NORMAL_MATRIX_H

#include "layer/learn/projection.h"

/* Lower triangle of J^T P J, order d * m d in the packed order of Theta:
 *   J^T J = sum_r (x_r x_r^T) (x) (B_r B_r^T),  B_r (m d, p) = [C_ri W_i],
 * one product with inner dimension R over the halves of the two symmetric factors, and
 *   J^T Q Q^T J = T T^T,  T[(u, a), (c, o)] = sum_r x_r[u] Q[r, c] B_r[a, o]. */
wt_status wt_normal_form(wt_context *context, const wt_projection *at, double *normal);
/* Flops of one. */
double wt_normal_flops(const wt_projection *at);

#endif
