/* The recover engine of a device beside the host's: errors, derivatives, steps, recoveries.
 * usage: test_device_recover FOLDER DEVICE [TEST]    FOLDER has the plugin; without the device it
 * is skipped.
 *
 * Errors, W and gradients are double on either side, in other orders: they agree to 1e-9. Products
 * with J^T P J are float on the host, and agree to 1e-5 of their norm. */
#define _GNU_SOURCE /* mkdtemp */
#include <pthread.h>

#include "recover_setting.h"

/* Where both stand: errors, W, how sharp heads are, gradients, products. */
static void places(void **state) {
    for (size_t c = 0; c < CASES; c++) {
        setting all;
        open_setting(*state, &cases[c], 0.3, &all);
        size_t side = all.on[0].side, wide = all.on[0].form.columns * DIM, m = cases[c].heads;
        double *out[2], *sharp[2];
        CHECK_NEAR(all.on[1].error / all.on[0].error, 1, CLOSE);
        CHECK_NEAR(all.on[1].scale / all.on[0].scale, 1, PRODUCTS);
        for (size_t i = 0; i < 2; i++) {
            out[i] = malloc((side + wide) * sizeof **out);
            sharp[i] = malloc(2 * m * sizeof **sharp);
            CHECK_OK(where[i], wt_descent_read(where[i], &all.on[i], NULL, out[i]));
            CHECK_OK(where[i],
                     all.on[i].engine->sharpness(where[i], all.on[i].fit, sharp[i], sharp[i] + m));
        }
        same_vector(cases[c].words, "W", wide, out[1], out[0], CLOSE);
        same_vector(cases[c].words, "the sharpness", 2 * m, sharp[1], sharp[0], CLOSE);
        for (size_t i = 0; i < 2; i++)
            CHECK_OK(where[i], all.on[i].engine->gradient(where[i], all.on[i].fit, out[i]));
        same_vector(cases[c].words, "the gradient", side, out[1], out[0], CLOSE);
        for (uint64_t k = 0; k < 3; k++) {
            wt_random_normal(wt_stream_for(2, "direction", k), 0, side, all.on[0].step);
            for (size_t i = 0; i < 2; i++)
                CHECK_OK(where[i], all.on[i].engine->multiply(where[i], all.on[i].fit,
                                                              all.on[0].step, out[i]));
            same_vector(cases[c].words, "a product", side, out[1], out[0], PRODUCTS);
        }
        for (size_t i = 0; i < 2; i++) {
            free(out[i]);
            free(sharp[i]);
        }
        close_setting(&all);
    }
}

/* The error at so much of a direction of the unknowns. */
static double error_along(wt_descent *descent, const double *direction, double length) {
    double error;
    if (descent->factors.rank > 0) {
        for (size_t j = 0; j < descent->side; j++)
            descent->factors.next[j] = descent->factors.now[j] + length * direction[j];
        CHECK_OK(device, wt_factors_multiply(device, &descent->factors, descent->factors.next,
                                             descent->trial));
    } else {
        for (size_t j = 0; j < descent->side; j++)
            descent->trial[j] = descent->theta[j] + length * direction[j];
    }
    CHECK_OK(device, descent->engine->evaluate(device, descent->fit, descent->trial, &error));
    return error * descent->rows->norm;
}

/* Of |E|^2 / 2 the gradient is -J^T E, and where E = 0 the second derivative is J^T P J:
 * differences of the device's own errors say so to 1e-6 and 1e-4, the squares and the third power
 * of their step. */
static void differences(void **state) {
    const double step = 1e-4;
    size_t exactly = 0;
    for (size_t c = 0; c < CASES; c++)
        for (int exact = 0; exact < 2; exact++) {
            setting all;
            open_setting(*state, &cases[c], exact ? 0 : 0.3, &all);
            wt_descent *descent = &all.on[1];
            bool found =
                descent->error < 1e-10; /* V of shared values is drawn, not the teacher's */
            double *along = malloc(descent->side * sizeof *along), *out = descent->step;
            wt_random_normal(wt_stream_for(3, "direction", 0), 0, descent->side, along);
            double ahead = error_along(descent, along, step);
            double behind = error_along(descent, along, -step);
            exactly += found;
            if (found) {
                CHECK_OK(device, descent->engine->multiply(device, descent->fit, along, out));
                double second = (ahead * ahead + behind * behind) / (2 * step * step);
                CHECK_NEAR(wt_vector_dot(descent->side, along, out) / second, 1, 1e-4);
            } else {
                CHECK_OK(device, descent->engine->gradient(device, descent->fit, out));
                double first = -(ahead * ahead - behind * behind) / (4 * step);
                double size = sqrt(wt_vector_squares(descent->side, out) *
                                   wt_vector_squares(descent->side, along));
                CHECK_NEAR(wt_vector_dot(descent->side, along, out) / size, first / size, 1e-6);
            }
            free(along);
            close_setting(&all);
        }
    assert_int_equal(exactly, 7);
}

/* The length that the tolerance of a linear system is a part of: of v, or of M^-1/2 v. */
static double length_of(const wt_descent *descent, double damping, const double *v) {
    const wt_factors *factors = &descent->factors;
    if (factors->rank == 0)
        return sqrt(wt_vector_squares(descent->side, v));
    double *spare = malloc(3 * descent->side * sizeof *spare), *out = spare + 2 * descent->side;
    CHECK_OK(device,
             wt_blocks_solve(device, &descent->blocks.made, factors, damping, v, spare, out));
    double square = wt_vector_dot(descent->side, v, out);
    free(spare);
    return sqrt(square);
}

/* A step solves the system it was asked to, to the tolerance. */
static void steps(void **state) {
    for (size_t c = 0; c < CASES; c++) {
        setting all;
        open_setting(*state, &cases[c], 0.3, &all);
        wt_descent *descent = &all.on[1];
        size_t side = descent->side;
        double *left = malloc(side * sizeof *left), *gradient = malloc(side * sizeof *gradient);
        wt_recover_step step = {.damping = 1e-2 * descent->scale,
                                .tolerance = 1e-3,
                                .most = WT_DESCENT_ITERATIONS,
                                .step = descent->step,
                                .lengths = descent->lengths,
                                .ratios = descent->ratios};
        size_t before = wt_descent_products(descent);
        CHECK_OK(device, descent->engine->solve(device, descent->fit, &step));
        assert_true(step.solved && step.iterations > 0);
        assert_true(wt_descent_products(descent) >= before + step.iterations);
        CHECK_OK(device, descent->engine->multiply(device, descent->fit, step.step, left));
        CHECK_OK(device, descent->engine->gradient(device, descent->fit, gradient));
        for (size_t j = 0; j < side; j++)
            left[j] += step.damping * step.step[j] - gradient[j];
        assert_true(length_of(descent, step.damping, left) <=
                    (1e-3 + PRODUCTS) * length_of(descent, step.damping, gradient));
        step.most = 1; /* downhill, as far as the system says */
        CHECK_OK(device, descent->engine->solve(device, descent->fit, &step));
        assert_int_equal(step.iterations, 1);
        CHECK_OK(device, descent->engine->multiply(device, descent->fit, step.step, left));
        double along = wt_vector_dot(side, step.step, gradient);
        double curvature = wt_vector_dot(side, step.step, left) +
                           step.damping * wt_vector_squares(side, step.step);
        assert_true(along > 0);
        CHECK_NEAR(curvature / along, 1, PRODUCTS);
        free(left);
        free(gradient);
        close_setting(&all);
    }
}

/* Numbers that are none: an infinite error, and W of zeros. */
static void nowhere(void **state) {
    setting all;
    open_setting(*state, &cases[0], 0.3, &all);
    wt_descent *descent = &all.on[1];
    double w[2 * DIM * DIM];
    descent->theta[0] = NAN;
    CHECK_OK(device, wt_descent_evaluate(device, descent));
    assert_true(isinf(descent->error));
    CHECK_OK(device, wt_descent_read(device, descent, NULL, w));
    for (size_t i = 0; i < sizeof w / sizeof *w; i++)
        assert_true(w[i] == 0);
    close_setting(&all);
}

/* Exact layers are exact on either, noise is noise. */
static void recoveries(void **state) {
    static const size_t some[] = {0, 4, 6, 9};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int noisy = 0; noisy < (i == 0 ? 2 : 1); noisy++) {
            size_t c = some[i];
            wt_context *context = *state;
            wt_layer *teacher = teacher_for(context, &cases[c]), *layer;
            wt_sequences *data = draw_case(context, &cases[c], teacher);
            for (size_t j = 0; noisy && j < (size_t)TOKENS * DIM; j++)
                data->y[j] += 0.05 * sin((double)(j * j % 1009));
            wt_recover_report wanted, got;
            wt_layer_free(recover(context, &cases[c], data, &wanted));
            layer = recover(device, &cases[c], data, &got);
            if (got.verdict != wanted.verdict)
                fail_msg("%s: %s, not %s", cases[c].words, wt_recover_verdict_name(got.verdict),
                         wt_recover_verdict_name(wanted.verdict));
            if (wanted.exact)
                assert_true(got.train_error < 1e-9);
            else
                CHECK_NEAR(got.train_error / wanted.train_error, 1, 1e-6);
            assert_true(got.products > 0);
            wt_layer_free(layer);
            wt_layer_free(teacher);
            wt_sequences_free(data);
        }
}

static void *run_beside(void *theta) {
    wt_context *context;
    wt_recover_report report;
    assert_int_equal(wt_context_new(&context), WT_OK);
    CHECK_OK(context, wt_context_set_device(context, name));
    wt_layer *teacher = teacher_for(context, &cases[4]);
    wt_sequences *data = draw_case(context, &cases[4], teacher);
    wt_layer *layer = recover(context, &cases[4], data, &report);
    memcpy(theta, layer->theta, sizeof(double) * 2 * (DIM + 1) * DIM);
    wt_layer_free(layer);
    wt_layer_free(teacher);
    wt_sequences_free(data);
    wt_context_free(context);
    return NULL;
}

/* The same bits again, and beside others. */
static void bits(void **state) {
    enum { BESIDE = 3, NUMBERS = 2 * (DIM + 1) * DIM };
    double first[NUMBERS], others[BESIDE][NUMBERS];
    pthread_t threads[BESIDE];
    (void)state;
    run_beside(first);
    for (size_t i = 0; i < BESIDE; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_beside, others[i]), 0);
    for (size_t i = 0; i < BESIDE; i++) {
        pthread_join(threads[i], NULL);
        for (size_t j = 0; j < NUMBERS; j++)
            assert_true(others[i][j] == first[j]);
    }
}

static void limits(void **state) {
    wt_recover_options options;
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_device_info info = WT_SIZED(wt_device_info);
    wt_layer *teacher = teacher_for(*state, &cases[0]), *layer = NULL;
    wt_sequences *data = draw_case(*state, &cases[0], teacher);
    WT_INIT(wt_recover_options, &options);
    options.heads = 2;
    CHECK_OK(device, wt_context_device_info(device, &info));
    size_t before = info.used;
    wt_context_set_memory(device, 200000);
    assert_int_equal(wt_refine(device, data, &options, &layer, &report), WT_MEMORY);
    wt_context_set_memory(device, 0);
    wt_context_cancel(device);
    assert_int_equal(wt_refine(device, data, &options, &layer, &report), WT_INTERRUPTED);
    wt_context_resume(device);
    CHECK_OK(device, wt_refine(device, data, &options, &layer, &report));
    assert_true(report.exact);
    CHECK_OK(device, wt_context_device_info(device, &info));
    assert_int_equal(info.used, before);
    wt_layer_free(layer);
    wt_layer_free(teacher);
    wt_sequences_free(data);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),  cmocka_unit_test(differences), cmocka_unit_test(steps),
        cmocka_unit_test(nowhere), cmocka_unit_test(recoveries),  cmocka_unit_test(bits),
        cmocka_unit_test(limits),
    };
    int failed = find_device(argc, argv);
    if (failed != 0)
        return failed;
    failed = cmocka_run_group_tests(tests, open_both, check_close);
    wt_context_free(device);
    return failed;
}
