/* Layers of other forms than the plain one, as they stand: what they compute, their files,
 * sequences of several lengths and rows that are missing. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "layer/forms.h"
#include "layer/learn/recovery.h"
#include "wattle/random.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_the_formula),
        cmocka_unit_test(files_hold_every_form),
        cmocka_unit_test(masks_and_last_rows_are_read),
        cmocka_unit_test(bad_arrays_are_refused),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
