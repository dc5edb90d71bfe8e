/* Sizes of a curve beyond the features, by the normal matrix: the errors of the dual on the same
 * draws, by every rule, for every number of threads, in the memory that was planned. */
#include "features/curve_cases.h"
#include "features/learn/primal_curve.h"
#include "features/learn/primal_scores.h"
#include "features/learn/route.h"
#include "features/task/sets.h"
#include "specs.h"
#include "wattle/fit.h"

static const wt_model_spec specs[] = {
    {MODEL(RFA), .heads = 8, .dim = 3, .keys = 4, .seed = 5}, /* f = 32 in all */
    {MODEL(BRFA), .heads = 8, .bias = 4, .dim = 3, .keys = 4, .seed = 5},
    {MODEL(RFMLP), .heads = 8, .dim = 3, .keys = 4, .seed = 5},
};
enum { SPECS = sizeof specs / sizeof *specs };

/* Below, at and above f; where factors find leave-one-out errors and where eigenvectors do; more
 * than a slab of samples, and the end of one in a size. */
enum { TRAIN = 2100, COLUMNS = 6, TARGETS = 3, SIZES = 6 };
static const size_t sizes[SIZES] = {20, 32, 33, 64, 1100, TRAIN};

static const double path[] = {1e-5, 1e-3, 1e-1, 10};
static const struct {
    const char *name;
    wt_ridge_options ridge;
} rules[] = {{"1e-3", {RIDGE(FIXED), .lambda = 1e-3}},
             {"loo", {RIDGE(LOO)}},
             {"gcv", {RIDGE(GCV)}},
             {"oracle", {RIDGE(ORACLE), .path = path, .path_count = 4}},
             {"min-norm", {RIDGE(MIN_NORM)}},
             {"0", {RIDGE(FIXED), .lambda = 0}}};
enum { RULES = sizeof rules / sizeof *rules };

typedef struct {
    wt_sets train, test;
    double *train_y, *test_y;
} draws;

static draws draw(wt_context *context, size_t train, bool masked) {
    draws out = {.train = draw_sets(context, 51, train, 4, 3, 0, masked),
                 .test = draw_sets(context, 52, TEST, 4, 3, 0, masked)};
    out.train_y = labels_of(context, &out.train, COLUMNS);
    out.test_y = labels_of(context, &out.test, COLUMNS);
    return out;
}

static void drop(draws *drawn) {
    wt_release(drawn->train_y);
    wt_release(drawn->test_y);
    wt_sets_close(&drawn->train);
    wt_sets_close(&drawn->test);
}

static void run(wt_context *context, const draws *drawn, size_t model, size_t rule,
                wt_solver solver, wt_curve_point *points) {
    wt_ridge_options ridge = rules[rule].ridge;
    ridge.solver = solver;
    CHECK_OK(context,
             wt_ridge_curve(context, &ridge, &specs[model], &drawn->train, drawn->train_y,
                            &drawn->test, drawn->test_y, COLUMNS, TARGETS, sizes, SIZES, points));
}

/* The dual is worse conditioned: n / lambda times rounding, 2100 / 1e-5 * 1e-16; the quick way of a
 * fixed lambda promises residuals of 1e-8 of the labels. */
#define CLOSE 1e-7

static void near(double got, double wanted, const char *what, size_t model, size_t rule, size_t n) {
    if (isnan(got) != isnan(wanted) || fabs(got - wanted) > CLOSE * fmax(fabs(wanted), 1e-6))
        fail_msg("model %zu, rule %s, n = %zu: %s is %.12g, not %.12g", model, rules[rule].name, n,
                 what, got, wanted);
}

static void errors_are_those_of_the_dual(void **state) {
    for (size_t m = 0; m < SPECS; m++) {
        draws drawn = draw(*state, TRAIN, m != 1);
        for (size_t r = 0; r < RULES; r++) {
            wt_curve_point wanted[TARGETS * SIZES], got[TARGETS * SIZES];
            run(*state, &drawn, m, r, WT_SOLVER_DUAL, wanted);
            run(*state, &drawn, m, r, WT_SOLVER_AUTO, got);
            for (size_t p = 0; p < TARGETS * SIZES; p++) {
                size_t n = sizes[p % SIZES];
                assert_int_equal(got[p].n, n);
                assert_true(got[p].lambda == wanted[p].lambda);
                assert_int_equal(got[p].lambda_at_end, wanted[p].lambda_at_end);
                near(got[p].test_error, wanted[p].test_error, "test", m, r, n);
                near(got[p].train_error, wanted[p].train_error, "train", m, r, n);
                near(got[p].loo_error, wanted[p].loo_error, "loo", m, r, n);
            }
        }
        drop(&drawn);
    }
}

/* A path that lies too high, and one too low. */
static void a_path_is_widened_as_in_the_dual(void **state) {
    static const double high[] = {10, 100}, low[] = {1e-6, 1e-5};
    static const wt_lambda widening[] = {WT_LAMBDA_LOO, WT_LAMBDA_GCV, WT_LAMBDA_ORACLE};
    static const size_t two[] = {64, TRAIN};
    draws drawn = draw(*state, TRAIN, false);
    size_t beyond = 0;
    for (size_t r = 0; r < 6; r++) {
        wt_ridge_options ridge = {.size = sizeof ridge, .rule = widening[r / 2], .path_count = 2};
        wt_curve_point wanted[TARGETS * 2], got[TARGETS * 2];
        ridge.path = r % 2 == 0 ? high : low;
        for (int way = 0; way < 2; way++) {
            ridge.solver = way == 0 ? WT_SOLVER_DUAL : WT_SOLVER_PRIMAL;
            CHECK_OK(*state, wt_ridge_curve(*state, &ridge, &specs[0], &drawn.train, drawn.train_y,
                                            &drawn.test, drawn.test_y, COLUMNS, TARGETS, two, 2,
                                            way == 0 ? wanted : got));
        }
        for (size_t p = 0; p < TARGETS * 2; p++) {
            assert_true(got[p].lambda == wanted[p].lambda);
            assert_int_equal(got[p].lambda_at_end, wanted[p].lambda_at_end);
            beyond += got[p].lambda < ridge.path[0] || got[p].lambda > ridge.path[1];
        }
    }
    assert_true(beyond > 0);
    drop(&drawn);
}

static void same_bits_for_every_number_of_threads(void **state) {
    wt_context *context = *state;
    int before = wt_context_threads(context);
    draws drawn = draw(context, TRAIN, true);
    for (size_t r = 0; r < RULES; r++) {
        wt_curve_point first[TARGETS * SIZES], again[TARGETS * SIZES];
        for (int threads = 1; threads <= 3; threads++) {
            CHECK_OK(context, wt_context_set_threads(context, threads));
            run(context, &drawn, 0, r, WT_SOLVER_AUTO, threads == 1 ? first : again);
            for (size_t p = 0; threads > 1 && p < TARGETS * SIZES; p++) {
                const double a[] = {first[p].lambda, first[p].test_error, first[p].train_error,
                                    first[p].loo_error};
                const double b[] = {again[p].lambda, again[p].test_error, again[p].train_error,
                                    again[p].loo_error};
                assert_memory_equal(a, b, sizeof a);
            }
        }
    }
    CHECK_OK(context, wt_context_set_threads(context, before));
    drop(&drawn);
}

/* By eigenvectors, and by a factor and a pass for each lambda. */
static void two_ways_to_leverages(void **state) {
    wt_context *context = *state;
    wt_ridge_options ridge = {RIDGE(LOO)};
    draws drawn = draw(context, TRAIN, true);
    wt_model model;
    wt_dual_answer answers[2];
    assert_true(wt_primal_spectrum_pays(TRAIN, 32, 10));
    CHECK_OK(context, wt_model_draw(context, &specs[0], &model));
    wt_dual dual = {.model = &model,
                    .train = &drawn.train,
                    .y = drawn.train_y,
                    .columns = COLUMNS,
                    .targets = TARGETS,
                    .sizes = sizes + 3,
                    .count = SIZES - 3};
    for (int i = 0; i < 2; i++)
        CHECK_OK(context, wt_primal_curve(context, &dual, &ridge, i == 1, &answers[i]));
    for (size_t p = 0; p < (size_t)TARGETS * (SIZES - 3); p++) {
        assert_true(answers[1].lambda[p] == answers[0].lambda[p]);
        /* The rounding of A over its eigenvalues and lambda: 1e-16 * 1e2 / 1e-8, squared. */
        CHECK_NEAR(answers[1].loo[p] / answers[0].loo[p], 1, 1e-9);
    }
    for (int i = 0; i < 2; i++)
        wt_dual_free(&answers[i]);
    wt_model_free(&model);
    drop(&drawn);
}

/* A matrix of 340 features in place of one of 2100 samples. */
static void bytes_are_as_planned(void **state) {
    (void)state;
    static const size_t few[] = {1000, TRAIN};
    for (size_t r = 0; r < RULES; r++) {
        wt_context *context;
        wt_model_spec spec = {MODEL(RFA), .heads = 85, .dim = 3, .keys = 4, .seed = 5};
        wt_curve_plan plan;
        wt_curve_point points[TARGETS * 2];
        assert_int_equal(wt_context_new(&context), WT_OK);
        CHECK_OK(context, wt_context_set_threads(context, 2));
        draws drawn = draw(context, TRAIN, false);
        size_t before = wt_context_memory_used(context);
        CHECK_OK(context,
                 wt_curve_plan_of(context, &rules[r].ridge, &spec, few, 2, COLUMNS, &plan));
        assert_int_equal(plan.by_dual, 0);
        CHECK_OK(context,
                 wt_ridge_curve(context, &rules[r].ridge, &spec, &drawn.train, drawn.train_y,
                                &drawn.test, drawn.test_y, COLUMNS, TARGETS, few, 2, points));
        double held = (double)(wt_context_memory_peak(context) - before);
        /* The parts of a plan are not all there at once. */
        if (!(plan.bytes > 0.95 * held && plan.bytes < 1.3 * held))
            fail_msg("rule %s: planned %.0f, held %.0f", rules[r].name, plan.bytes, held);
        wt_context_set_memory(context, before + (1 << 19));
        CHECK_FAILS(context,
                    wt_ridge_curve(context, &rules[r].ridge, &spec, &drawn.train, drawn.train_y,
                                   &drawn.test, drawn.test_y, COLUMNS, TARGETS, few, 2, points),
                    WT_MEMORY, "the curve of rfa on 2100 samples (primal) needs about ");
        drop(&drawn);
        wt_context_free(context);
    }
}

/* The size that was promised: f = 17000, in less than half of what one kernel matrix takes. */
static void large_curves_fit_their_budgets(void **state) {
    wt_context *context = *state;
    static const size_t many[] = {1024, 2048, 4096, 8192, 16384, 32768, 65536};
    wt_model_spec spec = {MODEL(RFA), .heads = 1000, .dim = 16, .keys = 16};
    wt_ridge_options ridge = {RIDGE(LOO)};
    wt_curve_plan plan;
    CHECK_OK(context, wt_curve_plan_of(context, &ridge, &spec, many, 7, 2, &plan));
    assert_int_equal(plan.by_dual, 5);
    assert_true(plan.by_spectrum && plan.bytes < 10 * 0x1p30);
    wt_context_set_memory(context, (size_t)8 << 30);
    CHECK_OK(context, wt_curve_plan_of(context, &ridge, &spec, many, 7, 2, &plan));
    wt_context_set_memory(context, 0);
    assert_true(!plan.by_spectrum && plan.bytes < 4 * 0x1p30);
}

/* Every allocation fails in its turn, and nothing is left. */
static void failing_allocations_leave_nothing_behind(void **state) {
    wt_context *context = *state;
    static const size_t two[] = {20, 300};
    draws drawn = draw(context, 300, true);
    wt_model_spec spec = {MODEL(RFA), .heads = 2, .dim = 3, .keys = 4, .seed = 5};
    size_t held = wt_context_memory_used(context);
    for (size_t r = 0; r < RULES; r++) {
        bool done = false;
        for (long k = 1; !done; k++) {
            wt_curve_point points[TARGETS * 2];
            assert_true(k < 2000);
            atomic_store(&context->allocation_to_fail, k);
            wt_status status =
                wt_ridge_curve(context, &rules[r].ridge, &spec, &drawn.train, drawn.train_y,
                               &drawn.test, drawn.test_y, COLUMNS, TARGETS, two, 2, points);
            done = status == WT_OK;
            if (!done)
                assert_int_equal(status, WT_MEMORY);
            assert_int_equal(wt_context_memory_used(context), held);
        }
        atomic_store(&context->allocation_to_fail, 0);
    }
    drop(&drawn);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_those_of_the_dual),
        cmocka_unit_test(a_path_is_widened_as_in_the_dual),
        cmocka_unit_test(same_bits_for_every_number_of_threads),
        cmocka_unit_test(two_ways_to_leverages),
        cmocka_unit_test(bytes_are_as_planned),
        cmocka_unit_test(large_curves_fit_their_budgets),
        cmocka_unit_test(failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
