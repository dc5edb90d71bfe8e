/* Descents. Theta at which nothing can be computed: a step there is rejected, a start there is one
 * that found nothing, and only what is no matter of numbers ends the call. What steps cost, and
 * what is said of a head that is of no use. */
#include "layer/learn/descent.h"
#include "layer/learn/descent_host.h"

#include "check.h"
#include "layer/layers.h"
#include "layer/learn/recovery.h"
#include "wattle/random.h"

/* Attention so far out that it is saturated to e^-712: linear steps of Theta are of the length
 * e^712, their logits overflow and weights are infinity over infinity. Tokens X and -X/2 of one
 * dimension: Theta > 0 attends to those of the same sign, H = X (1, -1/2), and Theta < 0 to the
 * others, H = X (-1/2, 1), which fits y = (0.6, 1) better: 0.84 of it is left instead of 0.997.
 * With X = 1e60 and y of 1e120 the squares of derivatives of e^-712 are numbers still. */
static void open_far_out(wt_context *context, wt_sequences **data, wt_rows *rows,
                         wt_descent *descent) {
    wt_recover_options options;
    WT_INIT(wt_recover_options, &options);
    CHECK_OK(context, wt_sequences_new(context, 3, 2, 1, 1, data));
    for (size_t s = 0; s < 3; s++) {
        (*data)->x[2 * s] = 1e60;
        (*data)->x[2 * s + 1] = -0.5e60;
        (*data)->y[2 * s] = 0.6e120;
        (*data)->y[2 * s + 1] = 1e120;
    }
    CHECK_OK(context, wt_rows_make(context, *data, &options, 0, 3, rows));
    CHECK_OK(context, wt_descent_new(context, rows, 1, 0, 0, WT_DESCENT_USUAL, descent));
    descent->theta[0] = 712 / 0.75 * 1e-120; /* 0.75 X^2 Theta apart for the query -X/2 */
}

static void close_all(wt_sequences *data, wt_rows *rows, wt_descent *descent) {
    wt_descent_free(descent);
    wt_rows_free(rows);
    wt_sequences_free(data);
}

static void a_step_to_nowhere_is_rejected(void **state) {
    wt_context *context = *state;
    wt_sequences *data;
    wt_rows rows;
    wt_descent descent;
    open_far_out(context, &data, &rows, &descent);
    CHECK_OK(context, wt_descent_evaluate(context, &descent));
    CHECK_NEAR(descent.error, sqrt(1 - 0.008 / 1.36), 1e-12);
    CHECK_OK(context, wt_descent_run(context, &descent, 50));
    assert_true(descent.steps > 0);
    CHECK_NEAR(descent.error, sqrt(1 - 0.392 / 1.36), 1e-12);
    /* the undamped step is indeed one to nowhere */
    descent.theta[0] = -1e200;
    CHECK_OK(context, wt_descent_evaluate(context, &descent));
    assert_true(isinf(descent.error));
    const wt_projection *nowhere;
    CHECK_OK(context, wt_descent_look(context, &descent, &nowhere));
    assert_true(nowhere->w[0] == 0 && nowhere->e[1] == 1e120);
    close_all(data, &rows, &descent);
}

static void draw(wt_context *context, size_t heads, size_t dim, size_t n, uint64_t seed,
                 wt_layer **teacher, wt_sequences **out) {
    CHECK_OK(context, make_teacher(context, heads, dim, dim, 2, 0, seed, teacher));
    CHECK_OK(context, wt_sequences_new(context, n, 4, dim, dim, out));
    CHECK_OK(context, wt_layer_draw(context, *teacher, WT_LAW_BOOLEAN, 1, 0, seed, 0, *out));
}

/* The start that is given leads nowhere; a random one finds the layer. */
static void a_start_nowhere_is_tried_in_vain(void **state) {
    wt_context *context = *state;
    static const double sizes[] = {1.7e308, INFINITY, NAN};
    for (int matrix_free = 0; matrix_free < 2; matrix_free++)
        for (size_t i = 0; i < 3; i++) {
            wt_recover_options options;
            WT_INIT(wt_recover_options, &options);
            wt_recover_report report = WT_SIZED(wt_recover_report);
            wt_layer *teacher, *start, *layer;
            wt_sequences *data;
            draw(context, 2, 4, 60, 1, &teacher, &data);
            CHECK_OK(context, wt_layer_new(context, 2, 4, 4, &start));
            for (size_t j = 0; j < 2 * 4 * 4; j++)
                start->theta[j] = j % 3 == 0 ? sizes[i] : -sizes[i];
            options.heads = 2;
            options.start = start;
            options.matrix_free = matrix_free == 1;
            CHECK_OK(context, wt_refine(context, data, &options, &layer, &report));
            assert_true(report.exact);
            assert_true(report.starts > 1);
            assert_string_equal(report.start_from, "random");
            wt_layer_free(teacher);
            wt_layer_free(start);
            wt_layer_free(layer);
            wt_sequences_free(data);
        }
}

/* Three heads of one dimension on signs: columns of H are often equal but for rounding, and the
 * factor of their Gram matrix breaks off. */
static void equal_columns_end_no_call(void **state) {
    wt_context *context = *state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        wt_recover_options options;
        WT_INIT(wt_recover_options, &options);
        wt_recover_report report = WT_SIZED(wt_recover_report);
        wt_layer *teacher, *layer;
        wt_sequences *data;
        CHECK_OK(context, make_teacher(context, 3, 1, 2, 2, 0, seed, &teacher));
        CHECK_OK(context, wt_sequences_new(context, 6, 4, 1, 2, &data));
        CHECK_OK(context, wt_layer_draw(context, teacher, WT_LAW_BOOLEAN, 1, 0, seed, 0, data));
        options.heads = 3;
        options.seed = seed;
        options.restarts = 10;
        CHECK_OK(context, wt_refine(context, data, &options, &layer, &report));
        assert_true(isfinite(report.train_error));
        wt_layer_free(teacher);
        wt_layer_free(layer);
        wt_sequences_free(data);
    }
}

/* No memory and Ctrl-C are no matter of numbers. */
static void other_failures_end_the_call(void **state) {
    wt_context *context = *state;
    wt_sequences *data;
    wt_rows rows;
    wt_descent descent;
    size_t failures = 0;
    for (long k = 1;; k++) {
        open_far_out(context, &data, &rows, &descent);
        atomic_store(&context->allocation_to_fail, k);
        wt_status status = wt_descent_run(context, &descent, 50);
        bool felt = atomic_exchange(&context->allocation_to_fail, 0) <= 0;
        close_all(data, &rows, &descent);
        if (!felt)
            break;
        failures++;
        assert_int_equal(status, WT_MEMORY);
    }
    assert_true(failures > 10); /* in the start and in the steps */
    open_far_out(context, &data, &rows, &descent);
    wt_context_cancel(context);
    assert_int_equal(wt_descent_run(context, &descent, 50), WT_INTERRUPTED);
    atomic_store(&context->cancels, 0);
    close_all(data, &rows, &descent);
}

/* Three heads of rank 3 on Gaussian tokens, from a start after which undamped steps overshoot: with
 * damping that falls by 0.2 a step and grows by 4 a try, 15 tries in a row were refused, of 9 to
 * 13 products each, 434 in all. 280 now: the bound lies between, further than rounding moves them.
 */
static void refused_steps_are_few(void **state) {
    wt_context *context = *state;
    wt_recover_options options;
    WT_INIT(wt_recover_options, &options);
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_layer *teacher, *layer;
    wt_sequences *data;
    CHECK_OK(context, make_teacher(context, 3, 16, 16, 4, 3, 6, &teacher));
    CHECK_OK(context, wt_sequences_new(context, 60, 12, 16, 16, &data));
    CHECK_OK(context, wt_layer_draw(context, teacher, WT_LAW_GAUSSIAN, 1, 0, 6, 0, data));
    options.heads = 3;
    options.rank = 3;
    options.seed = 1;
    options.restarts = 1;
    options.holdout = 0.05;
    CHECK_OK(context, wt_refine(context, data, &options, &layer, &report));
    assert_true(report.exact);
    assert_true(report.products < 360);
    wt_layer_free(teacher);
    wt_layer_free(layer);
    wt_sequences_free(data);
}

/* A head of no use, whose Theta is long, is no head that wants to be infinite. */
static void a_sharp_head_of_no_use_is_no_misfit(void **state) {
    wt_context *context = *state;
    enum { SHORT = 4 };
    wt_recover_options options;
    WT_INIT(wt_recover_options, &options);
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_layer *teacher, *start, *layer;
    wt_sequences *data;
    draw(context, 1, SHORT, 200, 3, &teacher, &data);
    CHECK_OK(context, wt_layer_new(context, 2, SHORT, SHORT, &start));
    memcpy(start->theta, teacher->theta, SHORT * SHORT * sizeof *start->theta);
    for (size_t i = 0; i < SHORT; i++)
        start->theta[SHORT * SHORT + i * SHORT + i] = 100;
    options.heads = 2;
    options.start = start;
    options.restarts = 1;
    CHECK_OK(context, wt_refine(context, data, &options, &layer, &report));
    assert_string_equal(report.start_from, "given");
    assert_int_equal(report.verdict, WT_RECOVER_VERDICT_EXACT);
    wt_layer_free(teacher);
    wt_layer_free(start);
    wt_layer_free(layer);
    wt_sequences_free(data);
}

enum { BITS = 4, DIM = 9, SIDE = BITS * DIM * DIM };

/* A parity, at some place, whose linear system takes more products than its matrix would cost. */
typedef struct {
    wt_sequences *data;
    wt_rows rows;
    wt_recover_fit *fit;
    wt_recover_step job;
    double theta[SIDE], signs[SIDE], step[SIDE], lengths[600], ratios[600], product[SIDE];
    double scale;
} dear;

static void open_dear(wt_context *context, dear *of) {
    wt_recover_options options;
    WT_INIT(wt_recover_options, &options);
    wt_layer *teacher;
    double error;
    CHECK_OK(context, wt_layer_parity(context, BITS, DIM, &teacher));
    CHECK_OK(context, wt_sequences_new(context, 900, 2, DIM, 1, &of->data));
    CHECK_OK(context, wt_layer_draw(context, teacher, WT_LAW_BOOLEAN, 1, 0, 5, 0, of->data));
    wt_layer_free(teacher);
    CHECK_OK(context, wt_rows_make(context, of->data, &options, 0, 900, &of->rows));
    wt_recover_problem problem = wt_recover_problem_of(&of->rows, BITS);
    problem.products = 1;
    CHECK_OK(context, wt_recover_host.begin(context, NULL, &problem, &of->fit));
    assert_true(of->fit->matrix_free);
    wt_random_normal(wt_stream_for(5, "theta", 0), 0, SIDE, of->theta);
    wt_random_sign(wt_stream_for(5, "signs", 0), 0, SIDE, of->signs);
    CHECK_OK(context, wt_recover_host.evaluate(context, of->fit, of->theta, &error));
    wt_recover_host.accept(of->fit);
    of->job = (wt_recover_step){.damping = 1e-9,
                                .tolerance = 1e-6,
                                .most = 600,
                                .step = of->step,
                                .lengths = of->lengths,
                                .ratios = of->ratios};
    CHECK_OK(context, wt_recover_host.linearise(context, of->fit, NULL, of->signs, &of->scale));
    CHECK_OK(context, wt_recover_host.multiply(context, of->fit, of->signs, of->product));
    CHECK_OK(context, wt_recover_host.solve(context, of->fit, &of->job));
    assert_true(of->job.iterations > 0 && of->fit->matrix_free);
}

static void close_dear(dear *of) {
    wt_recover_host.end(of->fit);
    wt_rows_free(&of->rows);
    wt_sequences_free(of->data);
}

/* The next system has the matrix. Products in float agree with it to 1e-5 of their norm. */
static void dear_steps_form_the_matrix(void **state) {
    wt_context *context = *state;
    static dear of;
    static double product[SIDE];
    double off = 0, norm = 0;
    open_dear(context, &of);
    size_t products = wt_recover_host.products(of.fit);
    CHECK_OK(context, wt_recover_host.linearise(context, of.fit, NULL, of.signs, &of.scale));
    assert_false(of.fit->matrix_free);
    CHECK_OK(context, wt_recover_host.multiply(context, of.fit, of.signs, product));
    CHECK_OK(context, wt_recover_host.solve(context, of.fit, &of.job));
    assert_true(of.job.solved && of.job.iterations == 0);
    assert_int_equal(wt_recover_host.products(of.fit), products);
    for (size_t i = 0; i < SIDE; i++) {
        off += (of.product[i] - product[i]) * (of.product[i] - product[i]);
        norm += product[i] * product[i];
    }
    assert_true(off <= 1e-10 * norm);
    close_dear(&of);
}

static void no_memory_for_the_matrix_ends_the_call(void **state) {
    wt_context *context = *state;
    static dear of;
    open_dear(context, &of);
    atomic_store(&context->allocation_to_fail, 1);
    assert_int_equal(wt_recover_host.linearise(context, of.fit, NULL, of.signs, &of.scale),
                     WT_MEMORY);
    assert_true(atomic_exchange(&context->allocation_to_fail, 0) <= 0);
    close_dear(&of);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sharp_head_of_no_use_is_no_misfit),
        cmocka_unit_test(dear_steps_form_the_matrix),
        cmocka_unit_test(no_memory_for_the_matrix_ends_the_call),
        cmocka_unit_test(a_step_to_nowhere_is_rejected),
        cmocka_unit_test(a_start_nowhere_is_tried_in_vain),
        cmocka_unit_test(equal_columns_end_no_call),
        cmocka_unit_test(other_failures_end_the_call),
        cmocka_unit_test(refused_steps_are_few),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
