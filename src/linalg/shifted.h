/* A symmetric matrix K and the Cholesky factor of K + shift I, for one shift after the other, in
 * the room of one matrix: K stays in the strict upper triangle, the factor takes the lower one. */
#ifndef WT_LINALG_SHIFTED_H
#define WT_LINALG_SHIFTED_H

#include "linalg/linalg.h"

typedef struct wt_shifted {
    size_t n;
    double *values;   /* (n, n) as above */
    double *diagonal; /* (n) of K */
} wt_shifted;

/* Room for K. The caller writes its lower triangle into `values`, then calls wt_shifted_keep. */
wt_status wt_shifted_new(wt_context *context, size_t n, const char *what, wt_shifted *out);
wt_status wt_shifted_keep(wt_context *context, wt_shifted *k);
void wt_shifted_free(wt_shifted *k);

double wt_shifted_trace(const wt_shifted *k, size_t order); /* of K's leading block */

/* The leading block of K + shift I of the given order into the lower triangle. */
wt_status wt_shifted_restore(wt_context *context, wt_shifted *k, double shift, size_t order);
/* Factors the leading block of K + shift I of the given order; *failed_at as wt_cholesky says. */
wt_status wt_shifted_factor(wt_context *context, wt_shifted *k, double shift, size_t order,
                            size_t *failed_at);
/* B (order, columns), in place, to the inverse of a leading block that is factored times B. */
wt_status wt_shifted_solve(wt_context *context, const wt_shifted *k, size_t order, size_t columns,
                           double *b, size_t stride);

#endif
