/* Products and Gram matrices: against the plain formula, over shapes that are hard on tiles, and
 * bit for bit over numbers of threads. */
#include "reference.h"

/* Partial sums of k products of N(0,1) numbers reach k (on a diagonal); each of k roundings errs by
 * eps times that at most, and their signs are as good as random: sqrt(k) k eps, with room for the
 * largest of many entries. A term left out would be of order 1. */
static double tolerance(size_t k, double epsilon) {
    return 4 * epsilon * (sqrt((double)k) * (double)k + 8);
}

enum { PADDING = 3 }; /* strides longer than rows */

typedef struct {
    size_t m, n, k;
} shape;

static const shape shapes[] = {{0, 5, 3},       {5, 0, 3},       {4, 3, 0},     {1, 1, 1},
                               {1, 300, 7},     {300, 1, 40},    {17, 5, 600},  {255, 257, 64},
                               {256, 256, 256}, {257, 255, 513}, {513, 2, 100}, {300, 520, 33}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void check_product(wt_context *context, shape s, wt_trans trans_a, wt_trans trans_b) {
    size_t a_rows = trans_a == WT_TRANSPOSED ? s.k : s.m,
           b_rows = trans_b == WT_TRANSPOSED ? s.n : s.k;
    size_t a_stride = s.m + s.k - a_rows + PADDING, b_stride = s.n + s.k - b_rows + PADDING;
    size_t c_stride = s.n + PADDING;
    double *a = draw(context, "a", a_rows, a_stride), *b = draw(context, "b", b_rows, b_stride);
    double *c = draw(context, "c", s.m, c_stride), *wanted = copy_of(context, c, s.m * c_stride);
    CHECK_OK(context, wt_gemm(context, trans_a, trans_b, s.m, s.n, s.k, 0.5, a, a_stride, b,
                              b_stride, -2, c, c_stride));
    plain_gemm(trans_a, trans_b, s.m, s.n, s.k, 0.5, a, a_stride, b, b_stride, -2, wanted,
               c_stride);
    /* The padding is compared too: it must be as it was. */
    CHECK_BELOW(largest_difference(s.m, c_stride, c, c_stride, wanted, c_stride, false),
                tolerance(s.k, 0x1p-53), "%zu x %zu x %zu, transposed %d %d", s.m, s.n, s.k,
                trans_a, trans_b);
    wt_release(a);
    wt_release(b);
    wt_release(c);
    wt_release(wanted);
}

static void check_product_float(wt_context *context, shape s, wt_trans trans_a, wt_trans trans_b) {
    size_t a_rows = trans_a == WT_TRANSPOSED ? s.k : s.m,
           b_rows = trans_b == WT_TRANSPOSED ? s.n : s.k;
    size_t a_stride = s.m + s.k - a_rows + PADDING, b_stride = s.n + s.k - b_rows + PADDING;
    float *a = draw_float(context, "a", a_rows, a_stride);
    float *b = draw_float(context, "b", b_rows, b_stride);
    double *a_wide = to_double(context, a, a_rows * a_stride);
    double *b_wide = to_double(context, b, b_rows * b_stride);
    float *c = draw_float(context, "c", s.m, s.n);
    double *wanted = to_double(context, c, s.m * s.n);
    CHECK_OK(context, wt_gemm_float(context, trans_a, trans_b, s.m, s.n, s.k, 0.5f, a, a_stride, b,
                                    b_stride, -2, c, s.n));
    plain_gemm(trans_a, trans_b, s.m, s.n, s.k, 0.5, a_wide, a_stride, b_wide, b_stride, -2, wanted,
               s.n);
    double *got = to_double(context, c, s.m * s.n);
    CHECK_BELOW(largest_difference(s.m, s.n, got, s.n, wanted, s.n, false), tolerance(s.k, 0x1p-24),
                "float %zu x %zu x %zu, transposed %d %d", s.m, s.n, s.k, trans_a, trans_b);
    void *blocks[] = {a, b, a_wide, b_wide, c, wanted, got};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        wt_release(blocks[i]);
}

static void products_are_right(void **state) {
    for (size_t i = 0; i < SHAPES; i++)
        for (int transposed = 0; transposed < 4; transposed++) {
            check_product(*state, shapes[i], transposed & 1 ? WT_TRANSPOSED : WT_PLAIN,
                          transposed & 2 ? WT_TRANSPOSED : WT_PLAIN);
            check_product_float(*state, shapes[i], transposed & 1 ? WT_TRANSPOSED : WT_PLAIN,
                                transposed & 2 ? WT_TRANSPOSED : WT_PLAIN);
        }
}

static void a_zero_beta_does_not_read(void **state) {
    double a[2] = {1, 2}, b[2] = {3, 4}, c = NAN;
    CHECK_OK(*state, wt_gemm(*state, WT_PLAIN, WT_PLAIN, 1, 1, 2, 1, a, 2, b, 1, 0, &c, 1));
    assert_true(c == 11);
    c = NAN;
    CHECK_OK(*state, wt_gram(*state, WT_PLAIN, 1, 2, a, 2, 0, &c, 1));
    assert_true(c == 5);
    c = NAN;
    CHECK_OK(*state, wt_gram(*state, WT_PLAIN, 1, 0, a, 2, 0, &c, 1));
    assert_true(c == 0);
    float a_float[2] = {1, 2};
    c = NAN;
    CHECK_OK(*state, wt_gram_float(*state, WT_PLAIN, 1, 2, a_float, 2, 0, &c, 1));
    assert_true(c == 5);
}

static const shape gram_shapes[] = {/* order, depth */ {0, 3, 0},
                                    {3, 0, 0},
                                    {1, 1, 0},
                                    {1, 700, 0},
                                    {255, 9, 0},
                                    {256, 512, 0},
                                    {257, 513, 0},
                                    {300, 1025, 0},
                                    {520, 100, 0}};

static void check_gram(wt_context *context, size_t n, size_t depth, wt_trans trans, double beta) {
    size_t rows = trans == WT_TRANSPOSED ? depth : n, columns = trans == WT_TRANSPOSED ? n : depth;
    size_t stride = columns + PADDING, k_stride = n + PADDING;
    float *a_float = draw_float(context, "gram", rows, stride);
    double *a = to_double(context, a_float, rows * stride);
    double *k = draw(context, "k", n, k_stride), *wanted = copy_of(context, k, n * k_stride);
    double *k_float = copy_of(context, k, n * k_stride);
    CHECK_OK(context, wt_gram(context, trans, rows, columns, a, stride, beta, k, k_stride));
    CHECK_OK(context, wt_gram_float(context, trans, rows, columns, a_float, stride, beta, k_float,
                                    k_stride));
    plain_gram(trans, n, depth, a, stride, beta, wanted, k_stride);
    CHECK_BELOW(largest_difference(n, k_stride, k, k_stride, wanted, k_stride, false),
                tolerance(depth, 0x1p-53), "Gram %zu of %zu, transposed %d", n, depth, trans);
    /* Float errors are those of one piece of the sum, times the pieces. */
    size_t piece = depth < WT_GRAM_DEPTH ? depth : WT_GRAM_DEPTH;
    double pieces = ceil((double)depth / WT_GRAM_DEPTH);
    CHECK_BELOW(largest_difference(n, k_stride, k_float, k_stride, wanted, k_stride, false),
                pieces * tolerance(piece, 0x1p-24), "float Gram %zu of %zu, transposed %d", n,
                depth, trans);
    void *blocks[] = {a_float, a, k, wanted, k_float};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        wt_release(blocks[i]);
}

static void gram_matrices_are_right(void **state) {
    for (size_t i = 0; i < sizeof gram_shapes / sizeof *gram_shapes; i++)
        for (int trans = WT_PLAIN; trans <= WT_TRANSPOSED; trans++)
            for (int beta = 0; beta <= 1; beta++)
                check_gram(*state, gram_shapes[i].m, gram_shapes[i].n, (wt_trans)trans, beta);
}

/* The strict upper triangle and the padding are in the comparison above; here the stream. */
static void a_stream_gives_the_bits_of_the_whole(void **state) {
    wt_context *context = *state;
    enum { N = 300, DEPTH = 2 * WT_GRAM_DEPTH + 77 };
    double *a = draw(context, "stream", N, DEPTH);
    float *a_float = to_float(context, a, (size_t)N * DEPTH);
    double *whole[2], *parts[2];
    for (int i = 0; i < 2; i++) {
        CHECK_OK(context, WT_NEW_ZERO(context, &whole[i], N * N, "K"));
        CHECK_OK(context, WT_NEW_ZERO(context, &parts[i], N * N, "K"));
    }
    CHECK_OK(context, wt_gram(context, WT_PLAIN, N, DEPTH, a, DEPTH, 0, whole[0], N));
    CHECK_OK(context, wt_gram_float(context, WT_PLAIN, N, DEPTH, a_float, DEPTH, 0, whole[1], N));
    for (size_t at = 0; at < DEPTH; at += WT_GRAM_DEPTH) {
        size_t length = DEPTH - at < WT_GRAM_DEPTH ? DEPTH - at : WT_GRAM_DEPTH;
        CHECK_OK(context, wt_gram(context, WT_PLAIN, N, length, a + at, DEPTH, 1, parts[0], N));
        CHECK_OK(context,
                 wt_gram_float(context, WT_PLAIN, N, length, a_float + at, DEPTH, 1, parts[1], N));
    }
    for (int i = 0; i < 2; i++) {
        assert_memory_equal(whole[i], parts[i], N * N * sizeof(double));
        wt_release(whole[i]);
        wt_release(parts[i]);
    }
    wt_release(a);
    wt_release(a_float);
}

static void the_lower_triangle_is_mirrored(void **state) {
    for (size_t n = 0; n <= 600; n += n < 5 ? 1 : 119) {
        size_t stride = n + PADDING;
        double *a = draw(*state, "mirror", n, stride), *was = copy_of(*state, a, n * stride);
        CHECK_OK(*state, wt_mirror_lower(*state, n, a, stride));
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < stride; j++)
                assert_true(a[i * stride + j] ==
                            (j > i && j < n ? was[j * stride + i] : was[i * stride + j]));
        wt_release(a);
        wt_release(was);
    }
}

/* All that is computed here, on the given number of threads, in one block of memory. */
enum { TM = 600, TN = 530, TK = 700, RESULTS = TM * TN + 3 * TM * TM };

static double *compute(wt_context *context, int threads) {
    double *a = draw(context, "threads a", TM, TK), *b = draw(context, "threads b", TK, TN), *out;
    float *a_float = to_float(context, a, TM * TK), *b_float = to_float(context, b, TK * TN);
    float *c_float;
    CHECK_OK(context, wt_context_set_threads(context, threads));
    CHECK_OK(context, WT_NEW_ZERO(context, &out, RESULTS + TM * TN, "results"));
    CHECK_OK(context, WT_NEW_ZERO(context, &c_float, TM * TN, "results"));
    CHECK_OK(context,
             wt_gemm(context, WT_PLAIN, WT_PLAIN, TM, TN, TK, 1, a, TK, b, TN, 0, out, TN));
    double *k = out + TM * TN;
    CHECK_OK(context, wt_gram(context, WT_PLAIN, TM, TK, a, TK, 0, k, TM));
    CHECK_OK(context, wt_gram(context, WT_TRANSPOSED, TK, TN, b, TN, 0, k + TM * TM, TM));
    CHECK_OK(context,
             wt_gram_float(context, WT_PLAIN, TM, TK, a_float, TK, 0, k + 2 * TM * TM, TM));
    CHECK_OK(context, wt_gemm_float(context, WT_PLAIN, WT_PLAIN, TM, TN, TK, 1, a_float, TK,
                                    b_float, TN, 0, c_float, TN));
    for (size_t i = 0; i < TM * TN; i++)
        out[RESULTS + i] = (double)c_float[i];
    void *blocks[] = {a, b, a_float, b_float, c_float};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        wt_release(blocks[i]);
    return out;
}

static void threads_do_not_change_a_bit(void **state) {
    int threads = wt_context_threads(*state);
    double *one = compute(*state, 1);
    for (int t = 2; t <= 4; t++) {
        double *many = compute(*state, t);
        assert_memory_equal(one, many, (RESULTS + TM * TN) * sizeof(double));
        wt_release(many);
    }
    wt_release(one);
    CHECK_OK(*state, wt_context_set_threads(*state, threads));
}

static void bad_arguments_are_refused(void **state) {
    wt_context *context = *state;
    double a[4] = {1, 2, 3, 4}, c[4];
    CHECK_FAILS(context, wt_gemm(context, WT_PLAIN, WT_PLAIN, 2, 2, 2, 1, a, 1, a, 2, 0, c, 2),
                WT_USAGE, "A: a stride of 1 is shorter than a row of 2");
    CHECK_FAILS(context, wt_gram(context, WT_PLAIN, 2, 2, a, 2, 0, c, 1), WT_USAGE, "K: a stride");
    CHECK_FAILS(context,
                wt_gram(context, WT_PLAIN, 2, (size_t)1 << 31, a, (size_t)1 << 31, 0, c, 2),
                WT_USAGE, "more than BLAS can take");
    CHECK_FAILS(context, wt_mirror_lower(context, 2, a, 1), WT_USAGE, "A: a stride");
    a[3] = NAN;
    a[2] = INFINITY;
    CHECK_FAILS(context, wt_gram(context, WT_PLAIN, 2, 2, a, 2, 0, c, 2), WT_DATA,
                "A: row 1, column 0 is inf");
    float a_float[4] = {1, NAN, 2, 3};
    CHECK_FAILS(context, wt_gram_float(context, WT_TRANSPOSED, 2, 2, a_float, 2, 0, c, 2), WT_DATA,
                "A: row 0, column 1 is nan");
}

static void failing_memory_and_cancelling_are_reported(void **state) {
    wt_context *context = *state;
    float a[4] = {1, 2, 3, 4};
    double c[4];
    atomic_store(&context->allocation_to_fail, 1);
    CHECK_FAILS(context, wt_gram_float(context, WT_PLAIN, 2, 2, a, 2, 0, c, 2), WT_MEMORY,
                "no memory for tiles of the Gram matrix");
    wt_context_cancel(context);
    double b[4] = {1, 2, 3, 4};
    CHECK_FAILS(context, wt_gemm(context, WT_PLAIN, WT_PLAIN, 2, 2, 2, 1, b, 2, b, 2, 0, c, 2),
                WT_INTERRUPTED, "interrupted");
    CHECK_FAILS(context, wt_gram(context, WT_PLAIN, 2, 2, b, 2, 0, c, 2), WT_INTERRUPTED,
                "interrupted");
    atomic_store(&context->cancels, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_right),
        cmocka_unit_test(a_zero_beta_does_not_read),
        cmocka_unit_test(gram_matrices_are_right),
        cmocka_unit_test(a_stream_gives_the_bits_of_the_whole),
        cmocka_unit_test(the_lower_triangle_is_mirrored),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(failing_memory_and_cancelling_are_reported),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
