/* Norms against closed forms; projections: inside, feasible, idempotent, nearest. */
#include "reference.h"

enum { PADDING = 2 };
static const char *const names[] = {"spectral", "frobenius", "2,1", "nuclear"};

static double norm_of(wt_context *context, wt_norm_kind kind, size_t m, size_t n, const double *a,
                      size_t stride) {
    double norm;
    CHECK_OK(context, wt_norm(context, kind, m, n, a, stride, &norm));
    return norm;
}

/* diag(3, -4) over a zero row, in a matrix with padding that must not count. */
static void norms_of_a_diagonal_are_known(void **state) {
    double a[9] = {3, 0, 100, 0, -4, 100, 0, 0, 100};
    static const double wanted[] = {
        [WT_SPECTRAL] = 4, [WT_FROBENIUS] = 5, [WT_COLUMNS] = 7, [WT_NUCLEAR] = 7};
    for (int kind = 0; kind < WT_NORM_KINDS; kind++)
        CHECK_NEAR(norm_of(*state, (wt_norm_kind)kind, 3, 2, a, 3), wanted[kind], 1e-15);
}

/* x y^T has one singular value |x| |y|; its columns have norms |x| |y_j|. */
static void norms_of_rank_one_are_known(void **state) {
    enum { M = 17, N = 9 };
    double x[M], y[N], a[M * N], xx = 0, yy = 0, y1 = 0;
    for (int i = 0; i < M; i++) {
        x[i] = sin(i + 1);
        xx += x[i] * x[i];
    }
    for (int j = 0; j < N; j++) {
        y[j] = cos(3 * j);
        yy += y[j] * y[j];
        y1 += fabs(y[j]);
    }
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            a[i * N + j] = x[i] * y[j];
    double product = sqrt(xx * yy);
    /* LAPACK errs by a few eps times the norm for each of 9 singular values. */
    CHECK_NEAR(norm_of(*state, WT_SPECTRAL, M, N, a, N), product, 1e-14);
    CHECK_NEAR(norm_of(*state, WT_FROBENIUS, M, N, a, N), product, 1e-14);
    CHECK_NEAR(norm_of(*state, WT_COLUMNS, M, N, a, N), sqrt(xx) * y1, 1e-14);
    CHECK_NEAR(norm_of(*state, WT_NUCLEAR, M, N, a, N), product, 1e-13);
}

/* Squares of these would overflow or vanish. */
static void extreme_entries_keep_their_norm(void **state) {
    double large[2] = {3e200, 4e200}, small[2] = {3e-200, 4e-200}, huge[2] = {1.5e308, 1.5e308};
    double least[2] = {3 * 0x1p-1074, 4 * 0x1p-1074}, most[2] = {3 * 0x1p1021, 4 * 0x1p1020};
    for (int kind = 0; kind < WT_NORM_KINDS; kind++) {
        assert_true(fabs(norm_of(*state, (wt_norm_kind)kind, 2, 1, large, 1) / 5e200 - 1) < 1e-14);
        assert_true(fabs(norm_of(*state, (wt_norm_kind)kind, 2, 1, small, 1) / 5e-200 - 1) < 1e-14);
    }
    double norm;
    CHECK_NEAR(norm_of(*state, WT_FROBENIUS, 2, 1, least, 1), 5 * 0x1p-1074, 0);
    CHECK_NEAR(norm_of(*state, WT_FROBENIUS, 2, 1, most, 1) / 0x1p1020, sqrt(52), 1e-14);
    CHECK_FAILS(*state, wt_norm(*state, WT_FROBENIUS, 1, 2, huge, 2, &norm), WT_DATA,
                "the frobenius norm is beyond the range of doubles");
}

static const size_t sizes[][2] = {{1, 1}, {1, 6}, {6, 1}, {5, 9}, {9, 5}, {30, 30}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void inner_points_are_left_alone(void **state) {
    for (size_t c = 0; c < SIZES; c++)
        for (int kind = 0; kind < WT_NORM_KINDS; kind++) {
            size_t m = sizes[c][0], n = sizes[c][1], stride = n + PADDING;
            double *a = draw(*state, "inner", m, stride), *was = copy_of(*state, a, m * stride);
            double norm = norm_of(*state, (wt_norm_kind)kind, m, n, a, stride);
            CHECK_OK(*state, wt_project(*state, (wt_norm_kind)kind, norm, m, n, a, stride));
            assert_memory_equal(a, was, m * stride * sizeof *a);
            wt_release(a);
            wt_release(was);
        }
}

/* <A - P, Z - P> <= 0 for every Z of the ball marks P as the nearest point. Z: random ones scaled
 * to the sphere of the norm, and A's own direction on it. Everything is of order |A|^2 = m n, and
 * errs by eps times that with a factor for the decomposition. */
static void check_nearest(wt_context *context, wt_norm_kind kind, size_t m, size_t n,
                          double fraction) {
    size_t stride = n + PADDING;
    double *a = draw(context, "outer", m, stride), *p = copy_of(context, a, m * stride);
    double norm = norm_of(context, kind, m, n, a, stride), radius = fraction * norm;
    double error = 0x1p-53 * 100 * (double)(m * n + 10);
    CHECK_OK(context, wt_project(context, kind, radius, m, n, p, stride));
    for (size_t i = 0; i < m; i++)
        assert_memory_equal(p + i * stride + n, a + i * stride + n, PADDING * sizeof *a);
    CHECK_BELOW(fabs(norm_of(context, kind, m, n, p, stride) - radius), error,
                "%s, %zu x %zu, on the sphere", names[kind], m, n);
    double *again = copy_of(context, p, m * stride);
    CHECK_OK(context, wt_project(context, kind, radius, m, n, again, stride));
    CHECK_BELOW(largest_difference(m, n, again, stride, p, stride, false), error,
                "%s, %zu x %zu, twice", names[kind], m, n);
    for (uint64_t trial = 0; trial < 50; trial++) {
        double *z = copy_of(context, a, m * stride);
        if (trial > 0)
            wt_random_normal(wt_stream_for(2, "trial", trial), 0, m * stride, z);
        double scale = radius / norm_of(context, kind, m, n, z, stride), product = 0;
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++)
                product += (a[i * stride + j] - p[i * stride + j]) *
                           (scale * z[i * stride + j] - p[i * stride + j]);
        CHECK_BELOW(product, error, "%s, %zu x %zu, trial %d", names[kind], m, n, (int)trial);
        wt_release(z);
    }
    wt_release(a);
    wt_release(p);
    wt_release(again);
}

/* Equality in the inequality above, at P's own support, is what a point of the ball nearer to A
 * would break: <A - P, P> = radius times the dual norm of A - P. For the four norms the duals are
 * nuclear, Frobenius, the largest column and spectral. */
static double dual_norm(wt_context *context, wt_norm_kind kind, size_t m, size_t n,
                        const double *a) {
    if (kind != WT_COLUMNS)
        return norm_of(context,
                       kind == WT_SPECTRAL  ? WT_NUCLEAR
                       : kind == WT_NUCLEAR ? WT_SPECTRAL
                                            : WT_FROBENIUS,
                       m, n, a, n);
    double largest = 0;
    for (size_t j = 0; j < n; j++) {
        double square = 0;
        for (size_t i = 0; i < m; i++)
            square += a[i * n + j] * a[i * n + j];
        largest = fmax(largest, sqrt(square));
    }
    return largest;
}

static void check_dual(wt_context *context, wt_norm_kind kind, size_t m, size_t n,
                       double fraction) {
    double *a = draw(context, "dual", m, n), *p = copy_of(context, a, m * n), product = 0;
    double radius = fraction * norm_of(context, kind, m, n, a, n);
    CHECK_OK(context, wt_project(context, kind, radius, m, n, p, n));
    for (size_t i = 0; i < m * n; i++) {
        a[i] -= p[i];
        product += a[i] * p[i];
    }
    CHECK_BELOW(fabs(product - radius * dual_norm(context, kind, m, n, a)),
                0x1p-53 * 100 * (double)(m * n + 10), "%s, %zu x %zu, dual", names[kind], m, n);
    wt_release(a);
    wt_release(p);
}

static void projections_are_nearest(void **state) {
    static const double fractions[] = {0.9, 0.3, 0.01};
    for (size_t c = 0; c < SIZES; c++)
        for (int kind = 0; kind < WT_NORM_KINDS; kind++)
            for (size_t f = 0; f < sizeof fractions / sizeof *fractions; f++) {
                check_nearest(*state, (wt_norm_kind)kind, sizes[c][0], sizes[c][1], fractions[f]);
                check_dual(*state, (wt_norm_kind)kind, sizes[c][0], sizes[c][1], fractions[f]);
            }
}

static void a_ball_of_radius_zero_is_a_point(void **state) {
    for (int kind = 0; kind < WT_NORM_KINDS; kind++) {
        double a[6] = {1, -2, 3, 4, 0, 6};
        CHECK_OK(*state, wt_project(*state, (wt_norm_kind)kind, 0, 2, 3, a, 3));
        for (int i = 0; i < 6; i++)
            assert_true(a[i] == 0);
        CHECK_OK(*state, wt_project(*state, (wt_norm_kind)kind, 1, 0, 3, NULL, 3));
        CHECK_OK(*state, wt_project(*state, (wt_norm_kind)kind, 0, 2, 3, a, 3));
    }
}

static void sums_are_projected_exactly(void **state) {
    double x[5] = {0, 5, 1, 3, 3};
    CHECK_OK(*state, wt_project_sum(*state, 6, 5, x)); /* t = 5/3: 10/3 + 4/3 + 4/3 */
    static const double wanted[5] = {0, 10.0 / 3, 0, 4.0 / 3, 4.0 / 3};
    for (int i = 0; i < 5; i++)
        CHECK_NEAR(x[i], wanted[i], 1e-15);
    double same[3] = {1, 1, 1}, none[1] = {0};
    CHECK_OK(*state, wt_project_sum(*state, 1.5, 3, same));
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(same[i], 0.5, 1e-16);
    CHECK_OK(*state, wt_project_sum(*state, 0, 0, none));
    double bad[2] = {1, -1};
    CHECK_FAILS(*state, wt_project_sum(*state, 1, 2, bad), WT_DATA, "x: number 1 is -1");
}

static void bad_arguments_are_refused(void **state) {
    double a[2] = {1, NAN}, norm;
    CHECK_FAILS(*state, wt_project(*state, WT_NUCLEAR, -1, 1, 1, a, 1), WT_USAGE,
                "a ball of radius -1");
    CHECK_FAILS(*state, wt_project(*state, WT_NUCLEAR, NAN, 1, 1, a, 1), WT_USAGE, "a ball");
    CHECK_FAILS(*state, wt_project(*state, WT_COLUMNS, 1, 1, 2, a, 2), WT_DATA,
                "A: row 0, column 1 is nan");
    CHECK_FAILS(*state, wt_norm(*state, WT_SPECTRAL, 2, 2, a, 1, &norm), WT_USAGE, "a stride");
    CHECK_FAILS(*state, wt_norm(*state, (wt_norm_kind)9, 1, 1, a, 1, &norm), WT_USAGE,
                "there is no norm number 9");
}

static void every_allocation_may_fail(void **state) {
    wt_context *context = *state;
    for (int kind = 0; kind < WT_NORM_KINDS; kind++) {
        long k = 1;
        for (;; k++) {
            double a[6] = {1, -2, 3, 4, 0, 6};
            size_t held = wt_context_memory_used(context);
            atomic_store(&context->allocation_to_fail, k);
            wt_status status = wt_project(context, (wt_norm_kind)kind, 0.5, 2, 3, a, 3);
            assert_int_equal(wt_context_memory_used(context), held);
            if (status == WT_OK)
                break;
            assert_int_equal(status, WT_MEMORY);
        }
        assert_true(k > 1);
        atomic_store(&context->allocation_to_fail, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms_of_a_diagonal_are_known),
        cmocka_unit_test(norms_of_rank_one_are_known),
        cmocka_unit_test(extreme_entries_keep_their_norm),
        cmocka_unit_test(inner_points_are_left_alone),
        cmocka_unit_test(projections_are_nearest),
        cmocka_unit_test(a_ball_of_radius_zero_is_a_point),
        cmocka_unit_test(sums_are_projected_exactly),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
