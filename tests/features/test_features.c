/* Random features: golden values, the plain formula over many shapes, masks, large scores, and the
 * same bits for every number of threads. */
#include "features/plain_features.h"
#include "specs.h"

/* What an independent implementation in double gives: its sums of a few dozen terms of order 1
 * differ from ours by their rounding alone. */
#define GOLDEN_TOLERANCE 1e-12

static const struct {
    const char *name;
    wt_activation activation;
    bool masked;
    double bias;
} golden_heads[] = {
    {"phi_relu", WT_ACTIVATION_RELU, false, 0},
    {"phi_relu_mask", WT_ACTIVATION_RELU, true, 0},
    {"phi_softmax", WT_ACTIVATION_SOFTMAX, false, 0},
    {"phi_softmax_mask", WT_ACTIVATION_SOFTMAX, true, 0},
    {"phi_brfa1", WT_ACTIVATION_RELU, false, 1},
    {"phi_brfa4", WT_ACTIVATION_RELU, false, 4},
};

static void golden_features_of_heads(void **state) {
    wt_context *context = *state;
    enum { M = 7, SIDE = 6, N = 12 };
    for (size_t c = 0; c < sizeof golden_heads / sizeof *golden_heads; c++) {
        wt_sets sets = golden_sets(context, golden_heads[c].masked);
        double *w = stored(context, GOLDEN, "W", M * SIDE * SIDE);
        for (size_t m = 0; m < M; m++)
            for (size_t j = 0; j + 1 < SIDE; j++)
                w[(m * SIDE + j) * SIDE + j] += golden_heads[c].bias;
        wt_features features =
            features_with(context,
                          &(wt_model_spec){MODEL(BRFA), .activation = golden_heads[c].activation,
                                           .heads = M, .dim = sets.dim, .keys = sets.keys},
                          w);
        double *wanted = stored(context, GOLDEN, golden_heads[c].name, N * M * SIDE);
        double *got = library_features(context, &features, &sets);
        CHECK_BELOW(relative_difference(N * M * SIDE, got, wanted), GOLDEN_TOLERANCE, "%s",
                    golden_heads[c].name);
        wt_release(w);
        wt_release(got);
        wt_release(wanted);
        wt_features_free(&features);
        wt_sets_close(&sets);
    }
}

static void golden_features_of_neurons(void **state) {
    wt_context *context = *state;
    enum { P = 9, N = 12, INPUTS = 26 };
    wt_sets sets = golden_sets(context, false);
    double *w = stored(context, GOLDEN, "mlp_w", P * INPUTS);
    wt_features features = features_with(
        context,
        &(wt_model_spec){MODEL(RFMLP), .heads = 1, .width = P, .dim = sets.dim, .keys = sets.keys},
        w);
    assert_int_equal(features.inputs, INPUTS);
    double *wanted = stored(context, GOLDEN, "phi_mlp", N * P);
    double *got = library_features(context, &features, &sets);
    CHECK_BELOW(relative_difference(N * P, got, wanted), GOLDEN_TOLERANCE, "phi_mlp");
    wt_release(w);
    wt_release(got);
    wt_release(wanted);
    wt_features_free(&features);
    wt_sets_close(&sets);
}

/* Shapes with a one in every place, odd counts, more samples than a chunk, more units than a
 * block, one unit wider than a block. */
static const struct {
    size_t n, keys, dim, heads, width;
} shapes[] = {
    {1, 1, 1, 1, 0},    {5, 1, 1, 3, 0},  {1, 7, 4, 1, 2},    {33, 3, 1, 1, 0},
    {70, 5, 6, 200, 0}, {37, 2, 3, 4, 5}, {3, 2, 1100, 2, 7}, {2, 3, 2, 600, 1500},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const struct {
    wt_model_kind kind;
    wt_activation activation;
} models[] = {{WT_MODEL_KIND_RFA, WT_ACTIVATION_RELU},
              {WT_MODEL_KIND_RFA, WT_ACTIVATION_SOFTMAX},
              {WT_MODEL_KIND_BRFA, WT_ACTIVATION_RELU},
              {WT_MODEL_KIND_BRFA, WT_ACTIVATION_SOFTMAX},
              {WT_MODEL_KIND_RFMLP, WT_ACTIVATION_RELU}};
enum { MODELS = sizeof models / sizeof *models };

static wt_model_spec spec_of(size_t model, size_t shape) {
    return (wt_model_spec){.size = sizeof(wt_model_spec),
                           .kind = models[model].kind,
                           .activation = models[model].activation,
                           .heads = shapes[shape].heads,
                           .width = shapes[shape].width,
                           .bias = 4,
                           .dim = shapes[shape].dim,
                           .keys = shapes[shape].keys,
                           .seed = 7};
}

static void features_follow_the_formula(void **state) {
    wt_context *context = *state;
    for (size_t s = 0; s < SHAPES; s++)
        for (size_t m = 0; m < MODELS; m++)
            for (int masked = 0; masked < 2; masked++) {
                wt_model_spec spec = spec_of(m, s);
                wt_sets sets =
                    draw_sets(context, 3 + s, shapes[s].n, spec.keys, spec.dim, 0, masked);
                wt_features features;
                CHECK_OK(context, wt_features_draw(context, &spec, &features));
                double *got = library_features(context, &features, &sets);
                double *wanted = plain_features(context, &features, &sets);
                /* Scores are sums of (d+1)^2 products; softmax carries their error on relatively,
                 * and they grow with sqrt(d) and the bias. */
                double tolerance = 1e-14 * ((double)spec.dim + 10);
                CHECK_BELOW(
                    relative_difference(shapes[s].n * wt_features_count(&features), got, wanted),
                    tolerance, "shape %zu, model %zu, mask %d", s, m, masked);
                wt_release(got);
                wt_release(wanted);
                wt_features_free(&features);
                wt_sets_close(&sets);
            }
}

static void float_features_are_rounded_double_ones(void **state) {
    wt_context *context = *state;
    for (size_t m = 0; m < MODELS; m++) {
        wt_model_spec spec = spec_of(m, 4);
        wt_sets sets = draw_sets(context, 5, 70, spec.keys, spec.dim, 0, true);
        wt_features features;
        CHECK_OK(context, wt_features_draw(context, &spec, &features));
        size_t first = 3, count = 11, width = count * features.width, stride = width + 2;
        double *block = doubles(context, 70 * stride), *exact = doubles(context, 70 * width);
        float *rounded;
        CHECK_OK(context, WT_NEW_ZERO(context, &rounded, 70 * stride, "floats"));
        CHECK_OK(context,
                 wt_features_block(context, &features, &sets, first, count, block, stride));
        CHECK_OK(context, wt_features_block_float(context, &features, &sets, first, count, rounded,
                                                  stride, exact));
        for (size_t i = 0; i < 70 * stride; i++)
            assert_true(rounded[i] == (float)block[i]);
        for (size_t i = 0; i < 70 * width; i++)
            assert_true(exact[i] == block[i / width * stride + i % width]);
        wt_release(exact);
        wt_release(block);
        wt_release(rounded);
        wt_features_free(&features);
        wt_sets_close(&sets);
    }
}

/* A part of the units, into rows with a gap, is the same part of the whole. */
static void any_run_of_units_is_a_part_of_the_whole(void **state) {
    wt_context *context = *state;
    for (size_t m = 0; m < MODELS; m++) {
        wt_model_spec spec = spec_of(m, 4);
        wt_sets sets = draw_sets(context, 6, 40, spec.keys, spec.dim, 0, true);
        wt_features features;
        CHECK_OK(context, wt_features_draw(context, &spec, &features));
        double *whole = plain_features(context, &features, &sets);
        size_t first = 17, count = 5, width = features.width, stride = count * width + 3;
        size_t f = wt_features_count(&features);
        double *block = doubles(context, 40 * stride);
        CHECK_OK(context,
                 wt_features_block(context, &features, &sets, first, count, block, stride));
        for (size_t i = 0; i < 40; i++) {
            for (size_t u = 0; u < count; u++)
                for (size_t j = 0; j < width; j++)
                    CHECK_NEAR(block[i * stride + j * count + u],
                               whole[i * f + (first + u) * width + j], 1e-12);
            for (size_t j = count * width; j < stride; j++)
                assert_true(block[i * stride + j] == 0); /* the gap is not touched */
        }
        wt_release(whole);
        wt_release(block);
        wt_features_free(&features);
        wt_sets_close(&sets);
    }
}

/* Keys that are masked take no part: padding by any finite numbers changes no bit. */
static void padding_is_not_seen_by_attention(void **state) {
    wt_context *context = *state;
    enum { N = 40, KEYS = 3, MORE = 5, DIM = 4 };
    wt_sets sets = draw_sets(context, 8, N, KEYS, DIM, 0, false);
    wt_sets padded = draw_sets(context, 9, N, KEYS + MORE, DIM, 0, true);
    memcpy(padded.query, sets.query, N * DIM * sizeof *sets.query);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0, from = 0; k < KEYS + MORE; k++) {
            /* Live keys at both ends and in the middle. */
            bool live = k == 0 || k == 4 || k == KEYS + MORE - 1;
            padded.mask[i * (KEYS + MORE) + k] = live;
            double *to = padded.key + (i * (KEYS + MORE) + k) * DIM;
            for (size_t j = 0; j < DIM; j++)
                to[j] = live ? sets.key[(i * KEYS + from) * DIM + j] : 1e30 * to[j];
            from += live;
        }
    for (size_t m = 0; m < MODELS; m++) {
        if (models[m].kind == WT_MODEL_KIND_RFMLP)
            continue;
        wt_model_spec spec = {.size = sizeof(wt_model_spec),
                              .kind = models[m].kind,
                              .activation = models[m].activation,
                              .heads = 20,
                              .bias = 4,
                              .dim = DIM,
                              .keys = KEYS};
        wt_features features;
        CHECK_OK(context, wt_features_draw(context, &spec, &features));
        double *plain = library_features(context, &features, &sets);
        double *more = library_features(context, &features, &padded);
        assert_memory_equal(plain, more, N * 20 * (DIM + 1) * sizeof *plain);
        wt_release(plain);
        wt_release(more);
        wt_features_free(&features);
    }
    wt_sets_close(&sets);
    wt_sets_close(&padded);
}

static void masked_keys_are_zero_to_neurons(void **state) {
    wt_context *context = *state;
    enum { N = 40, KEYS = 5, DIM = 4 };
    wt_sets sets = draw_sets(context, 10, N, KEYS, DIM, 0, true), zeroed = sets;
    zeroed.mask = NULL;
    zeroed.key = doubles(context, N * KEYS * DIM);
    for (size_t i = 0; i < N * KEYS * DIM; i++)
        zeroed.key[i] = sets.mask[i / DIM] ? sets.key[i] : 0;
    wt_model_spec spec = {MODEL(RFMLP), .heads = 9, .dim = DIM, .keys = KEYS};
    wt_features features;
    CHECK_OK(context, wt_features_draw(context, &spec, &features));
    assert_int_equal(features.units, 9 * (DIM + 1));
    double *masked = library_features(context, &features, &sets);
    double *with_zeros = library_features(context, &features, &zeroed);
    assert_memory_equal(masked, with_zeros, N * features.units * sizeof *masked);
    wt_release(masked);
    wt_release(with_zeros);
    wt_release(zeroed.key);
    wt_features_free(&features);
    wt_sets_close(&sets);
}

/* Softmax must survive scores far beyond the range of exp. */
static void softmax_takes_large_scores(void **state) {
    wt_context *context = *state;
    wt_sets sets = draw_sets(context, 11, 6, 4, 3, 0, true);
    for (size_t i = 0; i < 6 * 3; i++)
        sets.query[i] *= 1e5;
    wt_model_spec spec = {MODEL(RFA), .activation = WT_ACTIVATION_SOFTMAX, .heads = 5, .dim = 3,
                          .keys = 4};
    wt_features features;
    CHECK_OK(context, wt_features_draw(context, &spec, &features));
    double *got = library_features(context, &features, &sets);
    double *wanted = plain_features(context, &features, &sets);
    /* Scores of 1e5 are right to 1e-11, and so are their exponentials relatively. */
    CHECK_BELOW(relative_difference(6 * 5 * 4, got, wanted), 1e-9, "large scores");
    wt_release(got);
    wt_release(wanted);
    wt_features_free(&features);
    wt_sets_close(&sets);
}

static void same_bits_for_every_number_of_threads(void **state) {
    wt_context *context = *state;
    int before = wt_context_threads(context);
    for (size_t m = 0; m < MODELS; m++) {
        wt_model_spec spec = spec_of(m, 4);
        wt_sets sets = draw_sets(context, 12, 150, spec.keys, spec.dim, 0, true);
        double *first = NULL;
        for (int threads = 1; threads <= 4; threads++) {
            CHECK_OK(context, wt_context_set_threads(context, threads));
            wt_features features;
            CHECK_OK(context, wt_features_draw(context, &spec, &features));
            double *phi = library_features(context, &features, &sets);
            if (first == NULL) {
                first = phi;
            } else {
                assert_memory_equal(first, phi, 150 * wt_features_count(&features) * sizeof *phi);
                wt_release(phi);
            }
            wt_features_free(&features);
        }
        wt_release(first);
        wt_sets_close(&sets);
    }
    CHECK_OK(context, wt_context_set_threads(context, before));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_features_of_heads),
        cmocka_unit_test(golden_features_of_neurons),
        cmocka_unit_test(features_follow_the_formula),
        cmocka_unit_test(float_features_are_rounded_double_ones),
        cmocka_unit_test(any_run_of_units_is_a_part_of_the_whole),
        cmocka_unit_test(padding_is_not_seen_by_attention),
        cmocka_unit_test(masked_keys_are_zero_to_neurons),
        cmocka_unit_test(softmax_takes_large_scores),
        cmocka_unit_test(same_bits_for_every_number_of_threads),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
