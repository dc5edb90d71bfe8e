/* The recover engine of a device beside the host's: errors, derivatives, steps, recoveries.
 * usage: test_device_recover FOLDER DEVICE [TEST]    FOLDER has the plugin; without the device it
 * is skipped.
 *
 * Errors, W and gradients are double on either side, in other orders: they agree to 1e-9. Products
 * with J^T P J are float on the host, and agree to 1e-5 of their norm. */
#define _GNU_SOURCE /* mkdtemp */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "device/device.h"
#include "layer/forms.h"
#include "layer/learn/descent.h"
#include "layer/learn/recovery.h"
#include "layer/task/vector.h"
#include "wattle/device.h"
#include "wattle/random.h"

#define SKIPPED  77
#define CLOSE    1e-9
#define PRODUCTS 1e-5

static wt_context *device; /* runs on it; the group's context on the host */
static const char *name;   /* "cuda:0" */

/* What a case fits: a form, how long sequences are, and which Theta. */
typedef struct {
    const char *words;
    bool bias, causal, mixed, last;
    size_t heads, rank, groups;
} fitted;

static const fitted cases[] = {
    {.words = "plain", .heads = 2},
    {.words = "one head", .heads = 1},
    {.words = "biases", .bias = true, .heads = 2},
    {.words = "causal", .causal = true, .heads = 2},
    {.words = "mixed lengths, biases, causal", true, true, true, .heads = 2},
    {.words = "last rows", .last = true, .mixed = true, .heads = 2},
    {.words = "a rank", .heads = 3, .rank = 2},
    {.words = "a rank, biases, mixed lengths", .bias = true, .mixed = true, .heads = 2, .rank = 2},
    {.words = "groups", .heads = 4, .rank = 2, .groups = 2},
    {.words = "groups, biases, causal, mixed lengths",
     true,
     true,
     true,
     .heads = 4,
     .rank = 2,
     .groups = 2},
    {.words = "values of a rank", .heads = 2, .rank = 2, .groups = 2},
};
enum { CASES = sizeof cases / sizeof *cases };

typedef struct {
    wt_layer *teacher;
    wt_sequences *data;
    wt_recover_options options;
    wt_rows rows;
    wt_descent on[2]; /* the host, the device */
} setting;

static wt_context *where[2];

static wt_sequences *draw_case(wt_context *context, const fitted *one, const wt_layer *teacher) {
    size_t lengths[SAMPLES];
    mixed_lengths(lengths);
    wt_sequences *data = draw(context, teacher, one->mixed ? lengths : NULL);
    for (size_t s = 0; one->last && s < SAMPLES; s++) /* rows but one of each are not known */
        for (size_t a = 0; a + 1 < lengths[s]; a++)
            data->y[(s * LENGTH + a) * DIM] = NAN;
    data->partial = one->last;
    return data;
}

static wt_layer *teacher_for(wt_context *context, const fitted *one) {
    const wt_teacher_options options = {.size = sizeof options,
                                        .heads = one->heads,
                                        .dim = DIM,
                                        .scale = 2,
                                        .rank = one->rank,
                                        .groups = one->groups,
                                        .bias = one->bias,
                                        .mask =
                                            one->causal ? WT_LAYER_MASK_CAUSAL : WT_LAYER_MASK_NONE,
                                        .seed = 5};
    wt_layer *layer = NULL;
    CHECK_OK(context, wt_layer_teacher(context, &options, &layer));
    return layer;
}

/* Both descents at the same Theta: the teacher's, moved by `off`. */
static void open_setting(wt_context *context, const fitted *one, double off, setting *out) {
    *out = (setting){.teacher = teacher_for(context, one)};
    out->data = draw_case(context, one, out->teacher);
    WT_INIT(wt_recover_options, &out->options);
    out->options.bias = one->bias;
    out->options.mask = one->causal ? WT_LAYER_MASK_CAUSAL : WT_LAYER_MASK_NONE;
    CHECK_OK(context, wt_rows_make(context, out->data, &out->options, 0, SAMPLES, &out->rows));
    for (size_t i = 0; i < 2; i++) {
        wt_descent *descent = &out->on[i];
        CHECK_OK(where[i], wt_descent_new(where[i], &out->rows, one->heads, one->rank, one->groups,
                                          0, descent));
        wt_random_normal(wt_stream_for(1, "theta", 0), 0, descent->numbers, descent->theta);
        double *moved = malloc(descent->thetas * sizeof *moved);
        wt_theta_pack(one->heads, DIM + one->bias, DIM, out->teacher->theta, moved);
        for (size_t j = 0; j < descent->thetas; j++)
            descent->theta[j] = moved[j] + off * descent->theta[j];
        free(moved);
        if (one->rank > 0) {
            CHECK_OK(context, wt_factors_find(context, &descent->factors, descent->theta));
            CHECK_OK(context, wt_factors_multiply(context, &descent->factors, descent->factors.now,
                                                  descent->theta));
            CHECK_OK(context, wt_factors_find(context, &descent->factors, descent->theta));
        }
        CHECK_OK(where[i], wt_descent_evaluate(where[i], descent));
        CHECK_OK(where[i], descent->engine->linearise(where[i], descent->fit,
                                                      one->rank > 0 ? descent->factors.now : NULL,
                                                      descent->signs, &descent->scale));
    }
}

static void close_setting(setting *all) {
    for (size_t i = 0; i < 2; i++)
        wt_descent_free(&all->on[i]);
    wt_rows_free(&all->rows);
    wt_sequences_free(all->data);
    wt_layer_free(all->teacher);
}

static void same_vector(const char *of, const char *what, size_t count, const double *got,
                        const double *wanted, double tolerance) {
    double apart = sqrt(wt_vector_apart(count, got, wanted));
    double norm = sqrt(wt_vector_squares(count, wanted));
    if (!(apart <= tolerance * norm))
        fail_msg("%s: %s is %.2g of its norm off, more than %.2g", of, what, apart / norm,
                 tolerance);
}

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
        double size = sqrt(wt_vector_squares(side, gradient));
        assert_true(sqrt(wt_vector_squares(side, left)) <= (1e-3 + PRODUCTS) * size);
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

static wt_layer *recover(wt_context *context, const fitted *one, const wt_sequences *data,
                         wt_recover_report *report) {
    wt_recover_options options;
    wt_layer *layer = NULL;
    WT_INIT(wt_recover_options, &options);
    *report = (wt_recover_report)WT_SIZED(wt_recover_report);
    options.heads = one->heads;
    options.bias = one->bias;
    options.mask = one->causal ? WT_LAYER_MASK_CAUSAL : WT_LAYER_MASK_NONE;
    options.rank = one->rank;
    options.groups = one->groups;
    options.matrix_free = true;
    options.restarts = 3;
    CHECK_OK(context, wt_refine(context, data, &options, &layer, report));
    return layer;
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

static int open_both(void **state) {
    int failed = check_open(state);
    where[0] = *state;
    where[1] = device;
    for (size_t i = 0; i < 2; i++)
        wt_context_set_threads(where[i], 1);
    return failed;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),  cmocka_unit_test(differences), cmocka_unit_test(steps),
        cmocka_unit_test(nowhere), cmocka_unit_test(recoveries),  cmocka_unit_test(bits),
        cmocka_unit_test(limits),
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
    if (argc > 3)
        cmocka_set_test_filter(argv[3]);
    int failed = cmocka_run_group_tests(tests, open_both, check_close);
    wt_context_free(device);
    return failed;
}
