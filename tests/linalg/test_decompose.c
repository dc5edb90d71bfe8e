/* Eigenvalues, singular values, least squares: the defining equations, and failures. */
#include "reference.h"

enum { PADDING = 3 };

static const size_t sizes[][2] = {{1, 1}, {2, 1}, {1, 5}, {7, 7}, {40, 13}, {13, 40}, {130, 130}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* LAPACK's errors are a small multiple of the norm times eps; norms here are about 2 sqrt(n). */
static double tolerance(size_t n) {
    return 0x1p-53 * 50 * ((double)n + 10);
}

/* The rows of V (count x n) are orthonormal. */
static void check_orthonormal(wt_context *context, size_t count, size_t n, const double *v,
                              size_t stride) {
    double *products;
    CHECK_OK(context, WT_NEW(context, &products, count * count, "products"));
    plain_gemm(WT_PLAIN, WT_TRANSPOSED, count, count, n, 1, v, stride, v, stride, 0, products,
               count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            CHECK_BELOW(fabs(products[i * count + j] - (i == j)), tolerance(n), "vectors %zu, %zu",
                        i, j);
    wt_release(products);
}

static void eigenvectors_satisfy_their_equation(void **state) {
    wt_context *context = *state;
    static const size_t orders[] = {1, 2, 7, 40, 130};
    for (size_t c = 0; c < sizeof orders / sizeof *orders; c++) {
        size_t n = orders[c], stride = n + PADDING;
        double *a = draw(context, "symmetric", n, stride), *v = copy_of(context, a, n * stride);
        CHECK_OK(context, wt_mirror_lower(context, n, a, stride));
        double *values, *alone, *only = copy_of(context, v, n * stride), *image;
        CHECK_OK(context, WT_NEW(context, &values, n, "values"));
        CHECK_OK(context, WT_NEW(context, &alone, n, "values"));
        CHECK_OK(context, WT_NEW(context, &image, n * n, "A V^T"));
        CHECK_OK(context, wt_eigen_symmetric(context, n, v, stride, true, values));
        CHECK_OK(context, wt_eigen_symmetric(context, n, only, stride, false, alone));
        check_orthonormal(context, n, n, v, stride);
        plain_gemm(WT_PLAIN, WT_TRANSPOSED, n, n, n, 1, a, stride, v, stride, 0, image, n);
        for (size_t j = 0; j < n; j++) {
            assert_true(j == 0 || values[j - 1] <= values[j]);
            CHECK_NEAR(alone[j], values[j], tolerance(n));
            for (size_t i = 0; i < n; i++)
                CHECK_BELOW(fabs(image[i * n + j] - values[j] * v[j * stride + i]), tolerance(n),
                            "eigenvector %zu of %zu", j, n);
        }
        void *blocks[] = {a, v, values, alone, only, image};
        for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
            wt_release(blocks[i]);
    }
}

/* 2 I minus the path's adjacency: eigenvalues 2 - 2 cos(pi j / (n+1)). */
static void eigenvalues_of_a_path_are_known(void **state) {
    enum { N = 30 };
    double a[N * N] = {0}, values[N];
    for (size_t i = 0; i < N; i++) {
        a[i * N + i] = 2;
        if (i > 0)
            a[i * N + i - 1] = -1;
    }
    CHECK_OK(*state, wt_eigen_symmetric(*state, N, a, N, false, values));
    for (int j = 0; j < N; j++)
        CHECK_NEAR(values[j], 2 - 2 * cos(acos(-1.0) * (j + 1) / (N + 1)), tolerance(N));
    CHECK_OK(*state, wt_eigen_symmetric(*state, 0, a, N, true, values));
}

static void singular_vectors_give_the_matrix_back(void **state) {
    wt_context *context = *state;
    for (size_t c = 0; c < SIZES; c++) {
        size_t m = sizes[c][0], n = sizes[c][1], r = m < n ? m : n, stride = n + PADDING;
        double *a = draw(context, "svd", m, stride), *u, *s, *vt, *back, *ut;
        CHECK_OK(context, WT_NEW(context, &u, m * r, "u"));
        CHECK_OK(context, WT_NEW(context, &s, r, "s"));
        CHECK_OK(context, WT_NEW(context, &vt, r * n, "vt"));
        CHECK_OK(context, WT_NEW(context, &back, m * n, "back"));
        CHECK_OK(context, WT_NEW(context, &ut, r * m, "ut"));
        CHECK_OK(context, wt_svd(context, m, n, a, stride, u, s, vt));
        for (size_t k = 0; k < r; k++) {
            assert_true(s[k] >= 0 && (k == 0 || s[k] <= s[k - 1]));
            for (size_t i = 0; i < m; i++)
                ut[k * m + i] = u[i * r + k];
        }
        check_orthonormal(context, r, m, ut, m);
        check_orthonormal(context, r, n, vt, n);
        for (size_t k = 0; k < r; k++)
            for (size_t j = 0; j < n; j++)
                vt[k * n + j] *= s[k];
        plain_gemm(WT_PLAIN, WT_PLAIN, m, n, r, 1, u, r, vt, n, 0, back, n);
        CHECK_BELOW(largest_difference(m, n, back, n, a, stride, false), tolerance(m + n),
                    "svd %zu x %zu", m, n);
        void *blocks[] = {a, u, s, vt, back, ut};
        for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
            wt_release(blocks[i]);
    }
    CHECK_OK(context, wt_svd(context, 0, 4, NULL, 4, NULL, NULL, NULL));
}

/* A of the given rank as a product of Gaussian factors. The solution of least norm is marked by
 * A^T (A X - B) = 0 and by X in the row space of A, so that X = A^T Z for the Z = (A A^T)^+ A X:
 * tested against every direction of the null space, taken from the singular vectors. */
static void check_least_squares(wt_context *context, size_t m, size_t n, size_t rank) {
    enum { COLUMNS = 3 };
    size_t least = m < n ? m : n, stride = n + PADDING, found;
    double *left = draw(context, "left", m, rank), *right = draw(context, "right", rank, n);
    double *a = draw(context, "a", m, stride), *b = draw(context, "b", m, COLUMNS + PADDING);
    plain_gemm(WT_PLAIN, WT_PLAIN, m, n, rank, 1, left, rank, right, n, 0, a, stride);
    double *x = draw(context, "x", n, COLUMNS + PADDING), *residual, *gradient, *u, *s, *vt;
    CHECK_OK(context, WT_NEW(context, &residual, m * COLUMNS, "residual"));
    CHECK_OK(context, WT_NEW(context, &gradient, n * COLUMNS, "gradient"));
    CHECK_OK(context, WT_NEW(context, &u, m * least, "u"));
    CHECK_OK(context, WT_NEW(context, &s, least, "s"));
    CHECK_OK(context, WT_NEW(context, &vt, least * n, "vt"));
    CHECK_OK(context, wt_least_squares(context, m, n, COLUMNS, a, stride, b, COLUMNS + PADDING, -1,
                                       x, COLUMNS + PADDING, &found));
    assert_int_equal(found, rank);
    for (size_t i = 0; i < m; i++)
        for (size_t c = 0; c < COLUMNS; c++)
            residual[i * COLUMNS + c] = b[i * (COLUMNS + PADDING) + c];
    plain_gemm(WT_PLAIN, WT_PLAIN, m, COLUMNS, n, 1, a, stride, x, COLUMNS + PADDING, -1, residual,
               COLUMNS);
    plain_gemm(WT_TRANSPOSED, WT_PLAIN, n, COLUMNS, m, 1, a, stride, residual, COLUMNS, 0, gradient,
               COLUMNS);
    CHECK_OK(context, wt_svd(context, m, n, a, stride, u, s, vt));
    /* The residual errs by eps |A| |X| (times a factor), the gradient by |A| times that; |X| may
     * be |B| over the least singular value that counts. */
    double scale = rank == 0 ? 1 : s[0] * s[0] * (1 + 1 / s[rank - 1]);
    for (size_t i = 0; i < n * COLUMNS; i++)
        CHECK_BELOW(fabs(gradient[i]), tolerance(m + n) * scale, "%zu x %zu of rank %zu", m, n,
                    rank);
    for (size_t k = rank; k < least; k++) /* no part of X in the null space */
        for (size_t c = 0; c < COLUMNS; c++) {
            double part = 0;
            for (size_t j = 0; j < n; j++)
                part += vt[k * n + j] * x[j * (COLUMNS + PADDING) + c];
            CHECK_BELOW(fabs(part), tolerance(m + n) * scale, "null space of %zu x %zu", m, n);
        }
    void *blocks[] = {left, right, a, b, x, residual, gradient, u, s, vt};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        wt_release(blocks[i]);
}

static void least_squares_finds_rank_and_least_norm(void **state) {
    for (size_t c = 0; c < SIZES; c++) {
        size_t least = sizes[c][0] < sizes[c][1] ? sizes[c][0] : sizes[c][1];
        check_least_squares(*state, sizes[c][0], sizes[c][1], least);
        if (least > 2)
            check_least_squares(*state, sizes[c][0], sizes[c][1], least / 2);
        check_least_squares(*state, sizes[c][0], sizes[c][1], 0);
    }
}

static void least_squares_of_nothing(void **state) {
    double a[6] = {1, 0, 0, 2, 0, 0}, b[3] = {1, 2, 3}, x[2] = {5, 6};
    size_t rank;
    CHECK_OK(*state, wt_least_squares(*state, 0, 2, 1, a, 2, b, 1, -1, x, 1, &rank));
    assert_true(x[0] == 0 && x[1] == 0 && rank == 0);
    CHECK_OK(*state, wt_least_squares(*state, 3, 0, 1, a, 2, b, 1, -1, x, 1, &rank));
    assert_int_equal(rank, 0);
    CHECK_OK(*state, wt_least_squares(*state, 3, 2, 0, a, 2, b, 1, -1, x, 1, &rank));
    assert_int_equal(rank, 2);
    /* The cutoff decides what counts: the singular values are 2 and 1. */
    CHECK_OK(*state, wt_least_squares(*state, 3, 2, 1, a, 2, b, 1, 0.6, x, 1, &rank));
    assert_int_equal(rank, 1);
    CHECK_NEAR(x[0], 0, 1e-15);
    CHECK_NEAR(x[1], 1, 1e-15);
}

static void bad_arguments_are_refused(void **state) {
    wt_context *context = *state;
    double a[4] = {1, 0, 0, NAN}, b[2] = {1, 1}, x[2], s[2], u[4];
    size_t rank;
    CHECK_FAILS(context, wt_eigen_symmetric(context, 2, a, 2, false, s), WT_DATA,
                "A: row 1, column 1 is nan");
    CHECK_FAILS(context, wt_svd(context, 2, 2, a, 2, NULL, s, NULL), WT_DATA,
                "A: row 1, column 1 is nan");
    CHECK_FAILS(context, wt_least_squares(context, 2, 2, 1, a, 2, b, 1, -1, x, 1, &rank), WT_DATA,
                "A: row 1, column 1 is nan");
    a[3] = 1;
    b[1] = INFINITY;
    CHECK_FAILS(context, wt_least_squares(context, 2, 2, 1, a, 2, b, 1, -1, x, 1, &rank), WT_DATA,
                "B: row 1, column 0 is inf");
    CHECK_FAILS(context, wt_svd(context, 2, 2, a, 2, u, s, NULL), WT_USAGE, "both or none");
    CHECK_FAILS(context, wt_least_squares(context, 2, 2, 1, a, 2, b, 1, -1, x, 0, &rank), WT_USAGE,
                "X: a stride");
    CHECK_FAILS(context, wt_eigen_symmetric(context, 40000, NULL, 40000, true, s), WT_USAGE,
                "larger than LAPACK can take");
}

static wt_status run_all(wt_context *context, int which) {
    double a[6] = {2, 1, 1, 2, 3, 1}, s[2], u[6], vt[4], b[3] = {1, 2, 3}, x[2];
    size_t rank;
    if (which == 0)
        return wt_eigen_symmetric(context, 2, a, 2, true, s);
    if (which == 1)
        return wt_svd(context, 3, 2, a, 2, u, s, vt);
    return wt_least_squares(context, 3, 2, 1, a, 2, b, 1, -1, x, 1, &rank);
}

static void every_allocation_may_fail(void **state) {
    wt_context *context = *state;
    for (int which = 0; which < 3; which++) {
        long k = 1;
        for (;; k++) {
            size_t held = wt_context_memory_used(context);
            atomic_store(&context->allocation_to_fail, k);
            wt_status status = run_all(context, which);
            assert_int_equal(wt_context_memory_used(context), held);
            if (status == WT_OK)
                break;
            assert_int_equal(status, WT_MEMORY);
        }
        assert_true(k > 2); /* two blocks of work at the least: the fault was injected */
        atomic_store(&context->allocation_to_fail, 0);
        wt_context_cancel(context);
        CHECK_FAILS(context, run_all(context, which), WT_INTERRUPTED, "interrupted");
        atomic_store(&context->cancels, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eigenvectors_satisfy_their_equation),
        cmocka_unit_test(eigenvalues_of_a_path_are_known),
        cmocka_unit_test(singular_vectors_give_the_matrix_back),
        cmocka_unit_test(least_squares_finds_rank_and_least_norm),
        cmocka_unit_test(least_squares_of_nothing),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
