/* Small products against plain loops, for every kind of processor that this one can stand in for.
 */
#include "linalg/small.h"

#include "base/memory.h"
#include "check.h"
#include "wattle/random.h"

enum { SIDE = 80, ROOM = SIDE * SIDE }; /* of the matrices, whose strides are larger than they */

typedef struct {
    double a[ROOM], b[ROOM], c[ROOM];
    float a_float[ROOM], b_float[ROOM], c_float[ROOM];
} matrices;

static matrices *draw(wt_context *context) {
    matrices *all;
    CHECK_OK(context, WT_NEW(context, &all, 1, "matrices"));
    wt_random_normal(wt_stream_for(1, "a", 0), 0, ROOM, all->a);
    wt_random_normal(wt_stream_for(1, "b", 0), 0, ROOM, all->b);
    for (size_t i = 0; i < ROOM; i++) {
        all->a_float[i] = (float)all->a[i];
        all->b_float[i] = (float)all->b[i];
    }
    return all;
}

/* C before: numbers, or with beta = 0 NaN, which must not be read. */
static void fill(matrices *all, double beta) {
    for (size_t i = 0; i < ROOM; i++) {
        all->c[i] = beta == 0 ? NAN : (double)(i % 7);
        all->c_float[i] = (float)all->c[i];
    }
}

static double entry(wt_trans trans, const double *matrix, size_t stride, size_t i, size_t j) {
    return trans == WT_TRANSPOSED ? matrix[j * stride + i] : matrix[i * stride + j];
}

static bool untouched(double got, double beta, size_t at) {
    return beta == 0 ? isnan(got) : got == (double)(at % 7);
}

static void check_product(matrices *all, const wt_small_routines *routines, wt_trans trans_a,
                          wt_trans trans_b, size_t m, size_t n, size_t k, double alpha,
                          double beta) {
    const size_t stride = SIDE;
    fill(all, beta);
    routines->real64(trans_a, trans_b, m, n, k, alpha, all->a, stride, all->b, stride, beta, all->c,
                     stride);
    routines->real32(trans_a, trans_b, m, n, k, alpha, all->a_float, stride, all->b_float, stride,
                     beta, all->c_float, stride);
    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j < SIDE; j++) {
            size_t at = i * stride + j;
            double sum = beta == 0 ? 0 : beta * (double)(at % 7), size = fabs(sum);
            if (i >= m || j >= n) {
                if (!untouched(all->c[at], beta, at) ||
                    !untouched((double)all->c_float[at], beta, at))
                    fail_msg("%s %zu x %zu: (%zu, %zu) is past it and was written", routines->name,
                             m, n, i, j);
                continue;
            }
            for (size_t p = 0; p < k; p++) {
                double term = alpha * entry(trans_a, all->a, stride, i, p) *
                              entry(trans_b, all->b, stride, p, j);
                sum += term;
                size += fabs(term);
            }
            /* k + 3 roundings of partial sums, none larger than `size` */
            double roundings = (double)(k + 3) * size;
            if (!(fabs(all->c[at] - sum) <= 0x1p-52 * roundings) ||
                !(fabs((double)all->c_float[at] - sum) <= 0x1p-22 * roundings))
                fail_msg(
                    "%s %zu x %zu x %zu, transposed %d %d: (%zu, %zu) is %.17g and %.9g, not %.17g",
                    routines->name, m, n, k, (int)trans_a, (int)trans_b, i, j, all->c[at],
                    (double)all->c_float[at], sum);
        }
}

static void products_are_products(void **state) {
    static const size_t shapes[][3] = {
        {1, 2, 1},    {4, 4, 8},  {4, 8, 4},  {5, 5, 8},   {3, 9, 7},   {7, 3, 64}, {11, 8, 11},
        {12, 12, 12}, {2, 17, 5}, {64, 2, 3}, {1, 70, 20}, {9, 16, 14}, {4, 4, 0},  {13, 7, 1}};
    static const double factors[][2] = {{1, 0}, {-1, 1}, {0.5, -2}};
    matrices *all = draw(*state);
    const wt_small_routines *routines;
    size_t kinds = 0;
    for (; (routines = wt_small_at(kinds)) != NULL; kinds++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int transposed = 0; transposed < 4; transposed++)
                for (size_t f = 0; f < 3; f++) {
                    assert_true(wt_small_fits(shapes[s][0], shapes[s][1], shapes[s][2]));
                    check_product(all, routines, (wt_trans)(transposed & 1),
                                  (wt_trans)(transposed >> 1), shapes[s][0], shapes[s][1],
                                  shapes[s][2], factors[f][0], factors[f][1]);
                }
    assert_true(kinds >= 1);
    assert_ptr_equal(wt_small(), wt_small_at(kinds - 1));
    wt_release(all);
}

/* A part of C is the same bits as in the whole: whoever cuts rows or columns changes nothing. */
static void parts_are_parts_of_the_whole(void **state) {
    matrices *all = draw(*state);
    double whole[11 * 13], part[11 * 13];
    const wt_small_routines *routines;
    for (size_t kind = 0; (routines = wt_small_at(kind)) != NULL; kind++) {
        routines->real64(WT_PLAIN, WT_PLAIN, 11, 13, 9, 1, all->a, SIDE, all->b, SIDE, 0, whole,
                         13);
        for (size_t i = 0; i < 11; i++)
            for (size_t j = 0; j + 3 <= 13; j += 2) {
                routines->real64(WT_PLAIN, WT_PLAIN, 1, 3, 9, 1, all->a + i * SIDE, SIDE,
                                 all->b + j, SIDE, 0, part, 3);
                assert_memory_equal(part, whole + i * 13 + j, 3 * sizeof *part);
            }
    }
    wt_release(all);
}

static void large_products_do_not_fit(void **state) {
    (void)state;
    assert_false(wt_small_fits(5, 1, 5)); /* GEMV's */
    assert_false(wt_small_fits(2, 2, 65));
    assert_false(wt_small_fits(16, 16, 9));
    assert_true(wt_small_fits(16, 16, 8));
    assert_false(wt_small_fits((size_t)1 << 32, (size_t)1 << 32, 2)); /* would wrap around to 0 */
    assert_false(wt_small_fits(2, SIZE_MAX, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_products),
        cmocka_unit_test(parts_are_parts_of_the_whole),
        cmocka_unit_test(large_products_do_not_fit),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
