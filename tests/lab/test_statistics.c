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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_agree_with_tables),
        cmocka_unit_test(distributions_agree_with_closed_forms),
        cmocka_unit_test(means_have_student_intervals),
        cmocka_unit_test(slopes_are_exponents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
