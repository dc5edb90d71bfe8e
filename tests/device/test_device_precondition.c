/* The preconditioner of a device beside the host's: what it is made of, its solves, linear systems
 * and recoveries with it.
 * usage: test_device_precondition FOLDER DEVICE [TEST]    as test_device_recover
 *
 * Values of the host's sums are double or, of K, float: they agree to 1e-9 and 1e-5. Blocks are the
 * same numbers on either side and applied in double: to 1e-10, of which their spread of
 * eigenvalues, 1e8 at most, leaves so much. */
#define _GNU_SOURCE /* mkdtemp */
#include <pthread.h>

#include "recover_setting.h"

#define APPLIED 1e-10
/* Iterations of a linear system. */
#define FEW 4

/* Those that have a rank. */
enum { FIRST = 6 };

static void sums(void **state) {
    (void)state;
    for (size_t c = FIRST; c < CASES; c++) {
        setting all;
        open_setting(where[0], &cases[c], 0.3, &all);
        size_t d = DIM, m = cases[c].heads, g = cases[c].groups, v = cases[c].rank;
        for (size_t i = 0; i < 2; i++)
            CHECK_OK(where[i],
                     all.on[i].engine->sum(where[i], all.on[i].fit, &all.on[i].blocks.sums));
        const wt_recover_sums *wanted = &all.on[0].blocks.sums, *got = &all.on[1].blocks.sums;
        same_vector(cases[c].words, "K", m * d * d, got->known, wanted->known, PRODUCTS);
        if (g > 0) {
            same_vector(cases[c].words, "H^T H", g * d * d, got->valued, wanted->valued, CLOSE);
            same_vector(cases[c].words, "O O^T", g * v * v, got->shared, wanted->shared, CLOSE);
        }
        close_setting(&all);
    }
}

static wt_recover_step step_of(wt_descent *descent, double damping, double tolerance, size_t most) {
    return (wt_recover_step){.damping = damping * descent->scale,
                             .tolerance = tolerance,
                             .most = most,
                             .step = descent->step,
                             .lengths = descent->lengths,
                             .ratios = descent->ratios};
}

/* The first step of conjugate gradients is z = M^-1 J^T E, as long as the system says: with the
 * host's blocks on the device it is what the host's solve of them makes of the device's gradient.
 */
static void applications(void **state) {
    static const double dampings[] = {1, 1e-2, 1e-6};
    (void)state;
    for (size_t c = FIRST; c < CASES; c++) {
        setting all;
        open_setting(where[0], &cases[c], 0.3, &all);
        wt_descent *host = &all.on[0], *descent = &all.on[1];
        size_t side = descent->side;
        double *g = malloc(5 * side * sizeof *g), *z = g + side, *product = z + side;
        double *spare = product + side;
        CHECK_OK(device, descent->engine->precondition(device, descent->fit, &host->blocks.made));
        CHECK_OK(device, descent->engine->gradient(device, descent->fit, g));
        for (size_t i = 0; i < sizeof dampings / sizeof *dampings; i++) {
            wt_recover_step step = step_of(descent, dampings[i], 0, 1);
            CHECK_OK(where[0], wt_blocks_solve(where[0], &host->blocks.made, &host->factors,
                                               step.damping, g, spare, z));
            CHECK_OK(device, descent->engine->solve(device, descent->fit, &step));
            assert_int_equal(step.iterations, 1);
            CHECK_OK(device, descent->engine->multiply(device, descent->fit, z, product));
            double square = wt_vector_dot(side, g, z);
            double length = square / (wt_vector_dot(side, z, product) +
                                      step.damping * wt_vector_squares(side, z));
            CHECK_NEAR(step.lengths[0] / length, 1, PRODUCTS);
            for (size_t j = 0; j < side; j++)
                z[j] *= step.lengths[0];
            same_vector(cases[c].words, "M^-1 g", side, step.step, z, APPLIED);
        }
        free(g);
        close_setting(&all);
    }
}

/* Linear systems take about as many iterations as on the host, whose products in float make the
 * difference: of the 12 to 32 here at most two were seen. */
static void iterations(void **state) {
    static const double dampings[] = {1e-2, 1e-4};
    (void)state;
    for (size_t c = FIRST; c < CASES; c++)
        for (size_t i = 0; i < sizeof dampings / sizeof *dampings; i++) {
            setting all;
            size_t took[2];
            open_setting(where[0], &cases[c], 0.3, &all);
            for (size_t on = 0; on < 2; on++) {
                wt_descent *descent = &all.on[on];
                wt_recover_step step = step_of(descent, dampings[i], 1e-3, WT_DESCENT_ITERATIONS);
                CHECK_OK(where[on], descent->engine->solve(where[on], descent->fit, &step));
                took[on] = step.iterations;
            }
            if (took[1] > took[0] + FEW || took[0] > took[1] + FEW)
                fail_msg("%s, damping %g: %zu iterations, not %zu", cases[c].words, dampings[i],
                         took[1], took[0]);
            close_setting(&all);
        }
}

static void cancel(void *user, size_t iteration) {
    if (iteration == 2)
        wt_context_cancel(user);
}

/* Ctrl-C ends a linear system before the next product. */
static void interruptions(void **state) {
    setting all;
    (void)state;
    open_setting(where[0], &cases[FIRST], 0.3, &all);
    wt_descent *descent = &all.on[1];
    wt_recover_step step = step_of(descent, 1e-6, 0, WT_DESCENT_ITERATIONS);
    size_t before = wt_descent_products(descent);
    step.tell = cancel;
    step.user = device;
    assert_int_equal(descent->engine->solve(device, descent->fit, &step), WT_INTERRUPTED);
    assert_true(wt_descent_products(descent) <= before + 3);
    wt_context_resume(device);
    close_setting(&all);
}

/* What is exact on the host is on the device, in about as many products (seen: 0.6 to 1.3 times),
 * and nothing of the device's memory is kept. */
static void recoveries(void **state) {
    wt_device_info info = WT_SIZED(wt_device_info);
    CHECK_OK(device, wt_context_device_info(device, &info));
    size_t before = info.used, exact = 0;
    for (size_t c = FIRST; c < CASES; c++) {
        wt_recover_report wanted, got;
        wt_layer *teacher = teacher_for(*state, &cases[c]);
        wt_sequences *data = draw_case(*state, &cases[c], teacher);
        wt_layer_free(recover(*state, &cases[c], data, &wanted));
        wt_layer_free(recover(device, &cases[c], data, &got));
        assert_int_equal(got.exact, wanted.exact);
        exact += wanted.exact;
        if (got.products > 2 * wanted.products || wanted.products > 2 * got.products)
            fail_msg("%s: %zu products, not about %zu", cases[c].words, got.products,
                     wanted.products);
        wt_layer_free(teacher);
        wt_sequences_free(data);
    }
    assert_int_equal(exact, 4); /* of 5: three starts do not find the other */
    CHECK_OK(device, wt_context_device_info(device, &info));
    assert_int_equal(info.used, before);
}

enum { NUMBERS = 4 * (DIM + 1) * DIM };

static void *run_beside(void *theta) {
    const fitted *one = &cases[FIRST + 3];
    wt_context *context;
    wt_recover_report report;
    assert_int_equal(wt_context_new(&context), WT_OK);
    CHECK_OK(context, wt_context_set_device(context, name));
    wt_layer *teacher = teacher_for(context, one);
    wt_sequences *data = draw_case(context, one, teacher);
    wt_layer *layer = recover(context, one, data, &report);
    memcpy(theta, layer->theta, NUMBERS * sizeof *layer->theta);
    wt_layer_free(layer);
    wt_layer_free(teacher);
    wt_sequences_free(data);
    wt_context_free(context);
    return NULL;
}

/* The same bits again, and beside others. */
static void bits(void **state) {
    enum { BESIDE = 3 };
    double first[NUMBERS], others[BESIDE][NUMBERS];
    pthread_t threads[BESIDE];
    (void)state;
    run_beside(first);
    for (size_t i = 0; i < BESIDE; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_beside, others[i]), 0);
    for (size_t i = 0; i < BESIDE; i++) {
        pthread_join(threads[i], NULL);
        assert_memory_equal(others[i], first, sizeof first);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),       cmocka_unit_test(applications),
        cmocka_unit_test(iterations), cmocka_unit_test(interruptions),
        cmocka_unit_test(recoveries), cmocka_unit_test(bits),
    };
    int failed = find_device(argc, argv);
    if (failed != 0)
        return failed;
    failed = cmocka_run_group_tests(tests, open_both, check_close);
    wt_context_free(device);
    return failed;
}
