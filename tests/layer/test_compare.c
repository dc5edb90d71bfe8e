/* Comparing layers: order, duplicates and zero heads do not count; the assignment is the best. */
#include "base/memory.h"
#include "check.h"
#include "layer/layers.h"
#include "layer/model/assignment.h"
#include "wattle/random.h"
#include "wattle/recover.h"

enum { D = 4, P = 3 };

static void copy_head(const wt_layer *from, size_t head, wt_layer *to, size_t place, double share) {
    memcpy(to->theta + place * D * D, from->theta + head * D * D, D * D * sizeof(double));
    for (size_t i = 0; i < D * P; i++)
        to->w[place * D * P + i] = share * from->w[head * D * P + i];
}

/* Heads 2, 0, 1 with head 0 in two parts and one without W: the same layer. */
static void order_and_duplicates_do_not_count(void **state) {
    wt_context *context = *state;
    wt_layer *a, *b;
    wt_comparison all = WT_SIZED(wt_comparison);
    CHECK_OK(context, make_teacher(context, 3, D, P, 2, 0, 1, &a));
    CHECK_OK(context, make_teacher(context, 5, D, P, 2, 0, 2, &b));
    copy_head(a, 2, b, 0, 1);
    copy_head(a, 0, b, 1, 0.25);
    copy_head(b, 4, b, 2, 0); /* a Theta of its own, W = 0 */
    copy_head(a, 1, b, 3, 1);
    copy_head(a, 0, b, 4, 0.75);
    CHECK_OK(context, compare_layers(context, a, b, NULL, &all));
    assert_int_equal(all.heads_a, 3);
    assert_int_equal(all.heads_b, 3);
    assert_int_equal(all.matches, 3);
    assert_true(all.theta_error < 1e-15 && all.w_error < 1e-15);
    for (size_t i = 0; i < WT_COMPARE_LENGTHS; i++)
        assert_true(all.distance[i] < 1e-14);
    wt_comparison_free(&all);
    /* a change of one head is seen there, and in the function */
    for (size_t i = 0; i < D * D; i++)
        b->theta[3 * D * D + i] *= 1.01;
    CHECK_OK(context, compare_layers(context, a, b, NULL, &all));
    for (size_t i = 0; i < 3; i++)
        CHECK_NEAR(all.match[i].theta_error, all.match[i].a == 1 ? 0.01 : 0, 1e-12);
    assert_true(all.distance[1] > 1e-4);
    wt_comparison_free(&all);
    wt_layer_free(a);
    wt_layer_free(b);
}

static void heads_left_over_are_told(void **state) {
    wt_context *context = *state;
    wt_layer *a, *b;
    wt_comparison all = WT_SIZED(wt_comparison);
    CHECK_OK(context, make_teacher(context, 3, D, P, 2, 0, 1, &a));
    CHECK_OK(context, make_teacher(context, 2, D, P, 2, 0, 2, &b));
    copy_head(a, 2, b, 0, 1);
    copy_head(a, 1, b, 1, 1);
    for (int turned = 0; turned < 2; turned++) {
        CHECK_OK(context, compare_layers(context, turned ? b : a, turned ? a : b, NULL, &all));
        assert_int_equal(all.matches, 3);
        assert_true(isinf(all.theta_error) && isinf(all.w_error));
        assert_int_equal(turned ? all.match[2].b : all.match[2].a, 0);
        assert_true((turned ? all.match[2].a : all.match[2].b) == WT_COMPARE_UNMATCHED);
        wt_comparison_free(&all);
    }
    wt_layer *other;
    CHECK_OK(context, make_teacher(context, 2, D + 1, P, 2, 0, 2, &other));
    CHECK_FAILS(context, compare_layers(context, a, other, NULL, &all), WT_DATA, "compared");
    wt_layer_free(a);
    wt_layer_free(b);
    wt_layer_free(other);
}

static wt_layer *of_form(wt_context *context, const wt_layer_form *form, uint64_t seed) {
    wt_teacher_options options;
    wt_layer *out;
    WT_INIT(wt_teacher_options, &options);
    options.heads = 3;
    options.dim = D;
    options.outputs = P;
    options.seed = seed;
    options.bias = form->bias;
    options.norm = form->norm;
    options.epsilon = form->epsilon;
    CHECK_OK(context, wt_layer_teacher(context, &options, &out));
    return out;
}

/* Of rounding alone. */
static void check_same_heads(const wt_comparison *all) {
    assert_int_equal(all->matches, 3);
    assert_true(all->theta_error < 1e-12 && all->w_error < 1e-12 && all->c_error < 1e-12);
}

static void biases_of_zero_are_none(void **state) {
    wt_context *context = *state;
    wt_layer *a, *b = of_form(context, &(wt_layer_form){.bias = true}, 1);
    wt_comparison all = WT_SIZED(wt_comparison);
    CHECK_OK(context, make_teacher(context, 3, D, P, 2, 0, 1, &a));
    memset(b->w, 0, wt_layer_columns(b) * P * sizeof *b->w);
    memcpy(b->w, a->w, 3 * D * P * sizeof *b->w);
    for (size_t i = 0; i < 3; i++) {
        memset(b->theta + i * (D + 1) * D, 0, (D + 1) * D * sizeof *b->theta);
        memcpy(b->theta + i * (D + 1) * D, a->theta + i * D * D, D * D * sizeof *b->theta);
    }
    for (int turned = 0; turned < 2; turned++) {
        CHECK_OK(context, compare_layers(context, turned ? b : a, turned ? a : b, NULL, &all));
        assert_true(all.theta_error == 0 && all.w_error == 0 && all.c_error == 0);
        assert_int_equal(all.rank, D);
        wt_comparison_free(&all);
    }
    wt_layer_c(b)[1] = 0.5;
    CHECK_OK(context, compare_layers(context, b, a, NULL, &all));
    CHECK_NEAR(all.c_error, 1, 1e-15);
    assert_true(all.theta_error == 0 && all.distance[0] > 0.01);
    wt_comparison_free(&all);
    wt_layer_free(a);
    wt_layer_free(b);
}

/* To Theta, u and W what tokens with <normal, x> = 1 do not show: Theta + v n^T + n t^T, u - t + s
 * n, W + n q^T and c - q. After a layer norm <n, x> = 0: t and q need not be made good. */
static void add_invisible(wt_layer *layer, const double *normal, bool plane, uint64_t seed) {
    double drawn[3 * D + P], *c = wt_layer_c(layer);
    for (size_t i = 0; i < layer->heads; i++) {
        double *theta = layer->theta + i * (D + 1) * D, *w = layer->w + i * D * P;
        const double *v = drawn, *t = drawn + D, *s = drawn + 2 * D, *q = drawn + 3 * D;
        wt_random_normal(wt_stream_for(seed, "invisible", i), 0, 3 * D + P, drawn);
        for (size_t j = 0; j < D * D; j++)
            theta[j] += v[j / D] * normal[j % D] + normal[j / D] * t[j % D];
        for (size_t j = 0; j < D; j++)
            theta[D * D + j] += s[0] * normal[j] - (plane ? t[j] : 0);
        for (size_t j = 0; j < D * P; j++)
            w[j] += normal[j / P] * q[j % P];
        for (size_t j = 0; plane && j < P; j++)
            c[j] -= q[j];
    }
}

static void a_layer_norm_hides_a_direction(void **state) {
    wt_context *context = *state;
    const wt_layer_form form = {.bias = true, .norm = WT_LAYER_NORM_LAYER, .epsilon = 1e-5};
    wt_layer *a = of_form(context, &form, 1), *b = of_form(context, &form, 1);
    wt_comparison all = WT_SIZED(wt_comparison);
    const double ones[D] = {1, 1, 1, 1};
    add_invisible(b, ones, false, 5);
    CHECK_OK(context, compare_layers(context, a, b, NULL, &all));
    check_same_heads(&all);
    assert_int_equal(all.dim, D);
    assert_int_equal(all.rank, D - 1);
    assert_true(!all.off_origin && isnan(all.data_output));
    for (size_t i = 0; i < WT_COMPARE_LENGTHS; i++)
        assert_true(all.distance[i] < 1e-13);
    wt_comparison_free(&all);
    /* what is seen is still seen */
    b->theta[1] += 0.1;
    CHECK_OK(context, compare_layers(context, a, b, NULL, &all));
    assert_true(all.theta_error > 0.01);
    wt_comparison_free(&all);
    b->form.norm = WT_LAYER_NORM_RMS;
    CHECK_OK(context, compare_layers(context, a, b, NULL, &all));
    assert_int_equal(all.rank, D);
    wt_comparison_free(&all);
    wt_layer_free(a);
    wt_layer_free(b);
}

/* Tokens on <normal, x> = 1, in sequences of 2 to 5, with rubbish past their ends. */
static wt_sequences *on_plane(wt_context *context, const double *normal) {
    enum { N = 12, K = 5 };
    wt_sequences *data;
    size_t lengths[N];
    CHECK_OK(context, wt_sequences_new(context, N, K, D, 0, &data));
    wt_random_normal(wt_stream_for(1, "tokens", 0), 0, N * K * D, data->x);
    for (size_t s = 0; s < N; s++) {
        lengths[s] = 2 + s % 4;
        for (size_t a = 0; a < K; a++) {
            double *x = data->x + (s * K + a) * D, along = -1, square = 0;
            for (size_t j = 0; j < D; j++) {
                along += normal[j] * x[j];
                square += normal[j] * normal[j];
            }
            for (size_t j = 0; a < lengths[s] && j < D; j++)
                x[j] -= along / square * normal[j];
        }
    }
    CHECK_OK(context, wt_sequences_set_lengths(context, data, lengths));
    return data;
}

static void data_on_a_plane_hides_its_offset(void **state) {
    wt_context *context = *state;
    const wt_layer_form form = {.bias = true};
    wt_layer *a = of_form(context, &form, 1), *b = of_form(context, &form, 1);
    wt_comparison all = WT_SIZED(wt_comparison);
    const double normal[D] = {0.5, -1, 2, 0.25};
    wt_sequences *data = on_plane(context, normal);
    add_invisible(b, normal, true, 6);
    CHECK_OK(context, compare_layers(context, a, b, NULL, &all));
    assert_true(all.theta_error > 0.1 && all.distance[0] > 0.1);
    wt_comparison_free(&all);
    CHECK_OK(context, compare_layers(context, a, b, data, &all));
    check_same_heads(&all);
    assert_int_equal(all.rank, D - 1);
    assert_true(all.off_origin && all.data_output > 0.1 && all.data_difference < 1e-12);
    wt_comparison_free(&all);
    b->w[0] += 0.1;
    CHECK_OK(context, compare_layers(context, a, b, data, &all));
    assert_true(all.w_error > 1e-3 && all.data_difference > 1e-3);
    wt_comparison_free(&all);
    CHECK_FAILS(
        context,
        compare_layers(context, a, b, &(wt_sequences){.samples = 1, .length = 1, .dim = 2}, &all),
        WT_DATA, "2 dimensions");
    wt_sequences_free(data);
    wt_layer_free(a);
    wt_layer_free(b);
}

/* The least sum over all ways to place rows in columns, by trying them. */
static double least(size_t row, size_t rows, size_t columns, const double *cost, unsigned taken) {
    double best = INFINITY;
    if (row == rows)
        return 0;
    for (size_t j = 0; j < columns; j++)
        if (!(taken >> j & 1))
            best = fmin(best, cost[row * columns + j] +
                                  least(row + 1, rows, columns, cost, taken | 1u << j));
    return best;
}

static void assignments_are_the_best(void **state) {
    wt_context *context = *state;
    for (uint64_t trial = 0; trial < 200; trial++) {
        size_t rows = 1 + trial % 6, columns = rows + trial / 6 % 2, column[6];
        double cost[42], sum = 0;
        unsigned taken = 0;
        wt_random_normal(wt_stream_for(trial, "cost", 0), 0, rows * columns, cost);
        CHECK_OK(context, wt_assignment(context, rows, columns, cost, column));
        for (size_t i = 0; i < rows; i++) {
            assert_false(taken >> column[i] & 1);
            taken |= 1u << column[i];
            sum += cost[i * columns + column[i]];
        }
        CHECK_NEAR(sum, least(0, rows, columns, cost, 0), 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_duplicates_do_not_count),
        cmocka_unit_test(heads_left_over_are_told),
        cmocka_unit_test(biases_of_zero_are_none),
        cmocka_unit_test(a_layer_norm_hides_a_direction),
        cmocka_unit_test(data_on_a_plane_hides_its_offset),
        cmocka_unit_test(assignments_are_the_best),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
