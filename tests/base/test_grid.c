#include "base/context.h"
#include "wattle/text.h"

#include "check.h"

static void good_grids(void **state) {
    static const struct {
        const char *text;
        size_t count;
        double values[8];
    } cases[] = {
        {"5", 1, {5}},
        {"-2.5", 1, {-2.5}},
        {"1,2,4", 3, {1, 2, 4}},
        {"4,1,4", 3, {4, 1, 4}}, /* the order written, doubles kept */
        {"100:800:100", 8, {100, 200, 300, 400, 500, 600, 700, 800}},
        {"1:10:4", 3, {1, 5, 9}},
        {"16:128:x2", 4, {16, 32, 64, 128}},
        {"10:100:x3", 3, {10, 30, 90}},
        {"0.1:0.5:0.1", 5, {0.1, 0.2, 0.3, 0.4, 0.5}},
        {"1:100:x10", 3, {1, 10, 100}},
        {"0.001:1:x10", 4, {0.001, 0.01, 0.1, 1}},
        {"7:7:1", 1, {7}},
        {"7:7:x2", 1, {7}},
        {"-3:0:1", 4, {-3, -2, -1, 0}},
        {"1,10:20:5,64:256:x2", 7, {1, 10, 15, 20, 64, 128, 256}},
        {"1:2:x1.5", 2, {1, 1.5}},
        {"1e3", 1, {1000}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_grid grid;
        CHECK_OK(*state, wt_grid_parse(*state, cases[i].text, &grid));
        if (grid.count != cases[i].count)
            fail_msg("'%s' has %zu values", cases[i].text, grid.count);
        for (size_t j = 0; j < grid.count; j++)
            CHECK_NEAR(grid.values[j], cases[i].values[j], 1e-14); /* a few roundings */
        wt_grid_free(&grid);
        assert_null(grid.values);
    }
    wt_grid_free(NULL);
}

static void powers_of_two_are_exact(void **state) {
    wt_grid grid;
    CHECK_OK(*state, wt_grid_parse(*state, "1:1125899906842624:x2", &grid));
    assert_int_equal(grid.count, 51);
    for (size_t i = 0; i < grid.count; i++)
        assert_true(grid.values[i] == ldexp(1, (int)i));
    wt_grid_free(&grid);
}

static void bad_grids(void **state) {
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "a value is not a number"},
        {",", "a value is not a number"},
        {"1,", "a value is not a number"},
        {"1,,2", "a value is not a number"},
        {"1, 2", "a value is not a number"},
        {"one", "a value is not a number"},
        {"1e-400", "a value is not a number that fits a double"},
        {"1e-400:1:x2", "numbers that fit a double"},
        {"nan", "a value is not a number"},
        {"inf", "a value is not a number"},
        {"-inf", "a value is not a number"},
        {"1e999", "a value is not a number"},
        {"1:5", "a step is missing"},
        {"1:5:", "must be numbers"},
        {":5:1", "must be numbers"},
        {"1::1", "must be numbers"},
        {"1:5:x", "must be numbers"},
        {"1:5:xx2", "must be numbers"},
        {"1:5:1:1", "must be numbers"},
        {"5:1:1", "lo is above hi"},
        {"5:1:x2", "lo is above hi"},
        {"1:5:0", "the step must be above 0"},
        {"1:5:-1", "the step must be above 0"},
        {"0:5:x2", "needs lo > 0"},
        {"-1:5:x2", "needs lo > 0"},
        {"1:5:x1", "a factor above 1"},
        {"1:5:x0.5", "a factor above 1"},
        {"1:2000000:1", "more than a million"},
        {"1:1e300:1", "more than a million"},
        {"1:2:x1.0000000001", "more than a million"},
        {"1:600000:1,1:600000:1", "more than a million"},
        {"1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
         "000000000000000000000000000000000000000000000",
         "too long"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_grid grid;
        CHECK_FAILS(*state, wt_grid_parse(*state, cases[i].text, &grid), WT_USAGE, cases[i].why);
        assert_non_null(strstr(wt_context_message(*state), cases[i].text));
        assert_null(grid.values);
    }
}

static void integers_only(void **state) {
    wt_grid grid;
    CHECK_OK(*state, wt_grid_parse_integers(*state, "3:81:x3", &grid));
    assert_int_equal(grid.count, 4);
    assert_true(grid.values[3] == 81);
    wt_grid_free(&grid);
    CHECK_FAILS(*state, wt_grid_parse_integers(*state, "1:2:0.5", &grid), WT_USAGE,
                "not an integer");
    CHECK_FAILS(*state, wt_grid_parse_integers(*state, "1e17", &grid), WT_USAGE, "not below 2^53");
    CHECK_FAILS(*state, wt_grid_parse_integers(*state, "1:4:x1.5", &grid), WT_USAGE,
                "not an integer");
    assert_null(grid.values);
}

static void ranges(void **state) {
    double lo, hi;
    CHECK_OK(*state, wt_range_parse(*state, "10:200", &lo, &hi));
    assert_true(lo == 10 && hi == 200);
    CHECK_OK(*state, wt_range_parse(*state, "-1.5:-1.5", &lo, &hi));
    assert_true(lo == -1.5 && hi == -1.5);
    static const char *const bad[] = {"", "10", "10:", ":10", "2:1", "1:2:3", "a:b", "1 :2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_FAILS(*state, wt_range_parse(*state, bad[i], &lo, &hi), WT_USAGE, "is no range");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_grids), cmocka_unit_test(powers_of_two_are_exact),
        cmocka_unit_test(bad_grids),  cmocka_unit_test(integers_only),
        cmocka_unit_test(ranges),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
