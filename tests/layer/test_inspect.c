/* Query-key products: closed forms, and files that hold them or do not. */
#define _GNU_SOURCE
#include "layer/model/products.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "check.h"
#include "layer/layers.h"
#include "wattle/checkpoint.h"
#include "wattle/io.h"
#include "wattle/random.h"

static char path[] = "/tmp/wattle-inspect-XXXXXX";

static int open_all(void **state) {
    int file = mkstemp(path);
    return file < 0 || close(file) != 0 ? -1 : check_open(state);
}
static int close_all(void **state) {
    unlink(path);
    return check_close(state);
}

/* Sums of tens of squares, and LAPACK's singular values: a few roundings. */
#define ROUNDING 1e-13

static void a_multiple_of_the_identity(void **state) {
    enum { D = 8 };
    double theta[D * D] = {0};
    for (size_t i = 0; i < D; i++)
        theta[i * D + i] = -0.5;
    wt_products products = {.heads = 1, .dim = D, .theta = theta, .rounding = 0x1p-52};
    wt_head_summary head = WT_SIZED(wt_head_summary);
    CHECK_OK(*state, wt_products_inspect(*state, &products, 0, &head));
    CHECK_NEAR(head.diagonal_mean, -0.5, 0);
    CHECK_NEAR(head.diagonal_spread, 0, 0);
    CHECK_NEAR(head.off_spread, 0, 0);
    assert_true(isinf(head.standard_errors) && head.standard_errors < 0);
    CHECK_NEAR(head.identity, -0.5, 0);
    CHECK_NEAR(head.identity_share, 1, ROUNDING);
    CHECK_NEAR(head.effective_rank, D, ROUNDING);
    assert_int_equal(head.rank, D);
    CHECK_NEAR(head.spectral, 0.5, ROUNDING);
    CHECK_NEAR(head.frobenius, 0.5 * sqrt(D), ROUNDING);
    CHECK_NEAR(head.columns_21, 0.5 * D, ROUNDING);
    CHECK_NEAR(head.rows_21, 0.5 * D, ROUNDING);
}

/* u v^T: every norm is |u| |v| but (2,1), where a column's norm is |u| |v_j|. */
static void an_outer_product(void **state) {
    const double u[] = {1, 2, -2}, v[] = {0, 3, 4};
    double theta[9];
    for (size_t i = 0; i < 9; i++)
        theta[i] = u[i / 3] * v[i % 3];
    wt_products products = {.heads = 1, .dim = 3, .theta = theta, .rounding = 0x1p-52};
    wt_head_summary head = WT_SIZED(wt_head_summary);
    CHECK_OK(*state, wt_products_inspect(*state, &products, 0, &head));
    assert_int_equal(head.rank, 1);
    CHECK_NEAR(head.effective_rank, 1, ROUNDING);
    CHECK_NEAR(head.spectral, 15, ROUNDING);
    CHECK_NEAR(head.frobenius, 15, ROUNDING);
    CHECK_NEAR(head.columns_21, 3 * 7, ROUNDING); /* |u| (|0| + |3| + |4|) */
    CHECK_NEAR(head.rows_21, 5 * 5, ROUNDING);    /* (1 + 2 + 2) |v| */
    /* Diagonal 0, 6, -8; off it 3, 4, 0, 8, 0, -6. */
    CHECK_NEAR(head.diagonal_mean, -2.0 / 3, ROUNDING);
    CHECK_NEAR(head.off_mean, 1.5, ROUNDING);
    CHECK_NEAR(head.off_spread, sqrt((9 + 16 + 64 + 36 - 6 * 2.25) / 5), ROUNDING);
    CHECK_NEAR(head.standard_errors, head.diagonal_mean / head.off_spread * sqrt(3), ROUNDING);
    CHECK_NEAR(head.identity_share, 3 * (4.0 / 9) / 225, ROUNDING);
}

/* c I + s G with standard normals: the diagonal lies c sqrt(d) / s standard errors from zero, give
 * or take one of them, and 2% for the spread. */
static void a_diagonal_in_noise(void **state) {
    enum { D = 64 };
    double theta[2 * D * D];
    wt_random_normal(wt_stream_for(3, "noise", 0), 0, 2 * D * D, theta);
    for (size_t i = 0; i < 2 * D * D; i++)
        theta[i] *= 0.02;
    for (size_t i = 0; i < D; i++)
        theta[D * D + i * D + i] += 0.1;
    wt_products products = {.heads = 2, .dim = D, .theta = theta, .rounding = 0x1p-52};
    wt_head_summary noise = WT_SIZED(wt_head_summary), both = WT_SIZED(wt_head_summary);
    CHECK_OK(*state, wt_products_inspect(*state, &products, 0, &noise));
    CHECK_OK(*state, wt_products_inspect(*state, &products, 1, &both));
    assert_true(fabs(noise.standard_errors) < 4);
    assert_true(fabs(both.standard_errors - 0.1 * 8 / 0.02) < 4 + 0.02 * 40);
    CHECK_NEAR(both.off_spread, 0.02, 0.02 * 0.02 * 4);
    CHECK_FAILS(*state, wt_products_inspect(*state, &products, 2, &both), WT_USAGE, "no head 2");
}

static void nothing_at_all(void **state) {
    double theta[4] = {0}, one = 3;
    wt_products products = {.heads = 1, .dim = 2, .theta = theta, .rounding = 0x1p-52};
    wt_head_summary head = WT_SIZED(wt_head_summary);
    CHECK_OK(*state, wt_products_inspect(*state, &products, 0, &head));
    assert_int_equal(head.rank, 0);
    assert_true(head.effective_rank == 0 && isnan(head.identity_share));
    assert_true(isnan(head.standard_errors));
    products = (wt_products){.heads = 1, .dim = 1, .theta = &one, .rounding = 0x1p-52};
    CHECK_OK(*state, wt_products_inspect(*state, &products, 0, &head));
    assert_true(head.diagonal_mean == 3 && isnan(head.off_mean) && isnan(head.standard_errors));
}

/* theta[i][j] = j - i + (j - i)^2 / 8 has its offset's value all along a diagonal. */
static void profiles_follow_the_diagonals(void **state) {
    enum { D = 7 };
    double theta[D * D], profile[2 * D - 1];
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++)
            theta[i * D + j] = j - i + (j - i) * (j - i) / 8.0;
    wt_products products = {.heads = 1, .dim = D, .theta = theta, .rounding = 0x1p-52};
    CHECK_OK(*state, wt_products_profile(*state, &products, 0, D - 1, profile));
    for (int k = -(D - 1); k < D; k++)
        CHECK_NEAR(profile[k + D - 1], k + k * k / 8.0, ROUNDING);
    CHECK_FAILS(*state, wt_products_profile(*state, &products, 0, D, profile), WT_USAGE,
                "offsets to 7");
}

static void save(void **state, const wt_tensor *tensors, size_t count) {
    CHECK_OK(*state, wt_safetensors_write(*state, path, tensors, count, NULL, 0));
}

static void files_in_three_dresses(void **state) {
    /* w_q w_k^T = [[1 2][3 4]] [[1 0][1 1]]^T, head by head the same */
    const double q[] = {1, 2, 3, 4}, k[] = {1, 0, 1, 1}, product[] = {1, 3, 3, 7};
    const wt_tensor pair[] = {{"w_q", WT_TYPE_F64, 2, {2, 2}, q},
                              {"w_k", WT_TYPE_F32, 2, {2, 2}, k}};
    const wt_tensor whole = {"w_qk", WT_TYPE_F64, 2, {2, 2}, product};
    const wt_tensor layer[] = {{"theta", WT_TYPE_F32, 3, {1, 2, 2}, product},
                               {"w_qk", WT_TYPE_F64, 2, {2, 2}, q}};
    const struct {
        const wt_tensor *tensors;
        size_t count;
        double rounding;
    } dresses[] = {{pair, 2, 0x1p-23}, {&whole, 1, 0x1p-52}, {layer, 2, 0x1p-23}};
    for (size_t i = 0; i < 3; i++) {
        save(state, dresses[i].tensors, dresses[i].count);
        wt_products *products;
        CHECK_OK(*state, wt_products_load(*state, path, &products));
        assert_int_equal(products->heads, 1);
        assert_int_equal(products->dim, 2);
        assert_memory_equal(products->theta, product, sizeof product);
        assert_true(products->rounding == dresses[i].rounding);
        wt_products_free(products);
    }
}

static void files_that_hold_no_layer(void **state) {
    const double numbers[] = {1, 2, 3, 4, 5, 6, 7, NAN};
    const struct {
        wt_tensor tensors[2];
        size_t count;
        const char *words;
    } cases[] = {
        {{{"v", WT_TYPE_F64, 2, {2, 2}, numbers}}, 1, "holds no layer"},
        {{{"w_q", WT_TYPE_F64, 2, {2, 2}, numbers}}, 1, "holds no layer"},
        {{{"theta", WT_TYPE_F64, 1, {4}, numbers}}, 1, "1 dimensions"},
        {{{"theta", WT_TYPE_F64, 2, {0, 0}, NULL}}, 1, "0 numbers"},
        {{{"theta", WT_TYPE_F64, 2, {2, 3}, numbers}}, 1, "theta is 2 by 3 a head, not square"},
        {{{"theta", WT_TYPE_F64, 3, {2, 2, 2}, numbers}}, 1, "theta[1,1,1] is nan"},
        {{{"w_q", WT_TYPE_F64, 2, {2, 2}, numbers}, {"w_k", WT_TYPE_F64, 2, {2, 1}, numbers}},
         2,
         "different shapes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        save(state, cases[i].tensors, cases[i].count);
        wt_products *products;
        CHECK_FAILS(*state, wt_products_load(*state, path, &products), WT_DATA, cases[i].words);
        assert_non_null(strstr(wt_context_message(*state), path));
        assert_null(products);
    }
    wt_products *products;
    CHECK_FAILS(*state, wt_products_load(*state, "/tmp/wattle-no-such-file", &products),
                WT_NO_INPUT, "/tmp/wattle-no-such-file");
}

/* Two layers in the names of LLaMA, 4 heads that share 2 keys, with the gain of a norm. Width 8 is
 * more than d. */
static void save_checkpoint(void **state, size_t d, size_t width, const char *heads) {
    enum { MOST = 7 * 32, PARTS = 5 };
    static const char *const parts[PARTS] = {"self_attn.q_proj", "self_attn.k_proj",
                                             "self_attn.v_proj", "self_attn.o_proj",
                                             "input_layernorm"};
    static double values[2 * PARTS][MOST];
    static char names[2 * PARTS][64];
    wt_tensor tensors[2 * PARTS];
    const size_t shapes[PARTS][2] = {
        {4 * width, d}, {2 * width, d}, {2 * width, d}, {d, 4 * width}, {d, 0}};
    for (size_t i = 0; i < 2 * PARTS; i++) {
        const size_t *shape = shapes[i % PARTS];
        snprintf(names[i], sizeof names[i], "layers.%zu.%s.weight", i / PARTS, parts[i % PARTS]);
        wt_random_normal(wt_stream_for(7, "weights", i), 0, MOST, values[i]);
        tensors[i] = (wt_tensor){
            names[i], WT_TYPE_F64, shape[1] == 0 ? 1 : 2, {shape[0], shape[1]}, values[i]};
    }
    const wt_metadata note = {"num_attention_heads", heads};
    CHECK_OK(*state, wt_safetensors_write(*state, path, tensors, 2 * PARTS, &note, 1));
}

/* Sums of hundreds of products of normals, in another order: a few hundred roundings of the
 * largest of them. */
static void compare_summaries(const wt_head_summary *a, const wt_head_summary *b) {
    const double tolerance = 1e-12 * (1 + b->frobenius * b->frobenius + b->columns_21);
    const struct {
        double got, wanted;
    } numbers[] = {
        {a->diagonal_mean, b->diagonal_mean},
        {a->diagonal_spread, b->diagonal_spread},
        {a->off_mean, b->off_mean},
        {a->off_spread, b->off_spread},
        {a->standard_errors, b->standard_errors},
        {a->identity, b->identity},
        {a->identity_share, b->identity_share},
        {a->effective_rank, b->effective_rank},
        {a->spectral, b->spectral},
        {a->frobenius, b->frobenius},
        {a->columns_21, b->columns_21},
        {a->rows_21, b->rows_21},
        {a->symmetric, b->symmetric},
        {a->singular[0], b->singular[0]},
        {a->singular[1], b->singular[1]},
        {a->singular[3], b->singular[3]},
        {a->ov_singular[0], b->ov_singular[0]},
        {a->ov_singular[3], b->ov_singular[3]},
        {a->ov_effective_rank, b->ov_effective_rank},
        {a->ov_frobenius, b->ov_frobenius},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        CHECK_NEAR(numbers[i].got, numbers[i].wanted, tolerance);
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->dim, b->dim);
    assert_int_equal(a->head, b->head);
}

static void factors_say_what_products_do(void **state) {
    wt_context *context = *state;
    static const size_t widths[] = {2, 5, 8};
    for (size_t s = 0; s < 3; s++)
        for (int fold = 0; fold < 2; fold++) {
            wt_inspect_options options;
            wt_checkpoint_options how;
            wt_checkpoint *checkpoint = NULL;
            wt_inspection *all = NULL;
            WT_INIT(wt_inspect_options, &options);
            WT_INIT(wt_checkpoint_options, &how);
            options.fold = fold == 1;
            save_checkpoint(state, 7, widths[s], "4");
            CHECK_OK(context, wt_inspection_open(context, path, &options, &all));
            CHECK_OK(context, wt_checkpoint_open(context, path, &how, &checkpoint));
            assert_int_equal(wt_inspection_count(all), 8);
            assert_int_equal(wt_inspection_folded(all), fold);
            for (size_t i = 0; i < 8; i++) {
                wt_layer *layer = NULL;
                wt_head_summary got = WT_SIZED(wt_head_summary), wanted = WT_SIZED(wt_head_summary);
                CHECK_OK(context, wt_inspection_at(context, all, i, &got));
                CHECK_OK(context,
                         wt_checkpoint_layer(context, checkpoint, i / 4, fold == 1, &layer));
                wt_products dense = {.heads = 4,
                                     .dim = 7,
                                     .theta = layer->theta,
                                     .rounding = 0x1p-52,
                                     .outputs = 7,
                                     .w = layer->w};
                CHECK_OK(context, wt_products_inspect(context, &dense, i % 4, &wanted));
                assert_int_equal(got.layer, i / 4);
                compare_summaries(&got, &wanted);
                wt_layer_free(layer);
            }
            wt_checkpoint_free(checkpoint);
            wt_inspection_free(all);
        }
}

static void layers_and_heads_are_chosen(void **state) {
    wt_context *context = *state;
    const size_t layers[] = {1}, only[] = {3, 0}, none[] = {2}, no_head[] = {4};
    wt_inspect_options options;
    wt_inspection *all = NULL;
    wt_head_summary head = WT_SIZED(wt_head_summary);
    WT_INIT(wt_inspect_options, &options);
    save_checkpoint(state, 7, 2, "4");
    options.layers = layers;
    options.layer_count = 1;
    options.only = only;
    options.only_count = 2;
    CHECK_OK(context, wt_inspection_open(context, path, &options, &all));
    assert_int_equal(wt_inspection_count(all), 2);
    assert_int_equal(wt_inspection_layers(all), 2);
    assert_string_equal(wt_inspection_scheme(all), "LLaMA");
    assert_string_equal(wt_inspection_rope(all), "half-split");
    assert_null(wt_inspection_products(all));
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(context, wt_inspection_at(context, all, i, &head));
        assert_int_equal(head.layer, 1);
        assert_int_equal(head.head, only[i]);
    }
    CHECK_FAILS(context, wt_inspection_at(context, all, 2, &head), WT_USAGE, "no head 2 among 2");
    wt_inspection_free(all);
    options.only = no_head;
    options.only_count = 1;
    CHECK_FAILS(context, wt_inspection_open(context, path, &options, &all), WT_USAGE,
                "layer 1 has heads 0 to 3, no head 4");
    options.layers = none;
    CHECK_FAILS(context, wt_inspection_open(context, path, &options, &all), WT_USAGE, "no layer 2");
    assert_null(all);
    save_checkpoint(state, 7, 2, "3");
    WT_INIT(wt_inspect_options, &options);
    CHECK_FAILS(context, wt_inspection_open(context, path, &options, &all), WT_DATA,
                "do not divide among 3 heads");
}

static void one_layer_is_an_inspection_too(void **state) {
    wt_context *context = *state;
    const double theta[] = {1, 0, 0, 1, -1, 2, 0, -1}, w[] = {3, 0, 0, 4};
    const wt_tensor tensors[] = {{"theta", WT_TYPE_F64, 3, {2, 2, 2}, theta},
                                 {"w", WT_TYPE_F64, 3, {2, 2, 1}, w}};
    const wt_tensor bare = {"theta", WT_TYPE_F64, 3, {2, 2, 2}, theta};
    const size_t other[] = {1};
    wt_inspect_options options;
    wt_inspection *all = NULL;
    wt_head_summary head = WT_SIZED(wt_head_summary);
    WT_INIT(wt_inspect_options, &options);
    save(state, tensors, 2);
    CHECK_OK(context, wt_inspection_open(context, path, &options, &all));
    assert_null(wt_inspection_scheme(all));
    assert_int_equal(wt_inspection_count(all), 2);
    CHECK_OK(context, wt_inspection_at(context, all, 1, &head));
    CHECK_NEAR(head.diagonal_mean, -1, 0);
    CHECK_NEAR(head.symmetric, 2.0 / 3, ROUNDING); /* (1 + 1 + 2) of 6 squares */
    CHECK_NEAR(head.ov_singular[0], 4, ROUNDING);
    wt_inspection_free(all);
    CHECK_OK(context, wt_npy_write(context, path, &bare));
    CHECK_OK(context, wt_inspection_open(context, path, &options, &all));
    CHECK_OK(context, wt_inspection_at(context, all, 1, &head));
    CHECK_NEAR(head.diagonal_mean, -1, 0);
    assert_true(isnan(head.ov_frobenius));
    wt_inspection_free(all);
    options.layers = other;
    options.layer_count = 1;
    CHECK_FAILS(context, wt_inspection_open(context, path, &options, &all), WT_USAGE,
                "it has no layer 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_multiple_of_the_identity),
        cmocka_unit_test(an_outer_product),
        cmocka_unit_test(a_diagonal_in_noise),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(profiles_follow_the_diagonals),
        cmocka_unit_test(files_in_three_dresses),
        cmocka_unit_test(files_that_hold_no_layer),
        cmocka_unit_test(factors_say_what_products_do),
        cmocka_unit_test(layers_and_heads_are_chosen),
        cmocka_unit_test(one_layer_is_an_inspection_too),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
