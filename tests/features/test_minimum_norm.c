/* Ridge fits where the matrix has lost rank or the penalty is next to nothing, and where the primal
 * takes several slabs, seen from outside. */
#include "features/plain_ridge.h"
#include "features/task/sets.h"
#include "linalg/linalg.h"
#include "specs.h"
#include "wattle/fit.h"

static const wt_solver solvers[] = {WT_SOLVER_DUAL, WT_SOLVER_PRIMAL};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

/* Copies of samples: the matrix loses rank. */
static void repeat(wt_sets *sets, size_t from) {
    size_t tokens = sets->keys * sets->dim;
    for (size_t i = from; i < sets->samples; i++) {
        memcpy(sets->query + i * sets->dim, sets->query + (i - from) * sets->dim,
               sets->dim * sizeof *sets->query);
        memcpy(sets->key + i * tokens, sets->key + (i - from) * tokens, tokens * sizeof *sets->key);
        if (sets->mask != NULL)
            memcpy(sets->mask + i * sets->keys, sets->mask + (i - from) * sets->keys, sets->keys);
    }
}

/* lambda = 0 and the rule min-norm, against least squares on Phi itself. */
static void check_minimum_norm(wt_context *context, const wt_model_spec *spec, const wt_sets *sets,
                               const char *what) {
    size_t f, q = sets->outputs, n = sets->samples, rank;
    double *phi = phi_of(context, spec, sets, &f), *wanted = doubles(context, f * q);
    /* Both solvers see squared singular values: below 1e-7 of the largest they are nought. */
    CHECK_OK(context,
             wt_least_squares(context, n, f, q, phi, f, sets->y, q, 1e-7, wanted, q, &rank));
    for (int rule = 0; rule < 2; rule++)
        for (size_t s = 0; s < SOLVERS; s++) {
            wt_fitted *fitted;
            wt_fit_report report = WT_SIZED(wt_fit_report);
            wt_ridge_options ridge = {.size = sizeof(wt_ridge_options),
                                      .rule = rule == 0 ? WT_LAMBDA_MIN_NORM : WT_LAMBDA_FIXED,
                                      .solver = solvers[s]};
            CHECK_OK(context, wt_ridge_fit(context, &ridge, spec, sets, NULL, &fitted, &report));
            double *v = fitted_values(context, fitted);
            /* The squared condition, 1e8 or less in these cases, times 1e-16. */
            CHECK_BELOW(relative_difference(f * q, v, wanted), 1e-7, "%s, rule %d, solver %zu",
                        what, rule, s);
            if (report.rank != rank)
                fail_msg("%s, rule %d, solver %zu: rank %zu, not %zu", what, rule, s, report.rank,
                         rank);
            double train = 0;
            for (size_t i = 0; i < n * q; i++)
                train += pow(sets->y[i] - plain_predict(f, q, phi, wanted, i / q, i % q), 2);
            CHECK_NEAR(report.train_error, train / (double)(n * q) / plain_variance(n, q, sets->y),
                       1e-7);
            CHECK_NEAR(report.freedom, (double)rank, 1e-6);
            wt_release(v);
            wt_fitted_free(fitted);
        }
    wt_release(phi);
    wt_release(wanted);
}

static void minimum_norm_whatever_the_rank(void **state) {
    wt_context *context = *state;
    wt_model_spec spec = {MODEL(RFA), .heads = 8, .dim = 3, .keys = 4, .seed = 3};
    static const struct {
        size_t n, from; /* samples from `from` on repeat those before */
        const char *what;
    } ranks[] = {{12, 12, "n < f"},          {30, 30, "n near f"},        {60, 60, "n > f"},
                 {2, 1, "one sample twice"}, {3, 1, "one sample thrice"}, {24, 12, "all twice"},
                 {90, 30, "thrice, n > f"}};
    for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++)
        for (int masked = 0; masked < 2; masked++) {
            wt_sets sets = draw_sets(context, 40 + r, ranks[r].n, 4, 3, 2, masked);
            repeat(&sets, ranks[r].from);
            check_minimum_norm(context, &spec, &sets, ranks[r].what);
            wt_sets_close(&sets);
        }
    /* Many features and few samples, one of them twice: rounding grows with the features. */
    wt_model_spec wide = {MODEL(RFA), .heads = 60, .dim = 8, .keys = 4, .seed = 3};
    wt_sets sets = draw_sets(context, 50, 3, 4, 8, 1, false);
    repeat(&sets, 2);
    check_minimum_norm(context, &wide, &sets, "one of three twice, wide");
    wt_sets_close(&sets);
}

/* No unit is on: K = 0, rank 0, v = 0, and everything still has an answer. */
static void no_unit_on(void **state) {
    wt_context *context = *state;
    wt_model_spec spec = {MODEL(RFMLP), .heads = 1, .width = 1, .dim = 1, .keys = 1, .seed = 1};
    wt_features features;
    CHECK_OK(context, wt_features_draw(context, &spec, &features));
    wt_sets sets = draw_sets(context, 60, 6, 1, 1, 1, false);
    for (size_t i = 0; i < 6; i++) { /* far on the side where the one neuron is off */
        sets.query[i] = features.weights[0] > 0 ? -100 : 100;
        sets.key[i] = features.weights[1] > 0 ? -100 : 100;
    }
    for (size_t s = 0; s < SOLVERS; s++)
        for (int l = 0; l < 3; l++) {
            wt_fitted *fitted;
            wt_fit_report report = WT_SIZED(wt_fit_report);
            wt_ridge_options ridge = {
                .size = sizeof(wt_ridge_options), .solver = solvers[s], .lambda = l == 0 ? 0 : 0.1};
            ridge.rule = l == 2 ? WT_LAMBDA_LOO : WT_LAMBDA_FIXED;
            CHECK_OK(context, wt_ridge_fit(context, &ridge, &spec, &sets, NULL, &fitted, &report));
            assert_true(fitted->v[0] == 0);
            double train = 0;
            for (size_t i = 0; i < 6; i++)
                train += sets.y[i] * sets.y[i] / 6;
            CHECK_NEAR(report.train_error, train / plain_variance(6, 1, sets.y), 1e-12);
            CHECK_NEAR(report.freedom, 0, 1e-12);
            assert_int_equal(report.rank, 0);
            wt_fitted_free(fitted);
        }
    wt_features_free(&features);
    wt_sets_close(&sets);
}

/* Leave-one-out of the minimum norm is that of a vanishing penalty, and equals refits. */
static void leave_one_out_of_minimum_norm(void **state) {
    wt_context *context = *state;
    wt_model_spec spec = {MODEL(RFA), .heads = 8, .dim = 3, .keys = 4, .seed = 3};
    static const struct { size_t n, from; } ranks[] = {{12, 12}, {50, 50}, {16, 8}, {9, 8}};
    for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++) {
        size_t f, n = ranks[r].n, rank;
        wt_sets sets = draw_sets(context, 70 + r, n, 4, 3, 1, false);
        repeat(&sets, ranks[r].from);
        double *phi = phi_of(context, &spec, &sets, &f), sum = 0;
        double *rows = doubles(context, n * f), *y = doubles(context, n), *v = doubles(context, f);
        for (size_t out = 0; out < n; out++) {
            for (size_t i = 0, k = 0; i < n; i++) {
                if (i == out)
                    continue;
                memcpy(rows + k * f, phi + i * f, f * sizeof *rows);
                y[k++] = sets.y[i];
            }
            CHECK_OK(context,
                     wt_least_squares(context, n - 1, f, 1, rows, f, y, 1, 1e-7, v, 1, &rank));
            sum += pow(sets.y[out] - plain_predict(f, 1, phi, v, out, 0), 2);
        }
        double wanted = sum / (double)n / plain_variance(n, 1, sets.y);
        for (size_t s = 0; s < SOLVERS; s++) {
            wt_fitted *fitted;
            wt_fit_report report = WT_SIZED(wt_fit_report);
            wt_ridge_options ridge = {RIDGE(MIN_NORM), .solver = solvers[s]};
            CHECK_OK(context, wt_ridge_fit(context, &ridge, &spec, &sets, NULL, &fitted, &report));
            if (!(fabs(report.loo_error / wanted - 1) <= 1e-6))
                fail_msg("case %zu, solver %zu: leave-one-out %g, not %g", r, s, report.loo_error,
                         wanted);
            wt_fitted_free(fitted);
        }
        wt_release(phi);
        wt_release(rows);
        wt_release(y);
        wt_release(v);
        wt_sets_close(&sets);
    }
}

/* Same tokens, other labels: the kernel matrix is singular and the labels lie outside its range.
 * Small penalties must still give the ridge answer. */
static void contradicting_copies(void **state) {
    wt_context *context = *state;
    wt_model_spec spec = {MODEL(RFA), .heads = 40, .dim = 3, .keys = 4, .seed = 3};
    static const double lambdas[] = {1e-2, 1e-4, 1e-6, 1e-8};
    wt_sets sets = draw_sets(context, 80, 40, 4, 3, 1, false);
    repeat(&sets, 20);
    size_t f;
    double *phi = phi_of(context, &spec, &sets, &f);
    for (size_t l = 0; l < sizeof lambdas / sizeof *lambdas; l++)
        for (size_t s = 0; s < SOLVERS; s++) {
            wt_fitted *fitted;
            wt_fit_report report = WT_SIZED(wt_fit_report);
            wt_ridge_options ridge = {RIDGE(FIXED), .lambda = lambdas[l], .solver = solvers[s]};
            CHECK_OK(context, wt_ridge_fit(context, &ridge, &spec, &sets, NULL, &fitted, &report));
            double *v = fitted_values(context, fitted), penalty = lambdas[l] * 40;
            CHECK_BELOW(gradient_ratio(40, f, 1, phi, sets.y, penalty, v), 1e-9,
                        "lambda %g, solver %zu", lambdas[l], s);
            wt_release(v);
            wt_fitted_free(fitted);
        }
    wt_release(phi);
    wt_sets_close(&sets);
}

/* Far below the rounding of K a penalty is as good as none: the minimum norm, not noise. */
static void vanishing_penalties(void **state) {
    wt_context *context = *state;
    static const double lambdas[] = {1e-14, 1e-16, 1e-30};
    wt_model_spec spec = {MODEL(RFA), .heads = 8, .dim = 3, .keys = 4, .seed = 3};
    static const size_t samples[] = {24, 90}; /* in copies, f = 32 */
    for (size_t n = 0; n < 2; n++) {
        wt_sets sets = draw_sets(context, 85, samples[n], 4, 3, 1, false);
        repeat(&sets, samples[n] / 2);
        size_t f, rank;
        double *phi = phi_of(context, &spec, &sets, &f), *wanted = doubles(context, f);
        CHECK_OK(context, wt_least_squares(context, samples[n], f, 1, phi, f, sets.y, 1, 1e-7,
                                           wanted, 1, &rank));
        for (size_t l = 0; l < 3; l++)
            for (size_t s = 0; s < SOLVERS; s++) {
                wt_fitted *fitted;
                wt_fit_report report = WT_SIZED(wt_fit_report);
                wt_ridge_options ridge = {RIDGE(FIXED), .lambda = lambdas[l], .solver = solvers[s]};
                CHECK_OK(context,
                         wt_ridge_fit(context, &ridge, &spec, &sets, NULL, &fitted, &report));
                double *v = fitted_values(context, fitted);
                CHECK_BELOW(relative_difference(f, v, wanted), 1e-7, "n = %zu, lambda %g, %zu",
                            samples[n], lambdas[l], s);
                assert_int_equal(report.rank, rank);
                wt_release(v);
                wt_fitted_free(fitted);
            }
        wt_release(phi);
        wt_release(wanted);
        wt_sets_close(&sets);
    }
}

/* More samples than one slab of the primal holds: both ways and the plain one agree. */
static void many_slabs(void **state) {
    wt_context *context = *state;
    enum { N = WT_PRIMAL_SLAB + 77 };
    wt_model_spec spec = {MODEL(BRFA), .heads = 8, .bias = 4, .dim = 3, .keys = 4, .seed = 3};
    wt_sets sets = draw_sets(context, 90, N, 4, 3, 2, true);
    size_t f;
    double *phi = phi_of(context, &spec, &sets, &f), lambda = 1e-2;
    double *wanted = plain_ridge(context, N, f, 2, phi, sets.y, lambda * 8, N), loo[SOLVERS];
    for (size_t s = 0; s < SOLVERS; s++) {
        wt_fitted *fitted;
        wt_fit_report report = WT_SIZED(wt_fit_report);
        wt_ridge_options ridge = {RIDGE(FIXED), .lambda = lambda, .solver = solvers[s]};
        CHECK_OK(context, wt_ridge_fit(context, &ridge, &spec, &sets, NULL, &fitted, &report));
        double *v = fitted_values(context, fitted);
        /* Conditions of up to 1e6. */
        CHECK_BELOW(relative_difference(f * 2, v, wanted), 1e-9, "solver %zu", s);
        loo[s] = report.loo_error;
        wt_release(v);
        wt_fitted_free(fitted);
    }
    CHECK_NEAR(loo[1] / loo[0], 1, 1e-10);
    wt_release(phi);
    wt_release(wanted);
    wt_sets_close(&sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minimum_norm_whatever_the_rank),
        cmocka_unit_test(no_unit_on),
        cmocka_unit_test(leave_one_out_of_minimum_norm),
        cmocka_unit_test(contradicting_copies),
        cmocka_unit_test(vanishing_penalties),
        cmocka_unit_test(many_slabs),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
