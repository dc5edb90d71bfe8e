/* Layers of other forms than the plain one: biases, masks, norms, residual connections, ranks,
 * sequences of several lengths, rows that are missing. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "folder.h"
#include "layer/layers.h"
#include "layer/learn/recovery.h"
#include "wattle/random.h"

enum { HEADS = 2, DIM = 5, LENGTH = 6, SAMPLES = 240, TOKENS = SAMPLES * LENGTH };

/* Every form there is: bit 0 biases, 1 causal, 2 residual, then the norm. */
enum { FORMS = 8 * 3 };
static wt_layer_form form_of(size_t i) {
    return (wt_layer_form){.size = sizeof(wt_layer_form),
                           .bias = (i & 1) != 0,
                           .mask = (i & 2) != 0 ? WT_LAYER_MASK_CAUSAL : WT_LAYER_MASK_NONE,
                           .residual = (i & 4) != 0,
                           .norm = (wt_layer_norm)(i / 8),
                           .epsilon = 1e-3};
}

static wt_layer *teacher_of(wt_context *context, const wt_layer_form *form, size_t rank,
                            uint64_t seed) {
    const wt_teacher_options options = {.size = sizeof options,
                                        .heads = HEADS,
                                        .dim = DIM,
                                        .scale = 2,
                                        .rank = rank,
                                        .bias = form->bias,
                                        .residual = form->residual,
                                        .mask = form->mask,
                                        .norm = form->norm,
                                        .epsilon = form->epsilon,
                                        .seed = seed};
    wt_layer *layer = NULL;
    CHECK_OK(context, wt_layer_teacher(context, &options, &layer));
    return layer;
}

static wt_sequences *draw(wt_context *context, const wt_layer *layer, const size_t *lengths) {
    wt_sequences *data = NULL;
    CHECK_OK(context, wt_sequences_new(context, SAMPLES, LENGTH, DIM, DIM, &data));
    CHECK_OK(context, wt_sequences_set_lengths(context, data, lengths));
    CHECK_OK(context, wt_layer_draw(context, layer, WT_LAW_GAUSSIAN, 1, 0, 3, 0, data));
    return data;
}

static void mixed_lengths(size_t *lengths) {
    for (size_t s = 0; s < SAMPLES; s++)
        lengths[s] = 1 + s % LENGTH;
}

/* The formula as it stands, one number at a time: output o of token a of one sequence. */
static double by_hand(const wt_layer *layer, size_t length, const double *x, size_t a, size_t o) {
    const wt_layer_form *form = &layer->form;
    double z[LENGTH][DIM], sum = form->bias ? wt_layer_c(layer)[o] : 0;
    size_t seen = form->mask == WT_LAYER_MASK_CAUSAL ? a + 1 : length;
    for (size_t b = 0; b < length; b++) {
        double mean = 0, square = 0;
        for (size_t j = 0; j < DIM; j++)
            mean += form->norm == WT_LAYER_NORM_LAYER ? x[b * DIM + j] / DIM : 0;
        for (size_t j = 0; j < DIM; j++)
            square += (x[b * DIM + j] - mean) * (x[b * DIM + j] - mean) / DIM;
        for (size_t j = 0; j < DIM; j++)
            z[b][j] = form->norm == WT_LAYER_NORM_NONE
                          ? x[b * DIM + j]
                          : (x[b * DIM + j] - mean) / sqrt(square + form->epsilon);
    }
    for (size_t i = 0; i < layer->heads; i++) {
        const double *theta = layer->theta + i * (DIM + form->bias) * DIM;
        double total = 0, value = 0;
        for (size_t b = 0; b < seen; b++) {
            double logit = 0, output = 0;
            for (size_t v = 0; v < DIM; v++) {
                double asked = form->bias ? theta[DIM * DIM + v] : 0;
                for (size_t u = 0; u < DIM; u++)
                    asked += z[a][u] * theta[u * DIM + v];
                logit += asked * z[b][v];
                output += z[b][v] * layer->w[(i * DIM + v) * DIM + o];
            }
            total += exp(logit);
            value += exp(logit) * output;
        }
        sum += value / total;
    }
    return sum + (form->residual ? x[a * DIM + o] : 0);
}

/* Sums of a few dozen numbers of order 1 and exponentials of numbers up to 30: 1e-11. */
static void outputs_are_the_formula(void **state) {
    wt_context *context = *state;
    size_t lengths[SAMPLES];
    mixed_lengths(lengths);
    for (size_t i = 0; i < FORMS; i++) {
        wt_layer_form form = form_of(i);
        wt_layer *layer = teacher_of(context, &form, 0, 1);
        wt_sequences *whole = draw(context, layer, NULL), *cut = draw(context, layer, lengths);
        for (size_t s = 0; s < 12; s++)
            for (size_t a = 0; a < LENGTH; a++)
                for (size_t o = 0; o < DIM; o++) {
                    size_t at = ((s * LENGTH + a) * DIM) + o;
                    const double *x = whole->x + s * LENGTH * DIM;
                    CHECK_NEAR(whole->y[at], by_hand(layer, LENGTH, x, a, o), 1e-11);
                    CHECK_NEAR(cut->y[at], a < lengths[s] ? by_hand(layer, lengths[s], x, a, o) : 0,
                               1e-11);
                }
        wt_sequences_free(whole);
        wt_sequences_free(cut);
        wt_layer_free(layer);
    }
}

static void files_hold_every_form(void **state) {
    wt_context *context = *state;
    for (size_t i = 0; i < FORMS; i++) {
        wt_layer_form form = form_of(i), found = WT_SIZED(wt_layer_form);
        wt_layer *layer = teacher_of(context, &form, 0, 1), *again;
        const char *path = in_folder("form.safetensors");
        char words[WT_LAYER_FORM_TEXT];
        CHECK_OK(context, wt_layer_save(context, layer, path));
        CHECK_OK(context, wt_layer_load(context, path, &again));
        CHECK_OK(context, wt_layer_get_form(context, again, &found));
        assert_int_equal(found.bias, form.bias);
        assert_int_equal(found.mask, form.mask);
        assert_int_equal(found.residual, form.residual);
        assert_int_equal(found.norm, form.norm);
        assert_true(form.norm == WT_LAYER_NORM_NONE || found.epsilon == form.epsilon);
        assert_int_equal(strcmp(wt_layer_form_print(&found, words), "plain") == 0, i == 0);
        assert_memory_equal(again->theta, layer->theta,
                            HEADS * wt_layer_theta_size(layer) * sizeof(double));
        assert_memory_equal(again->w, layer->w, wt_layer_columns(layer) * DIM * sizeof(double));
        wt_layer_free(layer);
        wt_layer_free(again);
    }
}

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

static void write_arrays(wt_context *context, const char *path, const wt_sequences *data,
                         const wt_tensor *more, size_t count) {
    wt_tensor tensors[4] = {
        {.name = "x", .rank = 3, .shape = {SAMPLES, LENGTH, DIM}, .values = data->x}};
    for (size_t i = 0; i < count; i++)
        tensors[1 + i] = more[i];
    CHECK_OK(context, wt_npz_write(context, path, tensors, 1 + count));
}

/* A mask moves tokens to the front of their sequence; y of last tokens finds its place. */
static void masks_and_last_rows_are_read(void **state) {
    wt_context *context = *state;
    wt_layer_form form = form_of(0);
    wt_layer *teacher = teacher_of(context, &form, 0, 1);
    wt_sequences *data = draw(context, teacher, NULL), *read = NULL;
    double mask[TOKENS], last[SAMPLES * DIM];
    const char *path = in_folder("masked.npz");
    wt_sequences_spec spec;
    WT_INIT(wt_sequences_spec, &spec);
    for (size_t t = 0; t < TOKENS; t++)
        mask[t] = t % LENGTH == 0 ? (double)(t / LENGTH % 2) : (double)(t % LENGTH < 4);
    for (size_t i = 0; i < SAMPLES * DIM; i++)
        last[i] = (double)i;
    const wt_tensor more[] = {
        {.name = "mask", .rank = 2, .shape = {SAMPLES, LENGTH}, .values = mask},
        {.name = "y", .rank = 2, .shape = {SAMPLES, DIM}, .values = last}};
    write_arrays(context, path, data, more, 2);
    spec.last_row = true;
    CHECK_OK(context, wt_sequences_load_as(context, path, &spec, &read));
    for (size_t s = 0; s < SAMPLES; s++) {
        size_t gone = 1 - s % 2, length = 4 - gone;
        assert_int_equal(read->lengths[s], length);
        assert_memory_equal(read->x + s * LENGTH * DIM, data->x + (s * LENGTH + gone) * DIM,
                            length * DIM * sizeof(double));
        for (size_t a = 0; a < LENGTH; a++)
            assert_int_equal(wt_sequences_known(read, s, a), a + 1 == length);
        assert_memory_equal(read->y + (s * LENGTH + length - 1) * DIM, last + s * DIM,
                            DIM * sizeof(double));
    }
    wt_sequences_free(read);
    wt_sequences_free(data);
    wt_layer_free(teacher);
}

static void refused(wt_context *context, const wt_sequences *data, const wt_tensor *more,
                    size_t count, bool last_row, bool missing, const char *words) {
    const char *path = in_folder("bad.npz");
    wt_sequences_spec spec;
    wt_sequences *read = NULL;
    WT_INIT(wt_sequences_spec, &spec);
    spec.last_row = last_row;
    spec.missing = missing;
    write_arrays(context, path, data, more, count);
    assert_int_equal(wt_sequences_load_as(context, path, &spec, &read), WT_DATA);
    assert_null(read);
    if (strstr(wt_context_message(context), words) == NULL)
        fail_msg("'%s' does not say '%s'", wt_context_message(context), words);
}

static void bad_arrays_are_refused(void **state) {
    wt_context *context = *state;
    wt_layer_form form = form_of(0);
    wt_layer *teacher = teacher_of(context, &form, 0, 1);
    wt_sequences *data = draw(context, teacher, NULL);
    double zeros[TOKENS] = {0}, lengths[SAMPLES], last[SAMPLES * DIM] = {0};
    wt_tensor length = {.name = "lengths", .rank = 1, .shape = {SAMPLES}, .values = lengths};
    wt_tensor mask = {.name = "mask", .rank = 2, .shape = {SAMPLES, LENGTH}, .values = zeros};
    wt_tensor y = {.name = "y", .rank = 2, .shape = {SAMPLES, DIM}, .values = last};
    wt_tensor whole = {.name = "y", .rank = 3, .shape = {SAMPLES, LENGTH, DIM}, .values = data->y};
    for (size_t s = 0; s < SAMPLES; s++)
        lengths[s] = 2;
    refused(context, data, &mask, 1, false, false, "leaves no token of sequence 0");
    refused(context, data, (wt_tensor[]){length, mask}, 2, false, false, "one is enough");
    lengths[7] = LENGTH + 1;
    refused(context, data, &length, 1, false, false, "lengths[7] is 7");
    lengths[7] = 1.5;
    refused(context, data, &length, 1, false, false, "lengths[7] is 1.5");
    length.shape[0] = SAMPLES - 1;
    refused(context, data, &length, 1, false, false, "has 240 sequences, 'lengths' 239");
    refused(context, data, &y, 1, false, false, "tokens, those of 'y' 5");
    last[3 * DIM + 1] = NAN;
    refused(context, data, &y, 1, true, false, "y[3,1] is nan");
    data->y[4] = NAN;
    refused(context, data, &whole, 1, false, false, "y[0,0,4] is nan");
    refused(context, data, &whole, 1, true, false, "y[0,0,4] is nan");
    for (size_t i = 0; i < TOKENS * DIM; i++)
        data->y[i] = NAN;
    refused(context, data, &whole, 1, false, true, "every row of y has a NaN");
    data->y[4] = INFINITY;
    data->y[0] = data->y[1] = data->y[2] = data->y[3] = 1;
    refused(context, data, &whole, 1, false, true, "y[0,0,4] is inf");
    wt_sequences_free(data);
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
        cmocka_unit_test(outputs_are_the_formula),      cmocka_unit_test(files_hold_every_form),
        cmocka_unit_test(refine_finds_every_form),      cmocka_unit_test(tokens_on_a_plane_do),
        cmocka_unit_test(planes_need_no_biases),        cmocka_unit_test(ranks_are_kept),
        cmocka_unit_test(another_form_is_a_misfit),     cmocka_unit_test(forms_are_found),
        cmocka_unit_test(masks_and_last_rows_are_read), cmocka_unit_test(bad_arrays_are_refused),
        cmocka_unit_test(impossible_forms_are_refused),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
