/* A limit of time ends a fit with the best so far. */
#include "late.h"
#include "wattle/fit.h"

enum { SAMPLES = 40 };

static wt_sets *draw(wt_context *context) {
    wt_problem_spec spec;
    wt_problem *problem;
    wt_sets *sets;
    WT_INIT(wt_problem_spec, &spec);
    spec.target = "mean-power:2";
    CHECK_OK(context, wt_problem_new(context, &spec, &problem));
    CHECK_OK(context, wt_sets_new(context, SAMPLES, spec.keys, spec.dim, 1, false, &sets));
    CHECK_OK(context, wt_problem_draw(context, problem, 0, sets));
    wt_problem_free(problem);
    return sets;
}

static void a_path_ends_with_the_best_lambda(void **state) {
    wt_context *context = *state;
    static const wt_solver solvers[] = {WT_SOLVER_DUAL, WT_SOLVER_PRIMAL};
    wt_sets *sets = draw(context);
    for (size_t i = 0; i < 2; i++) {
        wt_model_spec spec;
        wt_ridge_options ridge;
        wt_fit_report report = WT_SIZED(wt_fit_report);
        wt_fitted *fitted;
        WT_INIT(wt_model_spec, &spec);
        WT_INIT(wt_ridge_options, &ridge);
        spec.dim = spec.keys = 16;
        spec.heads = 3;
        ridge.rule = WT_LAMBDA_LOO;
        ridge.solver = solvers[i];
        late_mark *mark = late_when(context, "lambda 0.01");
        CHECK_OK(context, wt_ridge_fit(context, &ridge, &spec, sets, NULL, &fitted, &report));
        late_end(mark);
        assert_true(report.out_of_time);
        assert_true(report.lambda > 0 && report.lambda < 0.01);
        assert_true(isfinite(report.loo_error) && isfinite(report.train_error));
        wt_fitted_free(fitted);
        /* before the first there is nothing */
        mark = late_when(context, "features");
        CHECK_FAILS(context, wt_ridge_fit(context, &ridge, &spec, sets, NULL, &fitted, &report),
                    WT_INTERRUPTED, "the time is over");
        late_end(mark);
        assert_null(fitted);
    }
    wt_sets_free(sets);
}

static void a_fit_in_a_ball_ends_with_its_gap(void **state) {
    wt_context *context = *state;
    wt_sets *sets = draw(context);
    wt_model_spec spec;
    wt_ball_options ball;
    wt_ball_report report = WT_SIZED(wt_ball_report);
    wt_fitted *fitted;
    WT_INIT(wt_model_spec, &spec);
    WT_INIT(wt_ball_options, &ball);
    spec.dim = spec.keys = 16;
    spec.heads = 20;
    ball.k1 = 4;
    ball.k2 = 16;
    late_mark *mark = late_when(context, "factor");
    CHECK_OK(context, wt_ball_fit(context, &ball, &spec, sets, NULL, &fitted, &report));
    late_end(mark);
    assert_false(report.reached);
    assert_true(report.objective <= report.objective_at_zero && report.gap > 0);
    wt_fitted_free(fitted);
    wt_sets_free(sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_ends_with_the_best_lambda),
        cmocka_unit_test(a_fit_in_a_ball_ends_with_its_gap),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
