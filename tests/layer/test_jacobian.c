/* The derivative formulas: against finite differences, against each other, in float. */
#include "layer/learn/jacobian.h"

#include "base/memory.h"
#include "check.h"
#include "layer/layers.h"
#include "layer/learn/blocks.h"
#include "layer/learn/normal_matrix.h"
#include "layer/learn/tangent.h"
#include "wattle/random.h"

enum { HEADS = 2, DIM = 3, OUTPUTS = 4, LENGTH = 5, SAMPLES = 9 };
/* The most there may be: with biases. */
enum { SIDE = HEADS * (DIM + 1) * DIM, COLUMNS = HEADS * DIM + 1 };

/* Whole sequences; last rows of mixed lengths; all rows of mixed lengths of a causal layer with
 * biases. */
typedef enum { WHOLE, PICKED, FORMED, KINDS } kind;

typedef struct {
    wt_sequences *data;
    wt_rows rows;
    wt_projection at;
} setting;

/* The one of the picked sequences that no row is known of. */
enum { NO_ROWS = 3 };
static size_t lengths[SAMPLES] = {5, 2, 3, 5, 4, 5, 1, 5, 2};

static size_t side_of(const setting *all) {
    return all->at.asked * all->at.width;
}

/* A layer's data, and a projection away from the layer. */
static void open_setting(wt_context *context, kind of, setting *out) {
    wt_recover_options options;
    WT_INIT(wt_recover_options, &options);
    wt_layer *layer;
    options.bias = of == FORMED;
    options.mask = of == FORMED ? WT_LAYER_MASK_CAUSAL : WT_LAYER_MASK_NONE;
    CHECK_OK(context, make_teacher(context, HEADS, DIM, OUTPUTS, 1, 0, 1, &layer));
    CHECK_OK(context, wt_sequences_new(context, SAMPLES, LENGTH, DIM, OUTPUTS, &out->data));
    CHECK_OK(context, wt_layer_draw(context, layer, WT_LAW_GAUSSIAN, 1, 0.1, 2, 0, out->data));
    for (size_t i = 0; of == PICKED && i < SAMPLES * LENGTH; i++)
        if (i % LENGTH + 1 != lengths[i / LENGTH] || i / LENGTH == NO_ROWS)
            out->data->y[i * OUTPUTS] = NAN;
    if (of != WHOLE)
        CHECK_OK(context, wt_sequences_set_lengths(context, out->data, lengths));
    if (of == PICKED)
        CHECK_OK(context, wt_sequences_set_missing(context, out->data));
    CHECK_OK(context, wt_rows_make(context, out->data, &options, 0, SAMPLES, &out->rows));
    CHECK_OK(context, wt_projection_new(context, &out->rows, HEADS, &out->at));
    wt_random_normal(wt_stream_for(3, "theta", 0), 0, side_of(out), out->at.theta);
    CHECK_OK(context, wt_projection_evaluate(context, &out->at));
    wt_layer_free(layer);
}

static void close_setting(setting *all) {
    wt_projection_free(&all->at);
    wt_rows_free(&all->rows);
    wt_sequences_free(all->data);
}

/* H W at a Theta, with W held fast. */
static void outputs_at(wt_context *context, const setting *all, const double *theta, double *out) {
    double plain[SIDE], *h;
    size_t R = all->rows.rows, columns = all->at.columns;
    CHECK_OK(context, WT_NEW(context, &h, R * columns, "h"));
    wt_theta_unpack(HEADS, all->at.asked, DIM, theta, plain);
    CHECK_OK(context, wt_attention_run(context, &all->rows.in, HEADS, plain, NULL, h));
    for (size_t r = 0; r < R; r++)
        for (size_t o = 0; o < OUTPUTS; o++) {
            out[r * OUTPUTS + o] = 0;
            for (size_t c = 0; c < columns; c++)
                out[r * OUTPUTS + o] += h[r * columns + c] * all->at.w[c * OUTPUTS + o];
        }
    wt_release(h);
}

/* y -= Q Q^T y, as it stands. */
static void project(const setting *all, double *y) {
    size_t R = all->rows.rows;
    for (size_t c = 0; c < all->at.columns; c++)
        for (size_t o = 0; o < OUTPUTS; o++) {
            const double *q = all->at.qt + c * R;
            double part = 0;
            for (size_t r = 0; r < R; r++)
                part += q[r] * y[r * OUTPUTS + o];
            for (size_t r = 0; r < R; r++)
                y[r * OUTPUTS + o] -= q[r] * part;
        }
}

/* Central differences with step 1e-5 err by the third derivative times 1e-10. */
static void products_are_derivatives(void **state) {
    wt_context *context = *state;
    for (kind of = WHOLE; of < KINDS; of++) {
        setting all;
        wt_jacobian jacobian;
        double direction[SIDE], theta[SIDE];
        double up[SAMPLES * LENGTH * OUTPUTS] = {0}, down[SAMPLES * LENGTH * OUTPUTS] = {0};
        open_setting(context, of, &all);
        size_t side = side_of(&all);
        CHECK_OK(context, wt_jacobian_new(context, &all.at, &jacobian));
        wt_random_normal(wt_stream_for(4, "direction", 0), 0, side, direction);
        CHECK_OK(context, wt_jacobian_apply(context, &jacobian, direction));
        size_t count = all.rows.rows * OUTPUTS;
        for (int sign = -1; sign <= 1; sign += 2) {
            for (size_t i = 0; i < side; i++)
                theta[i] = all.at.theta[i] + sign * 1e-5 * direction[i];
            outputs_at(context, &all, theta, sign > 0 ? up : down);
        }
        for (size_t i = 0; i < count; i++)
            up[i] = (up[i] - down[i]) / 2e-5;
        project(&all, up);
        for (size_t i = 0; i < count; i++)
            CHECK_NEAR(jacobian.out[i], up[i], 1e-7);
        wt_jacobian_free(&jacobian);
        close_setting(&all);
    }
}

/* <P J D, E> = <D, J^T P E>, and the residual E is free of Q already. */
static void the_transpose_is_the_transpose(void **state) {
    wt_context *context = *state;
    setting all;
    wt_jacobian jacobian;
    double direction[SIDE], gradient[SIDE], left = 0, right = 0;
    open_setting(context, FORMED, &all);
    size_t side = side_of(&all);
    CHECK_OK(context, wt_jacobian_new(context, &all.at, &jacobian));
    wt_random_normal(wt_stream_for(4, "direction", 0), 0, side, direction);
    CHECK_OK(context, wt_jacobian_apply(context, &jacobian, direction));
    for (size_t i = 0; i < all.rows.rows * OUTPUTS; i++)
        left += jacobian.out[i] * all.at.e[i];
    CHECK_OK(context, wt_jacobian_transposed(context, &jacobian, all.at.e, gradient));
    for (size_t i = 0; i < side; i++)
        right += direction[i] * gradient[i];
    assert_true(fabs(left) > 1e-3);
    CHECK_NEAR(left, right, 1e-12);
    wt_jacobian_free(&jacobian);
    close_setting(&all);
}

/* Column i of the formed matrix is J^T P J e_i; float products agree to float rounding. */
static void the_normal_matrix_is_the_product(void **state) {
    wt_context *context = *state;
    for (kind of = WHOLE; of < KINDS; of++) {
        setting all;
        wt_jacobian jacobian;
        wt_jacobian_float narrow;
        double normal[SIDE * SIDE], direction[SIDE], column[SIDE];
        float narrow_direction[SIDE], narrow_column[SIDE];
        open_setting(context, of, &all);
        size_t side = side_of(&all);
        CHECK_OK(context, wt_jacobian_new(context, &all.at, &jacobian));
        CHECK_OK(context, wt_jacobian_float_new(context, &all.at, &narrow));
        wt_jacobian_float_load(&narrow, &all.at);
        CHECK_OK(context, wt_normal_form(context, &all.at, normal));
        for (size_t i = 0; i < side; i++) {
            for (size_t j = 0; j < side; j++)
                narrow_direction[j] = (float)(direction[j] = i == j);
            CHECK_OK(context, wt_jacobian_apply(context, &jacobian, direction));
            CHECK_OK(context, wt_jacobian_transposed(context, &jacobian, jacobian.out, column));
            CHECK_OK(context, wt_jacobian_float_apply(context, &narrow, narrow_direction));
            CHECK_OK(context,
                     wt_jacobian_float_transposed(context, &narrow, narrow.out, narrow_column));
            for (size_t j = i; j < side; j++) {
                CHECK_NEAR(normal[j * side + i], column[j], 1e-11);
                CHECK_NEAR((double)narrow_column[j], column[j], 1e-4);
            }
        }
        wt_jacobian_free(&jacobian);
        wt_jacobian_float_free(&narrow);
        close_setting(&all);
    }
}

/* out (e, m d) packed: dA B^T + A dB^T of all heads, and the direction of V behind it. */
static void push(const wt_factors *at, const double *direction, double *out) {
    size_t e = at->asked, d = at->dim, r = at->rank;
    for (size_t i = 0; i < HEADS; i++)
        for (size_t u = 0; u < e; u++)
            for (size_t v = 0; v < d; v++) {
                size_t a = wt_factors_a(at, i) + u * r, b = wt_factors_b(at, i) + v * r;
                double sum = 0;
                for (size_t c = 0; c < r; c++)
                    sum += direction[a + c] * at->now[b + c] + at->now[a + c] * direction[b + c];
                out[(u * HEADS + i) * d + v] = sum;
            }
    for (size_t i = 0; i < at->shared; i++)
        out[HEADS * e * d + i] = direction[at->factors + i];
}

/* Products by factors are those by Theta with the derivative of A B^T before and after, to float
 * rounding: of heads alone, and of two that share keys and values. A sequence without known rows
 * has keys all the same. */
static void products_by_factors_are_the_same(void **state) {
    wt_context *context = *state;
    for (size_t i = 0; i < (size_t)2 * KINDS; i++) {
        enum { RANK = 2, MOST = HEADS * (2 * DIM + 1) * RANK + DIM * RANK };
        kind of = (kind)(i / 2);
        setting all;
        wt_projection at;
        wt_jacobian jacobian;
        wt_factors factors;
        wt_tangent tangent;
        double direction[MOST], product[MOST], expected[MOST], wide[SIDE + DIM * RANK];
        open_setting(context, of, &all);
        CHECK_OK(context, wt_projection_new_grouped(context, &all.rows, HEADS, i % 2, RANK, &at));
        wt_random_normal(wt_stream_for(3, "theta", 0), 0, side_of(&all) + wt_projection_shared(&at),
                         at.theta);
        CHECK_OK(context, wt_factors_new(context, &at, RANK, &factors));
        CHECK_OK(context, wt_factors_find(context, &factors, at.theta));
        CHECK_OK(context, wt_factors_multiply(context, &factors, factors.now, at.theta));
        CHECK_OK(context, wt_projection_evaluate(context, &at));
        CHECK_OK(context, wt_jacobian_new(context, &at, &jacobian));
        CHECK_OK(context, wt_tangent_new(context, &at, &factors, NULL, &tangent));
        CHECK_OK(context, wt_tangent_load(context, &tangent, &at));
        wt_random_normal(wt_stream_for(5, "direction", 0), 0, factors.count, direction);
        push(&factors, direction, wide);
        CHECK_OK(context, wt_jacobian_apply(context, &jacobian, wide));
        CHECK_OK(context, wt_jacobian_transposed(context, &jacobian, jacobian.out, wide));
        CHECK_OK(context, wt_factors_pull(context, &factors, wide, expected));
        CHECK_OK(context, wt_tangent_multiply(context, &tangent, direction, product));
        for (size_t j = 0; j < factors.count; j++)
            CHECK_NEAR(product[j], expected[j], 1e-3);
        assert_true(fabs(expected[0]) > 1e-2 && fabs(expected[factors.count - 1]) > 1e-3);
        wt_tangent_free(&tangent);
        wt_factors_free(&factors);
        wt_jacobian_free(&jacobian);
        wt_projection_free(&at);
        close_setting(&all);
    }
}

/* The random signs of so many rows. */
static void signs_of(size_t row, size_t rows, double *out) {
    wt_random_sign(wt_stream_for(0, "curvature", 0), row * OUTPUTS, rows * OUTPUTS, out);
}

/* out (d): C_ri W_i z_r by its sums. */
static void turned_row(const wt_projection *at, size_t s, size_t row, size_t head, double *out) {
    const wt_attention *in = &at->rows->in;
    size_t first = wt_attention_row(in, s), rows = wt_attention_row(in, s + 1) - first;
    size_t key = wt_attention_key(in, s), keys = wt_attention_key(in, s + 1) - key;
    const double *a = at->weights + at->heads * at->starts[s] + (head * rows + row - first) * keys;
    double z[OUTPUTS];
    signs_of(row, 1, z);
    for (size_t u = 0; u < DIM; u++)
        out[u] = 0;
    for (size_t b = 0; b < keys; b++) {
        double value = 0;
        for (size_t v = 0; v < DIM; v++)
            for (size_t o = 0; o < OUTPUTS; o++)
                value +=
                    (in->key[(key + b) * DIM + v] - at->h[row * at->columns + head * DIM + v]) *
                    at->w[(head * DIM + v) * OUTPUTS + o] * z[o];
        for (size_t u = 0; u < DIM; u++)
            out[u] += a[b] * value *
                      (in->key[(key + b) * DIM + u] - at->h[row * at->columns + head * DIM + u]);
    }
}

/* K (d, d) of a head. */
static void known_of(const wt_projection *at, size_t head, double *out) {
    const wt_rows *rows = at->rows;
    memset(out, 0, (size_t)DIM * DIM * sizeof *out);
    for (size_t r = 0; r < rows->rows; r++) {
        double turned[DIM];
        turned_row(at, rows->sequence_of[r], r, head, turned);
        for (size_t i = 0; i < (size_t)DIM * DIM; i++)
            out[i] += turned[i / DIM] * turned[i % DIM] / (double)rows->rows;
    }
}

/* a (n, n) += the part of its mean diagonal that a preconditioner adds; the trace then. */
static double widen(size_t n, double *a) {
    double trace = 0;
    for (size_t i = 0; i < n; i++)
        trace += a[i * n + i];
    for (size_t i = 0; i < n; i++)
        a[i * n + i] += 1e-4 * trace / (double)n;
    return (1 + 1e-4) * trace;
}

/* out (c, c) = X^T M X, X (n, c). */
static void seen_by(size_t n, size_t c, const double *m, const double *x, double *out) {
    for (size_t i = 0; i < c * c; i++) {
        out[i] = 0;
        for (size_t u = 0; u < n; u++)
            for (size_t v = 0; v < n; v++)
                out[i] += x[u * c + i / c] * m[u * n + v] * x[v * c + i % c];
    }
}

/* y = L X R of symmetric matrices, L (n, n), R (c, c). */
static void between(size_t n, size_t c, const double *l, const double *x, const double *r,
                    double *y) {
    for (size_t i = 0; i < n * c; i++) {
        y[i] = 0;
        for (size_t u = 0; u < n; u++)
            for (size_t v = 0; v < c; v++)
                y[i] += l[i / c * n + u] * x[u * c + v] * r[v * c + i % c];
    }
}

/* What the preconditioner solves is the system of blocks that their definition makes, by sums over
 * rows: to float rounding of K and what the solve makes of it. */
static void blocks_are_their_definition(void **state) {
    wt_context *context = *state;
    enum { RANK = 2, MOST = HEADS * (2 * DIM + 1) * RANK };
    for (kind of = WHOLE; of < KINDS; of++) {
        setting all;
        wt_factors factors;
        wt_tangent tangent;
        wt_blocks blocks;
        double asked[(DIM + 1) * (DIM + 1)] = {0}, signs[SAMPLES * LENGTH * OUTPUTS], mean = 0.7;
        double x[MOST], found[MOST], back[MOST], spare[2 * (DIM + 1) * RANK];
        double known[HEADS][DIM * DIM], a[HEADS][RANK * RANK], b[HEADS][RANK * RANK], total = 0;
        open_setting(context, of, &all);
        size_t e = all.at.asked;
        CHECK_OK(context, wt_factors_new(context, &all.at, RANK, &factors));
        CHECK_OK(context, wt_factors_find(context, &factors, all.at.theta));
        CHECK_OK(context, wt_factors_multiply(context, &factors, factors.now, all.at.theta));
        CHECK_OK(context, wt_projection_evaluate(context, &all.at));
        signs_of(0, all.rows.rows, signs);
        CHECK_OK(context, wt_tangent_new(context, &all.at, &factors, signs, &tangent));
        CHECK_OK(context, wt_tangent_load(context, &tangent, &all.at));
        CHECK_OK(context, wt_blocks_new(context, &factors, &all.rows, &blocks));
        CHECK_OK(context, wt_tangent_curvature(context, &tangent, blocks.sums.known));
        CHECK_OK(context, wt_blocks_make(context, &blocks, mean));
        for (size_t r = 0; r < all.rows.rows; r++)
            for (size_t i = 0; i < e * e; i++)
                asked[i] += all.rows.in.query[r * e + i / e] * all.rows.in.query[r * e + i % e];
        double tokens = widen(e, asked);
        for (size_t i = 0; i < HEADS; i++) {
            known_of(&all.at, i, known[i]);
            seen_by(DIM, RANK, known[i], factors.now + wt_factors_b(&factors, i), a[i]);
            seen_by(e, RANK, asked, factors.now + wt_factors_a(&factors, i), b[i]);
            total += tokens * widen(RANK, a[i]) + widen(DIM, known[i]) * widen(RANK, b[i]);
        }
        double shift = 0.1, size = mean * (double)factors.count / total;
        wt_random_normal(wt_stream_for(5, "direction", 0), 0, factors.count, x);
        CHECK_OK(context, wt_blocks_solve(context, &blocks.made, &factors, shift, x, spare, found));
        for (size_t i = 0; i < HEADS; i++) {
            size_t at_a = wt_factors_a(&factors, i), at_b = wt_factors_b(&factors, i);
            between(e, RANK, asked, found + at_a, a[i], back + at_a);
            between(DIM, RANK, known[i], found + at_b, b[i], back + at_b);
        }
        for (size_t i = 0; i < factors.count; i++)
            CHECK_NEAR(size * back[i] + shift * found[i], x[i], 1e-5);
        wt_blocks_free(&blocks);
        wt_tangent_free(&tangent);
        wt_factors_free(&factors);
        close_setting(&all);
    }
}

static void projections_are_least_squares(void **state) {
    wt_context *context = *state;
    setting all;
    open_setting(context, WHOLE, &all);
    size_t R = all.rows.rows, columns = all.at.columns;
    /* H^T E = 0: no W does better */
    for (size_t c = 0; c < columns; c++)
        for (size_t o = 0; o < OUTPUTS; o++) {
            double sum = 0;
            for (size_t r = 0; r < R; r++)
                sum += all.at.h[r * columns + c] * all.at.e[r * OUTPUTS + o];
            CHECK_NEAR(sum, 0, 1e-12);
        }
    for (size_t a = 0; a < columns; a++)
        for (size_t b = 0; b < columns; b++) {
            double sum = 0;
            for (size_t r = 0; r < R; r++)
                sum += all.at.qt[a * R + r] * all.at.qt[b * R + r];
            CHECK_NEAR(sum, a == b, 1e-13);
        }
    /* equal heads make H singular: the error stays that of one head, and finite */
    for (size_t u = 0; u < DIM; u++)
        for (size_t v = 0; v < DIM; v++)
            all.at.theta[u * columns + DIM + v] = all.at.theta[u * columns + v];
    CHECK_OK(context, wt_projection_evaluate(context, &all.at));
    assert_true(isfinite(all.at.error) && all.at.error < 1);
    close_setting(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_derivatives),
        cmocka_unit_test(the_transpose_is_the_transpose),
        cmocka_unit_test(the_normal_matrix_is_the_product),
        cmocka_unit_test(products_by_factors_are_the_same),
        cmocka_unit_test(blocks_are_their_definition),
        cmocka_unit_test(projections_are_least_squares),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
