/* Cholesky and triangular solves: against the plain formula, leading blocks, failing minors, and
 * bit for bit over numbers of threads. */
#include "reference.h"

enum { PADDING = 3 };

static const size_t orders[] = {0, 1, 2, 255, 256, 257, 300, 520};
enum { ORDERS = sizeof orders / sizeof *orders };

/* The factor of a well-conditioned matrix with entries of order 1 errs by about n eps at most. */
static double tolerance(size_t n, double epsilon) {
    return 20 * epsilon * ((double)n + 10);
}

static void factors_are_right(void **state) {
    wt_context *context = *state;
    for (size_t i = 0; i < ORDERS; i++) {
        size_t n = orders[i], stride = n + PADDING, failed_at;
        double *a = draw_definite(context, n, stride), *wanted = copy_of(context, a, n * stride);
        float *a_float = to_float(context, a, n * stride);
        assert_int_equal(plain_cholesky(n, wanted, stride), 0);
        CHECK_OK(context, wt_cholesky(context, n, a, stride, &failed_at));
        assert_int_equal(failed_at, 0);
        /* Whole rows: the upper triangle must be as it was. */
        CHECK_BELOW(largest_difference(n, stride, a, stride, wanted, stride, false),
                    tolerance(n, 0x1p-53), "Cholesky of order %zu", n);
        CHECK_OK(context, wt_cholesky_float(context, n, a_float, stride, &failed_at));
        assert_int_equal(failed_at, 0);
        double *got = to_double(context, a_float, n * stride);
        CHECK_BELOW(largest_difference(n, stride, got, stride, wanted, stride, false),
                    tolerance(n, 0x1p-24), "float Cholesky of order %zu", n);
        wt_release(a);
        wt_release(wanted);
        wt_release(a_float);
        wt_release(got);
    }
}

static void a_leading_block_has_the_leading_factor(void **state) {
    wt_context *context = *state;
    enum { N = 2 * WT_TILE + 90 };
    static const size_t leading[] = {100, WT_TILE, WT_TILE + 40, 2 * WT_TILE, 2 * WT_TILE + 3};
    size_t failed_at;
    double *a = draw_definite(context, N, N), *whole = copy_of(context, a, N * N);
    float *a_float = to_float(context, a, N * N), *whole_float = to_float(context, a, N * N);
    CHECK_OK(context, wt_cholesky(context, N, whole, N, &failed_at));
    CHECK_OK(context, wt_cholesky_float(context, N, whole_float, N, &failed_at));
    for (size_t i = 0; i < sizeof leading / sizeof *leading; i++) {
        size_t p = leading[i], exact = p / WT_TILE * WT_TILE;
        double *block = copy_of(context, a, N * N);
        float *block_float = copy_of_float(context, a_float, N * N);
        CHECK_OK(context, wt_cholesky(context, p, block, N, &failed_at));
        CHECK_OK(context, wt_cholesky_float(context, p, block_float, N, &failed_at));
        for (size_t row = 0; row < exact; row++) {
            assert_memory_equal(block + row * N, whole + row * N, (row + 1) * sizeof(double));
            assert_memory_equal(block_float + row * N, whole_float + row * N,
                                (row + 1) * sizeof(float));
        }
        CHECK_BELOW(largest_difference(p, p, block, N, whole, N, true), tolerance(p, 0x1p-53),
                    "leading %zu of %d", p, N);
        wt_release(block);
        wt_release(block_float);
    }
    wt_release(a);
    wt_release(whole);
    wt_release(a_float);
    wt_release(whole_float);
}

static void a_failing_minor_is_named(void **state) {
    wt_context *context = *state;
    enum { N = 2 * WT_TILE + 90 };
    static const size_t minors[] = {1, 2, 100, WT_TILE, WT_TILE + 1, 2 * WT_TILE + 17, N};
    double *a = draw_definite(context, N, N);
    for (size_t i = 0; i < sizeof minors / sizeof *minors; i++) {
        size_t failed_at = 0, minor = minors[i];
        double *bad = copy_of(context, a, N * N);
        bad[(minor - 1) * N + minor - 1] = -1;
        float *bad_float = to_float(context, bad, N * N);
        CHECK_OK(context, wt_cholesky(context, N, bad, N, &failed_at));
        assert_int_equal(failed_at, minor);
        CHECK_OK(context, wt_cholesky_float(context, N, bad_float, N, &failed_at));
        assert_int_equal(failed_at, minor);
        wt_release(bad);
        wt_release(bad_float);
    }
    wt_release(a);
}

/* A lower triangle near 2 I: solutions are of order 1 and errors are those of the sums, yet every
 * tile matters by far more than they do. */
static double *draw_lower(wt_context *context, size_t n, size_t stride) {
    double *l = draw(context, "lower", n, stride);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            l[i * stride + j] /= (double)n;
        l[i * stride + i] = 2;
        for (size_t j = i + 1; j < stride; j++)
            l[i * stride + j] = NAN; /* what lies above the diagonal must not matter */
    }
    return l;
}

static void check_solve(wt_context *context, size_t n, size_t columns, wt_trans trans) {
    size_t stride = n + PADDING, b_stride = columns + PADDING;
    double *l = draw_lower(context, n, stride);
    float *l_float = to_float(context, l, n * stride);
    double *b = draw(context, "b", n, b_stride), *wanted = copy_of(context, b, n * b_stride);
    float *b_float = to_float(context, b, n * b_stride);
    CHECK_OK(context, wt_solve_lower(context, trans, n, columns, l, stride, b, b_stride));
    CHECK_OK(context,
             wt_solve_lower_float(context, trans, n, columns, l_float, stride, b_float, b_stride));
    plain_solve(trans, n, columns, l, stride, wanted, b_stride);
    CHECK_BELOW(largest_difference(n, b_stride, b, b_stride, wanted, b_stride, false),
                tolerance(n, 0x1p-53), "solve of %zu, %zu columns, transposed %d", n, columns,
                trans);
    double *got = to_double(context, b_float, n * b_stride);
    CHECK_BELOW(largest_difference(n, b_stride, got, b_stride, wanted, b_stride, false),
                tolerance(n, 0x1p-24), "float solve of %zu, %zu columns, transposed %d", n, columns,
                trans);
    void *blocks[] = {l, l_float, b, wanted, b_float, got};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        wt_release(blocks[i]);
}

/* The last rows make several of the tall tiles that few columns get. */
static const size_t solves[][2] = {{0, 3},     {3, 0},     {1, 1},     {2, 300},   {255, 31},
                                   {256, 256}, {257, 257}, {520, 1},   {520, 40},  {1024, 2},
                                   {1025, 31}, {2100, 1},  {2100, 31}, {1100, 32}, {700, 520}};

static void solves_are_right(void **state) {
    for (size_t i = 0; i < sizeof solves / sizeof *solves; i++)
        for (int trans = WT_PLAIN; trans <= WT_TRANSPOSED; trans++)
            check_solve(*state, solves[i][0], solves[i][1], (wt_trans)trans);
}

static void a_leading_block_is_solved_with(void **state) {
    wt_context *context = *state;
    enum { N = 600, P = 345, COLUMNS = 3 };
    size_t failed_at;
    double *a = draw_definite(context, N, N), *l = copy_of(context, a, N * N);
    double *x = draw(context, "x", P, COLUMNS), *b;
    CHECK_OK(context, WT_NEW(context, &b, P * COLUMNS, "b"));
    plain_gemm(WT_PLAIN, WT_PLAIN, P, COLUMNS, P, 1, a, N, x, COLUMNS, 0, b, COLUMNS);
    CHECK_OK(context, wt_cholesky(context, N, l, N, &failed_at));
    CHECK_OK(context, wt_solve_lower(context, WT_PLAIN, P, COLUMNS, l, N, b, COLUMNS));
    CHECK_OK(context, wt_solve_lower(context, WT_TRANSPOSED, P, COLUMNS, l, N, b, COLUMNS));
    /* Condition below 10, so 10 times the error of a factor. */
    CHECK_BELOW(largest_difference(P, COLUMNS, b, COLUMNS, x, COLUMNS, false),
                10 * tolerance(P, 0x1p-53), "leading block of %d", P);
    wt_release(a);
    wt_release(l);
    wt_release(x);
    wt_release(b);
}

enum { TN = 700, TC = 300, TALL = 2300 };

typedef struct {
    double *l, *b, *x; /* x: of a solve with few columns, by tall tiles */
    float *l_float, *b_float;
} results;

static results compute(wt_context *context, const double *a, int threads) {
    size_t failed_at;
    results out = {.l = copy_of(context, a, TN * TN),
                   .l_float = to_float(context, a, TN * TN),
                   .b = draw(context, "b", TN, TC),
                   .b_float = draw_float(context, "b", TN, TC)};
    CHECK_OK(context, wt_context_set_threads(context, threads));
    CHECK_OK(context, wt_cholesky(context, TN, out.l, TN, &failed_at));
    CHECK_OK(context, wt_solve_lower(context, WT_PLAIN, TN, TC, out.l, TN, out.b, TC));
    CHECK_OK(context, wt_solve_lower(context, WT_TRANSPOSED, TN, TC, out.l, TN, out.b, TC));
    /* One column, through the same memory: the other path of the backend. */
    CHECK_OK(context, wt_solve_lower(context, WT_PLAIN, TN, 1, out.l, TN, out.b, TC));
    CHECK_OK(context, wt_solve_lower(context, WT_TRANSPOSED, TN, 1, out.l, TN, out.b, TC));
    CHECK_OK(context, wt_cholesky_float(context, TN, out.l_float, TN, &failed_at));
    CHECK_OK(context,
             wt_solve_lower_float(context, WT_PLAIN, TN, TC, out.l_float, TN, out.b_float, TC));
    CHECK_OK(context,
             wt_solve_lower_float(context, WT_TRANSPOSED, TN, 1, out.l_float, TN, out.b_float, TC));
    double *tall = draw_lower(context, TALL, TALL);
    out.x = draw(context, "x", TALL, 2);
    CHECK_OK(context, wt_solve_lower(context, WT_PLAIN, TALL, 2, tall, TALL, out.x, 2));
    CHECK_OK(context, wt_solve_lower(context, WT_TRANSPOSED, TALL, 1, tall, TALL, out.x, 2));
    wt_release(tall);
    return out;
}

static void drop(results out) {
    wt_release(out.l);
    wt_release(out.b);
    wt_release(out.x);
    wt_release(out.l_float);
    wt_release(out.b_float);
}

static void threads_do_not_change_a_bit(void **state) {
    int threads = wt_context_threads(*state);
    double *a = draw_definite(*state, TN, TN);
    results one = compute(*state, a, 1);
    for (int t = 2; t <= 4; t++) {
        results many = compute(*state, a, t);
        assert_memory_equal(one.l, many.l, TN * TN * sizeof(double));
        assert_memory_equal(one.b, many.b, TN * TC * sizeof(double));
        assert_memory_equal(one.x, many.x, TALL * 2 * sizeof(double));
        assert_memory_equal(one.l_float, many.l_float, TN * TN * sizeof(float));
        assert_memory_equal(one.b_float, many.b_float, TN * TC * sizeof(float));
        drop(many);
    }
    drop(one);
    wt_release(a);
    CHECK_OK(*state, wt_context_set_threads(*state, threads));
}

static void bad_arguments_are_refused(void **state) {
    wt_context *context = *state;
    size_t failed_at;
    double a[4] = {1, NAN, 2, 0}, b[2] = {1, NAN};
    float a_float[4] = {1, 0, INFINITY, 1}, b_float[2] = {1, 1};
    CHECK_FAILS(context, wt_cholesky(context, 2, a, 1, &failed_at), WT_USAGE, "A: a stride");
    CHECK_FAILS(context, wt_solve_lower(context, WT_PLAIN, 2, 1, a, 2, b, 1), WT_DATA,
                "L: the diagonal is 0 in row 1");
    a[3] = 1;
    CHECK_FAILS(context, wt_solve_lower(context, WT_PLAIN, 2, 1, a, 2, b, 1), WT_DATA,
                "B: row 1, column 0 is nan");
    CHECK_FAILS(context, wt_solve_lower(context, WT_PLAIN, 2, 2, a, 2, b, 1), WT_USAGE,
                "B: a stride");
    CHECK_FAILS(context, wt_cholesky_float(context, 2, a_float, 2, &failed_at), WT_DATA,
                "A: row 1, column 0 is inf");
    a_float[0] = 0;
    CHECK_FAILS(context, wt_solve_lower_float(context, WT_PLAIN, 2, 1, a_float, 2, b_float, 1),
                WT_DATA, "L: the diagonal is 0 in row 0");
    a[2] = NAN;
    CHECK_FAILS(context, wt_cholesky(context, 2, a, 2, &failed_at), WT_DATA,
                "A: row 1, column 0 is nan");
}

static void cancelling_is_honoured(void **state) {
    wt_context *context = *state;
    size_t failed_at;
    double a[4] = {2, 1, 1, 2}, b[2] = {1, 1};
    wt_context_cancel(context);
    CHECK_FAILS(context, wt_cholesky(context, 2, a, 2, &failed_at), WT_INTERRUPTED, "interrupted");
    CHECK_FAILS(context, wt_solve_lower(context, WT_PLAIN, 2, 1, a, 2, b, 1), WT_INTERRUPTED,
                "interrupted");
    atomic_store(&context->cancels, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_right),
        cmocka_unit_test(a_leading_block_has_the_leading_factor),
        cmocka_unit_test(a_failing_minor_is_named),
        cmocka_unit_test(solves_are_right),
        cmocka_unit_test(a_leading_block_is_solved_with),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(cancelling_is_honoured),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
