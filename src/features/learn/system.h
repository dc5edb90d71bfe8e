/* The dual equations (K + lambda I) alpha = y, for many lambdas and all leading blocks at once: the
 * factor of the leading s x s block is the leading block of the factor, so nested samples share one
 * factorisation. */
#ifndef WT_FEATURES_LEARN_SYSTEM_H
#define WT_FEATURES_LEARN_SYSTEM_H

#include "features/learn/host.h"

typedef struct wt_system {
    const wt_ridge_engine *engine;
    wt_ridge_system *state; /* the matrix and its factor, where the engine runs */
    size_t n;
    double *diagonal; /* (n) of K */
    double lambda;    /* of the factor at hand */
    size_t order;     /* of the leading block it is good for; 0 = none */
} wt_system;

wt_status wt_system_open(wt_context *context, const wt_model *model, const wt_sets *sets,
                         wt_system *out);
void wt_system_free(wt_system *system);

/* Factors K + lambda I up to the largest of `count` increasing orders for which double precision
 * allows it: *usable tells how many of them, from the first on, can be solved with now. A lambda
 * within the rounding of K, 10 epsilon times its trace, is no better than 0 and is not tried: a
 * factor that rounding lets through would be noise. */
wt_status wt_system_factor(wt_context *context, wt_system *system, double lambda,
                           const size_t *sizes, size_t count, size_t *usable);

/* Whether a lambda is above that rounding for the leading block of the order. */
bool wt_system_counts(const wt_system *system, double lambda, size_t order);

/* alpha (s, columns) = (K_s + lambda I)^-1 y for the leading block of order s. */
wt_status wt_system_solve(wt_context *context, const wt_system *system, size_t s, size_t columns,
                          const double *y, double *alpha, size_t alpha_stride);

/* ((K_s + lambda I)^-1)_ii for each of `count` increasing orders s that are factored, into
 * out (count, n), zero from i = s on: with L the factor, the sum over i <= j < s of (L^-1)_ji^2. */
wt_status wt_system_inverse_diagonals(wt_context *context, const wt_system *system,
                                      const size_t *sizes, size_t count, double *out);

/* Of K_s. */
double wt_system_trace(const wt_system *system, size_t order);

/* Largest over smallest eigenvalue of K_n + lambda I, by power iteration on it and its factor:
 * right to a few per cent. */
wt_status wt_system_condition(wt_context *context, const wt_system *system, double lambda,
                              double *out);

#endif
