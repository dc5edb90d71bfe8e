/* Float factor, double answer: the Cholesky factor of a float Gram matrix corrects residuals that
 * are taken in double, until they are 1e-9 of the labels. */
#ifndef WT_FEATURES_LEARN_MIXED_H
#define WT_FEATURES_LEARN_MIXED_H

#include "features/model/operators.h"

typedef struct wt_mixed_result {
    bool converged;  /* else nothing else here or in the outputs is to be used */
    double residual; /* largest |y - (K + lambda I) alpha| / |y| over columns */
    size_t steps;    /* corrections made */
    double seconds_gram, seconds_factor, seconds_correct;
} wt_mixed_result;

/* For each of `count` orders s and the `columns` right-hand sides y (n, columns): column
 * s * columns + c of alpha (n, count * columns) is (K_s + lambda I)^-1 y_c, zero from row s on,
 * and v (f, count * columns) = Phi^T alpha / units in block order. */
wt_status wt_mixed_solve(wt_context *context, const wt_features *features, const wt_sets *sets,
                         double lambda, const size_t *sizes, size_t count, size_t columns,
                         const double *y, double *alpha, double *v, wt_mixed_result *result);

#endif
