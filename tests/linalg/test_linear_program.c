/* Linear programs over bodies whose reach is known, and beside the simplex method of CLP. */
#include "linalg/linear_program.h"

#include <stdlib.h>

#include "check.h"
#include "linalg/simplex.h"
#include "wattle/random.h"

/* 1e-6 of gap, and 1e-8 of the direction on points that lie up to some units away. */
#define CLOSE 1.1e-6

/* The square |x + y| <= 1, |x - y| <= 1 moved by (0.5, 0). */
static void test_square(void **state) {
    wt_context *context = *state;
    const double a[] = {1, 1, 1, -1}, low[] = {-0.5, -0.5}, high[] = {1.5, 1.5};
    const wt_body body = {.rows = 2, .columns = 2, .a = a, .low = low, .high = high};
    const double wanted[][3] = {{1, 0, 1.5}, {-1, 0, 0.5}, {0, 2, 2},
                                {0, -1, 1},  {1, 1, 1.5},  {0, 0, 0}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        double reach;
        CHECK_OK(context, wt_body_reach(context, &body, wanted[i], &reach));
        CHECK_NEAR(reach, wanted[i][2], CLOSE);
        assert_true(reach >= wanted[i][2] * (1 - 3e-8)); /* from above, but for the 1e-8 */
    }
}

static void test_no_end_and_no_point(void **state) {
    wt_context *context = *state;
    const double a[] = {1, 0, 1, 0}, low[] = {-1, -2}, high[] = {1, 3}, direction[] = {0, 1};
    const double above[] = {0.5, 1};
    wt_body body = {.rows = 2, .columns = 2, .a = a, .low = low, .high = high};
    double reach = 0;
    CHECK_OK(context, wt_body_reach(context, &body, direction, &reach));
    assert_true(isinf(reach) && reach > 0);
    body.low = above;
    CHECK_FAILS(context, wt_body_reach(context, &body, direction, &reach), WT_USAGE,
                "origin is outside");
}

enum { COLUMNS = 12, MOST_ROWS = 900 };

/* Random slabs, of which `rows` are given twice: at the end more planes meet in a point than there
 * are unknowns. `size` scales the slabs, up to those that are hardly more than rounding wide. */
static void compare(wt_context *context, uint64_t seed, size_t rows, double size) {
    static double a[2 * MOST_ROWS * COLUMNS], low[2 * MOST_ROWS], high[2 * MOST_ROWS];
    const wt_body body = {.rows = 2 * rows, .columns = COLUMNS, .a = a, .low = low, .high = high};
    double direction[COLUMNS], reach;
    wt_random_sign(wt_stream_for(seed, "a", 0), 0, rows * COLUMNS, a);
    wt_random_uniform(wt_stream_for(seed, "low", 0), 0, rows, low);
    wt_random_uniform(wt_stream_for(seed, "high", 0), 0, rows, high);
    wt_random_normal(wt_stream_for(seed, "direction", 0), 0, COLUMNS, direction);
    for (size_t i = 0; i < rows; i++) {
        low[i] = -size * (0.01 + low[i]);
        high[i] = size * (0.01 + high[i]);
    }
    memcpy(a + rows * COLUMNS, a, rows * COLUMNS * sizeof *a);
    memcpy(low + rows, low, rows * sizeof *low);
    memcpy(high + rows, high, rows * sizeof *high);
    CHECK_OK(context, wt_body_reach(context, &body, direction, &reach));
    /* CLP lets rows be passed by 1e-7 */
    double wanted = simplex_reach(context, &body, direction);
    if (isinf(wanted) ? !isinf(reach) : !(fabs(reach - wanted) <= 1e-5 * size))
        fail_msg("seed %d, %zu rows: %.10g by interior points, %.10g by CLP", (int)seed, rows,
                 reach, wanted);
}

/* Of the square A of seed 4 one column depends on the others. */
static void test_beside_simplex(void **state) {
    const size_t rows[] = {COLUMNS, 20, 100, MOST_ROWS};
    for (uint64_t seed = 0; seed < 12; seed++) {
        compare(*state, seed, rows[seed % 4], 1);
        compare(*state, seed, rows[seed % 4], 100);
    }
}

/* A body and the same body a million times smaller: the reach shrinks with it. */
static void test_any_size(void **state) {
    wt_context *context = *state;
    const double a[] = {2, 0, 0, 2, 1, 1}, direction[] = {1, 2};
    double low[] = {-2, -3, -1}, high[] = {2, 1, 1.5}, whole, part;
    const wt_body body = {.rows = 3, .columns = 2, .a = a, .low = low, .high = high};
    CHECK_OK(context, wt_body_reach(context, &body, direction, &whole));
    for (size_t i = 0; i < 3; i++) {
        low[i] *= 1e-12;
        high[i] *= 1e-12;
    }
    CHECK_OK(context, wt_body_reach(context, &body, direction, &part));
    /* the same steps but for rounding */
    CHECK_NEAR(part / whole * 1e12, 1, 1e-9);
}

static void test_cancel(void **state) {
    (void)state;
    wt_context *context;
    const double a[] = {1}, low[] = {-1}, high[] = {1};
    const wt_body body = {.rows = 1, .columns = 1, .a = a, .low = low, .high = high};
    double reach;
    assert_int_equal(wt_context_new(&context), WT_OK);
    wt_context_cancel(context);
    assert_int_equal(wt_body_reach(context, &body, a, &reach), WT_INTERRUPTED);
    wt_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_square),         cmocka_unit_test(test_no_end_and_no_point),
        cmocka_unit_test(test_beside_simplex), cmocka_unit_test(test_any_size),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
