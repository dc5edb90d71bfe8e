/* Layers of other forms than the plain one, recovered: biases, masks, norms, residual connections,
 * ranks. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "layer/forms.h"
#include "layer/learn/recovery.h"
#include "wattle/random.h"

/* Recovered as what it computes: on fresh sequences to rounding, 1e-9 at least. */
static void check_recovered(wt_context *context, const wt_layer *teacher, const wt_layer *layer) {
    wt_sequences *fresh = NULL;
    double y[40 * LENGTH * DIM], apart = 0, norm = 0;
    CHECK_OK(context, wt_sequences_new(context, 40, LENGTH, DIM, DIM, &fresh));
    CHECK_OK(context, wt_layer_draw(context, teacher, WT_LAW_GAUSSIAN, 1, 0, 99, 0, fresh));
    CHECK_OK(context, wt_layer_forward(context, layer, 40, LENGTH, fresh->x, y));
    for (size_t i = 0; i < 40 * LENGTH * DIM; i++) {
        apart += (y[i] - fresh->y[i]) * (y[i] - fresh->y[i]);
        norm += fresh->y[i] * fresh->y[i];
    }
    assert_true(sqrt(apart / norm) < 1e-9);
    wt_sequences_free(fresh);
}

static wt_recover_options options_of(const wt_layer_form *form) {
    wt_recover_options options;
    WT_INIT(wt_recover_options, &options);
    options.heads = HEADS;
    options.bias = form->bias;
    options.mask = form->mask;
    options.residual = form->residual;
    options.norm = form->norm;
    options.epsilon = form->epsilon;
    return options;
}

static void refine_finds_every_form(void **state) {
    wt_context *context = *state;
    size_t lengths[SAMPLES];
    mixed_lengths(lengths);
    for (size_t i = 0; i < FORMS; i++)
        for (int cut = 0; cut < 2; cut++) {
            wt_layer_form form = form_of(i);
            wt_recover_options options = options_of(&form);
            wt_recover_report report = WT_SIZED(wt_recover_report);
            wt_layer *teacher = teacher_of(context, &form, 0, 1 + i), *layer = NULL;
            wt_sequences *data = draw(context, teacher, cut == 1 ? lengths : NULL);
            for (size_t t = 0; cut == 1 && t < TOKENS; t++) /* what is no token must not be read */
                if (t % LENGTH >= lengths[t / LENGTH])
                    data->x[t * DIM] = data->y[t * DIM] = NAN;
            CHECK_OK(context, wt_layer_recover(context, data, &options, &layer, &report, NULL));
            assert_true(report.exact);
            check_recovered(context, teacher, layer);
            wt_sequences_free(data);
            wt_layer_free(layer);
            wt_layer_free(teacher);
        }
}

/* Tokens after a norm with gain and shift lie on a plane: one direction of Theta and W cannot be
 * seen, and H is singular. */
static void tokens_on_a_plane_do(void **state) {
    wt_context *context = *state;
    wt_layer_form form = form_of(1), norm = form_of(8);
    wt_recover_options options = options_of(&form);
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_layer *teacher = teacher_of(context, &form, 0, 4), *layer = NULL;
    wt_sequences *data = draw(context, teacher, NULL), *fresh = draw(context, teacher, NULL);
    double apart = 0, all = 0;
    wt_layer_normalise(&norm, TOKENS, DIM, data->x, data->x);
    for (size_t i = 0; i < TOKENS * DIM; i++)
        data->x[i] = data->x[i] * (1 + 0.3 * (double)(i % DIM)) + 0.2 * (double)(i % DIM) - 0.3;
    CHECK_OK(context, wt_layer_apply(context, teacher, data));
    CHECK_OK(context, wt_layer_recover(context, data, &options, &layer, &report, NULL));
    assert_true(report.exact);
    assert_int_equal(report.rank, DIM - 1);
    memcpy(fresh->x, data->x, TOKENS * DIM * sizeof(double));
    CHECK_OK(context, wt_layer_apply(context, layer, fresh));
    for (size_t i = 0; i < TOKENS * DIM; i++) {
        apart += (fresh->y[i] - data->y[i]) * (fresh->y[i] - data->y[i]);
        all += data->y[i] * data->y[i];
    }
    assert_true(sqrt(apart / all) < 1e-12);
    wt_sequences_free(data);
    wt_sequences_free(fresh);
    wt_layer_free(layer);
    wt_layer_free(teacher);
}

/* |Theta a| and what the W^T a of the heads differ by: 0 but for rounding. */
static void check_gauge(const wt_layer *layer, const double *a) {
    for (size_t i = 0; i < HEADS; i++)
        for (size_t j = 0; j < DIM; j++) {
            double asked = 0, apart = 0;
            for (size_t v = 0; v < DIM; v++) {
                asked += layer->theta[(i * DIM + j) * DIM + v] * a[v];
                apart += (layer->w[(i * DIM + v) * DIM + j] - layer->w[v * DIM + j]) * a[v];
            }
            CHECK_NEAR(asked, 0, 1e-12);
            CHECK_NEAR(apart, 0, 1e-12);
        }
}

/* Tokens on a plane <a, x> = 1 of a layer without biases: the parts of Theta and W along a that no
 * output shows are chosen, and the condition number is that of the rest. With a start, which is
 * given in all of R^d. */
static void planes_need_no_biases(void **state) {
    wt_context *context = *state;
    static const double a[DIM] = {0.5, -0.25, 1, 0.125, 2};
    wt_layer_form form = form_of(0);
    wt_layer *teacher = teacher_of(context, &form, 0, 8);
    wt_sequences *data = draw(context, teacher, NULL), *fresh = draw(context, teacher, NULL);
    for (size_t t = 0; t < TOKENS; t++) {
        double *x = data->x + t * DIM;
        x[4] = (1 - (x[0] * a[0] + x[1] * a[1] + x[2] * a[2] + x[3] * a[3])) / a[4];
    }
    CHECK_OK(context, wt_layer_apply(context, teacher, data));
    memcpy(fresh->x, data->x, TOKENS * DIM * sizeof(double));
    for (int started = 0; started < 2; started++) {
        wt_recover_options options = options_of(&form);
        wt_recover_report report = WT_SIZED(wt_recover_report);
        wt_layer *layer = NULL;
        double apart = 0, all = 0;
        options.start = started == 1 ? teacher : NULL;
        CHECK_OK(context, wt_layer_recover(context, data, &options, &layer, &report, NULL));
        assert_true(report.exact);
        assert_string_equal(report.form, "plain");
        assert_string_equal(report.start_from, started == 1 ? "given" : "random");
        assert_true(started == 0 || report.steps < 5);
        assert_true(report.condition < 1e6);
        assert_int_equal(report.rank, DIM);
        assert_int_equal(report.warnings, 1);
        assert_non_null(strstr(report.warning[0], "on a plane"));
        check_gauge(layer, a);
        CHECK_OK(context, wt_layer_apply(context, layer, fresh));
        for (size_t i = 0; i < TOKENS * DIM; i++) {
            apart += (fresh->y[i] - data->y[i]) * (fresh->y[i] - data->y[i]);
            all += data->y[i] * data->y[i];
        }
        assert_true(sqrt(apart / all) < 1e-12);
        wt_layer_free(layer);
    }
    wt_sequences_free(data);
    wt_sequences_free(fresh);
    wt_layer_free(teacher);
}

/* The layer that does to x what the teacher, with biases, does to tokens of the sizes x_j size_j.
 */
static void stretch(wt_layer *layer, const double *size) {
    for (size_t i = 0; i < HEADS; i++) {
        double *theta = layer->theta + i * (DIM + 1) * DIM, *w = layer->w + i * DIM * DIM;
        for (size_t j = 0; j < (DIM + 1) * DIM; j++)
            theta[j] *= size[j % DIM] * (j < DIM * DIM ? size[j / DIM] : 1);
        for (size_t j = 0; j < DIM * DIM; j++)
            w[j] *= size[j / DIM];
    }
}

/* Tokens of one size in one direction and of a hundredth in another: the same heads, found as fast,
 * whether or not a start is given. */
static void uneven_tokens_are_whitened(void **state) {
    wt_context *context = *state;
    static const double size[DIM] = {1, 3, 10, 30, 100};
    wt_layer_form form = form_of(1);
    wt_layer *teacher = teacher_of(context, &form, 0, 5);
    wt_sequences *data = draw(context, teacher, NULL);
    size_t even = 0;
    for (int kind = 0; kind < 3; kind++) { /* even, uneven, with a start */
        wt_recover_options options = options_of(&form);
        wt_recover_report report = WT_SIZED(wt_recover_report);
        wt_comparison comparison = WT_SIZED(wt_comparison);
        wt_layer *layer = NULL;
        for (size_t j = 0; kind == 1 && j < TOKENS * DIM; j++)
            data->x[j] /= size[j % DIM];
        if (kind == 1)
            stretch(teacher, size);
        options.start = kind == 2 ? teacher : NULL;
        CHECK_OK(context, wt_layer_recover(context, data, &options, &layer, &report, NULL));
        assert_true(report.exact);
        CHECK_OK(context, compare_layers(context, teacher, layer, data, &comparison));
        assert_true(comparison.theta_error < 1e-9 && comparison.w_error < 1e-9);
        wt_comparison_free(&comparison);
        even = kind == 0 ? report.steps : even;
        assert_true(kind < 2 ? report.steps <= even + 3 : report.steps < 5);
        wt_layer_free(layer);
    }
    wt_layer_free(teacher);
    wt_sequences_free(data);
}

/* A rank that is known, and one that is too low. */
static void ranks_are_kept(void **state) {
    wt_context *context = *state;
    wt_layer_form form = form_of(1);
    wt_recover_options options = options_of(&form);
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_layer *teacher = teacher_of(context, &form, 2, 5), *layer = NULL;
    wt_sequences *data = draw(context, teacher, NULL);
    /* the row of biases is one more direction of the queries: [A; a] B^T has the rank of B */
    for (size_t i = 0; i < HEADS; i++) {
        double *theta = teacher->theta + i * (DIM + 1) * DIM;
        for (size_t v = 0; v < DIM; v++)
            theta[DIM * DIM + v] = theta[v] - 0.5 * theta[DIM + v];
    }
    CHECK_OK(context, wt_layer_apply(context, teacher, data));
    options.rank = 2;
    CHECK_OK(context, wt_layer_recover(context, data, &options, &layer, &report, NULL));
    assert_true(report.exact);
    check_recovered(context, teacher, layer);
    wt_layer_free(layer);
    options.rank = 1;
    options.restarts = 2;
    CHECK_OK(context, wt_layer_recover(context, data, &options, &layer, &report, NULL));
    assert_false(report.recovered);
    wt_layer_free(layer);
    wt_layer_free(teacher);
    wt_sequences_free(data);
    CHECK_NEAR(wt_recover_least_examples(3, 10, 4, 5, 2, 0), 3 * (2 * 10 * 2 - 4 + 40) / 20.0,
               1e-12);
    CHECK_NEAR(wt_recover_least_examples(3, 10, 4, 5, 10, 0),
               wt_recover_least_examples(3, 10, 4, 5, 0, 0), 0);
}

/* The wrong form is no recovery, and the right one is called for. */
static void another_form_is_a_misfit(void **state) {
    wt_context *context = *state;
    wt_layer_form plain = form_of(0), residual = form_of(4), causal = form_of(2);
    const wt_layer_form *forms[] = {&residual, &causal};
    for (size_t i = 0; i < 2; i++) {
        wt_recover_options options = options_of(&plain);
        wt_recover_report report = WT_SIZED(wt_recover_report);
        wt_layer *teacher = teacher_of(context, forms[i], 0, 6), *layer = NULL;
        wt_sequences *data = draw(context, teacher, NULL);
        options.restarts = 4;
        CHECK_OK(context, wt_layer_recover(context, data, &options, &layer, &report, NULL));
        assert_false(report.recovered);
        wt_sequences_free(data);
        wt_layer_free(layer);
        wt_layer_free(teacher);
    }
}

/* Forms that are not told are found, and a plain layer stays plain. */
static void forms_are_found(void **state) {
    wt_context *context = *state;
    static const size_t forms[] = {0, 2, 4, 1, 8 + 4};
    wt_layer_form plain = form_of(0);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        wt_recover_options options = options_of(&plain);
        wt_recover_report report = WT_SIZED(wt_recover_report);
        wt_layer_form form = form_of(forms[i]);
        wt_layer *teacher = teacher_of(context, &form, 0, 7), *layer = NULL;
        wt_sequences *data = draw(context, teacher, NULL);
        char words[WT_LAYER_FORM_TEXT];
        options.forms = WT_RECOVER_FORMS_AUTO;
        CHECK_OK(context, wt_layer_recover(context, data, &options, &layer, &report, NULL));
        assert_true(report.exact);
        assert_string_equal(report.form, wt_layer_form_print(&form, words));
        assert_int_equal(report.forms > 1, i > 0);
        check_recovered(context, teacher, layer);
        wt_sequences_free(data);
        wt_layer_free(layer);
        wt_layer_free(teacher);
    }
}

/* Heads that are to be found make up for a part that is missing: five of them came within 1e-7 of
 * one head with biases and a residual connection, after 2e12 flops. The form is found with one head
 * first. */
static void forms_are_found_before_heads(void **state) {
    wt_context *context = *state;
    for (size_t heads = 1; heads <= 2; heads++) {
        wt_layer_form plain = form_of(0);
        wt_recover_options options = options_of(&plain);
        wt_recover_report report = WT_SIZED(wt_recover_report);
        wt_teacher_options of;
        wt_layer *teacher = NULL, *layer = NULL;
        WT_INIT(wt_teacher_options, &of);
        of.heads = heads;
        of.dim = DIM;
        of.bias = of.residual = true;
        of.seed = 5;
        CHECK_OK(context, wt_layer_teacher(context, &of, &teacher));
        wt_sequences *data = draw(context, teacher, NULL);
        options.forms = WT_RECOVER_FORMS_AUTO;
        options.heads = 0;
        CHECK_OK(context, wt_layer_recover(context, data, &options, &layer, &report, NULL));
        assert_true(report.exact && report.heads == heads);
        assert_string_equal(report.form, "bias, residual");
        assert_true(report.flops < 1e11 && report.forms > 2);
        wt_sequences_free(data);
        wt_layer_free(layer);
        wt_layer_free(teacher);
    }
}

/* 60 last rows are too few to tell a layer norm, at an error of 0.2, from noise; an RMS norm is
 * exact. */
static void a_floor_of_noise_is_not_the_last_word(void **state) {
    wt_context *context = *state;
    wt_recover_options options;
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_teacher_options of;
    wt_layer_draw_options how;
    wt_layer *teacher = NULL, *layer = NULL;
    wt_sequences *data = NULL;
    WT_INIT(wt_recover_options, &options);
    WT_INIT(wt_teacher_options, &of);
    WT_INIT(wt_layer_draw_options, &how);
    of.dim = 4;
    of.bias = of.residual = true;
    of.norm = WT_LAYER_NORM_RMS;
    of.seed = how.seed = 4;
    how.samples = 60;
    how.law = WT_LAW_GAUSSIAN;
    CHECK_OK(context, wt_layer_teacher(context, &of, &teacher));
    CHECK_OK(context, wt_layer_draw_as(context, teacher, &how, &data));
    double *y = wt_sequences_y(data);
    for (size_t row = 0; row < 60 * 4; row++)
        for (size_t j = 0; j < 4 && row % 4 < 3; j++)
            y[row * 4 + j] = NAN;
    CHECK_OK(context, wt_sequences_set_missing(context, data));
    options.heads = 2;
    options.forms = WT_RECOVER_FORMS_AUTO;
    CHECK_OK(context, wt_layer_recover(context, data, &options, &layer, &report, NULL));
    assert_true(report.exact);
    assert_string_equal(report.form, "bias, residual, rms norm");
    wt_sequences_free(data);
    wt_layer_free(layer);
    wt_layer_free(teacher);
}

static void impossible_forms_are_refused(void **state) {
    wt_context *context = *state;
    wt_layer *layer = NULL;
    wt_layer_form form = form_of(4);
    assert_int_equal(wt_layer_new_form(context, 1, 3, 2, &form, &layer), WT_USAGE);
    form = form_of(0);
    form.norm = (wt_layer_norm)9;
    assert_int_equal(wt_layer_new_form(context, 1, 3, 3, &form, &layer), WT_USAGE);
    form = form_of(8);
    form.epsilon = -1;
    assert_int_equal(wt_layer_new_form(context, 1, 3, 3, &form, &layer), WT_USAGE);
    assert_null(layer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refine_finds_every_form),
        cmocka_unit_test(tokens_on_a_plane_do),
        cmocka_unit_test(planes_need_no_biases),
        cmocka_unit_test(uneven_tokens_are_whitened),
        cmocka_unit_test(ranks_are_kept),
        cmocka_unit_test(another_form_is_a_misfit),
        cmocka_unit_test(forms_are_found),
        cmocka_unit_test(forms_are_found_before_heads),
        cmocka_unit_test(a_floor_of_noise_is_not_the_last_word),
        cmocka_unit_test(impossible_forms_are_refused),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
