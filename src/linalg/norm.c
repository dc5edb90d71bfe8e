/* Matrix norms, and the nearest matrix in a ball of each. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "linalg/backend.h"
#include "linalg/tiles.h"

static double largest_entry(size_t count, size_t step, const double *x) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        double size = fabs(x[i * step]);
        largest = size > largest ? size : largest;
    }
    return largest;
}

/* |x| of elements `step` apart, scaled by a power of two so that no square overflows or vanishes.
 */
static double length_of(size_t count, size_t step, const double *x) {
    double largest = largest_entry(count, step, x), sum = 0;
    if (largest == 0)
        return 0;
    int exponent;
    frexp(largest, &exponent);
    exponent = exponent < -1000 ? -1000 : exponent; /* 2^-exponent is finite */
    const double scale = ldexp(1, -exponent);
    for (size_t i = 0; i < count; i++) {
        double scaled = scale * x[i * step];
        sum += scaled * scaled;
    }
    return ldexp(sqrt(sum), exponent);
}

static double sum_of(size_t count, const double *x) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i];
    return sum;
}

static wt_status check(wt_context *context, size_t m, size_t n, const double *a, size_t stride) {
    wt_status status = wt_check_shape(context, "A", m, n, stride);
    return status != WT_OK ? status : wt_check_matrix(context, "A", WT_WHOLE, m, n, a, stride);
}

static wt_status check_radius(wt_context *context, double radius) {
    if (!(radius >= 0) || !isfinite(radius))
        return wt_fail(context, WT_USAGE, "a ball of radius %g", radius);
    return WT_OK;
}

/* ---- a sum of numbers that are not negative -------------------------------------------------- */

static int decreasing(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a < b) - (a > b);
}

/* The t with sum max(x_i - t, 0) = radius, for x in decreasing order and of a larger sum: of the
 * t_k = (x_1 + .. + x_k - radius) / k the one of the last k with x_k > t_k. */
static double threshold_of(double radius, size_t n, const double *x) {
    double sum = 0, threshold = 0;
    for (size_t k = 1; k <= n; k++) {
        sum += x[k - 1];
        double candidate = (sum - radius) / (double)k;
        if (x[k - 1] <= candidate)
            break;
        threshold = candidate;
    }
    return threshold;
}

wt_status wt_project_sum(wt_context *context, double radius, size_t n, double *x) {
    double *sorted = NULL;
    wt_status status;
    WT_TRY(check_radius(context, radius));
    WT_TRY(wt_check_matrix(context, "x", WT_WHOLE, 1, n, x, n));
    for (size_t i = 0; i < n; i++)
        if (x[i] < 0) {
            status = wt_fail(context, WT_DATA, "x: number %zu is %g, below zero", i, x[i]);
            goto done;
        }
    if (sum_of(n, x) <= radius)
        goto done;
    WT_TRY(WT_NEW(context, &sorted, n, "numbers to sort"));
    for (size_t i = 0; i < n; i++)
        sorted[i] = x[i];
    qsort(sorted, n, sizeof *sorted, decreasing);
    double threshold = radius == 0 ? sorted[0] : threshold_of(radius, n, sorted);
    for (size_t i = 0; i < n; i++)
        x[i] = fmax(x[i] - threshold, 0);
done:
    wt_release(sorted);
    return status;
}

/* ---- each norm: its value and its ball ------------------------------------------------------- */

static wt_status singular_values(wt_context *context, size_t m, size_t n, const double *a,
                                 size_t stride, double (*of)(size_t, const double *), double *out) {
    double *s = NULL;
    size_t count = m < n ? m : n;
    wt_status status;
    WT_TRY(WT_NEW(context, &s, count, "singular values"));
    WT_TRY(wt_svd(context, m, n, a, stride, NULL, s, NULL));
    *out = of(count, s);
done:
    wt_release(s);
    return status;
}

static double first_of(size_t count, const double *s) {
    return count == 0 ? 0 : s[0];
}

static wt_status spectral(wt_context *context, size_t m, size_t n, const double *a, size_t stride,
                          double *out) {
    return singular_values(context, m, n, a, stride, first_of, out);
}

static wt_status nuclear(wt_context *context, size_t m, size_t n, const double *a, size_t stride,
                         double *out) {
    return singular_values(context, m, n, a, stride, sum_of, out);
}

static wt_status frobenius(wt_context *context, size_t m, size_t n, const double *a, size_t stride,
                           double *out) {
    double *rows = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &rows, m, "norms of rows"));
    for (size_t i = 0; i < m; i++)
        rows[i] = length_of(n, 1, a + i * stride);
    *out = length_of(m, 1, rows);
done:
    wt_release(rows);
    return status;
}

static void column_lengths(size_t m, size_t n, const double *a, size_t stride, double *lengths) {
    for (size_t j = 0; j < n; j++)
        lengths[j] = length_of(m, stride, a + j);
}

static wt_status columns(wt_context *context, size_t m, size_t n, const double *a, size_t stride,
                         double *out) {
    double *lengths = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &lengths, n, "norms of columns"));
    column_lengths(m, n, a, stride, lengths);
    *out = sum_of(n, lengths);
done:
    wt_release(lengths);
    return status;
}

static wt_status clip(wt_context *context, double radius, size_t count, double *s) {
    (void)context;
    for (size_t i = 0; i < count; i++)
        s[i] = fmin(s[i], radius);
    return WT_OK;
}

/* A = U diag(f(s)) Vt, where f is the projection of the vector of singular values. */
static wt_status project_singular(wt_context *context, double radius, size_t m, size_t n, double *a,
                                  size_t stride,
                                  wt_status (*project)(wt_context *, double, size_t, double *)) {
    size_t count = m < n ? m : n;
    wt_arena arena = wt_arena_start(context, "singular vectors");
    double *u = WT_TAKE(&arena, double, m, count), *s = WT_TAKE(&arena, double, count);
    double *vt = WT_TAKE(&arena, double, count, n);
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(wt_svd(context, m, n, a, stride, u, s, vt));
    WT_TRY(project(context, radius, count, s));
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < count; k++)
            u[i * count + k] *= s[k];
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, m, n, count, 1, u, count, vt, n, 0, a, stride));
done:
    wt_arena_free(&arena);
    return status;
}

static wt_status project_spectral(wt_context *context, double radius, double norm, size_t m,
                                  size_t n, double *a, size_t stride) {
    (void)norm;
    return project_singular(context, radius, m, n, a, stride, clip);
}

static wt_status project_nuclear(wt_context *context, double radius, double norm, size_t m,
                                 size_t n, double *a, size_t stride) {
    (void)norm;
    return project_singular(context, radius, m, n, a, stride, wt_project_sum);
}

static wt_status project_frobenius(wt_context *context, double radius, double norm, size_t m,
                                   size_t n, double *a, size_t stride) {
    (void)context;
    double scale = radius / norm;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            a[i * stride + j] *= scale;
    return WT_OK;
}

/* Every column keeps its direction; the lengths are projected as a vector. */
static wt_status project_columns(wt_context *context, double radius, double norm, size_t m,
                                 size_t n, double *a, size_t stride) {
    (void)norm;
    wt_arena arena = wt_arena_start(context, "norms of columns");
    double *lengths = WT_TAKE(&arena, double, n), *shorter = WT_TAKE(&arena, double, n);
    wt_status status;
    WT_TRY(arena.status);
    column_lengths(m, n, a, stride, lengths);
    column_lengths(m, n, a, stride, shorter);
    WT_TRY(wt_project_sum(context, radius, n, shorter));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            a[i * stride + j] *= lengths[j] == 0 ? 0 : shorter[j] / lengths[j];
done:
    wt_arena_free(&arena);
    return status;
}

static const struct {
    const char *name;
    wt_status (*norm)(wt_context *context, size_t m, size_t n, const double *a, size_t stride,
                      double *out);
    /* For a matrix whose norm is over the radius. */
    wt_status (*project)(wt_context *context, double radius, double norm, size_t m, size_t n,
                         double *a, size_t stride);
} kinds[WT_NORM_KINDS] = {
    [WT_SPECTRAL] = {"spectral", spectral, project_spectral},
    [WT_FROBENIUS] = {"frobenius", frobenius, project_frobenius},
    [WT_COLUMNS] = {"2,1", columns, project_columns},
    [WT_NUCLEAR] = {"nuclear", nuclear, project_nuclear},
};

wt_status wt_norm(wt_context *context, wt_norm_kind kind, size_t m, size_t n, const double *a,
                  size_t stride, double *out) {
    *out = 0;
    WT_PASS(wt_check_choice(context, "norm", (int)kind, WT_NORM_KINDS));
    WT_PASS(check(context, m, n, a, stride));
    if (m > 0 && n > 0)
        WT_PASS(kinds[kind].norm(context, m, n, a, stride, out));
    if (!isfinite(*out))
        return wt_fail(context, WT_DATA, "A: the %s norm is beyond the range of doubles",
                       kinds[kind].name);
    return WT_OK;
}

wt_status wt_project(wt_context *context, wt_norm_kind kind, double radius, size_t m, size_t n,
                     double *a, size_t stride) {
    double norm;
    WT_PASS(check_radius(context, radius));
    WT_PASS(wt_norm(context, kind, m, n, a, stride, &norm));
    if (norm > radius)
        WT_PASS(kinds[kind].project(context, radius, norm, m, n, a, stride));
    return WT_OK;
}
