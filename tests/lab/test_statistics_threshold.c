/* Thresholds: the isotonic fit by hand, censoring told, intervals by how often they are right. */
#include "lab/statistics_threshold.h"

#include <stdlib.h>

#include "base/memory.h"
#include "check.h"
#include "wattle/random.h"

/* 1/4, 3/4, 2/4, 4/4: the middle two pool to 5/8. Then 5 of 10 and 1 of 30 pool to 6/40. */
static void violators_are_pooled(void **state) {
    (void)state;
    double fitted[4];
    const wt_trials equal[] = {{10, 1, 4}, {20, 3, 4}, {30, 2, 4}, {40, 4, 4}};
    wt_isotonic(equal, 4, NULL, fitted);
    const double wanted[] = {0.25, 0.625, 0.625, 1};
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(fitted[i], wanted[i], 1e-15);
    const wt_trials weighted[] = {{1, 5, 10}, {2, 1, 30}};
    wt_isotonic(weighted, 2, NULL, fitted);
    CHECK_NEAR(fitted[0], 0.15, 1e-15);
    CHECK_NEAR(fitted[1], 0.15, 1e-15);
    const double falling[] = {0.9, 0.6, 0.3, 0.1};
    wt_isotonic(equal, 4, falling, fitted);
    CHECK_NEAR(fitted[0], 0.475, 1e-15);
    CHECK_NEAR(fitted[3], 0.475, 1e-15);
}

/* From 0 at m = 10 to 1 at m = 40, 80% is reached at 10 * 4^0.8. */
static void thresholds_are_read_in_log_m(void **state) {
    const wt_trials points[] = {{10, 0, 1000}, {40, 1000, 1000}};
    wt_interval m, again;
    CHECK_OK(*state, wt_threshold_fit(*state, points, 2, 0.8, 1, &m, NULL));
    CHECK_NEAR(m.value, 10 * pow(4, 0.8), 1e-12);
    /* Jeffreys' posterior of 1000 of 1000 is below 1 by 1/400 at its 2.5% quantile. */
    assert_true(m.low < m.high && m.high - m.low < 0.01 * m.value);
    CHECK_OK(*state, wt_threshold_fit(*state, points, 2, 0.8, 1, &again, NULL));
    assert_memory_equal(&m, &again, sizeof m);
}

static void censored_thresholds_are_told(void **state) {
    wt_interval m;
    const wt_trials above[] = {{10, 40, 40}, {20, 40, 40}}, below[] = {{10, 0, 40}, {20, 0, 40}},
                    unsure[] = {{10, 0, 2}, {20, 2, 2}};
    CHECK_OK(*state, wt_threshold_fit(*state, above, 2, 0.8, 1, &m, NULL));
    assert_true(m.value == -INFINITY && m.low == -INFINITY && m.high == -INFINITY);
    CHECK_OK(*state, wt_threshold_fit(*state, below, 2, 0.8, 1, &m, NULL));
    assert_true(m.value == INFINITY && m.low == INFINITY && m.high == INFINITY);
    /* Two successes of two are no proof of 80%. */
    CHECK_OK(*state, wt_threshold_fit(*state, unsure, 2, 0.8, 1, &m, NULL));
    assert_true(isfinite(m.value) && isfinite(m.low) && m.high == INFINITY);
}

/* 150 sets of 20 trials at eight m, success by a logistic law in log m that is 80% at m = 60. The
 * interval holds 60 in 95% of them: three standard errors of 1.8% below; the posterior of an
 * isotonic fit is on the wide side, so no limit above. */
static void thresholds_are_covered(void **state) {
    enum { SETS = 150, POINTS = 8, TRIALS = 20 };
    int covered = 0;
    for (uint64_t set = 0; set < SETS; set++) {
        wt_trials points[POINTS];
        double uniform[TRIALS];
        for (size_t i = 0; i < POINTS; i++) {
            points[i] = (wt_trials){20 + 12 * (double)i, 0, TRIALS};
            double chance = 1 / (1 + exp(-(log(4) + 5 * log(points[i].m / 60))));
            wt_random_uniform(wt_stream_for(9, "trial", set), i * TRIALS, TRIALS, uniform);
            for (size_t t = 0; t < TRIALS; t++)
                points[i].successes += uniform[t] < chance;
        }
        wt_interval m;
        CHECK_OK(*state, wt_threshold_fit(*state, points, POINTS, 0.8, set, &m, NULL));
        covered += m.low <= 60 && 60 <= m.high;
    }
    if (covered < SETS * 0.896)
        fail_msg("%d of %d intervals hold the threshold", covered, SETS);
}

/* Critical m = 8 sqrt(T) at five T, 40 trials at each m: the interval of p holds 1/2 in 95% of the
 * data sets: 28.5 of 30, and three standard errors of 1.2 are allowed below. A T above the grid
 * leaves the upper end open, one below it both. */
static void growth_is_covered(void **state) {
    enum { SETS = 30, SIZES = 5, POINTS = 10, TRIALS = 40 };
    wt_critical sizes[SIZES];
    double *draws;
    wt_interval p;
    int covered = 0;
    CHECK_OK(*state, WT_NEW(*state, &draws, SIZES * WT_BOOTSTRAP_DRAWS, "draws"));
    for (uint64_t set = 0; set < SETS; set++) {
        for (size_t k = 0; k < SIZES; k++) {
            double length = 25 * exp2((double)k), critical = 8 * sqrt(length), uniform[TRIALS];
            wt_trials points[POINTS];
            for (size_t i = 0; i < POINTS; i++) {
                points[i] = (wt_trials){critical * (0.4 + 0.12 * (double)i), 0, TRIALS};
                double chance = 1 / (1 + exp(-(log(4) + 5 * log(points[i].m / critical))));
                wt_random_uniform(wt_stream_for(set, "trial", k), i * TRIALS, TRIALS, uniform);
                for (size_t t = 0; t < TRIALS; t++)
                    points[i].successes += uniform[t] < chance;
            }
            CHECK_OK(*state, wt_critical_fit(*state, length, points, POINTS, 0.8, set, &sizes[k],
                                             draws + k * WT_BOOTSTRAP_DRAWS));
        }
        CHECK_OK(*state, wt_critical_growth(*state, sizes, SIZES, draws, &p));
        assert_true(p.low <= p.value && p.value <= p.high);
        covered += p.low <= 0.5 && 0.5 <= p.high;
    }
    if (covered < 25)
        fail_msg("%d of %d intervals hold the exponent", covered, SETS);
    sizes[SIZES - 1].m.value = INFINITY;
    CHECK_OK(*state, wt_critical_growth(*state, sizes, SIZES, draws, &p));
    assert_true(p.high == WT_MOST_EXPONENT && p.low > WT_LEAST_EXPONENT);
    sizes[0].m.value = -INFINITY;
    CHECK_OK(*state, wt_critical_growth(*state, sizes, SIZES, draws, &p));
    assert_true(p.high == WT_MOST_EXPONENT && p.low == WT_LEAST_EXPONENT);
    CHECK_OK(*state, wt_critical_growth(*state, sizes, 2, draws, &p));
    assert_true(isnan(p.value));
    wt_release(draws);
}

static void senseless_trials_are_told(void **state) {
    wt_interval m;
    const wt_trials falling[] = {{20, 0, 4}, {10, 4, 4}}, none[] = {{20, 0, 0}},
                    many[] = {{20, 5, 4}};
    CHECK_FAILS(*state, wt_threshold_fit(*state, falling, 2, 0.8, 1, &m, NULL), WT_USAGE,
                "point 1 has m = 10");
    CHECK_FAILS(*state, wt_threshold_fit(*state, none, 1, 0.8, 1, &m, NULL), WT_USAGE,
                "0 successes of 0");
    CHECK_FAILS(*state, wt_threshold_fit(*state, many, 1, 0.8, 1, &m, NULL), WT_USAGE,
                "5 successes of 4");
    CHECK_FAILS(*state, wt_threshold_fit(*state, many, 1, 1, 1, &m, NULL), WT_USAGE,
                "between 0 and 1, not 1 and 1");
}

static int by_size(const void *left, const void *right) {
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Sums of many squares are drawn in one go. Against sums square by square, of as many other
 * normals: quantiles of 2000 draws of a law with standard deviation sqrt(2 k) differ by chance by
 * sqrt(2 k p (1 - p)/2000)/density, 4.2% of it at 2.5% for two samples; five times that is
 * allowed. */
static void sums_of_many_squares_are_alike(void **state) {
    (void)state;
    enum { DRAWS = 2000, COUNT = 5001 };
    static double quick[DRAWS], slow[DRAWS], normals[COUNT];
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint64_t at = 0;
        quick[i] = wt_chi_square(wt_stream_for(1, "quick", i), &at, COUNT);
        assert_int_equal(at, 1);
        wt_random_normal(wt_stream_for(1, "slow", i), 0, COUNT, normals);
        slow[i] = 0;
        for (size_t k = 0; k < COUNT; k++)
            slow[i] += normals[k] * normals[k];
    }
    qsort(quick, DRAWS, sizeof *quick, by_size);
    qsort(slow, DRAWS, sizeof *slow, by_size);
    const size_t places[] = {DRAWS / 40, DRAWS / 4, DRAWS / 2, DRAWS - DRAWS / 4,
                             DRAWS - DRAWS / 40};
    for (size_t i = 0; i < 5; i++)
        CHECK_NEAR(quick[places[i]], slow[places[i]], 5 * 0.085 * sqrt(2.0 * COUNT));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(violators_are_pooled),
        cmocka_unit_test(thresholds_are_read_in_log_m),
        cmocka_unit_test(censored_thresholds_are_told),
        cmocka_unit_test(thresholds_are_covered),
        cmocka_unit_test(growth_is_covered),
        cmocka_unit_test(senseless_trials_are_told),
        cmocka_unit_test(sums_of_many_squares_are_alike),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
