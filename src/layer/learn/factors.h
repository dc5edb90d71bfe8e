/* Theta of a given rank: Theta_i = A_i B_i^T, A_i (e, r), B_i (d, r), and derivatives by A and B.
 *
 * The factors of all heads lie one after the other: A_1, B_1, A_2, .. Theta and what is like it is
 * packed (e, m d) as projection.h has it. */
#ifndef WT_LAYER_LEARN_FACTORS_H
#define WT_LAYER_LEARN_FACTORS_H

#include "base/memory.h"
#include "layer/learn/projection.h"

typedef struct wt_factors {
    size_t heads, asked, dim, rank; /* m, e, d, r */
    size_t count;                   /* of numbers in A and B: m (e + d) r */
    double *now, *next;             /* (count) */
    wt_arena arena;
} wt_factors;

wt_status wt_factors_new(wt_context *context, const wt_projection *at, size_t rank,
                         wt_factors *out);
void wt_factors_free(wt_factors *factors);

/* now: the balanced factors, A^T A = B^T B, of the matrices of rank r nearest to theta. */
wt_status wt_factors_find(wt_context *context, wt_factors *factors, const double *theta);
/* theta = A B^T of some factors. */
wt_status wt_factors_multiply(wt_context *context, const wt_factors *factors, const double *ab,
                              double *theta);
/* The derivative of A B^T at `now` along some direction: dA B^T + A dB^T. */
wt_status wt_factors_push(wt_context *context, const wt_factors *factors, const double *direction,
                          double *theta);
/* Its transpose: a gradient by Theta to one by A and B. */
wt_status wt_factors_pull(wt_context *context, const wt_factors *factors, const double *theta,
                          double *gradient);

#endif
