/* The layer: golden values, teachers, the parity instance, files. */
#define _GNU_SOURCE
#include "wattle/layer.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "folder.h"
#include "layer/layers.h"
#include "linalg/linalg.h"
#include "wattle/io.h"
#include "wattle/random.h"

/* Sums of 6 to 24 products of numbers of order 1: rounding is far below 1e-12. */
static void golden_outputs(void **state) {
    wt_context *context = *state;
    const char *path = TEST_DATA "/golden/attention_layer.npz";
    wt_layer *layer;
    wt_sequences *data;
    double y[10 * 4 * 6];
    CHECK_OK(context, wt_layer_load(context, path, &layer));
    CHECK_OK(context, wt_sequences_load(context, path, &data));
    assert_int_equal(layer->heads, 3);
    assert_int_equal(data->outputs, 6);
    CHECK_OK(context, wt_layer_forward(context, layer, 10, 4, data->x, y));
    for (size_t i = 0; i < 10 * 4 * 6; i++)
        CHECK_NEAR(y[i], data->y[i], 1e-12);
    wt_layer_free(layer);
    wt_sequences_free(data);
}

/* The formula as it stands, one number at a time. */
static double plain(const wt_layer *layer, size_t k, const double *x, size_t a, size_t o) {
    size_t d = layer->dim;
    double sum = 0;
    for (size_t i = 0; i < layer->heads; i++) {
        double total = 0, value = 0;
        for (size_t b = 0; b < k; b++) {
            double logit = 0, output = 0;
            for (size_t u = 0; u < d; u++) {
                for (size_t v = 0; v < d; v++)
                    logit += x[a * d + u] * layer->theta[(i * d + u) * d + v] * x[b * d + v];
                output += x[b * d + u] * layer->w[(i * d + u) * layer->outputs + o];
            }
            total += exp(logit);
            value += exp(logit) * output;
        }
        sum += value / total;
    }
    return sum;
}

static void forward_is_the_formula(void **state) {
    wt_context *context = *state;
    static const size_t cases[][5] = {{1, 1, 1, 1, 1}, {2, 3, 2, 4, 7}, {3, 5, 1, 6, 300}};
    for (size_t c = 0; c < 3; c++) {
        size_t m = cases[c][0], d = cases[c][1], p = cases[c][2], k = cases[c][3], n = cases[c][4];
        wt_layer *layer;
        wt_sequences *data;
        CHECK_OK(context, make_teacher(context, m, d, p, 2, 0, 5, &layer));
        CHECK_OK(context, wt_sequences_new(context, n, k, d, p, &data));
        CHECK_OK(context, wt_layer_draw(context, layer, WT_LAW_GAUSSIAN, 1, 0, 9, 0, data));
        for (size_t i = 0; i < n * k * p; i++)
            CHECK_NEAR(data->y[i], plain(layer, k, data->x + i / (k * p) * k * d, i / p % k, i % p),
                       1e-12);
        wt_layer_free(layer);
        wt_sequences_free(data);
    }
}

static void teachers_have_the_scale_asked_for(void **state) {
    wt_context *context = *state;
    for (size_t rank = 0; rank <= 2; rank++) {
        wt_layer *layer;
        double s[5];
        CHECK_OK(context, make_teacher(context, 2, 5, 3, 1.5, rank, 1, &layer));
        for (size_t i = 0; i < 2; i++) {
            double square = 0;
            CHECK_OK(context, wt_svd(context, 5, 5, layer->theta + i * 25, 5, NULL, s, NULL));
            for (size_t j = 0; j < 5; j++)
                square += s[j] * s[j];
            CHECK_NEAR(sqrt(square), 1.5, 1e-12);
            if (rank > 0)
                assert_true(s[rank] < 1e-14 && s[rank - 1] > 1e-3);
        }
        wt_layer_free(layer);
    }
    wt_layer *layer;
    CHECK_FAILS(context, make_teacher(context, 2, 5, 3, 1, 6, 1, &layer), WT_USAGE, "rank");
    CHECK_FAILS(context, make_teacher(context, 0, 5, 3, 1, 0, 1, &layer), WT_USAGE, "heads");
}

/* Over all Boolean tokens with an open gate the output row is parity, up to a constant. */
static void parity_is_exact(void **state) {
    wt_context *context = *state;
    for (size_t n = 1; n <= 7; n++) {
        wt_layer *layer;
        double x[16], y[2], constant = 0;
        CHECK_OK(context, wt_layer_parity(context, n, 8, &layer));
        for (size_t code = 0; code < (size_t)1 << n; code++) {
            size_t ones = 0;
            wt_random_sign(wt_stream_for(1, "x", code), 0, 16, x);
            x[0] = 1;
            x[8] = -1;
            for (size_t q = 0; q < n; q++) {
                x[1 + q] = code >> q & 1 ? 1 : -1;
                ones += code >> q & 1;
            }
            CHECK_OK(context, wt_layer_forward(context, layer, 1, 2, x, y));
            double wanted = (n - ones) % 2 == 0 ? 1 : -1;
            if (code == 0)
                constant = y[0] - wanted;
            /* the exact weights grow with n: to 1e3 at 7, which costs three digits */
            CHECK_NEAR(y[0] - constant, wanted, 1e-10);
        }
        wt_layer_free(layer);
    }
    wt_layer *layer;
    CHECK_FAILS(context, wt_layer_parity(context, 8, 8, &layer), WT_USAGE, "parity");
}

static void files_come_back(void **state) {
    wt_context *context = *state;
    wt_layer *layer, *back;
    wt_sequences *data, *again;
    CHECK_OK(context, make_teacher(context, 2, 3, 4, 1, 0, 1, &layer));
    CHECK_OK(context, wt_layer_save(context, layer, in_folder("layer")));
    CHECK_OK(context, wt_layer_load(context, in_folder("layer"), &back));
    assert_memory_equal(layer->theta, back->theta, 18 * sizeof(double));
    assert_memory_equal(layer->w, back->w, 24 * sizeof(double));
    CHECK_OK(context, wt_sequences_new(context, 5, 2, 3, 4, &data));
    CHECK_OK(context, wt_layer_draw(context, layer, WT_LAW_BOOLEAN, 1, 0.1, 3, 0, data));
    CHECK_OK(context, wt_sequences_save(context, data, in_folder("data")));
    CHECK_OK(context, wt_sequences_load(context, in_folder("data"), &again));
    assert_memory_equal(data->x, again->x, 30 * sizeof(double));
    assert_memory_equal(data->y, again->y, 40 * sizeof(double));
    wt_sequences_free(again);
    /* samples of a seed are the same whatever is drawn beside them */
    CHECK_OK(context, wt_sequences_new(context, 2, 2, 3, 4, &again));
    CHECK_OK(context, wt_layer_draw(context, layer, WT_LAW_BOOLEAN, 1, 0.1, 3, 3, again));
    assert_memory_equal(data->x + 18, again->x, 12 * sizeof(double));
    for (size_t i = 0; i < 16; i++)
        CHECK_NEAR(data->y[24 + i], again->y[i], 1e-15);
    wt_layer_free(layer);
    wt_layer_free(back);
    wt_sequences_free(data);
    wt_sequences_free(again);
}

static void bad_files_are_refused(void **state) {
    wt_context *context = *state;
    double values[24] = {0};
    wt_layer *layer;
    wt_sequences *data;
    wt_tensor tensors[] = {{.name = "theta", .rank = 3, .shape = {2, 2, 3}, .values = values},
                           {.name = "w", .rank = 3, .shape = {2, 2, 3}, .values = values}};
    CHECK_OK(context, wt_npz_write(context, in_folder("bad"), tensors, 1));
    CHECK_FAILS(context, wt_layer_load(context, in_folder("bad"), &layer), WT_DATA, "'w'");
    CHECK_OK(context, wt_npz_write(context, in_folder("bad"), tensors, 2));
    CHECK_FAILS(context, wt_layer_load(context, in_folder("bad"), &layer), WT_DATA, "square");
    tensors[0].shape[2] = 2;
    tensors[1].shape[1] = 3;
    CHECK_OK(context, wt_npz_write(context, in_folder("bad"), tensors, 2));
    CHECK_FAILS(context, wt_layer_load(context, in_folder("bad"), &layer), WT_DATA, "2 in 3");
    tensors[1].shape[1] = 2;
    values[5] = NAN;
    CHECK_OK(context, wt_npz_write(context, in_folder("bad"), tensors, 2));
    CHECK_FAILS(context, wt_layer_load(context, in_folder("bad"), &layer), WT_DATA,
                "theta[1,0,1] is nan");
    tensors[0].name = "x";
    tensors[1].name = "y";
    CHECK_OK(context, wt_npz_write(context, in_folder("bad"), tensors, 2));
    CHECK_FAILS(context, wt_sequences_load(context, in_folder("bad"), &data), WT_DATA,
                "x[1,0,1] is nan");
    tensors[1].shape[1] = 3;
    CHECK_OK(context, wt_npz_write(context, in_folder("bad"), tensors, 2));
    CHECK_FAILS(context, wt_sequences_load(context, in_folder("bad"), &data), WT_DATA, "tokens");
    tensors[0].shape[1] = 0;
    CHECK_OK(context, wt_npz_write(context, in_folder("bad"), tensors, 1));
    CHECK_FAILS(context, wt_sequences_load(context, in_folder("bad"), &data), WT_DATA, "0 tokens");
    CHECK_FAILS(context, wt_layer_load(context, in_folder("none"), &layer), WT_NO_INPUT, "none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_outputs),
        cmocka_unit_test(forward_is_the_formula),
        cmocka_unit_test(teachers_have_the_scale_asked_for),
        cmocka_unit_test(parity_is_exact),
        cmocka_unit_test(files_come_back),
        cmocka_unit_test(bad_files_are_refused),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
