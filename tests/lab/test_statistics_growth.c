/* Costs where some runs were given up: exponents, their intervals, and how often these hold the
 * truth. */
#include "lab/statistics_growth.h"

#include "check.h"
#include "lab/statistics.h"
#include "wattle/random.h"

static wt_interval growth(wt_context *context, const wt_spent *points, size_t count) {
    wt_interval out;
    CHECK_OK(context, wt_spent_growth(context, points, count, 3, &out));
    return out;
}

/* Prices of exp(2 m) that always find, and of m^2: 1 and 0, and narrow, as a thousand finds leave a
 * chance of 0.997 or more. */
static void known_costs_have_known_exponents(void **state) {
    wt_spent points[5];
    for (int law = 0; law < 2; law++) {
        for (int i = 0; i < 5; i++)
            points[i] = (wt_spent){.x = i + 1,
                                   .found = 1000,
                                   .log_price = law == 0 ? 2 * (i + 1) : 2 * log(i + 1),
                                   .error = 1e-3};
        wt_interval p = growth(*state, points, 5);
        CHECK_NEAR(p.value, law == 0 ? 1 : 0, 1e-4); /* the step of the search */
        assert_true(p.low > p.value - 0.02 && p.high < p.value + 0.02);
    }
}

/* The chance at the last size is unknown but for 100 attempts in vain, which count four fifths: the
 * lower end of p is where the chance is at its quantile 97.5% of Beta(1/2, 80 1/2). A thousand
 * draws place that quantile to some 8%, 0.08 in the log of the cost, and p moves by about as much.
 * The upper end is open. */
static void attempts_in_vain_bound_the_cost(void **state) {
    wt_spent points[] = {{1, 100000, 0, 0, 1e-6}, {2, 100000, 0, 2, 1e-6}, {3, 0, 100, 1, 1e-6}};
    wt_interval p = growth(*state, points, 3);
    const double x[] = {1, 2, 3};
    const double y[] = {0, 2, 1 - log(wt_beta_quantile(0.975, 0.5, 80.5))};
    double bound = wt_growth_exponent(x, y, 3);
    assert_true(bound > 0.2 && bound < 2.5); /* within the search: it says something */
    CHECK_NEAR(p.low, bound, 0.15);
    CHECK_NEAR(p.high, WT_MAX_EXPONENT, 0);
}

static void too_little_gives_nothing(void **state) {
    const wt_spent two[] = {{1, 5, 0, 0, 0.1}, {2, 5, 0, 1, 0.1}};
    const wt_spent none[] = {{1, 0, 5, 0, 0.1}, {2, 0, 5, 1, 0.1}, {3, 0, 5, 2, 0.1}};
    assert_true(isnan(growth(*state, two, 2).value));
    assert_true(isnan(growth(*state, none, 3).value) && isnan(growth(*state, none, 3).low));
}

/* Chances of 1/4^(m-1) at m = 1 .. 4, twenty runs of at most a hundred attempts each at a price of
 * 1, some of which are given up: the cost is 4^(m-1), p = 1. 60 sets: 95% hold it, give or take
 * 2.8%; at least 87%. */
static void intervals_hold_the_truth(void **state) {
    enum { SETS = 60, RUNS = 20, MOST = 100 };
    int held = 0;
    for (uint64_t set = 0; set < SETS; set++) {
        wt_spent points[4];
        for (int m = 0; m < 4; m++) {
            double chance = pow(4, -m), uniform[RUNS];
            wt_random_uniform(wt_stream_for(7, "runs", set * 4 + (uint64_t)m), 0, RUNS, uniform);
            points[m] = (wt_spent){.x = m + 1, .error = 0.01};
            for (int run = 0; run < RUNS; run++) {
                double attempts =
                    chance == 1 ? 1 : floor(log(1 - uniform[run]) / log1p(-chance)) + 1;
                points[m].found += attempts <= MOST;
                points[m].in_vain += (size_t)fmin(attempts - 1, MOST);
            }
        }
        wt_interval p = growth(*state, points, 4);
        held += p.low <= 1 && 1 <= p.high;
    }
    if (held < SETS * 0.87)
        fail_msg("%d of %d intervals hold the exponent", held, SETS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_costs_have_known_exponents),
        cmocka_unit_test(attempts_in_vain_bound_the_cost),
        cmocka_unit_test(too_little_gives_nothing),
        cmocka_unit_test(intervals_hold_the_truth),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
