/* Fits against closed forms and published numbers; their intervals by how often they are right. */
#include "lab/statistics_fit.h"

#include "check.h"
#include "wattle/random.h"

/* Critical samples of 3-sparse AND, published as a figure and read off it. */
enum { PUBLISHED = 18 };
static const double published_t[PUBLISHED] = {100, 150, 200, 250, 300, 350, 400, 450,  500,
                                              550, 600, 650, 700, 750, 800, 900, 1000, 1100};
static const double published_m[PUBLISHED] = {50,   52.8,  57.7, 56,    69.2, 61,
                                              79.5, 82.4,  80.4, 85.2,  94.1, 96.7,
                                              88.9, 101.4, 99.7, 108.4, 111,  113.4};

/* The shares of variance, computed apart from this code, to three decimals. */
static void published_points_give_published_shares(void **state) {
    static const double shares[] = {0.915, 0.956, 0.941};
    wt_affine_fit fits[3];
    for (int g = 0; g < 3; g++) {
        CHECK_OK(*state, wt_affine_fit_compute(*state, (wt_growth)g, published_t, published_m,
                                               PUBLISHED, 1, &fits[g]));
        CHECK_NEAR(fits[g].r_squared, shares[g], 5.1e-4);
        assert_true(fits[g].slope.low > 0 && fits[g].slope.low < fits[g].slope.value);
        assert_true(fits[g].slope.high > fits[g].slope.value);
        /* three numbers are fitted in each */
        CHECK_NEAR(fits[g].bic - fits[g].aic, 3 * (log(PUBLISHED) - 2), 1e-12);
    }
    /* With as many parameters the criteria order the fits as the shares do. */
    assert_true(fits[1].aic < fits[2].aic && fits[2].aic < fits[0].aic);
    double p = wt_growth_exponent(published_t, published_m, PUBLISHED);
    assert_true(p > 0.25 && p < 0.8);
}

/* Points on a line: the line, with no doubt. Residuals are rounding alone. */
static void lines_are_found_exactly(void **state) {
    const double x[] = {1, 4, 9, 16, 25};
    double y[5];
    wt_affine_fit fit;
    for (int i = 0; i < 5; i++)
        y[i] = 3 - 2 * sqrt(x[i]);
    CHECK_OK(*state, wt_affine_fit_compute(*state, WT_GROWTH_SQRT, x, y, 5, 1, &fit));
    CHECK_NEAR(fit.slope.value, -2, 1e-13);
    CHECK_NEAR(fit.intercept.value, 3, 1e-13);
    CHECK_NEAR(fit.slope.high - fit.slope.low, 0, 1e-12);
    CHECK_NEAR(fit.r_squared, 1, 1e-13);
}

/* A worked least-squares example: x = 1..5, y = 2, 4, 5, 4, 5 has slope 0.6, intercept 2.2, squared
 * residuals 2.4 and R^2 = 0.6. */
static void lines_agree_with_a_worked_example(void **state) {
    const double x[] = {1, 2, 3, 4, 5}, y[] = {2, 4, 5, 4, 5};
    wt_affine_fit fit;
    CHECK_OK(*state, wt_affine_fit_compute(*state, WT_GROWTH_LINEAR, x, y, 5, 1, &fit));
    CHECK_NEAR(fit.slope.value, 0.6, 1e-14);
    CHECK_NEAR(fit.intercept.value, 2.2, 1e-14);
    CHECK_NEAR(fit.squares, 2.4, 1e-14);
    CHECK_NEAR(fit.r_squared, 0.6, 1e-14);
    CHECK_NEAR(fit.aic, 5 * log(2.4 / 5) + 6, 1e-14);
    /* error sqrt(2.4/3/10), times 3.1824463, the quantile for three degrees of freedom */
    CHECK_NEAR(fit.slope.high - fit.slope.value, 3.1824463 * sqrt(0.08), 1e-7);
}

/* 600 data sets with Gaussian errors: the share of intervals that holds the true exponent is 95%
 * give or take a standard error of 0.9%; three are allowed above, and two below, where intervals
 * would claim too much; one more each for the approximation of the bootstrap, from six points on.
 */
static void exponents_are_covered(void **state) {
    enum { SETS = 600, MOST = 8 };
    static const size_t counts[] = {3, 4, 6, 8};
    double x[MOST], y[MOST], noise[MOST];
    for (int i = 0; i < MOST; i++)
        x[i] = exp2(4 + i);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        int covered = 0;
        for (uint64_t set = 0; set < SETS; set++) {
            wt_random_normal(wt_stream_for(5, "noise", set), 0, MOST, noise);
            for (size_t i = 0; i < counts[c]; i++)
                y[i] = log(3 * pow(x[i], -0.5)) + 0.2 * noise[i];
            wt_affine_fit fit;
            CHECK_OK(*state,
                     wt_affine_fit_compute(*state, WT_GROWTH_LOG, x, y, counts[c], set, &fit));
            covered += fit.slope.low <= -0.5 && -0.5 <= fit.slope.high;
            assert_true(fit.intercept.low < fit.intercept.value &&
                        fit.intercept.value < fit.intercept.high);
        }
        double more = counts[c] < 6 ? 0 : 0.009;
        if (covered < SETS * (0.93 - more) || covered > SETS * (0.977 + more))
            fail_msg("%zu points: %d of %d intervals hold the exponent", counts[c], covered, SETS);
    }
}

static void growths_have_exponents(void **state) {
    (void)state;
    enum { POINTS = 10 };
    double x[POINTS], y[POINTS];
    const double exponents[] = {-1, 0, 0.5, 1, 2};
    for (size_t e = 0; e < 5; e++) {
        double sign = exponents[e] < 0 ? -1 : 1; /* so that y grows */
        for (int i = 0; i < POINTS; i++) {
            x[i] = 100 * exp2(i / 2.0);
            y[i] = 7 + 2 * (exponents[e] == 0 ? log(x[i]) : sign * pow(x[i], exponents[e]));
        }
        /* the valley is flat to rounding within sqrt(epsilon) or so of its bottom */
        CHECK_NEAR(wt_growth_exponent(x, y, POINTS), exponents[e], 1e-5);
    }
    assert_true(isnan(wt_growth_exponent(x, y, 2)));
}

/* What falls or stays does not grow: the least exponent, to the bit, so that it can be told. */
static void no_growth_is_at_the_end(void **state) {
    (void)state;
    enum { POINTS = 10 };
    double x[POINTS], y[POINTS];
    char words[WT_EXPONENT_TEXT];
    const double exponents[] = {-1, 0, 0.5, 1, 2};
    for (size_t e = 0; e < 5; e++) {
        double sign = exponents[e] < 0 ? 1 : -1;
        for (int i = 0; i < POINTS; i++) {
            x[i] = 100 * exp2(i / 2.0);
            y[i] = 7 + 2 * sign * (exponents[e] == 0 ? log(x[i]) : pow(x[i], exponents[e]));
        }
        assert_true(wt_growth_exponent(x, y, POINTS) == WT_MIN_EXPONENT);
    }
    for (int i = 0; i < POINTS; i++)
        y[i] = 4;
    assert_true(wt_growth_exponent(x, y, POINTS) == WT_MIN_EXPONENT);
    for (int i = 0; i < POINTS; i++)
        y[i] = pow(x[i], 5);
    assert_true(wt_growth_exponent(x, y, POINTS) == WT_MAX_EXPONENT);
    assert_string_equal(wt_exponent_format(WT_MIN_EXPONENT, words), "-2 or less");
    assert_string_equal(wt_exponent_format(WT_MAX_EXPONENT, words), "3 or more");
    assert_string_equal(wt_exponent_format(0.5, words), "0.5");
}

static void draws_give_quantiles(void **state) {
    (void)state;
    double draws[201];
    for (int i = 0; i <= 200; i++)
        draws[i] = (i * 77) % 201;
    wt_interval interval = wt_draws_interval(100, draws, 201);
    CHECK_NEAR(interval.low, 5, 1e-12);
    CHECK_NEAR(interval.high, 195, 1e-12);
    double ends[] = {-INFINITY, INFINITY, 1};
    interval = wt_draws_interval(1, ends, 3);
    assert_true(interval.low == -INFINITY && interval.high == INFINITY);
}

static void what_cannot_be_fitted_is_told(void **state) {
    wt_affine_fit fit;
    const double x[] = {1, 1, 1, 0}, y[] = {1, 2, 3, 4};
    CHECK_FAILS(*state, wt_affine_fit_compute(*state, WT_GROWTH_LOG, x, y, 3, 1, &fit), WT_USAGE,
                "three points at two different x, not 3 points");
    CHECK_FAILS(*state, wt_affine_fit_compute(*state, WT_GROWTH_LOG, y, y, 2, 1, &fit), WT_USAGE,
                "not 2 points");
    CHECK_FAILS(*state, wt_affine_fit_compute(*state, WT_GROWTH_LOG, x, y, 4, 1, &fit), WT_USAGE,
                "point 3 of a fit is not finite");
    CHECK_FAILS(*state, wt_affine_fit_compute(*state, (wt_growth)3, x, y, 4, 1, &fit), WT_USAGE,
                "growth");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_points_give_published_shares),
        cmocka_unit_test(lines_are_found_exactly),
        cmocka_unit_test(lines_agree_with_a_worked_example),
        cmocka_unit_test(exponents_are_covered),
        cmocka_unit_test(growths_have_exponents),
        cmocka_unit_test(no_growth_is_at_the_end),
        cmocka_unit_test(draws_give_quantiles),
        cmocka_unit_test(what_cannot_be_fitted_is_told),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
