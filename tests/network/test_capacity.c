/* Capacity bounds against values worked out by hand, and norms of files against dense matrices. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "check.h"

#include "base/memory.h"
#include "linalg/linalg.h"
#include "network/model/norms.h"
#include "wattle/construct.h"
#include "wattle/io.h"

#define GOLDEN TEST_DATA "/golden/transformer.npz"

static wt_capacity_spec spec_of(const wt_model_norms *norms, bool deep) {
    return (wt_capacity_spec){.size = sizeof(wt_capacity_spec),
                              .norms = norms,
                              .deep = deep,
                              .dim = 8,
                              .length = 100,
                              .samples = 1000,
                              .epsilon = 0.5,
                              .delta = 0.05,
                              .lipschitz = 1,
                              .loss_max = 1};
}

/* All roots are whole: |W_V|_{2,1} = 8, and 2 * 4 * 4 * 2 = 64 inside at B = 2, so that
 * (1 * 2)^2 (4 + 16)^3 = 32000. Rounding of a few operations: 1e-14. */
static void one_head_is_its_formula(void **state) {
    wt_context *context = *state;
    wt_model_norms *norms;
    wt_capacity bound = WT_SIZED(wt_capacity);
    CHECK_OK(context, wt_model_norms_new(context, 1, 1, &norms));
    norms->head[0] = (wt_head_norms){.qk21 = 4, .v21 = 8, .v = 4, .qk = NAN};
    norms->x = 1.5;
    norms->p = 0.5; /* B = x + p = 2 */
    wt_capacity_spec spec = spec_of(norms, false);
    CHECK_OK(context, wt_capacity_compute(context, &spec, NULL, &bound));
    CHECK_NEAR(bound.log_factor, log(8.0 * 1000 * 100), 1e-14);
    CHECK_NEAR(bound.constant / bound.log_factor, 32000, 1e-14);
    CHECK_NEAR(bound.covering, 4 * bound.constant, 1e-14);
    assert_int_equal(bound.pseudo_natural, 4);
    assert_int_equal(bound.pseudo_binary, 6);
    /* sigma = 2 and cls = 4: (2 * 2)^2 (4 + 64^(2/3) 4^(2/3))^3 */
    norms->sigma[0] = 2;
    norms->cls = 4;
    CHECK_OK(context, wt_capacity_compute(context, &spec, NULL, &bound));
    CHECK_NEAR(bound.constant / bound.log_factor, 16 * pow(4 + 16 * cbrt(16), 3), 1e-14);
    CHECK_NEAR(bound.range, 2 * 4 * 2, 1e-15);
    wt_model_norms_free(norms);
}

/* As above with a learned read-out: largest answer 2 * 4 = 8, so that w^2 (4 + 2^(2/3) (4 + 16))^3.
 * A read-out ten times as long and values ten times as large are the same functions but for a
 * factor of 10, and so the same C_F. */
static void a_read_out_counts(void **state) {
    wt_context *context = *state;
    wt_model_norms *norms;
    wt_capacity bound = WT_SIZED(wt_capacity);
    CHECK_OK(context, wt_model_norms_new(context, 1, 1, &norms));
    norms->head[0] = (wt_head_norms){.qk21 = 4, .v21 = 8, .v = 4};
    norms->x = 2;
    norms->w = 3;
    wt_capacity_spec spec = spec_of(norms, false);
    CHECK_OK(context, wt_capacity_compute(context, &spec, NULL, &bound));
    double wanted = 9 * pow(4 + cbrt(4) * 20, 3);
    CHECK_NEAR(bound.constant / bound.log_factor, wanted, 1e-14);
    CHECK_NEAR(bound.range, 24, 1e-15);
    norms->w = 30;
    CHECK_OK(context, wt_capacity_compute(context, &spec, NULL, &bound));
    CHECK_NEAR(bound.constant / bound.log_factor, 100 * wanted, 1e-14);
    norms->w = 3;
    norms->head[0].v21 *= 10;
    norms->head[0].v *= 10;
    CHECK_OK(context, wt_capacity_compute(context, &spec, NULL, &bound));
    CHECK_NEAR(bound.constant / bound.log_factor, 100 * wanted, 1e-14);
    wt_model_norms_free(norms);
}

/* In the first of two layers every token asks, in a lone layer [CLS] does: a [CLS] shorter than
 * the tokens counts in the second case alone. */
static void every_token_asks_below_a_layer(void **state) {
    wt_context *context = *state;
    wt_model_norms *norms;
    wt_capacity bound[3] = {WT_SIZED(wt_capacity), WT_SIZED(wt_capacity), WT_SIZED(wt_capacity)};
    static const double cls[3] = {1, 3, 6};
    for (size_t layers = 1; layers <= 2; layers++) {
        CHECK_OK(context, wt_model_norms_new(context, layers, 1, &norms));
        wt_capacity_spec spec = spec_of(norms, true);
        for (size_t i = 0; i < layers; i++)
            norms->head[i] = (wt_head_norms){4, 2, 3, 1, 3, 1};
        norms->w = 1;
        norms->x = 2;
        norms->p = 1;
        for (size_t i = 0; i < 3; i++) {
            norms->cls = cls[i];
            CHECK_OK(context, wt_capacity_compute(context, &spec, NULL, &bound[i]));
        }
        assert_true(bound[1].constant < bound[2].constant);
        assert_true(layers == 2 ? bound[0].constant == bound[1].constant
                                : bound[0].constant < bound[1].constant);
        wt_model_norms_free(norms);
    }
}

/* Two heads alike: (2 [..])^3 is eight times one. */
static void heads_add_inside_the_cube(void **state) {
    wt_context *context = *state;
    wt_model_norms *norms;
    wt_capacity bound = WT_SIZED(wt_capacity);
    CHECK_OK(context, wt_model_norms_new(context, 1, 2, &norms));
    wt_capacity_spec spec = spec_of(norms, false);
    for (size_t h = 0; h < 2; h++)
        norms->head[h] = (wt_head_norms){.qk21 = 4, .v21 = 8, .v = 1};
    CHECK_OK(context, wt_capacity_compute(context, &spec, NULL, &bound));
    CHECK_NEAR(bound.constant / bound.log_factor, 8 * pow(4 + 4, 3), 1e-14);
    /* and different ones: 8 -> 27 in the second, so 9 in place of 4 */
    norms->head[1].v21 = 27;
    CHECK_OK(context, wt_capacity_compute(context, &spec, NULL, &bound));
    CHECK_NEAR(bound.constant / bound.log_factor, pow(4 + 4 + 9 + 4, 3), 1e-14);
    wt_model_norms_free(norms);
}

/* Layers count by what lies above them: the second has c v (1 + 4 qk) = 8, so alpha = 8, 1 and
 * alpha^(2/3) = 4, 1. Sums of a layer: 0: 1 + (2 4)^(2/3) + 8^(2/3) = 9;
 * 1: 1 + (2 * 2 * 2)^(2/3) + 8^(2/3) = 9. With w = 27: 27^2 (1 + 4 * 9 + 9)^3. */
static void layers_count_by_those_above(void **state) {
    wt_context *context = *state;
    wt_model_norms *norms;
    wt_capacity bound = WT_SIZED(wt_capacity);
    double alpha[2];
    CHECK_OK(context, wt_model_norms_new(context, 2, 1, &norms));
    wt_capacity_spec spec = spec_of(norms, true);
    norms->head[0] = (wt_head_norms){4, 1, 8, 1, 1, 1};
    norms->head[1] = (wt_head_norms){2, 0.75, 8, 2, 1, 1};
    norms->w = 27;
    CHECK_OK(context, wt_capacity_compute(context, &spec, alpha, &bound));
    CHECK_NEAR(alpha[0], 8, 1e-15);
    CHECK_NEAR(alpha[1], 1, 1e-15);
    CHECK_NEAR(bound.constant / bound.log_factor, 27.0 * 27 * 46 * 46 * 46, 1e-14);
    CHECK_NEAR(bound.range, 27, 1e-15);
    spec.residual = true;
    CHECK_OK(context, wt_capacity_compute(context, &spec, alpha, &bound));
    CHECK_NEAR(alpha[0], 9, 1e-15);
    CHECK_NEAR(bound.constant / bound.log_factor, 27 * 27 * pow(1 + cbrt(81) * 9 + 9, 3), 1e-14);
    wt_model_norms_free(norms);
}

/* With C_F known, the gap by its formula; at small C_F the logarithm counts. */
static void the_gap_is_its_formula(void **state) {
    wt_context *context = *state;
    wt_model_norms *norms;
    wt_capacity bound = WT_SIZED(wt_capacity);
    CHECK_OK(context, wt_model_norms_new(context, 1, 1, &norms));
    norms->head[0] = (wt_head_norms){.qk21 = 0, .v21 = 1, .v = 1};
    wt_capacity_spec spec = spec_of(norms, false);
    spec.lipschitz = 3;
    spec.loss_max = 5;
    CHECK_OK(context, wt_capacity_compute(context, &spec, NULL, &bound));
    double c = log(800000), root = sqrt(c / 1000);
    assert_false(bound.vacuous);
    CHECK_NEAR(bound.constant, c, 1e-14);
    CHECK_NEAR(bound.capacity_term, 12 * root * (1 - log(root)), 1e-14);
    CHECK_NEAR(bound.confidence_term, 10 * sqrt(log(20) / 2000), 1e-14);
    CHECK_NEAR(bound.gap, bound.capacity_term + bound.confidence_term, 1e-15);
    norms->head[0].v21 = 1e3;
    CHECK_OK(context, wt_capacity_compute(context, &spec, NULL, &bound));
    assert_true(bound.vacuous);
    CHECK_NEAR(bound.capacity_term, 12 * sqrt(bound.constant / 1000), 1e-14);
    wt_model_norms_free(norms);
}

static void what_makes_no_sense_is_refused(void **state) {
    wt_context *context = *state;
    wt_model_norms *norms;
    wt_capacity bound = WT_SIZED(wt_capacity);
    CHECK_OK(context, wt_model_norms_new(context, 1, 1, &norms));
    wt_capacity_spec spec = spec_of(norms, false);
    CHECK_FAILS(context, wt_capacity_compute(context, &spec, NULL, &bound), WT_USAGE,
                "needs the norm qk21");
    CHECK_FAILS(context, wt_model_norms_set(context, norms, (wt_model_norm)99, 0, 0, 1), WT_USAGE,
                "no norm 99");
    CHECK_FAILS(context, wt_model_norms_set(context, norms, WT_MODEL_NORM_V, 0, 1, 1), WT_USAGE,
                "head 1");
    assert_true(isnan(wt_model_norms_get(norms, WT_MODEL_NORM_V, 1, 0)));
    CHECK_OK(context, wt_model_norms_set(context, norms, WT_MODEL_NORM_V, 0, 0, 3));
    CHECK_NEAR(wt_model_norms_get(norms, WT_MODEL_NORM_V, 0, 0), 3, 0);
    norms->head[0] = (wt_head_norms){.qk21 = 1, .v21 = 1, .v = 2};
    CHECK_FAILS(context, wt_capacity_compute(context, &spec, NULL, &bound), WT_USAGE,
                "v = 2 is above v21 = 1");
    norms->head[0].v = -1;
    CHECK_FAILS(context, wt_capacity_compute(context, &spec, NULL, &bound), WT_USAGE,
                "must be 0 or more, not -1");
    spec.delta = 0;
    CHECK_FAILS(context, wt_capacity_compute(context, &spec, NULL, &bound), WT_USAGE, "delta");
    spec.delta = 0.5;
    spec.epsilon = 0;
    CHECK_FAILS(context, wt_capacity_compute(context, &spec, NULL, &bound), WT_USAGE, "epsilon");
    spec.epsilon = 1;
    spec.samples = 0;
    CHECK_FAILS(context, wt_capacity_compute(context, &spec, NULL, &bound), WT_USAGE, "and 0");
    wt_model_norms_free(norms);
}

static double *read(wt_context *context, wt_file *file, const char *name) {
    const wt_array *array = wt_file_find(file, name);
    double *values;
    CHECK_OK(context, WT_NEW(context, &values, array->count, name));
    CHECK_OK(context, wt_file_read(context, file, array, values));
    return values;
}

/* The product formed, and its norms taken by definition: rounding of 8 x 8 sums, 1e-12. */
static void a_transformer_has_the_norms_of_its_matrices(void **state) {
    wt_context *context = *state;
    enum { D = 8, HEADS = 2, WIDTH = 4 };
    wt_model_norms *norms;
    wt_file *file;
    CHECK_OK(context, wt_model_norms_load_transformer(context, GOLDEN, HEADS, &norms));
    CHECK_OK(context, wt_file_open(context, GOLDEN, &file));
    double *wq = read(context, file, "wq"), *wk = read(context, file, "wk"),
           *wv = read(context, file, "wv"), *wo = read(context, file, "wo"),
           *gain = read(context, file, "ln1_g"), *shift = read(context, file, "ln1_b"),
           *head = read(context, file, "head");
    assert_int_equal(norms->dim, D);
    assert_int_equal(norms->length, 12);
    for (size_t h = 0; h < HEADS; h++) {
        const wt_head_norms *got = &norms->head[h];
        double product[D * D] = {0}, transposed[D * D] = {0}, wanted;
        for (size_t i = 0; i < D; i++)
            for (size_t j = 0; j < D; j++)
                for (size_t r = 0; r < WIDTH; r++) {
                    product[i * D + j] += wq[i * D + h * WIDTH + r] * wk[j * D + h * WIDTH + r] / 2;
                    transposed[j * D + i] = product[i * D + j];
                }
        CHECK_OK(context, wt_norm(context, WT_COLUMNS, D, D, transposed, D, &wanted));
        CHECK_NEAR(got->qk21, wanted, 1e-12);
        CHECK_OK(context, wt_norm(context, WT_SPECTRAL, D, D, product, D, &wanted));
        CHECK_NEAR(got->qk, wanted, 1e-12);
        CHECK_OK(context, wt_norm(context, WT_COLUMNS, D, WIDTH, wv + h * WIDTH, D, &wanted));
        CHECK_NEAR(got->v21, wanted, 1e-15);
        CHECK_OK(context, wt_norm(context, WT_SPECTRAL, WIDTH, D, wo + h * WIDTH * D, D, &wanted));
        CHECK_NEAR(got->c, wanted, 1e-15);
    }
    double most = 0, square = 0, difference = 0;
    for (size_t i = 0; i < D; i++) {
        most = fmax(most, fabs(gain[i]));
        square += shift[i] * shift[i];
        difference += pow(head[2 * i + 1] - head[2 * i], 2);
    }
    CHECK_NEAR(norms->x, sqrt(8) * most + sqrt(square), 1e-14);
    CHECK_NEAR(norms->w, sqrt(difference), 1e-14);
    double *const blocks[] = {wq, wk, wv, wo, gain, shift, head};
    for (size_t i = 0; i < 7; i++)
        wt_release(blocks[i]);
    wt_file_free(file);
    wt_model_norms_free(norms);
    CHECK_FAILS(context, wt_model_norms_load_transformer(context, GOLDEN, 3, &norms), WT_USAGE,
                "3 heads do not divide the dimension 8");
    CHECK_FAILS(context, wt_model_norms_load_transformer(context, GOLDEN, 0, &norms), WT_USAGE,
                "does not say how many heads");
    CHECK_FAILS(context,
                wt_model_norms_load_transformer(context, TEST_DATA "/fixtures/layer.safetensors", 1,
                                                &norms),
                WT_DATA, "its kind is 'layer'");
}

/* A construction's norms are those it says of itself: log(8 T / gamma) sqrt(s) and the rest. */
static void a_head_has_the_norms_of_its_construction(void **state) {
    wt_context *context = *state;
    wt_model_norms *norms;
    CHECK_OK(context,
             wt_model_norms_load_head(context, TEST_DATA "/fixtures/head.safetensors", &norms));
    assert_int_equal(norms->heads, 2);
    assert_int_equal(norms->length, 6);
    for (size_t h = 0; h < 2; h++) { /* s = 1 for each head, gamma = 2 */
        CHECK_NEAR(norms->head[h].qk21, log(24), 1e-14);
        CHECK_NEAR(norms->head[h].qk, log(24), 1e-14);
        CHECK_NEAR(norms->head[h].v21, sqrt(2), 1e-15);
    }
    CHECK_NEAR(norms->x, sqrt(2), 1e-15);
    CHECK_NEAR(norms->cls, 1, 1e-15);
    assert_true(isnan(norms->w)); /* a network on top, or y itself */
    wt_model_norms_free(norms);
    CHECK_FAILS(context, wt_model_norms_load_head(context, GOLDEN, &norms), WT_DATA,
                "array 'w_v' is missing: w_v (heads,d,p) is expected");
}

/* A trained head: w_qk as it is, the read-out, and an activation steeper than 1. */
static void a_trained_head_is_read_too(void **state) {
    wt_context *context = *state;
    char folder[] = "/tmp/wattle-capacity-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/head.safetensors", folder);
    static const double w_qk[] = {3, 4, 0, 5}, w_v[] = {3, 0, 0, 4}, w[] = {6, 8}, cls[] = {0, 2},
                        symbols[] = {0, 0, 3, 0}, positions[] = {0, 1, 0, 4, 1, 0};
    const wt_tensor tensors[] = {
        {.name = "w_qk", .rank = 2, .shape = {2, 2}, .values = w_qk},
        {.name = "w_v", .rank = 2, .shape = {2, 2}, .values = w_v},
        {.name = "w", .rank = 1, .shape = {2}, .values = w},
        {.name = "cls", .rank = 1, .shape = {2}, .values = cls},
        {.name = "symbols", .rank = 2, .shape = {2, 2}, .values = symbols},
        {.name = "positions", .rank = 2, .shape = {3, 2}, .values = positions}};
    const wt_metadata metadata[] = {{"kind", "head"}, {"activation", "gelu"}};
    wt_model_norms *norms;
    CHECK_OK(context, wt_safetensors_write(context, path, tensors, 6, metadata, 2));
    CHECK_OK(context, wt_model_norms_load_head(context, path, &norms));
    remove(path);
    remove(folder);
    CHECK_NEAR(norms->head[0].qk21, 10, 1e-15); /* rows, not columns */
    CHECK_NEAR(norms->head[0].v21, 7, 1e-15);
    CHECK_NEAR(norms->head[0].v, 4, 1e-15);
    CHECK_NEAR(norms->w, 10, 1e-15);
    CHECK_NEAR(norms->cls, 2, 1e-15);
    CHECK_NEAR(norms->x, 5, 1e-15);
    CHECK_NEAR(norms->sigma[0], 1.1289041449, 1e-9); /* gelu's slope at sqrt(2) */
    wt_model_norms_free(norms);
}

static void norms_are_read_by_name(void **state) {
    wt_context *context = *state;
    wt_model_norms *norms;
    CHECK_OK(context, wt_model_norms_parse(context, "qk21=8,v=2/v=3", false, 1, 1, &norms));
    assert_int_equal(wt_model_norms_heads(norms), 2);
    assert_true(wt_model_norms_get(norms, WT_MODEL_NORM_QK21, 0, 1) == 8); /* as before it */
    assert_true(wt_model_norms_get(norms, WT_MODEL_NORM_V, 0, 1) == 3);
    assert_true(wt_model_norms_get(norms, WT_MODEL_NORM_SIGMA, 0, 0) == 1);
    assert_true(isnan(wt_model_norms_get(norms, WT_MODEL_NORM_W, 0, 0)));
    wt_model_norms_free(norms);
    CHECK_OK(context, wt_model_norms_parse(context, "c=5", true, 3, 2, &norms));
    assert_int_equal(wt_model_norms_layers(norms), 3);
    assert_true(wt_model_norms_get(norms, WT_MODEL_NORM_C, 2, 1) == 5);
    assert_true(wt_model_norms_get(norms, WT_MODEL_NORM_W, 0, 0) == 1);
    wt_model_norms_free(norms);
    CHECK_FAILS(context, wt_model_norms_parse(context, "v=x", true, 1, 1, &norms), WT_USAGE,
                "v must be a number");
    assert_null(norms);
    CHECK_FAILS(context, wt_model_norms_parse(context, "v=1/v=2", true, 2, 1, &norms), WT_USAGE,
                "2 layers are named already");
    assert_string_equal(wt_model_norm_name(WT_MODEL_NORM_CLS), "cls");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_head_is_its_formula),
        cmocka_unit_test(a_read_out_counts),
        cmocka_unit_test(every_token_asks_below_a_layer),
        cmocka_unit_test(heads_add_inside_the_cube),
        cmocka_unit_test(layers_count_by_those_above),
        cmocka_unit_test(the_gap_is_its_formula),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(a_transformer_has_the_norms_of_its_matrices),
        cmocka_unit_test(a_head_has_the_norms_of_its_construction),
        cmocka_unit_test(a_trained_head_is_read_too),
        cmocka_unit_test(norms_are_read_by_name),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
