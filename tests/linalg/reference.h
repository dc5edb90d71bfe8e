/* Plain versions of the fast kernels, as oracles: the formula, one loop an index, in long double
 * so that what differs is the error of the code under test. Row-major with strides as there. */
#ifndef TESTS_LINALG_REFERENCE_H
#define TESTS_LINALG_REFERENCE_H

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "check.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

/* rows x stride numbers of N(0,1), the padding of the rows included; release with wt_release. */
static inline double *draw(wt_context *context, const char *purpose, size_t rows, size_t stride) {
    double *values;
    CHECK_OK(context, WT_NEW(context, &values, rows * stride, purpose));
    wt_random_normal(wt_stream_for(1, purpose, rows), 0, rows * stride, values);
    return values;
}

static inline float *draw_float(wt_context *context, const char *purpose, size_t rows,
                                size_t stride) {
    double *values = draw(context, purpose, rows, stride);
    float *floats;
    CHECK_OK(context, WT_NEW(context, &floats, rows * stride, purpose));
    for (size_t i = 0; i < rows * stride; i++)
        floats[i] = (float)values[i];
    wt_release(values);
    return floats;
}

static inline double *copy_of(wt_context *context, const double *values, size_t count) {
    double *copy;
    CHECK_OK(context, WT_NEW(context, &copy, count, "a copy"));
    if (count > 0)
        memcpy(copy, values, count * sizeof *values);
    return copy;
}

static inline float *copy_of_float(wt_context *context, const float *values, size_t count) {
    float *copy;
    CHECK_OK(context, WT_NEW(context, &copy, count, "a copy"));
    if (count > 0)
        memcpy(copy, values, count * sizeof *values);
    return copy;
}

static inline float *to_float(wt_context *context, const double *values, size_t count) {
    float *floats;
    CHECK_OK(context, WT_NEW(context, &floats, count, "floats"));
    for (size_t i = 0; i < count; i++)
        floats[i] = (float)values[i];
    return floats;
}

static inline double *to_double(wt_context *context, const float *values, size_t count) {
    double *doubles;
    CHECK_OK(context, WT_NEW(context, &doubles, count, "doubles"));
    for (size_t i = 0; i < count; i++)
        doubles[i] = (double)values[i];
    return doubles;
}

/* Element (i, j) of op(A). */
static inline double entry_of(wt_trans trans, const double *a, size_t stride, size_t i, size_t j) {
    return trans == WT_TRANSPOSED ? a[j * stride + i] : a[i * stride + j];
}

/* C = alpha op(A) op(B) + beta C */
static inline void plain_gemm(wt_trans trans_a, wt_trans trans_b, size_t m, size_t n, size_t k,
                              double alpha, const double *a, size_t a_stride, const double *b,
                              size_t b_stride, double beta, double *c, size_t c_stride) {
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            long double sum = 0;
            for (size_t p = 0; p < k; p++)
                sum += (long double)entry_of(trans_a, a, a_stride, i, p) *
                       (long double)entry_of(trans_b, b, b_stride, p, j);
            long double old = beta == 0 ? 0 : beta * (long double)c[i * c_stride + j];
            c[i * c_stride + j] = (double)(alpha * sum + old);
        }
}

/* Lower triangle of K = op(A) op(A)^T + beta K, op(A) n x depth */
static inline void plain_gram(wt_trans trans, size_t n, size_t depth, const double *a,
                              size_t a_stride, double beta, double *k, size_t k_stride) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            long double sum = 0;
            for (size_t p = 0; p < depth; p++)
                sum += (long double)entry_of(trans, a, a_stride, i, p) *
                       (long double)entry_of(trans, a, a_stride, j, p);
            long double old = beta == 0 ? 0 : beta * (long double)k[i * k_stride + j];
            k[i * k_stride + j] = (double)(sum + old);
        }
}

/* A = L L^T in the lower triangle, column by column; 0 or the order of the failing minor. */
static inline size_t plain_cholesky(size_t n, double *a, size_t stride) {
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            long double sum = a[i * stride + j];
            for (size_t p = 0; p < j; p++)
                sum -= (long double)a[i * stride + p] * (long double)a[j * stride + p];
            if (i == j && !(sum > 0))
                return j + 1;
            a[i * stride + j] = (double)(i == j ? sqrtl(sum) : sum / a[j * stride + j]);
        }
    }
    return 0;
}

/* B = op(L)^-1 B, column by column of B */
static inline void plain_solve(wt_trans trans, size_t n, size_t columns, const double *l,
                               size_t l_stride, double *b, size_t b_stride) {
    for (size_t c = 0; c < columns; c++)
        for (size_t step = 0; step < n; step++) {
            size_t i = trans == WT_TRANSPOSED ? n - 1 - step : step;
            long double sum = b[i * b_stride + c];
            for (size_t p = trans == WT_TRANSPOSED ? i + 1 : 0;
                 p < (trans == WT_TRANSPOSED ? n : i); p++)
                sum -= (long double)entry_of(trans, l, l_stride, i, p) * b[p * b_stride + c];
            b[i * b_stride + c] = (double)(sum / l[i * l_stride + i]);
        }
}

/* A matrix that is positive definite with a condition number below 10: G G^T / n + I, n x stride,
 * both triangles. */
static inline double *draw_definite(wt_context *context, size_t n, size_t stride) {
    double *g = draw(context, "definite", n, n), *a;
    CHECK_OK(context, WT_NEW_ZERO(context, &a, n * stride, "a definite matrix"));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = i == j ? (double)n : 0;
            for (size_t p = 0; p < n; p++)
                sum += g[i * n + p] * g[j * n + p];
            a[i * stride + j] = a[j * stride + i] = sum / (double)n;
        }
    wt_release(g);
    return a;
}

/* The largest |a - b| over rows x columns, or over their lower triangle. */
static inline double largest_difference(size_t rows, size_t columns, const double *a,
                                        size_t a_stride, const double *b, size_t b_stride,
                                        bool lower) {
    double largest = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < (lower && i + 1 < columns ? i + 1 : columns); j++)
            largest = fmax(largest, fabs(a[i * a_stride + j] - b[i * b_stride + j]));
    return largest;
}

/* |got| <= bound, with the case named when not; NaN fails. */
#define CHECK_BELOW(got, bound, ...)                                                               \
    do {                                                                                           \
        double below_got = (got), below_bound = (bound);                                           \
        if (!(below_got <= below_bound)) {                                                         \
            char below_case[200];                                                                  \
            snprintf(below_case, sizeof below_case, __VA_ARGS__);                                  \
            fail_msg("%s: %s is %g, over %g", below_case, #got, below_got, below_bound);           \
        }                                                                                          \
    } while (0)

#endif
