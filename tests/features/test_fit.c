/* Fits as a user sees them: labels of any scale, streams, numbers of threads, budgets, bad input,
 * failing allocations. Infinitely many heads are in test_fit_kernels.c. */
#include "features/fit_cases.h"
#include "features/model/kernel.h"
#include "features/task/sets.h"
#include "specs.h"
#include "wattle/fit.h"

static const wt_model_spec rfa = {MODEL(RFA), .heads = 12, .dim = 3, .keys = 4, .seed = 5};
static const wt_solver solvers[] = {WT_SOLVER_DUAL, WT_SOLVER_PRIMAL};
enum { SOLVERS = 2, TRAIN = 40 };

/* Standardised, a fit does not see scale and place of the labels; else it sees no scale. */
static void labels_of_any_scale_and_place(void **state) {
    wt_context *context = *state;
    static const double places[] = {0, -3, 1e6}, scales[] = {1, 1e-3, 250};
    static const wt_lambda rules[] = {WT_LAMBDA_FIXED, WT_LAMBDA_LOO, WT_LAMBDA_GCV,
                                      WT_LAMBDA_ORACLE, WT_LAMBDA_MIN_NORM};
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (size_t s = 0; s < SOLVERS; s++)
            for (int standardize = 0; standardize < 2; standardize++) {
                wt_sets train = draw_sets(context, 1, TRAIN, 4, 3, 2, true);
                wt_sets test = draw_sets(context, 2, TEST, 4, 3, 2, true);
                wt_ridge_options ridge = {.size = sizeof(wt_ridge_options),
                                          .rule = rules[r],
                                          .lambda = 0.01,
                                          .solver = solvers[s],
                                          .standardize = standardize};
                outcome base = fit_and_predict(context, &rfa, &train, &test, &ridge);
                for (size_t c = 1; c < 3; c++) {
                    double place = standardize ? places[c] : 0, scale = scales[c];
                    wt_sets moved = draw_sets(context, 1, TRAIN, 4, 3, 2, true);
                    wt_sets judge = draw_sets(context, 2, TEST, 4, 3, 2, true);
                    for (size_t i = 0; i < TRAIN * 2; i++)
                        moved.y[i] = place + scale * moved.y[i];
                    for (size_t i = 0; i < TEST * 2; i++)
                        judge.y[i] = place + scale * judge.y[i];
                    outcome other = fit_and_predict(context, &rfa, &moved, &judge, &ridge);
                    assert_true(other.report.lambda == base.report.lambda);
                    /* Labels of 1e6 +- 250 have lost 4 digits, the minimum norm some more. */
                    double tolerance = rules[r] == WT_LAMBDA_MIN_NORM ? 1e-6 : 1e-8;
                    CHECK_NEAR(other.report.train_error, base.report.train_error, tolerance);
                    CHECK_NEAR(other.report.test_error, base.report.test_error, tolerance);
                    CHECK_NEAR(other.report.loo_error / base.report.loo_error, 1, tolerance);
                    for (size_t i = 0; i < TEST * 2; i++)
                        CHECK_NEAR((other.predicted[i] - place) / scale, base.predicted[i],
                                   tolerance);
                    wt_sets_close(&moved);
                    wt_sets_close(&judge);
                }
                wt_sets_close(&train);
                wt_sets_close(&test);
            }
}

/* Far from zero and not standardised: the errors must still be over the variance, in both ways. */
static void variances_survive_a_large_mean(void **state) {
    wt_context *context = *state;
    wt_sets train = draw_sets(context, 1, TRAIN, 4, 3, 1, false);
    wt_sets test = draw_sets(context, 2, TEST, 4, 3, 1, false);
    for (size_t i = 0; i < TRAIN; i++)
        train.y[i] += 1e7;
    outcome out[SOLVERS];
    for (size_t s = 0; s < SOLVERS; s++)
        out[s] =
            fit_and_predict(context, &rfa, &train, &test,
                            &(wt_ridge_options){RIDGE(FIXED), .lambda = 10, .solver = solvers[s]});
    CHECK_NEAR(out[1].report.train_error / out[0].report.train_error, 1, 1e-9);
    CHECK_NEAR(out[1].report.loo_error / out[0].report.loo_error, 1, 1e-9);
    wt_sets_close(&train);
    wt_sets_close(&test);
}

/* No variance, so that errors over it have no value: NaN, and no accident of rounding. */
static void constant_labels(void **state) {
    wt_context *context = *state;
    for (size_t s = 0; s < SOLVERS; s++)
        for (int standardize = 0; standardize < 2; standardize++) {
            wt_sets train = draw_sets(context, 1, TRAIN, 4, 3, 1, false);
            wt_sets test = draw_sets(context, 2, TEST, 4, 3, 1, false);
            for (size_t i = 0; i < TRAIN; i++)
                train.y[i] = 0.1; /* whose sums are not exact */
            wt_ridge_options ridge = {RIDGE(FIXED), .lambda = 1e-3, .solver = solvers[s],
                                      .standardize = standardize};
            outcome out = fit_and_predict(context, &rfa, &train, &test, &ridge);
            assert_true(isnan(out.report.train_error) && isnan(out.report.loo_error));
            assert_true(isfinite(out.report.test_error));
            for (size_t i = 0; i < TEST; i++)
                if (standardize)
                    CHECK_NEAR(out.predicted[i], 0.1, 1e-15);
                else
                    assert_true(isfinite(out.predicted[i]));
            for (size_t i = 0; i < TEST; i++)
                test.y[i] = 0.1;
            out = fit_and_predict(context, &rfa, &train, &test, &ridge);
            assert_true(isnan(out.report.test_error));
            wt_sets_close(&train);
            wt_sets_close(&test);
        }
}

static void same_bits_for_every_number_of_threads(void **state) {
    wt_context *context = *state;
    int before = wt_context_threads(context);
    static const wt_model_spec specs[] = {
        {MODEL(RFA), .heads = 70, .dim = 4, .keys = 3, .seed = 5},
        {MODEL(RFMLP), .heads = 60, .dim = 4, .keys = 3, .seed = 5},
        {MODEL(RFA_INF), .dim = 4, .keys = 3}};
    static const wt_ridge_options ridges[] = {
        {RIDGE(FIXED), .lambda = 1e-3}, {RIDGE(LOO)}, {RIDGE(MIN_NORM)}};
    wt_sets train = draw_sets(context, 6, 300, 3, 4, 2, true);
    wt_sets test = draw_sets(context, 7, TEST, 3, 4, 2, true);
    for (size_t m = 0; m < 3; m++)
        for (size_t r = 0; r < 3; r++)
            for (size_t s = 0; s < (m == 2 ? 1 : SOLVERS); s++) {
                wt_ridge_options ridge = ridges[r];
                ridge.solver = solvers[s];
                outcome first = {0};
                for (int threads = 1; threads <= 4; threads++) {
                    CHECK_OK(context, wt_context_set_threads(context, threads));
                    outcome out = fit_and_predict(context, &specs[m], &train, &test, &ridge);
                    out.report.seconds = 0;
                    out.report.bytes = 0;
                    if (threads == 1)
                        first = out;
                    assert_memory_equal(first.predicted, out.predicted, sizeof out.predicted);
                    const double a[] = {out.report.train_error, out.report.test_error,
                                        out.report.freedom, out.report.condition,
                                        out.report.sum_norms};
                    const double b[] = {first.report.train_error, first.report.test_error,
                                        first.report.freedom, first.report.condition,
                                        first.report.sum_norms};
                    assert_memory_equal(a, b, sizeof a);
                }
            }
    CHECK_OK(context, wt_context_set_threads(context, before));
    wt_sets_close(&train);
    wt_sets_close(&test);
}

/* Drawn on the fly, in slabs: the bits of drawing first and fitting then. */
static void a_stream_gives_the_same_bits(void **state) {
    wt_context *context = *state;
    enum { N = 2300 }; /* more than two slabs, and no multiple of anything */
    wt_problem_spec problem_spec = {.size = sizeof(wt_problem_spec),
                                    .target = "corr-power:2",
                                    .noise = 0.1,
                                    .dim = 3,
                                    .keys = 4,
                                    .seed = 8};
    wt_problem *problem;
    CHECK_OK(context, wt_problem_new(context, &problem_spec, &problem));
    wt_sets whole = draw_sets(context, 1, N, 4, 3, 1, false);
    CHECK_OK(context, wt_problem_draw(context, problem, 0, &whole));
    wt_sets test = draw_sets(context, 2, TEST, 4, 3, 1, false);
    CHECK_OK(context, wt_problem_draw(context, problem, 1 << 20, &test));
    static const wt_ridge_options ridges[] = {
        {RIDGE(FIXED), .lambda = 1e-3},
        {RIDGE(LOO)},
        {RIDGE(GCV)},
        {RIDGE(ORACLE)},
        {RIDGE(MIN_NORM)},
        {RIDGE(FIXED), .lambda = 1e-3, .standardize = true},
        {RIDGE(FIXED), .lambda = 1e-3, .solver = WT_SOLVER_DUAL}};
    for (size_t r = 0; r < sizeof ridges / sizeof *ridges; r++) {
        wt_fitted *streamed, *held;
        wt_fit_report first = WT_SIZED(wt_fit_report), second = WT_SIZED(wt_fit_report);
        size_t samples = r == 6 ? 500 : N;
        wt_sets part = wt_sets_part(&whole, 0, samples);
        CHECK_OK(context, wt_ridge_fit_problem(context, &ridges[r], &rfa, problem, samples, &test,
                                               &streamed, &first));
        CHECK_OK(context, wt_ridge_fit(context, &ridges[r], &rfa, &part, &test, &held, &second));
        size_t f = wt_features_count(&held->model.features);
        assert_memory_equal(streamed->v, held->v, f * sizeof *held->v);
        assert_true(first.lambda == second.lambda);
        assert_true(first.train_error == second.train_error);
        assert_true(first.test_error == second.test_error);
        if (r < 5)
            assert_string_equal(first.route, "streamed");
        wt_fitted_free(streamed);
        wt_fitted_free(held);
    }
    /* And a stream never holds its samples: less than half their size. */
    wt_context *lean;
    assert_int_equal(wt_context_new(&lean), WT_OK);
    wt_fitted *fitted;
    wt_fit_report report = WT_SIZED(wt_fit_report);
    enum { MANY = 40000 };
    CHECK_OK(lean,
             wt_ridge_fit_problem(lean, &ridges[0], &rfa, problem, MANY, NULL, &fitted, &report));
    assert_true(report.bytes < MANY * (size_t)(5 * 3 + 1) * sizeof(double) / 2);
    wt_fitted_free(fitted);
    assert_int_equal(wt_context_memory_used(lean), 0);
    wt_context_free(lean);
    wt_problem_free(problem);
    wt_sets_close(&whole);
    wt_sets_close(&test);
}

/* Structs of a caller whose headers knew less, nothing, or more. */
static void sizes_of_structs_are_read(void **state) {
    wt_context *context = *state;
    wt_sets train = draw_sets(context, 1, 10, 4, 3, 1, true);
    wt_fitted *fitted;
    wt_fit_report report = {.size = offsetof(wt_fit_report, samples), .samples = 99};
    wt_ridge_options ridge;
    wt_ridge_options_init(&ridge, offsetof(wt_ridge_options, path));
    ridge.solver = (wt_solver)7; /* beyond what the caller has: not read */
    ridge.path_count = 0;
    CHECK_OK(context, wt_ridge_fit(context, &ridge, &rfa, &train, NULL, &fitted, &report));
    assert_string_equal(report.route, "dual");
    assert_int_equal(report.samples, 99);
    wt_fitted_free(fitted);
    static const size_t wrong[] = {0, 4096};
    static const char *const words[] = {"is not set", "is of a later version"};
    for (size_t i = 0; i < 2; i++) {
        wt_model_spec spec = rfa;
        size_t *const sizes[] = {&report.size, &ridge.size, &spec.size};
        for (size_t k = 0; k < 3; k++) {
            size_t right = *sizes[k];
            *sizes[k] = wrong[i];
            CHECK_FAILS(context,
                        wt_ridge_fit(context, &ridge, &spec, &train, NULL, &fitted, &report),
                        WT_USAGE, words[i]);
            assert_null(fitted);
            *sizes[k] = right;
        }
    }
    wt_sets_close(&train);
}

static void bad_input_is_refused(void **state) {
    wt_context *context = *state;
    wt_sets train = draw_sets(context, 1, 10, 4, 3, 1, true);
    wt_sets test = draw_sets(context, 2, 5, 4, 3, 1, false);
    wt_sets other_dim = draw_sets(context, 2, 5, 4, 2, 1, false);
    wt_sets two_labels = draw_sets(context, 2, 5, 4, 3, 2, false);
    wt_sets unlabelled = draw_sets(context, 2, 5, 4, 3, 0, false);
    wt_fitted *fitted;
    wt_fit_report report = WT_SIZED(wt_fit_report);
    wt_ridge_options ridge = {RIDGE(FIXED), .lambda = 1};
#define FIT(spec, train_sets, test_sets)                                                           \
    wt_ridge_fit(context, &ridge, spec, train_sets, test_sets, &fitted, &report)
    CHECK_FAILS(context, FIT(&rfa, &other_dim, NULL), WT_DATA,
                "the training data has tokens of 2 dimensions, the model wants 3");
    CHECK_FAILS(context, FIT(&rfa, &train, &other_dim), WT_DATA,
                "the test data has tokens of 2 dimensions, the model wants 3");
    CHECK_FAILS(context, FIT(&rfa, &train, &two_labels), WT_DATA, "2 labels a sample where 1");
    CHECK_FAILS(context, FIT(&rfa, &unlabelled, NULL), WT_DATA, "the training data has no labels");
    CHECK_FAILS(context, FIT(&rfa, &train, &unlabelled), WT_DATA, "the test data has no labels");
    wt_model_spec spec = rfa;
    spec.heads = 0;
    CHECK_FAILS(context, FIT(&spec, &train, NULL), WT_USAGE, "1 head or more");
    ridge.rule = WT_LAMBDA_ORACLE;
    CHECK_FAILS(context, FIT(&rfa, &train, NULL), WT_USAGE, "oracle rule needs test data");
    ridge.rule = WT_LAMBDA_FIXED;
    static const double lambdas[] = {-1, NAN, INFINITY};
    for (size_t i = 0; i < 3; i++) {
        ridge.lambda = lambdas[i];
        CHECK_FAILS(context, FIT(&rfa, &train, NULL), WT_USAGE, "lambda must be 0 or more");
        assert_null(fitted);
    }
    static const double paths[][2] = {{0, 1}, {1, 1}, {2, 1}, {1, NAN}};
    ridge.rule = WT_LAMBDA_LOO;
    for (size_t i = 0; i < 4; i++) {
        ridge.path = paths[i];
        ridge.path_count = 2;
        CHECK_FAILS(context, FIT(&rfa, &train, NULL), WT_USAGE, "must increase and stay above 0");
    }
    ridge.path_count = 0;
    CHECK_FAILS(context, FIT(&rfa, &train, NULL), WT_USAGE, "empty");
    ridge = (wt_ridge_options){RIDGE(FIXED), .lambda = 1};
    train.y[3] = NAN;
    CHECK_FAILS(context, FIT(&rfa, &train, NULL), WT_DATA,
                "the training data: y of sample 3, number 0, is nan");
    train.y[3] = 0;
    memset(train.mask + 4, 0, 4);
    CHECK_FAILS(context, FIT(&rfa, &train, NULL), WT_DATA, "sample 1 has every key masked");
    train.samples = 0;
    CHECK_FAILS(context, FIT(&rfa, &train, NULL), WT_DATA, "no samples");
    ridge.solver = WT_SOLVER_PRIMAL;
    spec = (wt_model_spec){MODEL(RFA_INF), .dim = 3, .keys = 4};
    CHECK_FAILS(context, FIT(&spec, &test, NULL), WT_USAGE, "rfa-inf is a kernel");
    /* The same of a stream, which has no sets to check. */
    wt_problem *problem;
    wt_problem_spec problem_spec = {
        .size = sizeof(wt_problem_spec), .target = "corr:2", .dim = 3, .keys = 4};
    CHECK_OK(context, wt_problem_new(context, &problem_spec, &problem));
#define STREAM(spec, samples, test_sets)                                                           \
    wt_ridge_fit_problem(context, &ridge, spec, problem, samples, test_sets, &fitted, &report)
    for (size_t s = 0; s < SOLVERS; s++) {
        ridge.solver = solvers[s];
        CHECK_FAILS(context, STREAM(&rfa, 0, NULL), WT_USAGE, "1 sample or more");
        spec = rfa;
        spec.dim = 2;
        CHECK_FAILS(context, STREAM(&spec, 100, NULL), WT_USAGE, "dimensions");
        spec = rfa;
        spec.keys = 5;
        CHECK_FAILS(context, STREAM(&spec, 100, NULL), WT_USAGE, "keys");
        CHECK_FAILS(context, STREAM(&rfa, 100, &other_dim), WT_DATA, "the test data has tokens");
        CHECK_FAILS(context, STREAM(&rfa, 100, &two_labels), WT_DATA, "2 labels a sample");
    }
    wt_problem_free(problem);
    train.samples = 10;
    wt_sets_close(&train);
    wt_sets_close(&test);
    wt_sets_close(&other_dim);
    wt_sets_close(&two_labels);
    wt_sets_close(&unlabelled);
}

static void failing_allocations_leave_nothing_behind(void **state) {
    wt_context *context = *state;
    static const wt_model_spec specs[] = {{MODEL(RFA), .heads = 5, .dim = 3, .keys = 4},
                                          {MODEL(RFMLP), .heads = 5, .dim = 3, .keys = 4},
                                          {MODEL(BRFA_INF), .bias = 4, .dim = 3, .keys = 4}};
    static const wt_lambda rules[] = {WT_LAMBDA_FIXED, WT_LAMBDA_LOO, WT_LAMBDA_GCV,
                                      WT_LAMBDA_ORACLE, WT_LAMBDA_MIN_NORM};
    wt_sets train = draw_sets(context, 1, 12, 4, 3, 2, true);
    wt_sets test = draw_sets(context, 2, 5, 4, 3, 2, true);
    wt_problem *problem;
    wt_problem_spec problem_spec = {
        .size = sizeof(wt_problem_spec), .target = "corr:2", .dim = 3, .keys = 4};
    CHECK_OK(context, wt_problem_new(context, &problem_spec, &problem));
    size_t held = wt_context_memory_used(context);
    for (size_t m = 0; m < 3; m++)
        for (size_t r = 0; r < 5; r++)
            for (size_t s = 0; s < 3; s++) { /* the third: a stream */
                if (m == 2 && s > 0)
                    continue;
                wt_ridge_options ridge = {.size = sizeof(wt_ridge_options),
                                          .rule = rules[r],
                                          .lambda = 1e-3,
                                          .standardize = s < 2};
                ridge.solver = solvers[s < 2 ? s : 1];
                bool done = false;
                for (long k = 1; !done; k++) {
                    wt_fitted *fitted;
                    wt_fit_report report = WT_SIZED(wt_fit_report);
                    assert_true(k < 3000);
                    test.outputs = s == 2 ? 1 : 2; /* five of its ten labels serve a stream */
                    atomic_store(&context->allocation_to_fail, k);
                    wt_status status =
                        s == 2 ? wt_ridge_fit_problem(context, &ridge, &specs[m], problem, 40,
                                                      &test, &fitted, &report)
                               : wt_ridge_fit(context, &ridge, &specs[m], &train, &test, &fitted,
                                              &report);
                    done = status == WT_OK;
                    if (!done) {
                        assert_int_equal(status, WT_MEMORY);
                        assert_null(fitted);
                    }
                    wt_fitted_free(done ? fitted : NULL);
                    assert_int_equal(wt_context_memory_used(context), held);
                }
                atomic_store(&context->allocation_to_fail, 0);
            }
    wt_problem_free(problem);
    wt_sets_close(&train);
    wt_sets_close(&test);
}

static void a_cancelled_fit_stops(void **state) {
    (void)state;
    for (size_t s = 0; s < SOLVERS; s++) {
        wt_context *context;
        assert_int_equal(wt_context_new(&context), WT_OK);
        wt_sets train = draw_sets(context, 1, 12, 4, 3, 1, false);
        wt_fitted *fitted;
        wt_fit_report report = WT_SIZED(wt_fit_report);
        wt_ridge_options ridge = {RIDGE(FIXED), .lambda = 1, .solver = solvers[s]};
        wt_context_cancel(context);
        CHECK_FAILS(context, wt_ridge_fit(context, &ridge, &rfa, &train, NULL, &fitted, &report),
                    WT_INTERRUPTED, "interrupted");
        assert_null(fitted);
        wt_sets_close(&train);
        assert_int_equal(wt_context_memory_used(context), 0);
        wt_context_free(context);
    }
}

/* Rule and path from words. */
static void ridges_are_read_as_they_are_written(void **state) {
    wt_ridge_spec spec;
    wt_ridge_options ridge;
    wt_grid path;
    WT_INIT(wt_ridge_spec, &spec);
    CHECK_OK(*state, wt_ridge_spec_read(*state, &spec, &ridge, &path));
    assert_true(ridge.rule == WT_LAMBDA_FIXED && ridge.lambda == 1e-3 && ridge.path_count == 10);
    wt_grid_free(&path);
    spec.lambda.text = "gcv";
    spec.path = "1e-2:1:x10";
    spec.solver = WT_SOLVER_PRIMAL;
    CHECK_OK(*state, wt_ridge_spec_read(*state, &spec, &ridge, &path));
    assert_true(ridge.rule == WT_LAMBDA_GCV && ridge.solver == WT_SOLVER_PRIMAL);
    assert_true(ridge.path_count == 3 && ridge.path[0] == 1e-2);
    wt_grid_free(&path);
    spec.path = NULL;
    CHECK_OK(*state, wt_ridge_spec_read(*state, &spec, &ridge, &path));
    assert_null(ridge.path);
    spec.path = "1,0.5";
    CHECK_FAILS(*state, wt_ridge_spec_read(*state, &spec, &ridge, &path), WT_USAGE, "increase");
    wt_grid_free(&path);
    spec.path = "0,1";
    CHECK_FAILS(*state, wt_ridge_spec_read(*state, &spec, &ridge, &path), WT_USAGE,
                "lambda-path must be above 0");
    WT_INIT(wt_ridge_spec, &spec);
    spec.lambda = (wt_value){.number = -1};
    CHECK_FAILS(*state, wt_ridge_spec_read(*state, &spec, &ridge, &path), WT_USAGE, "not -1");
    spec.lambda = (wt_value){.text = "lo"};
    CHECK_FAILS(*state, wt_ridge_spec_read(*state, &spec, &ridge, &path), WT_USAGE,
                "'lo' is none of loo|gcv");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_of_any_scale_and_place),
        cmocka_unit_test(variances_survive_a_large_mean),
        cmocka_unit_test(constant_labels),
        cmocka_unit_test(same_bits_for_every_number_of_threads),
        cmocka_unit_test(a_stream_gives_the_same_bits),
        cmocka_unit_test(sizes_of_structs_are_read),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(failing_allocations_leave_nothing_behind),
        cmocka_unit_test(a_cancelled_fit_stops),
        cmocka_unit_test(ridges_are_read_as_they_are_written),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
