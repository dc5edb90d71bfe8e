/* Leave-one-out by fits of the other samples, and paths of lambdas that end too early. */
#include <float.h>

#include "features/plain_ridge.h"
#include "features/task/sets.h"
#include "specs.h"
#include "wattle/fit.h"

static const wt_solver solvers[] = {WT_SOLVER_DUAL, WT_SOLVER_PRIMAL};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

/* All samples but one. */
static wt_sets without(wt_context *context, const wt_sets *sets, size_t out) {
    size_t tokens = sets->keys * sets->dim, q = sets->outputs;
    wt_sets rest;
    CHECK_OK(context, wt_sets_open(context, sets->samples - 1, sets->keys, sets->dim, q,
                                   sets->mask != NULL, &rest));
    for (size_t i = 0; i < rest.samples; i++) {
        size_t from = i + (i >= out);
        memcpy(rest.query + i * sets->dim, sets->query + from * sets->dim,
               sets->dim * sizeof *rest.query);
        memcpy(rest.key + i * tokens, sets->key + from * tokens, tokens * sizeof *rest.key);
        memcpy(rest.y + i * q, sets->y + from * q, q * sizeof *rest.y);
        if (sets->mask != NULL)
            memcpy(rest.mask + i * sets->keys, sets->mask + from * sets->keys, sets->keys);
    }
    return rest;
}

/* The error of n fits, each of the other samples, means and deviations theirs: squares in units of
 * the deviation of all labels, which have a variance of 1 then. */
static double left_out(wt_context *context, const wt_model_spec *spec, const wt_sets *sets,
                       const wt_ridge_options *ridge) {
    size_t n = sets->samples, q = sets->outputs;
    double sum = 0, predicted[3];
    for (size_t i = 0; i < n; i++) {
        wt_sets rest = without(context, sets, i), one = wt_sets_part(sets, i, i + 1);
        wt_fitted *fitted;
        wt_fit_report report = WT_SIZED(wt_fit_report);
        CHECK_OK(context, wt_ridge_fit(context, ridge, spec, &rest, NULL, &fitted, &report));
        CHECK_OK(context, wt_fitted_predict(context, fitted, &one, predicted));
        for (size_t o = 0; o < q; o++)
            sum += pow(one.y[o] - predicted[o], 2) / wt_variance(sets->y + o, n, 1, q);
        wt_fitted_free(fitted);
        wt_sets_close(&rest);
    }
    return sum / (double)(n * q);
}

static void standardised_leave_one_out_is_that_of_refits(void **state) {
    wt_context *context = *state;
    static const struct {
        size_t n, outputs;
        bool masked;
        wt_model_spec spec;
    } cases[] = {
        {2, 1, false, {MODEL(RFA), .heads = 5, .dim = 3, .keys = 4, .seed = 1}},
        {9, 2, true, {MODEL(RFA), .heads = 5, .dim = 3, .keys = 4, .seed = 1}},
        {40, 3, false, {MODEL(BRFA), .heads = 4, .dim = 3, .keys = 4, .bias = 4, .seed = 1}},
        {15, 1, true, {MODEL(RFMLP), .heads = 4, .dim = 3, .keys = 3, .seed = 1}},
        {12, 2, true, {MODEL(RFA_INF), .dim = 3, .keys = 4}},
    };
    static const struct {
        wt_lambda rule;
        double lambda, tolerance;
    } rules[] = {
        /* Conditions of up to 1e5, and of 1e8 where eigenvalues next to the cut count. */
        {WT_LAMBDA_FIXED, 1, 1e-9},
        {WT_LAMBDA_FIXED, 1e-3, 1e-9},
        {WT_LAMBDA_LOO, 0, 1e-6},
        {WT_LAMBDA_MIN_NORM, 0, 1e-6},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const wt_model_spec *spec = &cases[c].spec;
        wt_sets sets = draw_sets(context, 20 + c, cases[c].n, spec->keys, spec->dim,
                                 cases[c].outputs, cases[c].masked);
        for (size_t i = 0; i < cases[c].n * cases[c].outputs; i++) /* far from 0, on many scales */
            sets.y[i] = 5 + pow(10, (double)(i % cases[c].outputs)) * sets.y[i];
        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
            for (size_t s = 0; s < (wt_model_kind_infinite(spec->kind) ? 1 : SOLVERS); s++) {
                wt_ridge_options ridge = {.size = sizeof(wt_ridge_options),
                                          .rule = rules[r].rule,
                                          .lambda = rules[r].lambda,
                                          .standardize = true,
                                          .solver = solvers[s]};
                wt_fitted *fitted;
                wt_fit_report report = WT_SIZED(wt_fit_report);
                CHECK_OK(context,
                         wt_ridge_fit(context, &ridge, spec, &sets, NULL, &fitted, &report));
                wt_fitted_free(fitted);
                if (ridge.rule == WT_LAMBDA_LOO) {
                    ridge.rule = WT_LAMBDA_FIXED; /* the refits take what was chosen */
                    ridge.lambda = report.lambda;
                }
                double wanted = left_out(context, spec, &sets, &ridge);
                if (!(fabs(report.loo_error / wanted - 1) <= rules[r].tolerance))
                    fail_msg("case %zu, rule %zu, solver %zu: leave-one-out %.12g, not %.12g", c, r,
                             s, report.loo_error, wanted);
            }
        wt_sets_close(&sets);
    }
}

/* One sample leaves none to fit: no error, and an answer all the same. */
static void one_standardised_sample(void **state) {
    wt_context *context = *state;
    wt_model_spec spec = {MODEL(RFA), .heads = 5, .dim = 3, .keys = 4, .seed = 1};
    wt_sets sets = draw_sets(context, 20, 1, 4, 3, 1, false);
    for (size_t s = 0; s < SOLVERS; s++) {
        wt_ridge_options ridge = {RIDGE(LOO), .standardize = true, .solver = solvers[s]};
        wt_fitted *fitted;
        wt_fit_report report = WT_SIZED(wt_fit_report);
        double predicted;
        CHECK_OK(context, wt_ridge_fit(context, &ridge, &spec, &sets, NULL, &fitted, &report));
        assert_true(isnan(report.loo_error));
        CHECK_OK(context, wt_fitted_predict(context, fitted, &sets, &predicted));
        CHECK_NEAR(predicted, sets.y[0], 1e-12);
        wt_fitted_free(fitted);
    }
    wt_sets_close(&sets);
}

/* Samples drawn as they are needed, several slabs of them: lambda and errors as of all at hand. */
static void a_stream_has_its_leave_one_out_error(void **state) {
    wt_context *context = *state;
    enum { N = WT_PRIMAL_SLAB + 77 };
    wt_model_spec spec = {MODEL(RFA), .heads = 8, .dim = 3, .keys = 4, .seed = 3};
    wt_problem_spec wanted = {.size = sizeof(wt_problem_spec),
                              .target = "mean-power:2",
                              .noise = 0.1,
                              .dim = 3,
                              .keys = 4};
    wt_ridge_options ridge = {RIDGE(LOO)};
    wt_problem *problem;
    wt_fitted *fitted, *streamed;
    wt_fit_report report = WT_SIZED(wt_fit_report), stream = WT_SIZED(wt_fit_report);
    wt_sets sets;
    CHECK_OK(context, wt_problem_new(context, &wanted, &problem));
    CHECK_OK(context, wt_sets_open(context, N, 4, 3, 1, false, &sets));
    CHECK_OK(context, wt_problem_draw(context, problem, 0, &sets));
    CHECK_OK(context, wt_ridge_fit(context, &ridge, &spec, &sets, NULL, &fitted, &report));
    CHECK_OK(context,
             wt_ridge_fit_problem(context, &ridge, &spec, problem, N, NULL, &streamed, &stream));
    assert_string_equal(stream.route, "streamed");
    assert_true(stream.lambda == report.lambda);
    assert_true(stream.loo_error == report.loo_error);
    assert_true(stream.loo_error > 0 && stream.loo_error < 1);
    wt_fitted_free(fitted);
    wt_fitted_free(streamed);
    wt_problem_free(problem);
    wt_sets_close(&sets);
}

/* Labels whose best lambda lies beyond an end of the path, or as low as can be computed. */
static void paths_are_widened_where_an_end_is_best(void **state) {
    wt_context *context = *state;
    enum { N = 60 };
    static const double low[] = {1e-3, 1e-2}, high[] = {1e2, 1e3}, all[] = {1e-5, 1e-1, 1e3};
    static const double tiny[] = {1e-30, 1e-6};
    wt_model_spec spec = {MODEL(RFA), .heads = 8, .dim = 3, .keys = 4, .seed = 3};
    wt_sets sets = draw_sets(context, 31, N, 4, 3, 1, false), test = sets;
    size_t f;
    double *phi = phi_of(context, &spec, &sets, &f), *noise = doubles(context, N), trace = 0;
    memcpy(noise, sets.y, N * sizeof *noise);
    for (size_t i = 0; i < N * f; i++)
        trace += phi[i] * phi[i] / 8;
    double least = 1000 * DBL_EPSILON * trace;
    const struct {
        double noise;
        const double *path;
        size_t count;
        double from, to; /* where lambda is */
        bool at_end;
    } cases[] = {
        {0, low, 2, least, 10 * least, true},  /* down to where rounding would decide */
        {0, low, 1, least, 10 * least, true},  /* a path of one lambda goes both ways */
        {0, tiny, 2, least, 10 * least, true}, /* 1e-30 has no factor: no end of the path */
        {1, high, 2, 1e-3, 90, false},         /* down to an optimum */
        {1, low, 2, 2e-2, 1e3, false},         /* up to one */
        {1, all, 3, 1e-1, 1e-1, false},        /* an optimum inside stays */
        {1e3, low, 2, 1e2, 1e9, false},        /* nothing to learn: up until nothing is gained */
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (size_t i = 0; i < N; i++)
            sets.y[i] = 3 * phi[i * f] - phi[i * f + 5] + cases[c].noise * noise[i];
        wt_ridge_options ridge = {RIDGE(LOO), .path = cases[c].path, .path_count = cases[c].count};
        for (size_t s = 0; s < SOLVERS; s++) {
            wt_fitted *fitted;
            wt_fit_report report = WT_SIZED(wt_fit_report);
            wt_curve_point point;
            size_t n = N;
            ridge.solver = solvers[s];
            CHECK_OK(context, wt_ridge_fit(context, &ridge, &spec, &sets, NULL, &fitted, &report));
            if (!(report.lambda >= cases[c].from && report.lambda <= cases[c].to) ||
                report.lambda_at_end != cases[c].at_end)
                fail_msg("case %zu, solver %zu: lambda %g%s, least %g", c, s, report.lambda,
                         report.lambda_at_end ? " at an end" : "", least);
            CHECK_OK(context, wt_ridge_curve(context, &ridge, &spec, &sets, sets.y, &test, sets.y,
                                             1, 1, &n, 1, &point));
            assert_true(point.lambda == report.lambda);
            assert_true(point.lambda_at_end == report.lambda_at_end);
            wt_fitted_free(fitted);
        }
    }
    wt_release(phi);
    wt_release(noise);
    wt_sets_close(&sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standardised_leave_one_out_is_that_of_refits),
        cmocka_unit_test(one_standardised_sample),
        cmocka_unit_test(a_stream_has_its_leave_one_out_error),
        cmocka_unit_test(paths_are_widened_where_an_end_is_best),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
