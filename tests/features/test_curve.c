/* Learning curves: every point is the fit of its first samples, alone or beside other targets, by
 * every rule. */
#include "features/curve_cases.h"
#include "features/task/sets.h"
#include "specs.h"
#include "wattle/fit.h"

/* Columns [first, first + q) of y (n, columns), as labels of the sets. */
static wt_sets labelled(wt_context *context, const wt_sets *sets, size_t n, const double *y,
                        size_t columns, size_t first, size_t q) {
    wt_sets part = wt_sets_part(sets, 0, n);
    part.outputs = q;
    part.y = doubles(context, n * q);
    for (size_t i = 0; i < n * q; i++)
        part.y[i] = y[i / q * columns + first + i % q];
    return part;
}

static const double path[] = {1e-5, 1e-3, 1e-1, 10};

static const struct {
    const char *name;
    wt_ridge_options ridge;
    double tolerance; /* relative, of errors */
} rules[] = {
    /* The condition, n / lambda at most, times rounding; errors square it down again. */
    {"1e-3", {RIDGE(FIXED), .lambda = 1e-3}, 1e-8},
    {"1e-6", {RIDGE(FIXED), .lambda = 1e-6}, 1e-8},
    {"loo", {RIDGE(LOO), .path = path, .path_count = 4}, 1e-8},
    {"gcv", {RIDGE(GCV), .path = path, .path_count = 4}, 1e-8},
    {"oracle", {RIDGE(ORACLE), .path = path, .path_count = 4}, 1e-8},
    {"default path", {RIDGE(LOO)}, 1e-6},
    /* Eigenvalues next to the cut are divided by: rounding of 1e-16 over 1e-8 or so. */
    {"min-norm", {RIDGE(MIN_NORM)}, 1e-5},
    {"0", {RIDGE(FIXED), .lambda = 0}, 1e-5},
};
enum { RULES = sizeof rules / sizeof *rules };

static const wt_model_spec specs[] = {
    {MODEL(RFA), .heads = 40, .dim = 3, .keys = 4, .seed = 5}, /* f = 160: below and above n */
    {MODEL(BRFA), .heads = 300, .bias = 4, .dim = 3, .keys = 4, .seed = 5},
    {MODEL(RFMLP), .heads = 30, .dim = 3, .keys = 4, .seed = 5},
    {MODEL(RFA_INF), .dim = 3, .keys = 4},
};
enum { SPECS = sizeof specs / sizeof *specs };

enum { TRAIN = 290, COLUMNS = 6, TARGETS = 3, Q = COLUMNS / TARGETS };
static const size_t sizes[] = {1, 7, 100, 256, 290};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void check_near_number(double got, double wanted, double tolerance, const char *what,
                              size_t model, size_t rule, size_t n) {
    if (isnan(got)) /* not every rule computes everything */
        return;
    if (!(fabs(got - wanted) <= tolerance * fmax(fabs(wanted), 1e-6)))
        fail_msg("model %zu, rule %s, n = %zu: %s is %.12g, not %.12g", model, rules[rule].name, n,
                 what, got, wanted);
}

static void points_are_fits_of_the_first_samples(void **state) {
    wt_context *context = *state;
    for (size_t m = 0; m < SPECS; m++) {
        wt_sets train = draw_sets(context, 31, TRAIN, 4, 3, 0, true);
        wt_sets test = draw_sets(context, 32, TEST, 4, 3, 0, true);
        double *train_y = labels_of(context, &train, COLUMNS);
        double *test_y = labels_of(context, &test, COLUMNS);
        for (size_t r = 0; r < RULES; r++) {
            wt_curve_point points[TARGETS * SIZES];
            CHECK_OK(context,
                     wt_ridge_curve(context, &rules[r].ridge, &specs[m], &train, train_y, &test,
                                    test_y, COLUMNS, TARGETS, sizes, SIZES, points));
            for (size_t t = 0; t < TARGETS; t++)
                for (size_t s = 1; s < SIZES; s++) { /* one sample has no variance */
                    wt_sets part = labelled(context, &train, sizes[s], train_y, COLUMNS, t * Q, Q);
                    wt_sets judge = labelled(context, &test, TEST, test_y, COLUMNS, t * Q, Q);
                    wt_ridge_options ridge = rules[r].ridge;
                    ridge.solver = WT_SOLVER_DUAL;
                    wt_fitted *fitted;
                    wt_fit_report report = WT_SIZED(wt_fit_report);
                    CHECK_OK(context, wt_ridge_fit(context, &ridge, &specs[m], &part, &judge,
                                                   &fitted, &report));
                    const wt_curve_point *point = &points[t * SIZES + s];
                    assert_int_equal(point->n, sizes[s]);
                    assert_true(point->lambda == report.lambda);
                    double tolerance = rules[r].tolerance;
                    check_near_number(point->test_error, report.test_error, tolerance, "test", m, r,
                                      sizes[s]);
                    assert_true(!isnan(point->test_error));
                    assert_true(!isnan(point->train_error));
                    check_near_number(point->train_error, report.train_error, tolerance, "train", m,
                                      r, sizes[s]);
                    check_near_number(point->loo_error, report.loo_error, tolerance, "loo", m, r,
                                      sizes[s]);
                    if (rules[r].ridge.rule == WT_LAMBDA_LOO)
                        assert_true(!isnan(point->loo_error));
                    wt_fitted_free(fitted);
                    wt_release(part.y);
                    wt_release(judge.y);
                }
        }
        wt_release(train_y);
        wt_release(test_y);
        wt_sets_close(&train);
        wt_sets_close(&test);
    }
}

static void targets_side_by_side_are_as_if_alone(void **state) {
    wt_context *context = *state;
    wt_sets train = draw_sets(context, 33, TRAIN, 4, 3, 0, false);
    wt_sets test = draw_sets(context, 34, TEST, 4, 3, 0, false);
    double *train_y = labels_of(context, &train, COLUMNS);
    double *test_y = labels_of(context, &test, COLUMNS);
    for (size_t r = 0; r < RULES; r++) {
        wt_curve_point together[TARGETS * SIZES], alone[SIZES];
        CHECK_OK(context, wt_ridge_curve(context, &rules[r].ridge, &specs[0], &train, train_y,
                                         &test, test_y, COLUMNS, TARGETS, sizes, SIZES, together));
        for (size_t t = 0; t < TARGETS; t++) {
            wt_sets one = labelled(context, &train, TRAIN, train_y, COLUMNS, t * Q, Q);
            wt_sets other = labelled(context, &test, TEST, test_y, COLUMNS, t * Q, Q);
            CHECK_OK(context, wt_ridge_curve(context, &rules[r].ridge, &specs[0], &train, one.y,
                                             &test, other.y, Q, 1, sizes, SIZES, alone));
            for (size_t s = 1; s < SIZES; s++) {
                assert_true(together[t * SIZES + s].lambda == alone[s].lambda);
                check_near_number(together[t * SIZES + s].test_error, alone[s].test_error,
                                  rules[r].tolerance, "test", 0, r, sizes[s]);
            }
            wt_release(one.y);
            wt_release(other.y);
        }
    }
    wt_release(train_y);
    wt_release(test_y);
    wt_sets_close(&train);
    wt_sets_close(&test);
}

/* A lambda too small for a factor at the largest size must not be lost to the smaller ones. */
static void a_lambda_fails_where_it_must_alone(void **state) {
    wt_context *context = *state;
    static const double few[] = {1e-9, 1e6};
    static const size_t two[] = {20, 200};
    wt_model_spec spec = {MODEL(RFA), .heads = 10, .dim = 3, .keys = 4, .seed = 5};
    wt_sets train = draw_sets(context, 35, 200, 4, 3, 0, false);
    wt_sets test = draw_sets(context, 36, TEST, 4, 3, 0, false);
    for (size_t i = 0; i < 200 * 3; i++) /* K of order 1e9: 1e-9 is within its rounding */
        train.query[i] *= i / 3 < 20 ? 1 : 3e4;
    double *train_y = labels_of(context, &train, 1), *test_y = labels_of(context, &test, 1);
    wt_ridge_options ridge = {RIDGE(GCV), .path = few, .path_count = 2};
    wt_curve_point points[2], small;
    CHECK_OK(context, wt_ridge_curve(context, &ridge, &spec, &train, train_y, &test, test_y, 1, 1,
                                     two, 2, points));
    CHECK_OK(context, wt_ridge_curve(context, &ridge, &spec, &train, train_y, &test, test_y, 1, 1,
                                     two, 1, &small));
    assert_true(small.lambda == 1e-9);
    assert_true(points[0].lambda == 1e-9);
    assert_true(points[1].lambda >= 1e6); /* or beyond the end of the path */
    CHECK_NEAR(points[0].test_error, small.test_error, 1e-6);
    wt_release(train_y);
    wt_release(test_y);
    wt_sets_close(&train);
    wt_sets_close(&test);
}

static void same_bits_for_every_number_of_threads(void **state) {
    wt_context *context = *state;
    int before = wt_context_threads(context);
    wt_sets train = draw_sets(context, 40, TRAIN, 4, 3, 0, true);
    wt_sets test = draw_sets(context, 41, TEST, 4, 3, 0, true);
    double *train_y = labels_of(context, &train, COLUMNS);
    double *test_y = labels_of(context, &test, COLUMNS);
    for (size_t m = 0; m < SPECS; m++)
        for (size_t r = m % 2; r < RULES; r += 2) { /* half the rules a model */
            wt_curve_point first[TARGETS * SIZES], again[TARGETS * SIZES];
            memset(first, 0, sizeof first);
            for (int threads = 1; threads <= 4; threads++) {
                CHECK_OK(context, wt_context_set_threads(context, threads));
                memset(again, 0, sizeof again);
                CHECK_OK(context,
                         wt_ridge_curve(context, &rules[r].ridge, &specs[m], &train, train_y, &test,
                                        test_y, COLUMNS, TARGETS, sizes, SIZES, again));
                if (threads == 1)
                    memcpy(first, again, sizeof first);
                for (size_t p = 0; p < TARGETS * SIZES; p++) { /* not the bytes between fields */
                    const double a[] = {first[p].lambda, first[p].test_error, first[p].train_error,
                                        first[p].loo_error};
                    const double b[] = {again[p].lambda, again[p].test_error, again[p].train_error,
                                        again[p].loo_error};
                    assert_memory_equal(a, b, sizeof a);
                    assert_int_equal(first[p].n, again[p].n);
                    assert_int_equal(first[p].lambda_at_end, again[p].lambda_at_end);
                }
            }
        }
    CHECK_OK(context, wt_context_set_threads(context, before));
    wt_release(train_y);
    wt_release(test_y);
    wt_sets_close(&train);
    wt_sets_close(&test);
}

static void bad_input_is_refused(void **state) {
    wt_context *context = *state;
    wt_sets train = draw_sets(context, 42, 10, 4, 3, 0, false);
    wt_sets test = draw_sets(context, 43, 5, 4, 3, 0, false);
    wt_sets other = draw_sets(context, 43, 5, 4, 2, 0, false);
    double *train_y = labels_of(context, &train, 3), *test_y = labels_of(context, &test, 3);
    wt_model_spec spec = specs[0];
    wt_ridge_options ridge = {RIDGE(FIXED), .lambda = 1};
    wt_curve_point points[12];
#define CURVE(test_sets, columns, targets, list, count)                                            \
    wt_ridge_curve(context, &ridge, &spec, &train, train_y, test_sets, test_y, columns, targets,   \
                   list, count, points)
    static const size_t good[] = {2, 10}, zero[] = {0, 5}, falling[] = {5, 5}, beyond[] = {5, 11};
    CHECK_OK(context, CURVE(&test, 3, 3, good, 2));
    CHECK_FAILS(context, CURVE(&test, 3, 3, zero, 2), WT_USAGE, "number 0 is 0");
    CHECK_FAILS(context, CURVE(&test, 3, 3, falling, 2), WT_USAGE, "number 1 is 5");
    CHECK_FAILS(context, CURVE(&test, 3, 3, beyond, 2), WT_USAGE, "10 training samples");
    CHECK_FAILS(context, CURVE(&test, 3, 3, good, 0), WT_USAGE, "size");
    CHECK_FAILS(context, CURVE(&test, 3, 2, good, 2), WT_USAGE, "shared by 2 targets");
    CHECK_FAILS(context, CURVE(&test, 3, 0, good, 2), WT_USAGE, "0 targets");
    CHECK_FAILS(context, CURVE(&test, 0, 1, good, 2), WT_USAGE, "column");
    CHECK_FAILS(context, CURVE(&other, 3, 3, good, 2), WT_DATA,
                "the test data has tokens of 2 dimensions, the model wants 3");
    train_y[7] = NAN;
    CHECK_FAILS(context, CURVE(&test, 3, 3, good, 2), WT_DATA, "row 2, column 1 is nan");
    train_y[7] = 0;
    test_y[2] = INFINITY;
    CHECK_FAILS(context, CURVE(&test, 3, 3, good, 2), WT_DATA, "row 0, column 2 is inf");
    test_y[2] = 0;
    train.query[4] = NAN;
    CHECK_FAILS(context, CURVE(&test, 3, 3, good, 2), WT_DATA,
                "the training data: query of sample 1, number 1, is nan");
    train.query[4] = 0;
    ridge.lambda = -1;
    CHECK_FAILS(context, CURVE(&test, 3, 3, good, 2), WT_USAGE, "not -1");
    ridge.lambda = 1;
    spec.heads = 0;
    CHECK_FAILS(context, CURVE(&test, 3, 3, good, 2), WT_USAGE, "1 head or more");
    wt_release(train_y);
    wt_release(test_y);
    wt_sets_close(&train);
    wt_sets_close(&test);
    wt_sets_close(&other);
}

/* Every allocation fails in its turn, and nothing is left. */
static void failing_allocations_leave_nothing_behind(void **state) {
    wt_context *context = *state;
    wt_sets train = draw_sets(context, 44, 30, 4, 3, 0, false);
    wt_sets test = draw_sets(context, 45, 9, 4, 3, 0, false);
    double *train_y = labels_of(context, &train, 2), *test_y = labels_of(context, &test, 2);
    static const size_t two[] = {11, 30};
    size_t held = wt_context_memory_used(context);
    for (size_t m = 0; m < SPECS; m++)
        for (size_t r = 0; r < RULES; r++) {
            bool done = false;
            for (long k = 1; !done; k++) {
                wt_curve_point points[4];
                assert_true(k < 2000);
                atomic_store(&context->allocation_to_fail, k);
                wt_status status = wt_ridge_curve(context, &rules[r].ridge, &specs[m], &train,
                                                  train_y, &test, test_y, 2, 2, two, 2, points);
                done = status == WT_OK;
                if (!done) {
                    assert_int_equal(status, WT_MEMORY);
                    assert_non_null(strstr(wt_context_message(context), "no memory for"));
                }
                assert_int_equal(wt_context_memory_used(context), held);
            }
            atomic_store(&context->allocation_to_fail, 0);
        }
    wt_release(train_y);
    wt_release(test_y);
    wt_sets_close(&train);
    wt_sets_close(&test);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_fits_of_the_first_samples),
        cmocka_unit_test(targets_side_by_side_are_as_if_alone),
        cmocka_unit_test(a_lambda_fails_where_it_must_alone),
        cmocka_unit_test(same_bits_for_every_number_of_threads),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
