#include "lab/statistics.h"

#include "check.h"

/* Quantiles from printed tables, given to three decimals. */
static void quantiles_agree_with_tables(void **state) {
    (void)state;
    static const struct {
        double p, freedom, t;
    } table[] = {{0.975, 1, 12.706}, {0.975, 2, 4.303},   {0.975, 4, 2.776}, {0.975, 10, 2.228},
                 {0.95, 5, 2.015},   {0.975, 120, 1.980}, {0.5, 3, 0},       {0.025, 4, -2.776}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        CHECK_NEAR(wt_student_quantile(table[i].p, table[i].freedom), table[i].t, 5e-4);
}

/* Closed forms: 1/2 + atan(t)/pi for one degree of freedom, 1/2 + t / (2 sqrt(2 + t^2)) for two. */
static void distributions_agree_with_closed_forms(void **state) {
    (void)state;
    for (double t = -30; t <= 30; t += 0.37) {
        CHECK_NEAR(wt_student_cdf(t, 1), 0.5 + atan(t) / acos(-1), 1e-13);
        CHECK_NEAR(wt_student_cdf(t, 2), 0.5 + t / (2 * sqrt(2 + t * t)), 1e-13);
    }
    /* many degrees of freedom: the normal distribution, off by about 1/(4 freedom) */
    CHECK_NEAR(wt_student_cdf(1.3, 1e6), 0.5 * erfc(-1.3 / sqrt(2)), 1e-6);
    for (double p = 0.01; p < 1; p += 0.07)
        CHECK_NEAR(wt_student_cdf(wt_student_quantile(p, 7), 7), p, 1e-13);
}

static void means_have_student_intervals(void **state) {
    (void)state;
    const double values[] = {1, 2, 3, 4, 5};
    wt_interval mean = wt_mean_interval(values, 5);
    CHECK_NEAR(mean.value, 3, 1e-15);
    /* deviation sqrt(2.5), over sqrt(5), times 2.7764451 */
    CHECK_NEAR(mean.high - mean.value, 2.7764451 * sqrt(0.5), 1e-7);
    CHECK_NEAR(mean.value - mean.low, mean.high - mean.value, 1e-14);
    mean = wt_mean_interval(values, 1);
    assert_true(mean.value == 1 && isnan(mean.low) && isnan(mean.high));
    assert_true(isnan(wt_mean_interval(values, 0).value));
}

static void slopes_are_exponents(void **state) {
    (void)state;
    double x[] = {16, 32, 64, 128}, y[4];
    for (int i = 0; i < 4; i++)
        y[i] = 3 * pow(x[i], -0.5);
    CHECK_NEAR(wt_log_slope(x, y, 4), -0.5, 1e-14);
    y[2] = 0;
    assert_true(isnan(wt_log_slope(x, y, 4)));
    assert_true(isnan(wt_log_slope(x, y, 1)));
}

/* Table values of the exact interval, printed to four decimals. */
static void rates_agree_with_tables(void **state) {
    (void)state;
    static const struct {
        size_t successes, trials;
        double low, high;
    } table[] = {{0, 10, 0, 0.3085},      {1, 10, 0.0025, 0.4450},  {5, 10, 0.1871, 0.8129},
                 {8, 10, 0.4439, 0.9748}, {10, 10, 0.6915, 1},      {1, 20, 0.0013, 0.2487},
                 {0, 1, 0, 0.975},        {50, 100, 0.3983, 0.6017}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        wt_interval rate = wt_rate_interval(table[i].successes, table[i].trials);
        CHECK_NEAR(rate.low, table[i].low, 5.1e-5);
        CHECK_NEAR(rate.high, table[i].high, 5.1e-5);
        CHECK_NEAR(rate.value, (double)table[i].successes / (double)table[i].trials, 1e-15);
    }
    assert_true(isnan(wt_rate_interval(0, 0).value));
}

/* The chance that the interval holds the true rate, summed over all outcomes: never below 95%. */
static void rates_are_covered_at_every_rate(void **state) {
    (void)state;
    enum { TRIALS = 12 };
    for (int step = 1; step < 100; step++) {
        double p = step / 100.0, covered = 0;
        for (size_t s = 0; s <= TRIALS; s++) {
            wt_interval rate = wt_rate_interval(s, TRIALS);
            double ways =
                exp(lgamma(TRIALS + 1) - lgamma((double)s + 1) - lgamma(TRIALS - (double)s + 1));
            if (rate.low <= p && p <= rate.high)
                covered += ways * pow(p, (double)s) * pow(1 - p, TRIALS - (double)s);
        }
        if (covered < 0.95 - 1e-12)
            fail_msg("a rate of %g is covered with %g only", p, covered);
    }
}

/* I_x(1, b) = 1 - (1 - x)^b and I_x(a, 1) = x^a; the median of a symmetric law is 1/2. */
static void beta_laws_agree_with_closed_forms(void **state) {
    (void)state;
    for (int step = 1; step < 20; step++) {
        double x = step / 20.0;
        CHECK_NEAR(wt_beta_cdf(x, 1, 7), 1 - pow(1 - x, 7), 1e-13);
        CHECK_NEAR(wt_beta_cdf(x, 4.5, 1), pow(x, 4.5), 1e-13);
        CHECK_NEAR(wt_beta_quantile(x, 4.5, 1), pow(x, 1 / 4.5), 1e-12);
    }
    CHECK_NEAR(wt_beta_quantile(0.5, 3, 3), 0.5, 1e-13);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_agree_with_tables),
        cmocka_unit_test(distributions_agree_with_closed_forms),
        cmocka_unit_test(means_have_student_intervals),
        cmocka_unit_test(slopes_are_exponents),
        cmocka_unit_test(rates_agree_with_tables),
        cmocka_unit_test(rates_are_covered_at_every_rate),
        cmocka_unit_test(beta_laws_agree_with_closed_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
