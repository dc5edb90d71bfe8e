/* Query-key products: closed forms, and files that hold them or do not. */
#define _GNU_SOURCE
#include "layer/model/products.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "check.h"
#include "layer/layers.h"
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
    wt_products products = {1, D, theta, 0x1p-52};
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
    wt_products products = {1, 3, theta, 0x1p-52};
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
    wt_products products = {2, D, theta, 0x1p-52};
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
    wt_products products = {1, 2, theta, 0x1p-52};
    wt_head_summary head = WT_SIZED(wt_head_summary);
    CHECK_OK(*state, wt_products_inspect(*state, &products, 0, &head));
    assert_int_equal(head.rank, 0);
    assert_true(head.effective_rank == 0 && isnan(head.identity_share));
    assert_true(isnan(head.standard_errors));
    products = (wt_products){1, 1, &one, 0x1p-52};
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
    wt_products products = {1, D, theta, 0x1p-52};
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_multiple_of_the_identity),    cmocka_unit_test(an_outer_product),
        cmocka_unit_test(a_diagonal_in_noise),           cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(profiles_follow_the_diagonals), cmocka_unit_test(files_in_three_dresses),
        cmocka_unit_test(files_that_hold_no_layer),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
