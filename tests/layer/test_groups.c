/* Heads that share keys and values: teachers, derivatives, recovery. */
#include "base/memory.h"
#include "check.h"
#include "layer/layers.h"
#include "layer/learn/jacobian.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

enum { HEADS = 4, GROUPS = 2, EACH = HEADS / GROUPS, DIM = 6, RANK = 2 };

static wt_teacher_options shared(void) {
    return (wt_teacher_options){.size = sizeof(wt_teacher_options),
                                .heads = HEADS,
                                .dim = DIM,
                                .scale = 2,
                                .rank = RANK,
                                .groups = GROUPS,
                                .seed = 1};
}

static wt_layer *draw_teacher(wt_context *context, const wt_teacher_options *options) {
    wt_layer *layer = NULL;
    CHECK_OK(context, wt_layer_teacher(context, options, &layer));
    return layer;
}

static wt_sequences *draw_data(wt_context *context, const wt_layer *layer, size_t samples,
                               size_t length) {
    wt_sequences *data = NULL;
    CHECK_OK(context,
             wt_sequences_new(context, samples, length, layer->dim, layer->outputs, &data));
    CHECK_OK(context, wt_layer_draw(context, layer, WT_LAW_GAUSSIAN, 1, 0, 2, 0, data));
    return data;
}

/* Singular values past the rank are rounding of numbers of order 1. */
static void check_rank(wt_context *context, size_t rows, size_t columns, const double *a,
                       size_t rank) {
    double s[3 * DIM];
    size_t count = rows < columns ? rows : columns;
    CHECK_OK(context, wt_svd(context, rows, columns, a, columns, NULL, s, NULL));
    for (size_t i = 0; i < count; i++)
        assert_true(i < rank ? s[i] > 1e-3 : s[i] < 1e-13);
}

/* Keys and biases of queries: all rows of a group's Theta. Values: all columns of its W. */
static void teachers_share(void **state) {
    wt_context *context = *state;
    wt_teacher_options options = shared();
    options.bias = true;
    wt_layer *layer = draw_teacher(context, &options);
    double beside[DIM * EACH * DIM];
    for (size_t g = 0; g < GROUPS; g++) {
        check_rank(context, (size_t)EACH * (DIM + 1), DIM,
                   layer->theta + g * EACH * (DIM + 1) * DIM, RANK);
        for (size_t i = 0; i < EACH; i++)
            for (size_t j = 0; j < (size_t)DIM * DIM; j++)
                beside[(j / DIM * EACH + i) * DIM + j % DIM] =
                    layer->w[(g * EACH + i) * DIM * DIM + j];
        check_rank(context, DIM, (size_t)EACH * DIM, beside, RANK);
    }
    check_rank(context, (size_t)HEADS * (DIM + 1), DIM, layer->theta, (size_t)GROUPS * RANK);
    wt_layer_free(layer);
    options.groups = 3;
    CHECK_FAILS(context, wt_layer_teacher(context, &options, &layer), WT_USAGE, "divide");
    options.groups = GROUPS;
    options.rank = 0;
    CHECK_FAILS(context, wt_layer_teacher(context, &options, &layer), WT_USAGE, "a rank is needed");
}

/* N O at another Theta and V, O held fast. */
static void outputs_at(wt_context *context, const wt_projection *at, const double *direction,
                       double step, double *out) {
    size_t numbers = at->asked * at->width + wt_projection_shared(at), p = at->rows->outputs;
    wt_projection moved;
    CHECK_OK(context, wt_projection_new_grouped(context, at->rows, at->heads, at->groups,
                                                at->values, &moved));
    for (size_t i = 0; i < numbers; i++)
        moved.theta[i] = at->theta[i] + step * direction[i];
    CHECK_OK(context, wt_projection_evaluate(context, &moved));
    CHECK_OK(context, wt_gemm(context, WT_PLAIN, WT_PLAIN, at->rows->rows, p, at->spanned, 1,
                              moved.narrow, at->spanned, at->o, p, 0, out, p));
    wt_projection_free(&moved);
}

/* Central differences with step 1e-5 err by the third derivative times 1e-10; sums of a few hundred
 * products of order 1 agree to 1e-10. */
static void products_are_derivatives(void **state) {
    enum { SAMPLES = 9, LENGTH = 5, ROWS = SAMPLES * LENGTH * DIM };
    enum { NUMBERS = HEADS * (DIM + 1) * DIM + GROUPS * DIM * RANK };
    wt_context *context = *state;
    wt_teacher_options options = shared();
    wt_recover_options how;
    WT_INIT(wt_recover_options, &how);
    options.bias = how.bias = true;
    wt_layer *layer = draw_teacher(context, &options);
    wt_sequences *data = draw_data(context, layer, SAMPLES, LENGTH);
    wt_rows rows;
    wt_projection at;
    wt_jacobian jacobian;
    double direction[NUMBERS], gradient[NUMBERS], up[ROWS], down[ROWS], left = 0, right = 0;
    CHECK_OK(context, wt_rows_make(context, data, &how, 0, SAMPLES, &rows));
    CHECK_OK(context, wt_projection_new_grouped(context, &rows, HEADS, GROUPS, RANK, &at));
    wt_random_normal(wt_stream_for(3, "theta", 0), 0, NUMBERS, at.theta);
    CHECK_OK(context, wt_projection_evaluate(context, &at));
    CHECK_OK(context, wt_jacobian_new(context, &at, &jacobian));
    wt_random_normal(wt_stream_for(4, "direction", 0), 0, NUMBERS, direction);
    CHECK_OK(context, wt_jacobian_apply(context, &jacobian, direction));
    outputs_at(context, &at, direction, 1e-5, up);
    outputs_at(context, &at, direction, -1e-5, down);
    for (size_t i = 0; i < ROWS; i++)
        up[i] = (up[i] - down[i]) / 2e-5;
    for (size_t c = 0; c < at.spanned; c++)
        for (size_t o = 0; o < DIM; o++) {
            double part = 0;
            for (size_t r = 0; r < rows.rows; r++)
                part += at.qt[c * rows.rows + r] * up[r * DIM + o];
            for (size_t r = 0; r < rows.rows; r++)
                up[r * DIM + o] -= at.qt[c * rows.rows + r] * part;
        }
    for (size_t i = 0; i < ROWS; i++) {
        CHECK_NEAR(jacobian.out[i], up[i], 1e-7);
        left += jacobian.out[i] * at.e[i];
    }
    CHECK_OK(context, wt_jacobian_transposed(context, &jacobian, at.e, gradient));
    for (size_t i = 0; i < NUMBERS; i++)
        right += direction[i] * gradient[i];
    assert_true(fabs(left) > 1e-3);
    CHECK_NEAR(left, right, 1e-10);
    wt_jacobian_free(&jacobian);
    wt_projection_free(&at);
    wt_rows_free(&rows);
    wt_sequences_free(data);
    wt_layer_free(layer);
}

/* m r (d + p) of A and O, d r a group of B and V each, less the r^2 that turn them in themselves.
 */
static void fewer_parameters_are_counted(void **state) {
    (void)state;
    CHECK_NEAR(wt_recover_least_examples(4, 10, 5, 6, 3, 2),
               (4.0 * 3 * (10 + 5) + 2 * 2 * (10 * 3 - 9)) / (6 * 5), 1e-12);
    CHECK_NEAR(wt_recover_least_examples(4, 10, 5, 6, 10, 2),
               wt_recover_least_examples(4, 10, 5, 6, 0, 0), 0);
}

/* The same 37 sequences: enough for heads in groups, six times their N_min, and too few for heads
 * by themselves, three times theirs. */
static void groups_need_fewer_examples(void **state) {
    wt_context *context = *state;
    wt_teacher_options options = shared();
    wt_recover_options how;
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_comparison compared = WT_SIZED(wt_comparison);
    options.dim = 12;
    options.rank = 3;
    wt_layer *teacher = draw_teacher(context, &options), *layer = NULL;
    wt_sequences *data = draw_data(context, teacher, 37, 6);
    WT_INIT(wt_recover_options, &how);
    how.heads = HEADS;
    how.rank = 3;
    how.restarts = 6;
    CHECK_OK(context, wt_layer_recover(context, data, &how, &layer, &report, NULL));
    assert_false(report.recovered);
    wt_layer_free(layer);
    how.groups = GROUPS;
    CHECK_OK(context, wt_layer_recover(context, data, &how, &layer, &report, NULL));
    assert_true(report.exact);
    CHECK_OK(context, compare_layers(context, teacher, layer, NULL, &compared));
    assert_true(compared.theta_error < 1e-9 && compared.w_error < 1e-9);
    wt_comparison_free(&compared);
    wt_layer_free(layer);
    how.groups = 3;
    CHECK_FAILS(context, wt_layer_recover(context, data, &how, &layer, &report, NULL), WT_USAGE,
                "4 heads do not divide into 3 groups");
    how.groups = GROUPS;
    how.rank = 0;
    CHECK_FAILS(context, wt_layer_recover(context, data, &how, &layer, &report, NULL), WT_USAGE,
                "a rank is needed");
    wt_sequences_free(data);
    wt_layer_free(teacher);
}

/* Biases of queries are part of what keys carry, in any form; the number of heads is found among
 * those that divide. */
static void forms_have_groups(void **state) {
    wt_context *context = *state;
    wt_teacher_options options = shared();
    wt_recover_options how;
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_comparison compared = WT_SIZED(wt_comparison);
    options.bias = options.residual = true;
    options.mask = WT_LAYER_MASK_CAUSAL;
    options.norm = WT_LAYER_NORM_LAYER;
    options.epsilon = 1e-5;
    wt_layer *teacher = draw_teacher(context, &options), *layer = NULL;
    wt_sequences *data = draw_data(context, teacher, 37, 6);
    WT_INIT(wt_recover_options, &how);
    how.bias = how.residual = true;
    how.mask = options.mask;
    how.norm = options.norm;
    how.epsilon = options.epsilon;
    how.rank = RANK;
    how.groups = GROUPS;
    CHECK_OK(context, wt_layer_recover(context, data, &how, &layer, &report, NULL));
    assert_true(report.exact);
    assert_int_equal(report.heads, HEADS);
    CHECK_OK(context, compare_layers(context, teacher, layer, NULL, &compared));
    assert_true(compared.theta_error < 1e-8 && compared.w_error < 1e-8);
    wt_comparison_free(&compared);
    wt_layer_free(layer);
    wt_sequences_free(data);
    wt_layer_free(teacher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(teachers_share),
        cmocka_unit_test(products_are_derivatives),
        cmocka_unit_test(fewer_parameters_are_counted),
        cmocka_unit_test(groups_need_fewer_examples),
        cmocka_unit_test(forms_have_groups),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
