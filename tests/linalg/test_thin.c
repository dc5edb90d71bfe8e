#include "linalg/thin.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "check.h"
#include "linalg/linalg.h"
#include "linalg/thin_loops.h"
#include "wattle/random.h"

typedef struct {
    size_t rows, width, columns;
    double *p, *a, *v, *f;
} job;

static job make(wt_context *context, size_t rows, size_t width, size_t columns) {
    job work = {rows, width, columns, NULL, NULL, NULL, NULL};
    CHECK_OK(context, WT_NEW(context, &work.p, rows * width, "p"));
    CHECK_OK(context, WT_NEW(context, &work.a, rows * columns, "a"));
    CHECK_OK(context, WT_NEW(context, &work.v, width * columns, "v"));
    CHECK_OK(context, WT_NEW(context, &work.f, rows * columns, "f"));
    wt_random_normal(wt_stream_for(1, "p", 0), 0, rows * width, work.p);
    wt_random_normal(wt_stream_for(1, "a", 0), 0, rows * columns, work.a);
    for (size_t i = 0; i < rows * columns; i++)
        work.f[i] = 0.5;
    return work;
}

static void drop(job *work) {
    wt_release(work->p);
    wt_release(work->a);
    wt_release(work->v);
    wt_release(work->f);
}

/* Sums of at most 700 products of order 1: 1e-11 is far above their rounding and far below any
 * misplaced term. */
static void check_against_loops(const job *work) {
    for (size_t j = 0; j < work->width; j++)
        for (size_t c = 0; c < work->columns; c++) {
            double sum = 0;
            for (size_t i = 0; i < work->rows; i++)
                sum += work->p[i * work->width + j] * work->a[i * work->columns + c];
            CHECK_NEAR(work->v[j * work->columns + c], 0.25 * sum, 1e-11);
        }
    for (size_t i = 0; i < work->rows; i++)
        for (size_t c = 0; c < work->columns; c++) {
            double sum = 0.5;
            for (size_t j = 0; j < work->width; j++)
                sum += work->p[i * work->width + j] * work->v[j * work->columns + c];
            CHECK_NEAR(work->f[i * work->columns + c], sum, 1e-11);
        }
}

static void thin_products_are_products(void **state) {
    static const size_t shapes[][3] = {{1, 1, 1},    {2, 7, 3},      {129, 16, 8},
                                       {130, 65, 9}, {257, 530, 11}, {64, 600, 17}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        job work = make(*state, shapes[s][0], shapes[s][1], shapes[s][2]);
        CHECK_OK(*state, wt_thin_project(*state, work.rows, work.width, work.columns, 0.25, work.p,
                                         work.width, NULL, work.a, work.v, work.f));
        check_against_loops(&work);
        drop(&work);
    }
}

static void threads_do_not_matter(void **state) {
    job one = make(*state, 300, 530, 9), many = make(*state, 300, 530, 9);
    CHECK_OK(*state, wt_context_set_threads(*state, 1));
    CHECK_OK(*state,
             wt_thin_project(*state, 300, 530, 9, 1, one.p, 530, NULL, one.a, one.v, one.f));
    for (int threads = 2; threads <= 4; threads++) {
        for (size_t i = 0; i < 300 * 9; i++)
            many.f[i] = 0.5;
        CHECK_OK(*state, wt_context_set_threads(*state, threads));
        CHECK_OK(*state, wt_thin_project(*state, 300, 530, 9, 1, many.p, 530, NULL, many.a, many.v,
                                         many.f));
        assert_memory_equal(one.v, many.v, 530 * 9 * sizeof(double));
        assert_memory_equal(one.f, many.f, 300 * 9 * sizeof(double));
    }
    drop(&one);
    drop(&many);
}

/* Columns of fewer rows: products of columns that are zero below, and F untouched there, whatever A
 * holds there. A compiler may fuse the loops for other numbers of columns otherwise, which moves
 * the last bits of sums of at most 537 products of order 1. */
static void short_columns_are_zero_below(void **state) {
    enum { ROWS = 300, WIDTH = 537, COLUMNS = 11 };
    static const size_t orders[COLUMNS] = {1, 1, 2, 5, 64, 127, 129, 130, 255, 300, 300};
    job whole = make(*state, ROWS, WIDTH, COLUMNS), cut = make(*state, ROWS, WIDTH, COLUMNS);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t c = 0; c < COLUMNS; c++)
            if (i >= orders[c]) {
                whole.a[i * COLUMNS + c] = 0;
                cut.a[i * COLUMNS + c] = NAN;
            }
    CHECK_OK(*state, wt_thin_project(*state, ROWS, WIDTH, COLUMNS, 0.5, whole.p, WIDTH, NULL,
                                     whole.a, whole.v, whole.f));
    CHECK_OK(*state, wt_thin_project(*state, ROWS, WIDTH, COLUMNS, 0.5, cut.p, WIDTH, orders, cut.a,
                                     cut.v, cut.f));
    for (size_t i = 0; i < (size_t)WIDTH * COLUMNS; i++)
        CHECK_NEAR(cut.v[i], whole.v[i], 1e-12);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t c = 0; c < COLUMNS; c++) {
            size_t at = i * COLUMNS + c;
            CHECK_NEAR(cut.f[at], i < orders[c] ? whole.f[at] : 0.5, i < orders[c] ? 1e-10 : 0);
        }
    drop(&whole);
    drop(&cut);
}

/* Every version this processor can run, for every number of columns. */
static void versions_agree(void **state) {
    enum { ROWS = 37, WIDTH = 24 };
    const wt_thin_loops *able[3];
    size_t count = wt_thin_able(able, 3);
    assert_true(count >= 1);
    for (size_t columns = 1; columns <= WT_THIN_COLUMNS; columns++) {
        job work = make(*state, ROWS, WIDTH, columns);
        for (size_t k = 0; k < count; k++) {
            double sums[WT_THIN_COLUMNS * WT_THIN_GROUP] = {0}, f[ROWS * WT_THIN_COLUMNS] = {0};
            able[k]->gather(columns, ROWS, work.p, WIDTH, work.a, columns, sums);
            able[k]->spread(columns, ROWS, WT_THIN_GROUP, work.p, WIDTH, sums, WT_THIN_GROUP, f,
                            columns);
            for (size_t c = 0; c < columns; c++) {
                for (size_t j = 0; j < WT_THIN_GROUP; j++) {
                    double wanted = 0;
                    for (size_t i = 0; i < ROWS; i++)
                        wanted += work.p[i * WIDTH + j] * work.a[i * columns + c];
                    CHECK_NEAR(sums[c * WT_THIN_GROUP + j], wanted, 1e-12);
                }
                for (size_t i = 0; i < ROWS; i++) {
                    double wanted = 0;
                    for (size_t j = 0; j < WT_THIN_GROUP; j++)
                        wanted += work.p[i * WIDTH + j] * sums[c * WT_THIN_GROUP + j];
                    CHECK_NEAR(f[i * columns + c], wanted, 1e-12);
                }
            }
        }
        drop(&work);
    }
}

/* wt_gram_single against the double one: float sums of 700 products of order 1. */
static void single_grams_are_grams(void **state) {
    static const size_t shapes[][2] = {{1, 1}, {511, 20}, {513, 33}, {1100, 7}, {1600, 5}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        size_t n = shapes[s][0], depth = shapes[s][1];
        float *a, *k, *again;
        double *wide, *wanted;
        CHECK_OK(*state, WT_NEW(*state, &a, n * depth, "a"));
        CHECK_OK(*state, WT_NEW(*state, &wide, n * depth, "a"));
        CHECK_OK(*state, WT_NEW_ZERO(*state, &k, n * n, "k"));
        CHECK_OK(*state, WT_NEW_ZERO(*state, &again, n * n, "k"));
        CHECK_OK(*state, WT_NEW(*state, &wanted, n * n, "k"));
        wt_random_normal(wt_stream_for(2, "a", 0), 0, n * depth, wide);
        for (size_t i = 0; i < n * depth; i++)
            wide[i] = (double)(a[i] = (float)wide[i]);
        CHECK_OK(*state, wt_gram(*state, WT_PLAIN, n, depth, wide, depth, 0, wanted, n));
        CHECK_OK(*state, wt_context_set_threads(*state, 1));
        CHECK_OK(*state, wt_gram_single(*state, n, depth, 2, a, depth, 0, k, n));
        CHECK_OK(*state, wt_context_set_threads(*state, 3));
        CHECK_OK(*state, wt_gram_single(*state, n, depth, 2, a, depth, 1, again, n));
        assert_memory_equal(k, again, n * n * sizeof *k);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                CHECK_NEAR((double)k[i * n + j], j <= i ? 2 * wanted[i * n + j] : 0, 1e-5);
        wt_release(a);
        wt_release(wide);
        wt_release(k);
        wt_release(again);
        wt_release(wanted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thin_products_are_products),   cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(short_columns_are_zero_below), cmocka_unit_test(versions_agree),
        cmocka_unit_test(single_grams_are_grams),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
