/* Sequences from arrays of the caller's, drawn ones, and what a layer makes of them. */
#include "wattle/layer.h"

#include "check.h"
#include "layer/task/sequences.h"
#include "wattle/memory.h"

enum { N = 3, K = 2, D = 2 };
static const double x[N][K][D] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}, {{9, 10}, {11, 12}}};
static const double y[N][K] = {{1, 2}, {3, 4}, {5, 6}};

static wt_sequences_arrays given(void) {
    wt_sequences_arrays arrays = WT_SIZED(wt_sequences_arrays);
    arrays.samples = N;
    arrays.length = K;
    arrays.dim = D;
    arrays.outputs = 1;
    arrays.x = x[0][0];
    arrays.y = y[0];
    return arrays;
}

static void arrays_are_borrowed(void **state) {
    wt_context *context = *state;
    wt_sequences_arrays arrays = given();
    wt_sequences_spec spec;
    wt_sequences *data;
    const double mask[N][K] = {{1, 1}, {0, 1}, {1, 0}};
    WT_INIT(wt_sequences_spec, &spec);
    CHECK_OK(context, wt_sequences_borrow(context, &arrays, &spec, &data));
    assert_ptr_equal(wt_sequences_x(data), x);
    assert_ptr_equal(wt_sequences_y(data), y);
    wt_sequences_free(data);
    arrays.mask = mask[0];
    CHECK_OK(context, wt_sequences_borrow(context, &arrays, &spec, &data));
    assert_ptr_not_equal(wt_sequences_x(data), x);
    assert_int_equal(wt_sequences_lengths(data)[1], 1);
    CHECK_NEAR(wt_sequences_x(data)[(1 * K + 0) * D], 7, 0);
    CHECK_NEAR(wt_sequences_y(data)[1 * K + 0], 4, 0);
    wt_sequences_free(data);
}

static void rows_may_be_unknown(void **state) {
    wt_context *context = *state;
    wt_sequences_arrays arrays = given();
    wt_sequences_spec spec;
    wt_sequences *data;
    const double holes[N][K] = {{NAN, 2}, {3, NAN}, {5, 6}};
    WT_INIT(wt_sequences_spec, &spec);
    spec.last_row = true;
    arrays.last_rows = true; /* y (n, p): the first three of its numbers */
    CHECK_OK(context, wt_sequences_borrow(context, &arrays, &spec, &data));
    assert_false(wt_sequences_known(data, 0, 0));
    CHECK_NEAR(wt_sequences_y(data)[2 * K + 1], 3, 0);
    wt_sequences_free(data);
    arrays = given();
    arrays.y = holes[0];
    spec = (wt_sequences_spec){.size = sizeof spec};
    assert_int_equal(wt_sequences_borrow(context, &arrays, &spec, &data), WT_DATA);
    assert_null(data);
    spec.missing = true;
    CHECK_OK(context, wt_sequences_borrow(context, &arrays, &spec, &data));
    assert_false(wt_sequences_known(data, 0, 0));
    assert_true(wt_sequences_known(data, 0, 1));
    assert_true(isnan(holes[0][0]) && holes[0][1] == 2); /* the caller's own are as they were */
    wt_sequences_free(data);
}

/* A layer of zeros gives 0: the error is 1, over the rows that are known. */
static void outputs_beside_those_known(void **state) {
    wt_context *context = *state;
    wt_sequences_arrays arrays = given();
    wt_sequences_spec spec;
    wt_sequences *data, *found;
    wt_layer *layer;
    double error;
    WT_INIT(wt_sequences_spec, &spec);
    CHECK_OK(context, wt_layer_new(context, 1, D, 1, &layer));
    for (size_t i = 0; i < D * D; i++)
        wt_layer_theta(layer)[i] = 0;
    for (size_t i = 0; i < D; i++)
        wt_layer_w(layer)[i] = 0;
    CHECK_OK(context, wt_sequences_borrow(context, &arrays, &spec, &data));
    CHECK_OK(context, wt_layer_evaluate(context, layer, data, &found, &error));
    CHECK_NEAR(error, 1, 1e-15); /* a root of equal sums */
    CHECK_NEAR(wt_sequences_y(found)[0], 0, 0);
    wt_sequences_free(found);
    data->outputs = 2;
    assert_int_equal(wt_layer_evaluate(context, layer, data, &found, &error), WT_DATA);
    assert_null(found);
    wt_sequences_free(data);
    wt_layer_free(layer);
}

static void tokens_are_drawn(void **state) {
    wt_context *context = *state;
    wt_layer_draw_options how;
    wt_sequences *data;
    const double table[2][D] = {{1, 2}, {3, 4}}, places[K][D] = {{10, 20}, {30, 40}};
    const wt_token_rows words = {.rows = 2, .values = table[0]};
    wt_token_rows add = {.rows = K, .values = places[0]};
    WT_INIT(wt_layer_draw_options, &how);
    how.samples = 5;
    how.length = K;
    assert_int_equal(wt_layer_draw_as(context, NULL, &how, &data), WT_USAGE); /* no dimension */
    how.dim = D;
    how.rows = &words;
    how.add = &add;
    how.add_count = 1;
    CHECK_OK(context, wt_layer_draw_as(context, NULL, &how, &data));
    assert_null(wt_sequences_y(data));
    for (size_t t = 0; t < 5 * K; t++) {
        double first = wt_sequences_x(data)[t * D] - places[t % K][0];
        assert_true(first == 1 || first == 3);
    }
    wt_sequences_free(data);
    how.shortest = K + 1;
    assert_int_equal(wt_layer_draw_as(context, NULL, &how, &data), WT_USAGE);
    how.shortest = 0;
    add.fixed = true;
    add.row = K;
    assert_int_equal(wt_layer_draw_as(context, NULL, &how, &data), WT_USAGE);
    assert_null(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_borrowed),
        cmocka_unit_test(rows_may_be_unknown),
        cmocka_unit_test(outputs_beside_those_known),
        cmocka_unit_test(tokens_are_drawn),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
