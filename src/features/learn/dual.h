/* Ridge through the dual: for every leading block of nested samples and every target, the weights
 * alpha of (K + lambda I) alpha = y, with lambda given or chosen. */
#ifndef WT_FEATURES_LEARN_DUAL_H
#define WT_FEATURES_LEARN_DUAL_H

#include "base/memory.h"
#include "features/learn/system.h"
#include "wattle/fit.h"

typedef struct wt_dual {
    const wt_model *model;
    const wt_sets *train;
    const double *y; /* (n, columns) */
    size_t columns, targets;
    const size_t *sizes; /* increasing, the last at most n */
    size_t count;
    const wt_sets *test;  /* for the oracle, else NULL */
    const double *test_y; /* (test samples, columns) */
    bool exact;           /* a double factor, leave-one-out errors and condition for every point */
    bool centred; /* y has its own mean taken off, which a left-out sample moves; one size */
} wt_dual;

/* Arrays made by wt_dual_solve and freed by wt_dual_free. Column s * columns + c of alpha and v
 * belongs to size s and column c; the others are (sizes, targets). */
typedef struct wt_dual_answer {
    double *alpha; /* (n, count * columns), zero from row sizes[s] on; NULL in the primal */
    double *v;     /* (f, count * columns) in block order; NULL for kernels */
    double *lambda, *freedom;
    double *train, *loo; /* mean squares; NaN where not computed */
    size_t *rank;        /* where eigenvalues were taken, else 0 */
    bool *at_end;        /* lambda is an end of what could be tried */
    bool out_of_time;    /* the path was not walked to its end */
    double condition;    /* of the largest block; NaN where not computed */
    wt_arena results;    /* holds all but alpha and v */
} wt_dual_answer;

/* Room for the answer, without alpha where there is none; to be freed in any case. */
wt_status wt_dual_answer_new(wt_context *context, const wt_dual *dual, bool with_alpha,
                             wt_dual_answer *out);
wt_status wt_dual_solve(wt_context *context, const wt_dual *dual, const wt_ridge_options *ridge,
                        wt_dual_answer *out);
void wt_dual_free(wt_dual_answer *answer);

/* Where the numbers of sample i for (size s, target t) stand in alpha. */
size_t wt_dual_place(const wt_dual *dual, size_t i, size_t s, size_t t);
/* Mean square of the residuals of the fit, which are lambda * alpha. */
double wt_dual_train_score(const wt_dual *dual, const double *alpha, size_t s, size_t t,
                           double lambda);

/* Predictions (samples, count * columns) of the answer, from v or from the kernel. */
wt_status wt_dual_predict(wt_context *context, const wt_dual *dual, const wt_dual_answer *answer,
                          const wt_sets *sets, double *out);

/* The path of the ridge settings, the default one where it has none. */
void wt_ridge_path(const wt_ridge_options *ridge, const double **path, size_t *count);
/* Beyond an end of the path that is best, lambdas are tried a decade at a time while one lowers the
 * score by this part. A lambda below the least would be moved as much by rounding as by its merit:
 * entries of (K + lambda I)^-1 are right to about epsilon trace(K) / lambda. */
#define WT_WIDEN_GAIN 1e-3
double wt_ridge_least(const wt_system *system, size_t order);
/* y is a label less the mean of n: without it the mean of the others is lower by this. */
double wt_centre_moved(double y, size_t n);
/* The caller's settings, whole and judged. */
wt_status wt_ridge_read(wt_context *context, const wt_ridge_options *given, bool has_test,
                        wt_ridge_options *out);

#endif
