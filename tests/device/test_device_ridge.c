/* The ridge engine of a device beside the host's: matrices, factors, fits, curves.
 * usage: test_device_ridge FOLDER DEVICE [large|TEST]    FOLDER has the plugin; without the
 * device it is skipped.
 *
 * Both compute in double, in other orders: matrices agree to 1e-13 of their diagonal, what is
 * solved with them to 1e-8, and to 1e-9 where the processors are the host's own. */
#include <pthread.h>
#include <stdlib.h>

#include "device/device.h"
#include "features/fit_cases.h"
#include "features/learn/system.h"
#include "features/specs.h"

#define SKIPPED 77
#define CLOSE   (strcmp(name, "mpi") == 0 ? 1e-9 : 1e-8)

static wt_context *device; /* runs on it; the group's context on the host */
static const char *name;   /* of the device */

static const wt_model_kind kinds[] = {WT_MODEL_KIND_RFA,      WT_MODEL_KIND_BRFA,
                                      WT_MODEL_KIND_RFMLP,    WT_MODEL_KIND_RFA_INF,
                                      WT_MODEL_KIND_BRFA_INF, WT_MODEL_KIND_RFMLP_INF};
enum { KINDS = sizeof kinds / sizeof *kinds };

static wt_model_spec spec_of(size_t kind, size_t heads, size_t dim, size_t keys) {
    return (wt_model_spec){.size = sizeof(wt_model_spec),
                           .kind = kinds[kind],
                           .heads = heads,
                           .bias = 1.5,
                           .dim = dim,
                           .keys = keys,
                           .seed = 3};
}

/* ---- matrices ---------------------------------------------------------------------------------
 */

static double *kernel_of(wt_context *context, const wt_model_spec *spec, const wt_sets *sets) {
    wt_model model;
    wt_system system;
    size_t n = sets->samples;
    double *out = malloc(n * n * sizeof *out);
    assert_non_null(out);
    CHECK_OK(context, wt_model_draw(context, spec, &model));
    CHECK_OK(context, wt_system_open(context, &model, sets, &system));
    CHECK_OK(context, system.engine->copy(context, system.state, n, out));
    for (size_t i = 0; i < n; i++)
        assert_true(system.diagonal[i] == out[i * (n + 1)]);
    wt_system_free(&system);
    wt_model_free(&model);
    return out;
}

static void check_kernel(wt_context *host, const wt_model_spec *spec, const wt_sets *sets) {
    size_t n = sets->samples;
    double *wanted = kernel_of(host, spec, sets), *got = kernel_of(device, spec, sets);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double scale = sqrt(wanted[i * (n + 1)] * wanted[j * (n + 1)]);
            if (!(fabs(got[i * n + j] - wanted[i * n + j]) <= 1e-13 * scale))
                fail_msg("%s d %zu N %zu%s: K(%zu, %zu) = %.17g, not %.17g",
                         wt_model_kind_name(spec->kind), spec->dim, spec->keys,
                         sets->mask != NULL ? " masked" : "", i, j, got[i * n + j],
                         wanted[i * n + j]);
        }
    free(wanted);
    free(got);
}

/* Keys in one tile, in tiles that they do not fill, and in many; heads in registers or not. */
static void matrices(void **state) {
    static const struct {
        size_t n, dim, keys, heads;
    } shapes[] = {{70, 3, 1, 7},  {45, 4, 5, 40},   {40, 16, 16, 90},
                  {12, 7, 70, 9}, {6, 30, 130, 11}, {20, 40, 6, 50}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t k = 0; k < KINDS; k++)
            for (int masked = 0; masked < 2; masked++)
                for (int softmax = 0; softmax < (k < 2 ? 2 : 1); softmax++) {
                    wt_model_spec spec = spec_of(k, shapes[s].heads, shapes[s].dim, shapes[s].keys);
                    spec.activation = softmax ? WT_ACTIVATION_SOFTMAX : WT_ACTIVATION_RELU;
                    wt_sets sets =
                        draw_sets(*state, s, shapes[s].n, spec.keys, spec.dim, 0, masked != 0);
                    check_kernel(*state, &spec, &sets);
                    wt_sets_close(&sets);
                }
}

/* Queries that are all but the same: the correlations that series do not reach. */
static void close_queries(void **state) {
    wt_model_spec spec = spec_of(4, 1, 5, 6);
    wt_sets sets = draw_sets(*state, 9, 40, 6, 5, 0, false);
    for (size_t sample = 1; sample < 40; sample++)
        for (size_t j = 0; j < 5; j++)
            sets.query[sample * 5 + j] = sets.query[j] * (1 + 1e-3 * (double)sample);
    for (size_t i = 0; i < 40 * 6 * 5; i++)
        sets.key[i] = i % 30 < 15 ? sets.key[i % 5] + 1e-4 * sets.key[i] : sets.key[i];
    check_kernel(*state, &spec, &sets);
    wt_sets_close(&sets);
}

/* ---- factors ----------------------------------------------------------------------------------
 */

/* Past one block of a solve, and of an inverse. */
static void factors(void **state) {
    enum { N = 1030, SIZES = 5 };
    static const size_t sizes[SIZES] = {1, 40, 513, 1025, N};
    static const double lambdas[] = {1e-2, 1, 1e-2};
    wt_context *contexts[] = {*state, device};
    wt_model_spec spec = spec_of(0, 60, 4, 4);
    wt_sets sets = draw_sets(*state, 1, N, 4, 4, 3, false);
    wt_model model;
    wt_system systems[2];
    CHECK_OK(contexts[0], wt_model_draw(*state, &spec, &model));
    for (size_t i = 0; i < 2; i++)
        CHECK_OK(contexts[i], wt_system_open(contexts[i], &model, &sets, &systems[i]));
    double *diagonals[2], *alpha[2], condition[2];
    for (size_t i = 0; i < 2; i++) {
        diagonals[i] = malloc(SIZES * N * sizeof(double));
        alpha[i] = malloc(N * 3 * sizeof(double));
    }
    for (size_t l = 0; l < 3; l++) {
        for (size_t i = 0; i < 2; i++) {
            size_t usable;
            CHECK_OK(contexts[i],
                     wt_system_factor(contexts[i], &systems[i], lambdas[l], sizes, SIZES, &usable));
            assert_int_equal(usable, SIZES);
            CHECK_OK(contexts[i], wt_system_inverse_diagonals(contexts[i], &systems[i], sizes,
                                                              SIZES, diagonals[i]));
            CHECK_OK(contexts[i],
                     wt_system_condition(contexts[i], &systems[i], lambdas[l], &condition[i]));
        }
        for (size_t i = 0; i < (size_t)SIZES * N; i++)
            CHECK_NEAR(diagonals[1][i], diagonals[0][i], CLOSE);
        CHECK_NEAR(condition[1] / condition[0], 1, CLOSE);
        for (size_t columns = 1; columns <= 3; columns += 2)
            for (size_t s = 0; s < SIZES; s++) {
                for (size_t i = 0; i < 2; i++)
                    CHECK_OK(contexts[i], wt_system_solve(contexts[i], &systems[i], sizes[s],
                                                          columns, sets.y, alpha[i], 3));
                for (size_t i = 0; i < sizes[s] * 3; i++)
                    if (i % 3 < columns)
                        CHECK_NEAR(alpha[1][i], alpha[0][i], CLOSE);
            }
    }
    for (size_t i = 0; i < 2; i++) {
        wt_system_free(&systems[i]);
        free(diagonals[i]);
        free(alpha[i]);
    }
    wt_model_free(&model);
    wt_sets_close(&sets);
}

/* Copies of samples: no factor without a lambda that counts. */
static void lambdas_that_are_lost(void **state) {
    enum { N = 300 };
    static const size_t sizes[] = {20, 60, N};
    static const double lambdas[] = {1, 1e-9, 0, 1e-25, 1};
    wt_context *contexts[] = {*state, device};
    wt_model_spec spec = spec_of(0, 50, 3, 4);
    wt_sets sets = draw_sets(*state, 2, N, 4, 3, 1, false);
    for (size_t i = N / 2 * 3; i < N * 3; i++)
        sets.query[i] = 1000 * sets.query[i - N / 2 * 3];
    wt_model model;
    wt_system systems[2];
    CHECK_OK(contexts[0], wt_model_draw(*state, &spec, &model));
    for (size_t i = 0; i < 2; i++)
        CHECK_OK(contexts[i], wt_system_open(contexts[i], &model, &sets, &systems[i]));
    for (size_t l = 0; l < sizeof lambdas / sizeof *lambdas; l++) {
        size_t usable[2];
        for (size_t i = 0; i < 2; i++)
            CHECK_OK(contexts[i],
                     wt_system_factor(contexts[i], &systems[i], lambdas[l], sizes, 3, &usable[i]));
        assert_int_equal(usable[1], usable[0]);
    }
    for (size_t i = 0; i < 2; i++)
        wt_system_free(&systems[i]);
    wt_model_free(&model);
    wt_sets_close(&sets);
}

/* ---- fits -------------------------------------------------------------------------------------
 */

static void same_number(const char *what, double got, double wanted) {
    if (isnan(got) != isnan(wanted) || fabs(got - wanted) > CLOSE * fmax(1, fabs(wanted)))
        fail_msg("%s is %.17g, not %.17g", what, got, wanted);
}

static void same_outcome(const outcome *got, const outcome *wanted) {
    const wt_fit_report *a = &got->report, *b = &wanted->report;
    assert_string_equal(a->route, b->route);
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->lambda_at_end, b->lambda_at_end);
    assert_true(a->lambda == b->lambda);
    same_number("the training error", a->train_error, b->train_error);
    same_number("the leave-one-out error", a->loo_error, b->loo_error);
    same_number("the test error", a->test_error, b->test_error);
    same_number("the sum of norms", a->sum_norms, b->sum_norms);
    same_number("the sum of squares", a->m_sum_squares, b->m_sum_squares);
    same_number("the effective rank", a->freedom, b->freedom);
    for (size_t i = 0; i < (size_t)TEST * 2; i++)
        same_number("a prediction", got->predicted[i], wanted->predicted[i]);
}

/* Labels are noise, so that lambda is no end of the path. */
static void check_fit(wt_context *host, size_t kind, wt_lambda rule, bool primal, bool centred,
                      size_t heads, const wt_sets *train, const wt_sets *test) {
    static const double path[] = {1e-3, 1e-2, 1e-1, 1};
    wt_model_spec spec = spec_of(kind, heads, 3, 4);
    wt_ridge_options ridge = {.size = sizeof ridge,
                              .rule = rule,
                              .lambda = 1e-2,
                              .path = path,
                              .path_count = 4,
                              .standardize = centred,
                              .solver = primal ? WT_SOLVER_PRIMAL : WT_SOLVER_DUAL};
    outcome wanted = fit_and_predict(host, &spec, train, test, &ridge);
    outcome got = fit_and_predict(device, &spec, train, test, &ridge);
    same_outcome(&got, &wanted);
}

/* Every kind, rule and way. */
static void fits(void **state) {
    static const wt_lambda rules[] = {WT_LAMBDA_FIXED, WT_LAMBDA_LOO, WT_LAMBDA_GCV,
                                      WT_LAMBDA_ORACLE, WT_LAMBDA_MIN_NORM};
    wt_sets train = draw_sets(*state, 3, 80, 4, 3, 2, true);
    wt_sets test = draw_sets(*state, 4, TEST, 4, 3, 2, true);
    for (size_t k = 0; k < KINDS; k++)
        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
            for (int primal = 0; primal < (k < 3 ? 2 : 1); primal++)
                for (int centred = 0; centred < 2; centred++)
                    check_fit(*state, k, rules[r], primal != 0, centred != 0, primal ? 12 : 40,
                              &train, &test);
    wt_sets_close(&train);
    wt_sets_close(&test);
}

/* A few, of matrices that are dealt out in several blocks. */
static void few_fits(void **state) {
    wt_sets train = draw_sets(*state, 3, 200, 4, 3, 2, true);
    wt_sets test = draw_sets(*state, 4, TEST, 4, 3, 2, true);
    check_fit(*state, 0, WT_LAMBDA_LOO, true, false, 40, &train, &test);
    check_fit(*state, 1, WT_LAMBDA_MIN_NORM, true, true, 40, &train, &test);
    check_fit(*state, 2, WT_LAMBDA_ORACLE, false, false, 100, &train, &test);
    check_fit(*state, 4, WT_LAMBDA_LOO, false, true, 1, &train, &test);
    check_fit(*state, 5, WT_LAMBDA_MIN_NORM, false, false, 1, &train, &test);
    wt_sets_close(&train);
    wt_sets_close(&test);
}

/* ---- curves -----------------------------------------------------------------------------------
 */

enum { CURVE = 540, CURVE_SIZES = 5 };
static const size_t curve_sizes[CURVE_SIZES] = {16, 100, 256, 513, CURVE};

static void run_curve_by(wt_context *context, const wt_model_spec *spec, wt_lambda rule,
                         double lambda, wt_curve_point *points) {
    static const double path[] = {1e-3, 1e-2, 1e-1, 1};
    wt_ridge_options ridge = {
        .size = sizeof ridge, .rule = rule, .lambda = lambda, .path = path, .path_count = 4};
    wt_sets train = draw_sets(context, 5, CURVE, spec->keys, spec->dim, 2, false);
    wt_sets test = draw_sets(context, 6, 60, spec->keys, spec->dim, 2, false);
    CHECK_OK(context, wt_ridge_curve(context, &ridge, spec, &train, train.y, &test, test.y, 2, 2,
                                     curve_sizes, CURVE_SIZES, points));
    wt_sets_close(&train);
    wt_sets_close(&test);
}

static void run_curve(wt_context *context, const wt_model_spec *spec, double lambda,
                      wt_curve_point *points) {
    run_curve_by(context, spec, WT_LAMBDA_FIXED, lambda, points);
}

static void curves(void **state) {
    for (size_t k = 0; k < KINDS; k++)
        for (int small = 0; small < 2; small++) {
            wt_model_spec spec = spec_of(k, 100, 8, 6);
            wt_curve_point wanted[2 * CURVE_SIZES], got[2 * CURVE_SIZES];
            run_curve(*state, &spec, small ? 1e-6 : 1e-2, wanted);
            run_curve(device, &spec, small ? 1e-6 : 1e-2, got);
            for (size_t i = 0; i < (size_t)2 * CURVE_SIZES; i++) {
                same_number("the test error", got[i].test_error, wanted[i].test_error);
                same_number("the training error", got[i].train_error, wanted[i].train_error);
            }
        }
}

/* Sizes below and beyond the features, where the normal matrix grows from size to size. */
static void curves_beyond_the_features(void **state) {
    static const wt_lambda rules[] = {WT_LAMBDA_FIXED, WT_LAMBDA_LOO, WT_LAMBDA_GCV,
                                      WT_LAMBDA_ORACLE, WT_LAMBDA_MIN_NORM};
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (size_t heads = 2; heads <= 15; heads += 13) { /* by eigenvectors, and by factors */
            wt_model_spec spec = spec_of(r % 3, heads, 8, 6);
            wt_curve_point wanted[2 * CURVE_SIZES], got[2 * CURVE_SIZES];
            run_curve_by(*state, &spec, rules[r], 1e-2, wanted);
            run_curve_by(device, &spec, rules[r], 1e-2, got);
            for (size_t i = 0; i < (size_t)2 * CURVE_SIZES; i++) {
                assert_true(got[i].lambda == wanted[i].lambda);
                same_number("the test error", got[i].test_error, wanted[i].test_error);
                same_number("the training error", got[i].train_error, wanted[i].train_error);
                same_number("the leave-one-out error", got[i].loo_error, wanted[i].loo_error);
            }
        }
}

static void *run_beside(void *points) {
    wt_context *context;
    wt_model_spec spec = spec_of(0, 100, 8, 6);
    assert_int_equal(wt_context_new(&context), WT_OK);
    CHECK_OK(context, wt_context_set_device(context, name));
    for (int i = 0; i < 3; i++)
        run_curve(context, &spec, 1e-3, points);
    wt_context_free(context);
    return NULL;
}

/* The same bits again, and beside others. */
static void bits(void **state) {
    (void)state;
    wt_curve_point first[2 * CURVE_SIZES], others[4][2 * CURVE_SIZES];
    wt_model_spec spec = spec_of(0, 100, 8, 6);
    pthread_t threads[4];
    run_curve(device, &spec, 1e-3, first);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_beside, others[i]), 0);
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        for (size_t p = 0; p < (size_t)2 * CURVE_SIZES; p++)
            assert_true(others[i][p].test_error == first[p].test_error);
    }
}

/* ---- limits -----------------------------------------------------------------------------------
 */

static void memory(void **state) {
    wt_model_spec spec = spec_of(3, 1, 3, 4);
    wt_ridge_options ridge = {RIDGE(FIXED), .lambda = 1e-2};
    wt_fit_report report = WT_SIZED(wt_fit_report);
    wt_device_info info = WT_SIZED(wt_device_info);
    wt_fitted *fitted = NULL;
    wt_sets train = draw_sets(*state, 3, 500, 4, 3, 1, false);
    CHECK_OK(device, wt_context_device_info(device, &info));
    size_t before = info.used;
    wt_context_set_memory(device, 1 << 20);
    assert_int_equal(wt_ridge_fit(device, &ridge, &spec, &train, NULL, &fitted, &report),
                     WT_MEMORY);
    wt_context_set_memory(device, 0);
    CHECK_OK(device, wt_ridge_fit(device, &ridge, &spec, &train, NULL, &fitted, &report));
    wt_fitted_free(fitted);
    CHECK_OK(device, wt_context_device_info(device, &info));
    assert_int_equal(info.used, before);
    wt_context_cancel(device);
    assert_int_equal(wt_ridge_fit(device, &ridge, &spec, &train, NULL, &fitted, &report),
                     WT_INTERRUPTED);
    wt_context_resume(device);
    wt_sets_close(&train);
}

/* More samples than are factored at once; some seconds on the host. */
static void large_fit(void **state) {
    wt_ridge_options ridge = {RIDGE(FIXED), .lambda = 1e-2};
    wt_sets train = draw_sets(*state, 3, 9000, 4, 3, 2, false);
    wt_sets test = draw_sets(*state, 4, TEST, 4, 3, 2, false);
    for (size_t k = 3; k < KINDS; k++) {
        wt_model_spec spec = spec_of(k, 1, 3, 4);
        outcome wanted = fit_and_predict(*state, &spec, &train, &test, &ridge);
        outcome got = fit_and_predict(device, &spec, &train, &test, &ridge);
        same_outcome(&got, &wanted);
        CHECK_NEAR(got.report.condition / wanted.report.condition, 1, CLOSE);
    }
    wt_sets_close(&train);
    wt_sets_close(&test);
}

int main(int argc, char **argv) {
    const struct CMUnitTest large[] = {cmocka_unit_test(large_fit)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices), cmocka_unit_test(close_queries),
        cmocka_unit_test(factors),  cmocka_unit_test(lambdas_that_are_lost),
        cmocka_unit_test(fits),     cmocka_unit_test(curves),
        cmocka_unit_test(bits),     cmocka_unit_test(memory),
        cmocka_unit_test(few_fits), cmocka_unit_test(curves_beyond_the_features),
    };
    if (argc < 3 || wt_context_new(&device) != WT_OK)
        return 64;
    wt_device_look_in(argv[1]);
    name = argv[2];
    if (wt_context_set_device(device, name) != WT_OK) {
        printf("skipped: %s\n", wt_context_message(device));
        wt_context_free(device);
        return SKIPPED;
    }
    bool all = argc < 4 || strcmp(argv[3], "large") != 0;
    if (all && argc > 3)
        cmocka_set_test_filter(argv[3]);
    int failed = !all ? cmocka_run_group_tests(large, check_open, check_close)
                      : cmocka_run_group_tests(tests, check_open, check_close);
    wt_context_free(device);
    return failed;
}
