/* Plans: which way a fit goes, bytes as measured, and budgets kept with a sentence. */
#include "features/plain_ridge.h"
#include "features/task/sets.h"
#include "specs.h"
#include "wattle/fit.h"

static const wt_model_spec specs[] = {
    {MODEL(RFA), .heads = 100, .dim = 8, .keys = 8}, /* f = 900 */
    {MODEL(RFA), .heads = 20, .dim = 8, .keys = 8},  /* f = 180 */
    {MODEL(RFMLP), .heads = 50, .dim = 8, .keys = 8},  {MODEL(RFA_INF), .dim = 8, .keys = 8},
    {MODEL(BRFA_INF), .bias = 4, .dim = 8, .keys = 8},
};
enum { SPECS = sizeof specs / sizeof *specs };

static wt_fit_cost plan_of(wt_context *context, const wt_model_spec *spec, size_t n, bool drawn,
                           const wt_ridge_options *ridge) {
    wt_fit_cost plan = WT_SIZED(wt_fit_cost);
    CHECK_OK(context, wt_ridge_cost(context, ridge, spec, n, 1, drawn, &plan));
    return plan;
}

/* The most bytes a fit held, in a context of its own with the samples counted. */
static size_t measure(const wt_model_spec *spec, size_t n, bool drawn,
                      const wt_ridge_options *ridge, int threads, wt_fit_cost *plan) {
    wt_context *context;
    wt_fitted *fitted;
    wt_fit_report report = WT_SIZED(wt_fit_report);
    assert_int_equal(wt_context_new(&context), WT_OK);
    CHECK_OK(context, wt_context_set_threads(context, threads));
    *plan = plan_of(context, spec, n, drawn, ridge);
    if (drawn) {
        wt_problem_spec drawn_spec = {.size = sizeof(wt_problem_spec),
                                      .target = "corr:2",
                                      .dim = spec->dim,
                                      .keys = spec->keys};
        wt_problem *problem;
        CHECK_OK(context, wt_problem_new(context, &drawn_spec, &problem));
        CHECK_OK(context,
                 wt_ridge_fit_problem(context, ridge, spec, problem, n, NULL, &fitted, &report));
        wt_problem_free(problem);
    } else {
        wt_sets train = draw_sets(context, 1, n, spec->keys, spec->dim, 1, false);
        CHECK_OK(context, wt_ridge_fit(context, ridge, spec, &train, NULL, &fitted, &report));
        wt_sets_close(&train);
    }
    assert_string_equal(report.route, plan->route);
    size_t bytes = report.bytes;
    wt_fitted_free(fitted);
    wt_context_free(context);
    return bytes;
}

static void bytes_are_as_planned(void **state) {
    (void)state;
    static const wt_lambda rules[] = {WT_LAMBDA_FIXED, WT_LAMBDA_LOO, WT_LAMBDA_MIN_NORM};
    for (size_t m = 0; m < SPECS; m++)
        for (size_t n = 50; n <= 400; n *= 8)
            for (size_t r = 0; r < 3; r++)
                for (int way = 0; way < (m < 3 ? 3 : 1); way++) { /* dual, primal, streamed */
                    if (m == 0 && way > 0)
                        continue; /* a large normal matrix says no more than a small one */
                    wt_ridge_options ridge = {
                        .size = sizeof(wt_ridge_options), .rule = rules[r], .lambda = 1e-3};
                    ridge.solver = way == 0 ? WT_SOLVER_DUAL : WT_SOLVER_PRIMAL;
                    wt_fit_cost plan = WT_SIZED(wt_fit_cost);
                    size_t bytes = measure(&specs[m], n, way == 2, &ridge, 3, &plan);
                    /* Blocks are rounded up, small ones are not listed. */
                    if (!(fabs(plan.bytes / (double)bytes - 1) < 0.05))
                        fail_msg("model %zu, n = %zu, rule %zu, %s: planned %.0f, held %zu", m, n,
                                 r, plan.route, plan.bytes, bytes);
                }
}

static void the_smaller_system_is_solved(void **state) {
    wt_context *context = *state;
    wt_ridge_options ridge = {RIDGE(FIXED), .lambda = 1e-3};
    assert_string_equal(plan_of(context, &specs[1], 180, false, &ridge).route, "dual");
    assert_string_equal(plan_of(context, &specs[1], 181, false, &ridge).route, "primal");
    assert_string_equal(plan_of(context, &specs[1], 181, true, &ridge).route, "streamed");
    assert_string_equal(plan_of(context, &specs[3], 5000, true, &ridge).route, "dual");
    assert_int_equal(plan_of(context, &specs[1], 10, false, &ridge).features, 180);
    assert_int_equal(plan_of(context, &specs[1], 10, false, &ridge).samples, 10);
    ridge.solver = WT_SOLVER_PRIMAL;
    assert_string_equal(plan_of(context, &specs[1], 10, false, &ridge).route, "primal");
    ridge.solver = WT_SOLVER_DUAL;
    assert_string_equal(plan_of(context, &specs[1], 1000, false, &ridge).route, "dual");
    /* Labels are standardised before they are fitted: no stream then. */
    ridge = (wt_ridge_options){RIDGE(FIXED), .lambda = 1e-3, .standardize = true};
    assert_string_equal(plan_of(context, &specs[1], 1000, true, &ridge).route, "primal");
}

/* The sizes that were promised. */
static void large_jobs_fit_their_budgets(void **state) {
    wt_context *context = *state;
    int before = wt_context_threads(context);
    CHECK_OK(context, wt_context_set_threads(context, 2));
    wt_ridge_options ridge = {RIDGE(FIXED), .lambda = 1e-3};
    wt_model_spec thousand = {MODEL(RFA), .heads = 1200, .dim = 16, .keys = 16};
    wt_fit_cost plan = plan_of(context, &thousand, 20000, false, &ridge);
    assert_string_equal(plan.route, "dual");
    assert_true(plan.bytes > 20000.0 * 20000 * 8 && plan.bytes < 4 * 0x1p30);
    wt_model_spec small = {MODEL(RFA), .heads = 200, .dim = 16, .keys = 16};
    plan = plan_of(context, &small, 1000000, true, &ridge);
    assert_string_equal(plan.route, "streamed");
    assert_true(plan.bytes < 0x1p30);
    /* From a file the million samples alone are over 2 GiB. */
    assert_true(plan_of(context, &small, 1000000, false, &ridge).bytes > 2 * 0x1p30);
    CHECK_OK(context, wt_context_set_threads(context, before));
}

static void flops_grow_as_they_should(void **state) {
    wt_context *context = *state;
    wt_ridge_options ridge = {RIDGE(FIXED), .lambda = 1e-3, .solver = WT_SOLVER_DUAL};
    double once = plan_of(context, &specs[0], 2000, false, &ridge).flops;
    double twice = plan_of(context, &specs[0], 4000, false, &ridge).flops;
    assert_true(twice > 4 * once && twice < 8 * once);
    ridge.solver = WT_SOLVER_PRIMAL;
    once = plan_of(context, &specs[1], 100000, true, &ridge).flops;
    twice = plan_of(context, &specs[1], 200000, true, &ridge).flops;
    assert_true(twice > 1.9 * once && twice < 2.1 * once);
    ridge.rule = WT_LAMBDA_LOO;
    assert_true(
        plan_of(context, &specs[1], 1000, false, &ridge).flops >
        plan_of(context, &specs[1], 1000, true, &(wt_ridge_options){RIDGE(FIXED), .lambda = 1})
            .flops);
}

/* One byte less than a fit holds, and it is refused with the sum it needs, before anything large
 * is made; with what it holds, it runs. */
static void budgets_are_kept(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        wt_context *context;
        wt_fitted *fitted = NULL;
        wt_fit_report report = WT_SIZED(wt_fit_report);
        wt_fit_cost plan = WT_SIZED(wt_fit_cost);
        wt_ridge_options ridge = {RIDGE(FIXED), .lambda = 1e-3,
                                  .solver = way == 0 ? WT_SOLVER_DUAL : WT_SOLVER_PRIMAL};
        size_t bytes = measure(&specs[1], 300, way == 2, &ridge, 2, &plan);
        for (int enough = 0; enough < 2; enough++) {
            assert_int_equal(wt_context_new(&context), WT_OK);
            CHECK_OK(context, wt_context_set_threads(context, 2));
            wt_sets train = draw_sets(context, 1, 300, 8, 8, 1, false);
            wt_problem_spec drawn_spec = {
                .size = sizeof(wt_problem_spec), .target = "corr:2", .dim = 8, .keys = 8};
            wt_problem *problem;
            CHECK_OK(context, wt_problem_new(context, &drawn_spec, &problem));
            if (way == 2)
                wt_sets_close(&train);
            size_t held = wt_context_memory_used(context);
            /* The plan is right to a twentieth. */
            wt_context_set_memory(context, enough ? bytes + bytes / 20 : bytes - bytes / 10);
            wt_status status =
                way == 2 ? wt_ridge_fit_problem(context, &ridge, &specs[1], problem, 300, NULL,
                                                &fitted, &report)
                         : wt_ridge_fit(context, &ridge, &specs[1], &train, NULL, &fitted, &report);
            if (enough) {
                CHECK_OK(context, status);
            } else {
                assert_int_equal(status, WT_MEMORY);
                const char *message = wt_context_message(context);
                if (strstr(message, "the fit of rfa on 300 samples") == NULL ||
                    strstr(message, "iB more") == NULL ||
                    strstr(message, "memory budget of") == NULL)
                    fail_msg("'%s'", message);
                assert_true(wt_context_memory_peak(context) < held + 4096 ||
                            wt_context_memory_peak(context) < bytes / 2);
                assert_null(fitted);
            }
            wt_fitted_free(fitted);
            fitted = NULL;
            wt_problem_free(problem);
            wt_sets_close(&train);
            assert_int_equal(wt_context_memory_used(context), 0);
            wt_context_free(context);
        }
    }
}

/* With the way left open, a budget turns a fit to the one that fits. */
static void a_budget_may_turn_the_way(void **state) {
    (void)state;
    wt_context *context;
    assert_int_equal(wt_context_new(&context), WT_OK);
    CHECK_OK(context, wt_context_set_threads(context, 1));
    wt_ridge_options ridge = {RIDGE(FIXED), .lambda = 1e-3};
    /* 3000 samples, 3060 features: the dual by a hair, and its samples in memory. */
    wt_model_spec spec = {MODEL(RFMLP), .heads = 1, .width = 3060, .dim = 40, .keys = 100};
    wt_fit_cost plan = plan_of(context, &spec, 3000, true, &ridge);
    assert_string_equal(plan.route, "dual");
    wt_ridge_options primal = {RIDGE(FIXED), .lambda = 1e-3, .solver = WT_SOLVER_PRIMAL};
    double less = plan_of(context, &spec, 3000, true, &primal).bytes;
    assert_true(less < 0.9 * plan.bytes);
    wt_context_set_memory(context, (size_t)less + 1);
    wt_fit_cost turned = plan_of(context, &spec, 3000, true, &ridge);
    assert_string_equal(turned.route, "streamed");
    wt_context_free(context);
}

static void a_curve_over_budget_says_so(void **state) {
    wt_context *context = *state;
    wt_sets train = draw_sets(context, 1, 300, 8, 8, 1, false);
    wt_sets test = draw_sets(context, 2, 30, 8, 8, 1, false);
    static const size_t sizes[] = {100, 300};
    wt_curve_point points[2];
    wt_ridge_options ridge = {RIDGE(FIXED), .lambda = 1e-3};
    wt_context_set_memory(context, wt_context_memory_used(context) + 300 * 300 * 4);
    CHECK_FAILS(context,
                wt_ridge_curve(context, &ridge, &specs[1], &train, train.y, &test, test.y, 1, 1,
                               sizes, 2, points),
                WT_MEMORY, "memory budget of");
    wt_context_set_memory(context, 0);
    wt_sets_close(&train);
    wt_sets_close(&test);
}

static void nonsense_is_refused(void **state) {
    wt_context *context = *state;
    wt_fit_cost plan = WT_SIZED(wt_fit_cost);
    wt_ridge_options ridge = {RIDGE(FIXED), .lambda = -1};
    CHECK_FAILS(context, wt_ridge_cost(context, &ridge, &specs[0], 10, 1, false, &plan), WT_USAGE,
                "lambda must be 0 or more");
    ridge.lambda = 1;
    wt_model_spec spec = specs[0];
    spec.heads = 0;
    CHECK_FAILS(context, wt_ridge_cost(context, &ridge, &spec, 10, 1, false, &plan), WT_USAGE,
                "1 head or more");
    ridge.solver = WT_SOLVER_PRIMAL;
    CHECK_FAILS(context, wt_ridge_cost(context, &ridge, &specs[3], 10, 1, false, &plan), WT_USAGE,
                "it has no primal");
    /* Numbers far beyond any machine still have a plan, and no fit. */
    ridge = (wt_ridge_options){RIDGE(FIXED), .lambda = 1};
    spec.heads = (size_t)1 << 40;
    CHECK_OK(context, wt_ridge_cost(context, &ridge, &spec, (size_t)1 << 50, 1, true, &plan));
    assert_true(plan.bytes > 0x1p70 && isfinite(plan.bytes));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_as_planned),
        cmocka_unit_test(the_smaller_system_is_solved),
        cmocka_unit_test(large_jobs_fit_their_budgets),
        cmocka_unit_test(flops_grow_as_they_should),
        cmocka_unit_test(budgets_are_kept),
        cmocka_unit_test(a_budget_may_turn_the_way),
        cmocka_unit_test(a_curve_over_budget_says_so),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
