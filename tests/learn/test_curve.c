/* Learning curves: every point is the fit of its first samples, alone or beside other targets, by
 * every rule, through the float factor or the exact one. */
#include "learn/mixed.h"
#include "learn/plain.h"
#include "wattle/learn.h"
#include "wattle/linalg.h"

/* Label columns of `targets` problems side by side: means of powers of a coordinate, and noise. */
static double *labels_of(wt_context *context, const wt_sets *sets, size_t columns) {
    double *y = doubles(context, sets->samples * columns);
    wt_random_normal(wt_stream_for(77, "test noise", sets->samples), 0, sets->samples * columns, y);
    for (size_t i = 0; i < sets->samples; i++)
        for (size_t c = 0; c < columns; c++) {
            double sum = 0;
            for (size_t k = 0; k < sets->keys; k++)
                sum += pow(sets->key[(i * sets->keys + k) * sets->dim], (double)(c % 3 + 1)) +
                       sets->query[i * sets->dim];
            y[i * columns + c] = 0.1 * y[i * columns + c] + sum / (double)sets->keys;
        }
    return y;
}

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
    wt_ridge ridge;
    double tolerance; /* relative, of errors */
} rules[] = {
    /* The condition, n / lambda at most, times rounding; errors square it down again. */
    {"1e-3", {.lambda = 1e-3}, 1e-8},
    {"1e-6", {.lambda = 1e-6}, 1e-8},
    {"loo", {.rule = WT_LAMBDA_LOO, .path = path, .path_count = 4}, 1e-8},
    {"gcv", {.rule = WT_LAMBDA_GCV, .path = path, .path_count = 4}, 1e-8},
    {"oracle", {.rule = WT_LAMBDA_ORACLE, .path = path, .path_count = 4}, 1e-8},
    {"default path", {.rule = WT_LAMBDA_LOO}, 1e-6},
    /* Eigenvalues next to the cut are divided by: rounding of 1e-16 over 1e-8 or so. */
    {"min-norm", {.rule = WT_LAMBDA_MIN_NORM}, 1e-5},
    {"0", {.lambda = 0}, 1e-5},
};
enum { RULES = sizeof rules / sizeof *rules };

static const wt_model_spec specs[] = {
    {.kind = WT_RFA, .heads = 40, .dim = 3, .keys = 4, .seed = 5}, /* f = 160: below and above n */
    {.kind = WT_BRFA, .heads = 300, .bias = 4, .dim = 3, .keys = 4, .seed = 5},
    {.kind = WT_RFMLP, .heads = 30, .dim = 3, .keys = 4, .seed = 5},
    {.kind = WT_RFA_INF, .dim = 3, .keys = 4},
};
enum { SPECS = sizeof specs / sizeof *specs };

enum { TRAIN = 290, TEST = 60, COLUMNS = 6, TARGETS = 3, Q = COLUMNS / TARGETS };
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
                     wt_learning_curve(context, &specs[m], &train, train_y, &test, test_y, COLUMNS,
                                       TARGETS, sizes, SIZES, &rules[r].ridge, points));
            for (size_t t = 0; t < TARGETS; t++)
                for (size_t s = 1; s < SIZES; s++) { /* one sample has no variance */
                    wt_sets part = labelled(context, &train, sizes[s], train_y, COLUMNS, t * Q, Q);
                    wt_sets judge = labelled(context, &test, TEST, test_y, COLUMNS, t * Q, Q);
                    wt_ridge ridge = rules[r].ridge;
                    ridge.solver = WT_SOLVER_DUAL;
                    wt_fitted *fitted;
                    wt_fit_report report;
                    CHECK_OK(context, wt_fit_ridge(context, &specs[m], &part, &judge, &ridge,
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
        wt_sets_free(&train);
        wt_sets_free(&test);
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
        CHECK_OK(context,
                 wt_learning_curve(context, &specs[0], &train, train_y, &test, test_y, COLUMNS,
                                   TARGETS, sizes, SIZES, &rules[r].ridge, together));
        for (size_t t = 0; t < TARGETS; t++) {
            wt_sets one = labelled(context, &train, TRAIN, train_y, COLUMNS, t * Q, Q);
            wt_sets other = labelled(context, &test, TEST, test_y, COLUMNS, t * Q, Q);
            CHECK_OK(context, wt_learning_curve(context, &specs[0], &train, one.y, &test, other.y,
                                                Q, 1, sizes, SIZES, &rules[r].ridge, alone));
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
    wt_sets_free(&train);
    wt_sets_free(&test);
}

/* A lambda too small for a factor at the largest size must not be lost to the smaller ones. */
static void a_lambda_fails_where_it_must_alone(void **state) {
    wt_context *context = *state;
    static const double few[] = {1e-9, 1e6};
    static const size_t two[] = {20, 200};
    wt_model_spec spec = {.kind = WT_RFA, .heads = 10, .dim = 3, .keys = 4, .seed = 5};
    wt_sets train = draw_sets(context, 35, 200, 4, 3, 0, false);
    wt_sets test = draw_sets(context, 36, TEST, 4, 3, 0, false);
    for (size_t i = 0; i < 200 * 3; i++) /* K of order 1e9: 1e-9 is within its rounding */
        train.query[i] *= i / 3 < 20 ? 1 : 3e4;
    double *train_y = labels_of(context, &train, 1), *test_y = labels_of(context, &test, 1);
    wt_ridge ridge = {.rule = WT_LAMBDA_GCV, .path = few, .path_count = 2};
    wt_curve_point points[2], small;
    CHECK_OK(context, wt_learning_curve(context, &spec, &train, train_y, &test, test_y, 1, 1, two,
                                        2, &ridge, points));
    CHECK_OK(context, wt_learning_curve(context, &spec, &train, train_y, &test, test_y, 1, 1, two,
                                        1, &ridge, &small));
    assert_true(small.lambda == 1e-9);
    assert_true(points[0].lambda == 1e-9);
    assert_true(points[1].lambda == 1e6);
    CHECK_NEAR(points[0].test_error, small.test_error, 1e-6);
    wt_release(train_y);
    wt_release(test_y);
    wt_sets_free(&train);
    wt_sets_free(&test);
}

/* The float factor with double corrections, against the plain solver in long double. */
static void the_mixed_solver_is_exact(void **state) {
    wt_context *context = *state;
    enum { N = 300 };
    static const size_t two[] = {130, N};
    wt_model_spec spec = {.kind = WT_RFA, .heads = 100, .dim = 4, .keys = 5, .seed = 5};
    wt_sets sets = draw_sets(context, 37, N, 5, 4, 0, false);
    double *y = labels_of(context, &sets, 2), *phi;
    wt_features features;
    CHECK_OK(context, wt_features_draw(context, &spec, &features));
    size_t f = wt_features_count(&features);
    phi = plain_features(context, &features, &sets);
    static const double lambdas[] = {1e-3, 1e-4, 1e-5, 1e-6};
    for (size_t l = 0; l < 4; l++) {
        double *alpha = doubles(context, N * 4), *v = doubles(context, f * 4);
        double *got = doubles(context, f * 4), *column = doubles(context, f * 2);
        wt_mixed_result result;
        CHECK_OK(context, wt_mixed_solve(context, &features, &sets, lambdas[l], two, 2, 2, y, alpha,
                                         v, &result));
        assert_true(result.converged);
        wt_features_to_file_order(&features, v, 4, got);
        for (size_t s = 0; s < 2; s++) {
            double *wanted = plain_ridge(context, two[s], f, 2, phi, y, lambdas[l] * 100, two[s]);
            for (size_t i = 0; i < f * 2; i++)
                column[i] = got[i / 2 * 4 + s * 2 + i % 2];
            /* Residuals of 1e-9 of the labels: small eigenvalues multiply them in v, not in the
             * gradient, which is their product with Phi. */
            CHECK_BELOW(relative_difference(f * 2, column, wanted), 1e-8, "lambda %g, n = %zu",
                        lambdas[l], two[s]);
            CHECK_BELOW(gradient_ratio(two[s], f, 2, phi, y, lambdas[l] * 100, column), 1e-9,
                        "gradient: lambda %g, n = %zu", lambdas[l], two[s]);
            for (size_t i = two[s]; i < N; i++)
                assert_true(alpha[i * 4 + s * 2] == 0 && alpha[i * 4 + s * 2 + 1] == 0);
            wt_release(wanted);
        }
        wt_release(alpha);
        wt_release(v);
        wt_release(got);
        wt_release(column);
    }
    wt_release(y);
    wt_release(phi);
    wt_features_free(&features);
    wt_sets_free(&sets);
}

/* Where float cannot, it says so, and the curve is right all the same. */
static void without_a_float_factor_the_curve_is_right(void **state) {
    wt_context *context = *state;
    enum { N = 120 };
    static const size_t two[] = {50, N};
    static const struct {
        double lambda, tokens, labels;
        bool copies;
        const char *what;
    } cases[] = {
        {1e-9, 1, 1, true, "copies, lambda below float's rounding"},
        {1e-3, 1e7, 1, false, "features beyond float"},
        {1e-3, 1, 1e42, false, "labels beyond float"},
        {1e-3, 1, 1e-42, false, "labels below float"},
    };
    wt_model_spec spec = {.kind = WT_RFA, .heads = 50, .dim = 3, .keys = 4, .seed = 5};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        wt_sets train = draw_sets(context, 38, N, 4, 3, 0, false);
        wt_sets test = draw_sets(context, 39, TEST, 4, 3, 0, false);
        double *train_y = labels_of(context, &train, 1), *test_y = labels_of(context, &test, 1);
        for (size_t i = 0; i < N * 3; i++)
            train.query[i] =
                cases[c].tokens *
                (cases[c].copies && i >= N / 2 * 3 ? train.query[i - N / 2 * 3] : train.query[i]);
        for (size_t i = 0; i < TEST * 3; i++)
            test.query[i] *= cases[c].tokens;
        for (size_t i = 0; i < N * 4 * 3; i++)
            train.key[i] =
                cases[c].tokens *
                (cases[c].copies && i >= N / 2 * 12 ? train.key[i - N / 2 * 12] : train.key[i]);
        for (size_t i = 0; i < TEST * 12; i++)
            test.key[i] *= cases[c].tokens;
        for (size_t i = 0; i < N; i++)
            train_y[i] *= cases[c].labels;
        for (size_t i = 0; i < TEST; i++)
            test_y[i] *= cases[c].labels;
        wt_features features;
        wt_mixed_result result;
        CHECK_OK(context, wt_features_draw(context, &spec, &features));
        double *alpha = doubles(context, N * 2);
        double *v = doubles(context, wt_features_count(&features) * 2);
        CHECK_OK(context, wt_mixed_solve(context, &features, &train, cases[c].lambda, two, 2, 1,
                                         train_y, alpha, v, &result));
        if (c < 2)
            assert_false(result.converged); /* labels of any size can be scaled, though */
        wt_release(alpha);
        wt_release(v);
        wt_features_free(&features);
        wt_curve_point points[2];
        wt_ridge ridge = {.lambda = cases[c].lambda};
        CHECK_OK(context, wt_learning_curve(context, &spec, &train, train_y, &test, test_y, 1, 1,
                                            two, 2, &ridge, points));
        for (size_t s = 0; s < 2; s++) {
            size_t f;
            double *phi = phi_of(context, &spec, &train, &f), error = 0;
            double *test_phi = phi_of(context, &spec, &test, &f);
            double *wanted =
                plain_ridge(context, two[s], f, 1, phi, train_y, cases[c].lambda * 50, two[s]);
            for (size_t i = 0; i < TEST; i++)
                error += pow(
                    (test_y[i] - plain_predict(f, 1, test_phi, wanted, i, 0)) / cases[c].labels, 2);
            double *scaled = doubles(context, TEST);
            for (size_t i = 0; i < TEST; i++)
                scaled[i] = test_y[i] / cases[c].labels;
            error /= TEST * plain_variance(TEST, 1, scaled);
            /* Conditions of up to 1e11 (the copies, and tokens of 1e7) leave five digits. */
            if (!(fabs(points[s].test_error / error - 1) <= (c < 2 ? 1e-4 : 1e-8)))
                fail_msg("%s, n = %zu: test error %.12g, not %.12g", cases[c].what, two[s],
                         points[s].test_error, error);
            wt_release(phi);
            wt_release(test_phi);
            wt_release(wanted);
            wt_release(scaled);
        }
        wt_release(train_y);
        wt_release(test_y);
        wt_sets_free(&train);
        wt_sets_free(&test);
    }
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
                         wt_learning_curve(context, &specs[m], &train, train_y, &test, test_y,
                                           COLUMNS, TARGETS, sizes, SIZES, &rules[r].ridge, again));
                if (threads == 1)
                    memcpy(first, again, sizeof first);
                assert_memory_equal(first, again, sizeof first);
            }
        }
    CHECK_OK(context, wt_context_set_threads(context, before));
    wt_release(train_y);
    wt_release(test_y);
    wt_sets_free(&train);
    wt_sets_free(&test);
}

static void bad_input_is_refused(void **state) {
    wt_context *context = *state;
    wt_sets train = draw_sets(context, 42, 10, 4, 3, 0, false);
    wt_sets test = draw_sets(context, 43, 5, 4, 3, 0, false);
    wt_sets other = draw_sets(context, 43, 5, 4, 2, 0, false);
    double *train_y = labels_of(context, &train, 3), *test_y = labels_of(context, &test, 3);
    wt_model_spec spec = specs[0];
    wt_ridge ridge = {.lambda = 1};
    wt_curve_point points[12];
#define CURVE(test_sets, columns, targets, list, count)                                            \
    wt_learning_curve(context, &spec, &train, train_y, test_sets, test_y, columns, targets, list,  \
                      count, &ridge, points)
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
    wt_sets_free(&train);
    wt_sets_free(&test);
    wt_sets_free(&other);
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
                wt_status status = wt_learning_curve(context, &specs[m], &train, train_y, &test,
                                                     test_y, 2, 2, two, 2, &rules[r].ridge, points);
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
    wt_sets_free(&train);
    wt_sets_free(&test);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_fits_of_the_first_samples),
        cmocka_unit_test(targets_side_by_side_are_as_if_alone),
        cmocka_unit_test(a_lambda_fails_where_it_must_alone),
        cmocka_unit_test(the_mixed_solver_is_exact),
        cmocka_unit_test(without_a_float_factor_the_curve_is_right),
        cmocka_unit_test(same_bits_for_every_number_of_threads),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
