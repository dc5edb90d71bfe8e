/* Linear programs over bodies whose reach is known. */
#include "check.h"
#include "linalg/linear_program.h"

/* The square |x + y| <= 1, |x - y| <= 1 moved by (3, 0). CLP's tolerance is 1e-7. */
static void test_square(void **state) {
    wt_context *context = *state;
    const double a[] = {1, 1, 1, -1}, low[] = {2, 2}, high[] = {4, 4};
    const double east[] = {1, 0}, west[] = {-1, 0}, north[] = {0, 2}, corner[] = {1, 1};
    wt_body *body;
    double reach;
    CHECK_OK(context, wt_body_open(context, 2, 2, a, low, high, &body));
    CHECK_OK(context, wt_body_reach(context, body, east, &reach));
    CHECK_NEAR(reach, 4, 1e-6);
    CHECK_OK(context, wt_body_reach(context, body, west, &reach));
    CHECK_NEAR(reach, -2, 1e-6);
    CHECK_OK(context, wt_body_reach(context, body, north, &reach));
    CHECK_NEAR(reach, 2, 1e-6);
    CHECK_OK(context, wt_body_reach(context, body, corner, &reach));
    CHECK_NEAR(reach, 4, 1e-6);
    wt_body_close(body);
}

static void test_no_end_and_no_point(void **state) {
    wt_context *context = *state;
    const double a[] = {1, 0, 1, 0}, low[] = {0, 2}, high[] = {1, 3}, direction[] = {0, 1};
    wt_body *body;
    double reach = 0;
    CHECK_OK(context, wt_body_open(context, 1, 2, a, low, high, &body));
    CHECK_OK(context, wt_body_reach(context, body, direction, &reach));
    assert_true(isinf(reach) && reach > 0);
    wt_body_close(body);
    CHECK_OK(context, wt_body_open(context, 2, 2, a, low, high, &body));
    CHECK_FAILS(context, wt_body_reach(context, body, direction, &reach), WT_INTERNAL,
                "no point inside");
    wt_body_close(body);
    wt_body_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_square),
        cmocka_unit_test(test_no_end_and_no_point),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
