/* The nearest mixture against its optimality conditions and against known mixtures. */
#include "check.h"
#include "linalg/hull.h"
#include "wattle/random.h"

enum { P = 9 };

/* Optimal exactly when every point of weight above 0 has the least slope, and all slopes the
 * others have are no less. */
static void check_optimal(size_t count, const double *points, const double *target,
                          const double *weights) {
    double left[P], least = INFINITY, sum = 0;
    for (size_t o = 0; o < P; o++) {
        left[o] = -target[o];
        for (size_t b = 0; b < count; b++)
            left[o] += weights[b] * points[b * P + o];
    }
    double slope[WT_HULL_POINTS] = {0};
    for (size_t b = 0; b < count; b++) {
        for (size_t o = 0; o < P; o++)
            slope[b] += left[o] * points[b * P + o];
        least = fmin(least, slope[b]);
        sum += weights[b];
        assert_true(weights[b] >= 0);
    }
    CHECK_NEAR(sum, 1, 1e-14);
    /* Gram matrices square the condition of the points, 10 to 100 here: 1e-12 is rounding. */
    for (size_t b = 0; b < count; b++)
        if (weights[b] > 0)
            CHECK_NEAR(slope[b], least, 1e-11);
}

static void test_optimality(void **state) {
    (void)state;
    for (size_t trial = 0; trial < 2000; trial++) {
        double points[8 * P], target[P], weights[8], residual;
        size_t count = 1 + trial % 8;
        wt_random_normal(wt_stream_for(1, "points", trial), 0, count * P, points);
        wt_random_normal(wt_stream_for(1, "target", trial), 0, P, target);
        /* Targets among the points, where most weights are above 0, and far from them. */
        for (size_t o = 0; o < P; o++)
            target[o] *= trial % 3 == 0 ? 0.2 : 3;
        assert_true(wt_hull_nearest(count, P, points, target, weights, &residual));
        check_optimal(count, points, target, weights);
    }
}

/* A target that is a mixture gives back its weights, zeros included, and no residual. */
static void test_mixtures(void **state) {
    (void)state;
    for (size_t trial = 0; trial < 500; trial++) {
        double points[5 * P], target[P] = {0}, wanted[5], weights[5], residual, sum = 0;
        wt_random_normal(wt_stream_for(2, "points", trial), 0, 5 * P, points);
        wt_random_uniform(wt_stream_for(2, "weights", trial), 0, 5, wanted);
        if (trial % 2 == 0)
            wanted[trial % 5] = 0;
        for (size_t b = 0; b < 5; b++)
            sum += wanted[b];
        for (size_t b = 0; b < 5; b++) {
            wanted[b] /= sum;
            for (size_t o = 0; o < P; o++)
                target[o] += wanted[b] * points[b * P + o];
        }
        assert_true(wt_hull_nearest(5, P, points, target, weights, &residual));
        for (size_t b = 0; b < 5; b++)
            CHECK_NEAR(weights[b], wanted[b], 1e-11);
        assert_true(residual < 1e-11);
    }
}

static void test_dependent_points(void **state) {
    (void)state;
    double points[] = {1, 0, 0, 1, 1, 0}, target[] = {0.3, 0.3}, weights[3], residual;
    assert_false(wt_hull_nearest(3, 2, points, target, weights, &residual));
    double line[] = {0, 1, 2};
    assert_false(wt_hull_nearest(3, 1, line, target, weights, &residual));
    double pair[] = {0, 1};
    assert_true(wt_hull_nearest(2, 1, pair, target, weights, &residual));
    CHECK_NEAR(weights[1], 0.3, 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimality),
        cmocka_unit_test(test_mixtures),
        cmocka_unit_test(test_dependent_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
