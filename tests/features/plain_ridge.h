/* Plain ridge regression, as oracle: normal equations by Gaussian elimination in long double, and
 * what tests of solvers share. Features in the order of files, (unit, component). */
#ifndef TESTS_FEATURES_PLAIN_RIDGE_H
#define TESTS_FEATURES_PLAIN_RIDGE_H

#include "features/learn/primal.h"
#include "features/model/fitted.h"
#include "features/plain_features.h"

/* Solves A X = B in place of B for A (m, m), B (m, q), with row pivots. */
static inline void eliminate(size_t m, size_t q, long double *a, long double *b) {
    for (size_t k = 0; k < m; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < m; i++)
            if (fabsl(a[i * m + k]) > fabsl(a[pivot * m + k]))
                pivot = i;
        assert_true(a[pivot * m + k] != 0);
        for (size_t j = 0; j < m; j++) {
            long double swap = a[k * m + j];
            a[k * m + j] = a[pivot * m + j];
            a[pivot * m + j] = swap;
        }
        for (size_t c = 0; c < q; c++) {
            long double swap = b[k * q + c];
            b[k * q + c] = b[pivot * q + c];
            b[pivot * q + c] = swap;
        }
        for (size_t i = k + 1; i < m; i++) {
            long double factor = a[i * m + k] / a[k * m + k];
            for (size_t j = k; j < m; j++)
                a[i * m + j] -= factor * a[k * m + j];
            for (size_t c = 0; c < q; c++)
                b[i * q + c] -= factor * b[k * q + c];
        }
    }
    for (size_t k = m; k-- > 0;)
        for (size_t c = 0; c < q; c++) {
            for (size_t j = k + 1; j < m; j++)
                b[k * q + c] -= a[k * m + j] * b[j * q + c];
            b[k * q + c] /= a[k * m + k];
        }
}

/* v (f, q) of least |y - Phi v|^2 + penalty |v|^2 over the samples but `left_out` (n: all), by the
 * smaller of (Phi^T Phi + penalty) v = Phi^T y and v = Phi^T (Phi Phi^T + penalty)^-1 y. */
static inline double *plain_ridge(wt_context *context, size_t n, size_t f, size_t q,
                                  const double *phi, const double *y, double penalty,
                                  size_t left_out) {
    bool primal = f <= n;
    size_t m = primal ? f : n;
    long double *a = calloc(m * m + 1, sizeof *a), *b = calloc(m * q + 1, sizeof *b);
    assert_true(a != NULL && b != NULL);
    for (size_t i = 0; i < m; i++)
        a[i * m + i] = penalty;
    for (size_t i = 0; primal && i < n; i++)
        for (size_t r = 0; i != left_out && r < f; r++) {
            for (size_t c = 0; c < f; c++)
                a[r * f + c] += (long double)phi[i * f + r] * phi[i * f + c];
            for (size_t c = 0; c < q; c++)
                b[r * q + c] += (long double)phi[i * f + r] * y[i * q + c];
        }
    for (size_t i = 0; !primal && i < n; i++) {
        for (size_t j = 0; i != left_out && j < n; j++)
            for (size_t r = 0; j != left_out && r < f; r++)
                a[i * n + j] += (long double)phi[i * f + r] * phi[j * f + r];
        for (size_t c = 0; i != left_out && c < q; c++)
            b[i * q + c] = y[i * q + c];
    }
    if (!primal && left_out < n)
        a[left_out * n + left_out] = 1;
    eliminate(m, q, a, b);
    double *v = doubles(context, f * q);
    for (size_t r = 0; r < f; r++)
        for (size_t c = 0; c < q; c++) {
            long double sum = primal ? b[r * q + c] : 0;
            for (size_t i = 0; !primal && i < n; i++)
                sum += (long double)phi[i * f + r] * b[i * q + c];
            v[r * q + c] = (double)sum;
        }
    free(a);
    free(b);
    return v;
}

/* Prediction of output c for row i of Phi (n, f). */
static inline double plain_predict(size_t f, size_t q, const double *phi, const double *v, size_t i,
                                   size_t c) {
    long double sum = 0;
    for (size_t r = 0; r < f; r++)
        sum += (long double)phi[i * f + r] * v[r * q + c];
    return (double)sum;
}

/* The gradient of the objective at v over its value at v = 0, by norms. */
static inline double gradient_ratio(size_t n, size_t f, size_t q, const double *phi,
                                    const double *y, double penalty, const double *v) {
    long double here = 0, there = 0;
    for (size_t c = 0; c < q; c++)
        for (size_t r = 0; r < f; r++) {
            long double g = (long double)penalty * v[r * q + c], g0 = 0;
            for (size_t i = 0; i < n; i++) {
                long double residual =
                    y[i * q + c] - (long double)plain_predict(f, q, phi, v, i, c);
                g -= phi[i * f + r] * residual;
                g0 -= (long double)phi[i * f + r] * y[i * q + c];
            }
            here += g * g;
            there += g0 * g0;
        }
    return (double)sqrtl(here / there);
}

/* Mean over outputs of the variance of each column of y. */
static inline double plain_variance(size_t n, size_t q, const double *y) {
    long double total = 0;
    for (size_t c = 0; c < q; c++) {
        long double mean = 0, square = 0;
        for (size_t i = 0; i < n; i++)
            mean += (long double)y[i * q + c] / n;
        for (size_t i = 0; i < n; i++)
            square += (y[i * q + c] - mean) * (y[i * q + c] - mean) / n;
        total += square / q;
    }
    return (double)total;
}

/* v of a fitted model in the order of files. */
static inline double *fitted_values(wt_context *context, const wt_fitted *fitted) {
    const wt_features *features = &fitted->model.features;
    double *v = doubles(context, wt_features_count(features) * fitted->outputs);
    wt_features_to_file_order(features, fitted->v, fitted->outputs, v);
    return v;
}

/* Mean over samples and outputs of squared errors when each sample is left out in its turn. */
static inline double plain_leave_one_out(wt_context *context, size_t n, size_t f, size_t q,
                                         const double *phi, const double *y, double penalty) {
    long double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double *v = plain_ridge(context, n, f, q, phi, y, penalty, i);
        for (size_t c = 0; c < q; c++) {
            long double error = y[i * q + c] - (long double)plain_predict(f, q, phi, v, i, c);
            sum += error * error;
        }
        wt_release(v);
    }
    return (double)(sum / (n * q));
}

/* trace of Phi (Phi^T Phi + penalty)^-1 Phi^T: ridge fits of the unit vectors. */
static inline double plain_freedom(wt_context *context, size_t n, size_t f, const double *phi,
                                   double penalty) {
    double *units = doubles(context, n * n);
    for (size_t i = 0; i < n; i++)
        units[i * n + i] = 1;
    double *v = plain_ridge(context, n, f, n, phi, units, penalty, n);
    long double trace = 0;
    for (size_t i = 0; i < n; i++)
        trace += plain_predict(f, n, phi, v, i, i);
    wt_release(units);
    wt_release(v);
    return (double)trace;
}

/* Draws the features that wt_ridge_fit will draw, and their matrix on the sets. */
static inline double *phi_of(wt_context *context, const wt_model_spec *spec, const wt_sets *sets,
                             size_t *f) {
    wt_features features;
    CHECK_OK(context, wt_features_draw(context, spec, &features));
    *f = wt_features_count(&features);
    double *phi = plain_features(context, &features, sets);
    wt_features_free(&features);
    return phi;
}

/* M, or P: what lambda is multiplied by in the penalty. */
static inline double units_of(const wt_model_spec *spec) {
    if (spec->kind != WT_MODEL_KIND_RFMLP)
        return (double)spec->heads;
    return (double)(spec->width > 0 ? spec->width : spec->heads * (spec->dim + 1));
}

#endif
