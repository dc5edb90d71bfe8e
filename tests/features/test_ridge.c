/* Ridge fits, seen from outside: golden values, a plain solver over many shapes, the gradient of
 * the objective, leave-one-out by refits, rules that choose lambda. Minimum norm and small
 * penalties are in test_minimum_norm.c. */
#include <float.h>

#include "features/plain_ridge.h"
#include "features/task/sets.h"
#include "linalg/linalg.h"
#include "specs.h"
#include "wattle/fit.h"

static const wt_solver solvers[] = {WT_SOLVER_DUAL, WT_SOLVER_PRIMAL};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

/* v of the model through the dual or the primal, in the order of files. */
static double *solve_with(wt_context *context, const wt_model *model, const wt_sets *sets,
                          wt_solver solver, const wt_ridge_options *ridge) {
    size_t q = sets->outputs, n = sets->samples, f = wt_features_count(&model->features);
    double *v = doubles(context, f * q);
    double *shift = doubles(context, q), *scale = doubles(context, q);
    for (size_t o = 0; o < q; o++)
        scale[o] = 1;
    if (solver == WT_SOLVER_DUAL) {
        wt_dual dual = {.model = model,
                        .train = sets,
                        .y = sets->y,
                        .columns = q,
                        .targets = 1,
                        .sizes = &n,
                        .count = 1,
                        .exact = true};
        wt_dual_answer answer;
        CHECK_OK(context, wt_dual_solve(context, &dual, ridge, &answer));
        wt_features_to_file_order(&model->features, answer.v, q, v);
        wt_dual_free(&answer);
    } else {
        wt_samples source = wt_samples_of_sets(sets);
        wt_primal primal = {.features = &model->features,
                            .source = &source,
                            .outputs = q,
                            .shift = shift,
                            .scale = scale};
        wt_primal_answer answer;
        CHECK_OK(context, wt_primal_solve(context, &primal, ridge, &answer));
        wt_features_to_file_order(&model->features, answer.v, q, v);
        wt_primal_free(&answer);
    }
    wt_release(shift);
    wt_release(scale);
    return v;
}

static void golden_solutions(void **state) {
    wt_context *context = *state;
    wt_sets sets = golden_sets(context, false);
    double *lambda = stored(context, GOLDEN, "lam", 1);
    const struct {
        const char *weights, *v;
        wt_model_spec spec;
        size_t f, inputs;
    } cases[] = {
        {"W", "v_relu", {MODEL(RFA), .heads = 7, .dim = 5, .keys = 4}, 42, 252},
        {"mlp_w", "v_mlp", {MODEL(RFMLP), .heads = 1, .width = 9, .dim = 5, .keys = 4}, 9, 234},
    };
    for (size_t c = 0; c < 2; c++)
        for (size_t s = 0; s < SOLVERS; s++) {
            double *weights = stored(context, GOLDEN, cases[c].weights, cases[c].inputs);
            double *wanted = stored(context, GOLDEN, cases[c].v, cases[c].f * sets.outputs);
            wt_model model = {.spec = cases[c].spec,
                              .features = features_with(context, &cases[c].spec, weights)};
            double *v = solve_with(context, &model, &sets, solvers[s],
                                   &(wt_ridge_options){RIDGE(FIXED), .lambda = *lambda});
            /* Condition numbers are below 1000 here, so that two double solvers agree to 1e-12. */
            CHECK_BELOW(relative_difference(cases[c].f * sets.outputs, v, wanted), 1e-12,
                        "%s, solver %zu", cases[c].v, s);
            wt_release(weights);
            wt_release(wanted);
            wt_release(v);
            wt_model_free(&model);
        }
    wt_release(lambda);
    wt_sets_close(&sets);
}

/* One in every place, n below, at and above the number of features, several outputs, masks. */
static const struct {
    size_t n, outputs;
    bool masked;
    wt_model_spec spec;
} cases[] = {
    {1, 1, false, {MODEL(RFA), .heads = 1, .dim = 1, .keys = 1, .seed = 2}},
    {5, 1, false, {MODEL(RFA), .heads = 3, .dim = 1, .keys = 2, .seed = 1}},
    {9, 2, true, {MODEL(RFA), .heads = 5, .dim = 3, .keys = 4, .seed = 1}},
    {20, 1, false, {MODEL(RFA), .heads = 5, .dim = 3, .keys = 4, .seed = 1}},
    {40, 3, true, {MODEL(BRFA), .heads = 4, .dim = 3, .keys = 4, .bias = 4, .seed = 1}},
    {12,
     1,
     true,
     {MODEL(RFA), .activation = WT_ACTIVATION_SOFTMAX, .heads = 6, .dim = 2, .keys = 5, .seed = 1}},
    {15, 2, true, {MODEL(RFMLP), .heads = 4, .dim = 3, .keys = 3, .seed = 1}},
    {30, 1, false, {MODEL(RFMLP), .heads = 4, .width = 11, .dim = 3, .keys = 3, .seed = 1}},
    {11, 1, false, {MODEL(RFMLP), .heads = 4, .width = 11, .dim = 3, .keys = 3, .seed = 1}},
};
enum { CASES = sizeof cases / sizeof *cases };

static wt_sets sets_of(wt_context *context, size_t c) {
    return draw_sets(context, 20 + c, cases[c].n, cases[c].spec.keys, cases[c].spec.dim,
                     cases[c].outputs, cases[c].masked);
}

static void fits_solve_the_stated_problem(void **state) {
    wt_context *context = *state;
    static const double lambdas[] = {1, 1e-3, 1e-6};
    for (size_t c = 0; c < CASES; c++) {
        wt_sets sets = sets_of(context, c);
        size_t f, q = sets.outputs, n = sets.samples;
        double *phi = phi_of(context, &cases[c].spec, &sets, &f);
        for (size_t l = 0; l < sizeof lambdas / sizeof *lambdas; l++) {
            double penalty = lambdas[l] * units_of(&cases[c].spec);
            double *wanted = plain_ridge(context, n, f, q, phi, sets.y, penalty, n);
            for (size_t s = 0; s < SOLVERS; s++) {
                wt_fitted *fitted;
                wt_fit_report report = WT_SIZED(wt_fit_report);
                wt_ridge_options ridge = {RIDGE(FIXED), .lambda = lambdas[l], .solver = solvers[s]};
                CHECK_OK(context, wt_ridge_fit(context, &ridge, &cases[c].spec, &sets, NULL,
                                               &fitted, &report));
                double *v = fitted_values(context, fitted);
                /* K has eigenvalues up to about n: its condition, up to n / lambda, multiplies
                 * the rounding of the entries, 1e-16. */
                double tolerance = 1e-14 * (10 + (double)n / lambdas[l]);
                CHECK_BELOW(relative_difference(f * q, v, wanted), tolerance,
                            "case %zu, lambda %g, solver %zu", c, lambdas[l], s);
                CHECK_BELOW(gradient_ratio(n, f, q, phi, sets.y, penalty, v), 1e-9,
                            "gradient: case %zu, lambda %g, solver %zu", c, lambdas[l], s);
                assert_true(report.lambda == lambdas[l]);
                assert_int_equal(report.features, f);
                assert_int_equal(report.samples, n);
                assert_int_equal(report.outputs, q);
                assert_string_equal(report.route, s == 0 ? "dual" : "primal");
                wt_release(v);
                wt_fitted_free(fitted);
            }
            wt_release(wanted);
        }
        wt_release(phi);
        wt_sets_close(&sets);
    }
}

/* Every number of the report, recomputed from Phi and v. */
static void the_report_is_true(void **state) {
    wt_context *context = *state;
    static const double lambdas[] = {1, 1e-3};
    for (size_t c = 1; c < CASES; c++) {
        wt_sets sets = sets_of(context, c);
        wt_sets test = draw_sets(context, 99, 17, sets.keys, sets.dim, sets.outputs, true);
        const wt_model_spec *spec = &cases[c].spec;
        size_t f, q = sets.outputs, n = sets.samples;
        double *phi = phi_of(context, spec, &sets, &f), units = units_of(spec);
        double *test_phi = phi_of(context, spec, &test, &f);
        for (size_t l = 0; l < 2; l++)
            for (size_t s = 0; s < SOLVERS; s++) {
                wt_fitted *fitted;
                wt_fit_report report = WT_SIZED(wt_fit_report);
                wt_ridge_options ridge = {RIDGE(FIXED), .lambda = lambdas[l], .solver = solvers[s]};
                CHECK_OK(context,
                         wt_ridge_fit(context, &ridge, spec, &sets, &test, &fitted, &report));
                double *v = fitted_values(context, fitted), train = 0, tested = 0, squares = 0;
                double sum = 0, penalty = lambdas[l] * units;
                for (size_t i = 0; i < n * q; i++)
                    train += pow(sets.y[i] - plain_predict(f, q, phi, v, i / q, i % q), 2) /
                             (double)(n * q);
                for (size_t i = 0; i < 17 * q; i++)
                    tested += pow(test.y[i] - plain_predict(f, q, test_phi, v, i / q, i % q), 2) /
                              (double)(17 * q);
                size_t width = f / (size_t)units;
                for (size_t u = 0; u < (size_t)units; u++) {
                    double square = 0;
                    for (size_t j = 0; j < width * q; j++)
                        square += pow(v[u * width * q + j], 2);
                    squares += square;
                    sum += sqrt(square);
                }
                double loo = plain_leave_one_out(context, n, f, q, phi, sets.y, penalty);
                /* Condition numbers up to 1e5 leave 1e-10 of double precision. */
                double variance = plain_variance(n, q, sets.y);
                CHECK_NEAR(report.train_error, train / variance, 1e-9);
                CHECK_NEAR(report.test_error, tested / plain_variance(17, q, test.y), 1e-9);
                CHECK_NEAR(report.loo_error / (loo / variance), 1, 1e-8);
                CHECK_NEAR(report.sum_norms, sum, 1e-9);
                CHECK_NEAR(report.m_sum_squares, units * squares, 1e-9);
                CHECK_NEAR(report.freedom, plain_freedom(context, n, f, phi, penalty), 1e-8);
                wt_release(v);
                wt_fitted_free(fitted);
            }
        wt_release(phi);
        wt_release(test_phi);
        wt_sets_close(&sets);
        wt_sets_close(&test);
    }
}

/* The condition number against all eigenvalues; "right to a few per cent" it says. */
static void the_condition_number_is_right(void **state) {
    wt_context *context = *state;
    for (size_t c = 1; c < CASES; c++) {
        wt_sets sets = sets_of(context, c);
        size_t f, n = sets.samples;
        double *phi = phi_of(context, &cases[c].spec, &sets, &f);
        double lambda = 1e-2, units = units_of(&cases[c].spec);
        for (size_t s = 0; s < SOLVERS; s++) {
            size_t m = s == 0 ? n : f;
            double *a = doubles(context, m * m), *values = doubles(context, m);
            CHECK_OK(context,
                     wt_gram(context, s == 0 ? WT_PLAIN : WT_TRANSPOSED, n, f, phi, f, 0, a, m));
            for (size_t i = 0; i < m * m; i++)
                a[i] = a[i] / units + (i % (m + 1) == 0 ? lambda : 0);
            CHECK_OK(context, wt_eigen_symmetric(context, m, a, m, false, values));
            wt_fitted *fitted;
            wt_fit_report report = WT_SIZED(wt_fit_report);
            wt_ridge_options ridge = {RIDGE(FIXED), .lambda = lambda, .solver = solvers[s]};
            CHECK_OK(context,
                     wt_ridge_fit(context, &ridge, &cases[c].spec, &sets, NULL, &fitted, &report));
            CHECK_NEAR(report.condition / (values[m - 1] / values[0]), 1, 0.05);
            wt_fitted_free(fitted);
            wt_release(a);
            wt_release(values);
        }
        wt_release(phi);
        wt_sets_close(&sets);
    }
}

/* A problem of the rules: features and labels of both sets. */
typedef struct {
    size_t n, tests, f, q;
    double units;
    const double *phi, *y, *test_phi, *test_y;
} problem;

/* What the rule gives a lambda, from plain solves. */
static double score_of(wt_context *context, const problem *of, wt_lambda rule, double lambda) {
    double penalty = lambda * of->units, score = 0;
    size_t n = of->n, f = of->f, q = of->q;
    if (rule == WT_LAMBDA_LOO)
        return plain_leave_one_out(context, n, f, q, of->phi, of->y, penalty);
    double *v = plain_ridge(context, n, f, q, of->phi, of->y, penalty, n);
    if (rule == WT_LAMBDA_GCV) {
        for (size_t i = 0; i < n * q; i++)
            score += pow(of->y[i] - plain_predict(f, q, of->phi, v, i / q, i % q), 2);
        score /= pow(1 - plain_freedom(context, n, f, of->phi, penalty) / (double)n, 2);
    } else {
        for (size_t i = 0; i < of->tests * q; i++)
            score += pow(of->test_y[i] - plain_predict(f, q, of->test_phi, v, i / q, i % q), 2);
    }
    wt_release(v);
    return score;
}

/* From an end of the path on, decade by decade, while that lowers the score by a thousandth. */
static double plain_widen(wt_context *context, const problem *of, wt_lambda rule, double best,
                          double end, double step) {
    double trace = 0;
    for (size_t i = 0; i < of->n * of->f; i++)
        trace += of->phi[i] * of->phi[i] / of->units;
    for (double next = end * step; next >= 1000 * DBL_EPSILON * trace; next *= step) {
        double score = score_of(context, of, rule, next);
        if (!(score < 0.999 * best))
            break;
        best = score;
        end = next;
    }
    return end;
}

/* Scores of every lambda of a path and beyond from plain solves; the fit must have the least. */
static void rules_choose_the_best_of_the_path(void **state) {
    wt_context *context = *state;
    static const double path[] = {1e-4, 1e-3, 1e-2, 0.1, 1, 10};
    enum { PATH = sizeof path / sizeof *path };
    static const wt_lambda rules[] = {WT_LAMBDA_LOO, WT_LAMBDA_GCV, WT_LAMBDA_ORACLE};
    bool inside = false, below = false;
    for (size_t c = 2; c < CASES; c++) {
        wt_sets sets = sets_of(context, c);
        wt_sets test = draw_sets(context, 98, 15, sets.keys, sets.dim, sets.outputs, false);
        const wt_model_spec *spec = &cases[c].spec;
        size_t f, q = sets.outputs, n = sets.samples;
        double *phi = phi_of(context, spec, &sets, &f);
        double *test_phi = phi_of(context, spec, &test, &f);
        /* Labels with something to learn: the first features, and noise. */
        for (size_t i = 0; i < n * q; i++)
            sets.y[i] = 3 * phi[i / q * f + i % q] + 0.3 * sets.y[i];
        for (size_t i = 0; i < 15 * q; i++)
            test.y[i] = 3 * test_phi[i / q * f + i % q] + 0.3 * test.y[i];
        problem of = {n, 15, f, q, units_of(spec), phi, sets.y, test_phi, test.y};
        for (size_t r = 0; r < 3; r++) {
            double best = INFINITY, lambda = 0;
            for (size_t l = 0; l < PATH; l++) {
                double score = score_of(context, &of, rules[r], path[l]);
                if (score < best) {
                    best = score;
                    lambda = path[l];
                }
            }
            if (lambda == path[0])
                lambda = plain_widen(context, &of, rules[r], best, lambda, 0.1);
            else if (lambda == path[PATH - 1])
                lambda = plain_widen(context, &of, rules[r], best, lambda, 10);
            below = below || lambda < path[0];
            inside = inside || (lambda > path[0] && lambda < path[PATH - 1]);
            for (size_t s = 0; s < SOLVERS; s++) {
                wt_fitted *fitted, *again;
                wt_fit_report report = WT_SIZED(wt_fit_report), fixed = WT_SIZED(wt_fit_report);
                wt_ridge_options ridge = {.size = sizeof(wt_ridge_options),
                                          .rule = rules[r],
                                          .path = path,
                                          .path_count = PATH,
                                          .solver = solvers[s]};
                CHECK_OK(context,
                         wt_ridge_fit(context, &ridge, spec, &sets, &test, &fitted, &report));
                if (report.lambda != lambda)
                    fail_msg("case %zu, rule %zu, solver %zu: lambda %g, not %g", c, r, s,
                             report.lambda, lambda);
                /* And everything else as if that lambda had been given. */
                ridge.rule = WT_LAMBDA_FIXED;
                ridge.lambda = lambda;
                CHECK_OK(context,
                         wt_ridge_fit(context, &ridge, spec, &sets, &test, &again, &fixed));
                assert_memory_equal(fitted->v, again->v, f * q * sizeof *again->v);
                assert_true(report.train_error == fixed.train_error);
                assert_true(report.loo_error == fixed.loo_error);
                assert_true(report.test_error == fixed.test_error);
                assert_true(report.freedom == fixed.freedom);
                assert_true(report.condition == fixed.condition);
                wt_fitted_free(fitted);
                wt_fitted_free(again);
            }
        }
        wt_release(phi);
        wt_release(test_phi);
        wt_sets_close(&sets);
        wt_sets_close(&test);
    }
    assert_true(inside && below); /* else the rules were never put to the test */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_solutions),
        cmocka_unit_test(fits_solve_the_stated_problem),
        cmocka_unit_test(the_report_is_true),
        cmocka_unit_test(the_condition_number_is_right),
        cmocka_unit_test(rules_choose_the_best_of_the_path),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
