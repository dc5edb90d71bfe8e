/* Comparing layers: order, duplicates and zero heads do not count; the assignment is the best. */
#include "base/memory.h"
#include "check.h"
#include "layer/layers.h"
#include "layer/model/assignment.h"
#include "wattle/random.h"
#include "wattle/recover.h"

enum { D = 4, P = 3 };

static void copy_head(const wt_layer *from, size_t head, wt_layer *to, size_t place, double share) {
    memcpy(to->theta + place * D * D, from->theta + head * D * D, D * D * sizeof(double));
    for (size_t i = 0; i < D * P; i++)
        to->w[place * D * P + i] = share * from->w[head * D * P + i];
}

/* Heads 2, 0, 1 with head 0 in two parts and one without W: the same layer. */
static void order_and_duplicates_do_not_count(void **state) {
    wt_context *context = *state;
    wt_layer *a, *b;
    wt_comparison all = WT_SIZED(wt_comparison);
    CHECK_OK(context, make_teacher(context, 3, D, P, 2, 0, 1, &a));
    CHECK_OK(context, make_teacher(context, 5, D, P, 2, 0, 2, &b));
    copy_head(a, 2, b, 0, 1);
    copy_head(a, 0, b, 1, 0.25);
    copy_head(b, 4, b, 2, 0); /* a Theta of its own, W = 0 */
    copy_head(a, 1, b, 3, 1);
    copy_head(a, 0, b, 4, 0.75);
    CHECK_OK(context, wt_layer_compare(context, a, b, 1, 0, &all));
    assert_int_equal(all.heads_a, 3);
    assert_int_equal(all.heads_b, 3);
    assert_int_equal(all.matches, 3);
    assert_true(all.theta_error < 1e-15 && all.w_error < 1e-15);
    for (size_t i = 0; i < WT_COMPARE_LENGTHS; i++)
        assert_true(all.distance[i] < 1e-14);
    wt_comparison_free(&all);
    /* a change of one head is seen there, and in the function */
    for (size_t i = 0; i < D * D; i++)
        b->theta[3 * D * D + i] *= 1.01;
    CHECK_OK(context, wt_layer_compare(context, a, b, 1, 0, &all));
    for (size_t i = 0; i < 3; i++)
        CHECK_NEAR(all.match[i].theta_error, all.match[i].a == 1 ? 0.01 : 0, 1e-12);
    assert_true(all.distance[1] > 1e-4);
    wt_comparison_free(&all);
    wt_layer_free(a);
    wt_layer_free(b);
}

static void heads_left_over_are_told(void **state) {
    wt_context *context = *state;
    wt_layer *a, *b;
    wt_comparison all = WT_SIZED(wt_comparison);
    CHECK_OK(context, make_teacher(context, 3, D, P, 2, 0, 1, &a));
    CHECK_OK(context, make_teacher(context, 2, D, P, 2, 0, 2, &b));
    copy_head(a, 2, b, 0, 1);
    copy_head(a, 1, b, 1, 1);
    for (int turned = 0; turned < 2; turned++) {
        CHECK_OK(context, wt_layer_compare(context, turned ? b : a, turned ? a : b, 1, 0, &all));
        assert_int_equal(all.matches, 3);
        assert_true(isinf(all.theta_error) && isinf(all.w_error));
        assert_int_equal(turned ? all.match[2].b : all.match[2].a, 0);
        assert_true((turned ? all.match[2].a : all.match[2].b) == WT_COMPARE_UNMATCHED);
        wt_comparison_free(&all);
    }
    wt_layer *other;
    CHECK_OK(context, make_teacher(context, 2, D + 1, P, 2, 0, 2, &other));
    CHECK_FAILS(context, wt_layer_compare(context, a, other, 1, 0, &all), WT_DATA, "compared");
    wt_layer_free(a);
    wt_layer_free(b);
    wt_layer_free(other);
}

/* The least sum over all ways to place rows in columns, by trying them. */
static double least(size_t row, size_t rows, size_t columns, const double *cost, unsigned taken) {
    double best = INFINITY;
    if (row == rows)
        return 0;
    for (size_t j = 0; j < columns; j++)
        if (!(taken >> j & 1))
            best = fmin(best, cost[row * columns + j] +
                                  least(row + 1, rows, columns, cost, taken | 1u << j));
    return best;
}

static void assignments_are_the_best(void **state) {
    wt_context *context = *state;
    for (uint64_t trial = 0; trial < 200; trial++) {
        size_t rows = 1 + trial % 6, columns = rows + trial / 6 % 2, column[6];
        double cost[42], sum = 0;
        unsigned taken = 0;
        wt_random_normal(wt_stream_for(trial, "cost", 0), 0, rows * columns, cost);
        CHECK_OK(context, wt_assignment(context, rows, columns, cost, column));
        for (size_t i = 0; i < rows; i++) {
            assert_false(taken >> column[i] & 1);
            taken |= 1u << column[i];
            sum += cost[i * columns + column[i]];
        }
        CHECK_NEAR(sum, least(0, rows, columns, cost, 0), 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_duplicates_do_not_count),
        cmocka_unit_test(heads_left_over_are_told),
        cmocka_unit_test(assignments_are_the_best),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
