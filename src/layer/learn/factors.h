/* Theta of a given rank: Theta_i = A_i B_g^T, A_i (e, r), B_g (d, r), and derivatives by A and B. g
 * is the group of head i: B is shared by its heads. Without groups every head is one.
 *
 * The factors lie group by group, A of its heads and then B: A_1, A_2, B_1, .. Theta and what is
 * like it is packed (e, m d) as projection.h has it. Where heads share values V is one more
 * unknown: it follows the factors, and Theta, unchanged. */
#ifndef WT_LAYER_LEARN_FACTORS_H
#define WT_LAYER_LEARN_FACTORS_H

#include "base/memory.h"
#include "layer/learn/projection.h"

typedef struct wt_factors {
    size_t heads, groups, asked, dim, rank; /* m, .., e, d, r */
    size_t factors;                         /* of numbers in A and B: m e r and d r a group */
    size_t values, shared;                  /* columns of V, and its numbers */
    size_t count;                           /* of all unknowns */
    double *now, *next;                     /* (count) */
    wt_arena arena;
} wt_factors;

wt_status wt_factors_new(wt_context *context, const wt_projection *at, size_t rank,
                         wt_factors *out);
void wt_factors_free(wt_factors *factors);
/* Where A of a head starts, and B of its group. */
size_t wt_factors_a(const wt_factors *factors, size_t head);
size_t wt_factors_b(const wt_factors *factors, size_t head);

/* now: the balanced factors, A^T A = B^T B over the heads of a group, of the matrices of rank r
 * nearest to theta, and V. */
wt_status wt_factors_find(wt_context *context, wt_factors *factors, const double *theta);
/* theta = A B^T of some factors, and V with orthonormal columns of the same span. */
wt_status wt_factors_multiply(wt_context *context, const wt_factors *factors, const double *ab,
                              double *theta);
/* A gradient by Theta to one by A and B at `now`. */
wt_status wt_factors_pull(wt_context *context, const wt_factors *factors, const double *theta,
                          double *gradient);

#endif
