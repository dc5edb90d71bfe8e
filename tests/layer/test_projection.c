/* The basis of attended tokens where they are nearly or wholly dependent. */
#include "layer/learn/projection.h"

#include <stdlib.h>

#include "check.h"
#include "layer/layers.h"
#include "wattle/random.h"

enum { ROWS = 220, MOST = 80, OUTPUTS = 2 };

/* Columns of a (rows, n) made orthonormal, by two turns of Gram-Schmidt in long double. */
static void orthonormal(size_t rows, size_t n, long double *a) {
    for (size_t c = 0; c < n; c++) {
        for (size_t k = 0; k < 2 * c; k++) {
            long double part = 0;
            for (size_t r = 0; r < rows; r++)
                part += a[r * n + k % c] * a[r * n + c];
            for (size_t r = 0; r < rows; r++)
                a[r * n + c] -= part * a[r * n + k % c];
        }
        long double square = 0;
        for (size_t r = 0; r < rows; r++)
            square += a[r * n + c] * a[r * n + c];
        for (size_t r = 0; r < rows; r++)
            a[r * n + c] /= sqrtl(square);
    }
}

static long double *draw(size_t rows, size_t n, const char *purpose) {
    static double numbers[ROWS * MOST];
    long double *out = malloc(rows * n * sizeof *out);
    assert_non_null(out);
    wt_random_normal(wt_stream_for(5, purpose, 0), 0, rows * n, numbers);
    for (size_t i = 0; i < rows * n; i++)
        out[i] = numbers[i];
    orthonormal(rows, n, out);
    return out;
}

/* H = U S V^T with singular values from 1 down to 1/condition: the last columns hold little that is
 * not in those before them. */
static void graded(size_t n, double condition, long double *core) {
    long double *v = draw(n, n, "v");
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            core[i * n + j] =
                v[j * n + i] * powl(condition, -(long double)i / (long double)(n - 1));
    free(v);
}

/* Kahan's triangle: singular but for 1/condition, and no column of it says so. */
static void hidden(size_t n, double condition, long double *core) {
    /* the condition is about (1 + c)^(n-1) / s^(n-1) with s^2 + c^2 = 1 */
    long double low = 0, high = 1, c = 0;
    for (int i = 0; i < 60; i++) {
        c = (low + high) / 2;
        long double reached = powl((1 + c) / sqrtl(1 - c * c), (long double)(n - 1));
        *(reached < condition ? &low : &high) = c;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            core[i * n + j] = powl(1 - c * c, (long double)i / 2) * (j < i ? 0 : (j == i ? 1 : -c));
}

/* Orthogonal columns of unlike length. */
static void scaled(size_t n, double condition, long double *core) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            core[i * n + j] =
                i == j ? powl(condition, -(long double)(i * 7 % n) / (long double)(n - 1)) : 0;
}

static const struct {
    const char *name;
    void (*fill)(size_t n, double condition, long double *core);
    size_t columns;
} families[] = {{"graded", graded, 24}, {"hidden", hidden, MOST}, {"scaled", scaled, 16}};

/* Sequences of one token attend to themselves: H is what the tokens are. */
typedef struct {
    wt_sequences *data;
    wt_rows rows;
    wt_projection at;
} setting;

static void open_tokens(wt_context *context, size_t samples, size_t dim, setting *out) {
    CHECK_OK(context, wt_sequences_new(context, samples, 1, dim, OUTPUTS, &out->data));
    wt_random_normal(wt_stream_for(5, "y", 0), 0, samples * OUTPUTS, out->data->y);
}

static void evaluate_tokens(wt_context *context, setting *all) {
    wt_recover_options options;
    WT_INIT(wt_recover_options, &options);
    size_t dim = all->data->dim;
    CHECK_OK(context,
             wt_rows_make(context, all->data, &options, 0, all->data->samples, &all->rows));
    CHECK_OK(context, wt_projection_new(context, &all->rows, 1, &all->at));
    memset(all->at.theta, 0, dim * dim * sizeof *all->at.theta);
    CHECK_OK(context, wt_projection_evaluate(context, &all->at));
}

static void close_setting(setting *all) {
    wt_projection_free(&all->at);
    wt_rows_free(&all->rows);
    wt_sequences_free(all->data);
}

/* The largest |Q^T Q - I|, over rows of Q^T that were not dropped. */
static double skew(const wt_projection *at, size_t *dropped) {
    size_t n = at->columns, R = at->rows->rows;
    double most = 0;
    *dropped = 0;
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t r = 0; r < R; r++)
                sum += at->qt[i * R + r] * at->qt[j * R + r];
            square = i == j ? sum : square;
            most = fmax(most, i != j ? fabs(sum) : (sum == 0 ? 0 : fabs(sum - 1)));
        }
        *dropped += square == 0;
    }
    return most;
}

/* |A - Q Q^T A| / |A| of an A (R, columns). */
static double left_over(const wt_projection *at, size_t columns, const double *a) {
    size_t n = at->columns, R = at->rows->rows;
    double whole = 0, left = 0;
    double *rest = malloc(R * columns * sizeof *rest);
    assert_non_null(rest);
    memcpy(rest, a, R * columns * sizeof *rest);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < columns; c++) {
            const double *q = at->qt + i * R;
            double part = 0;
            for (size_t r = 0; r < R; r++)
                part += q[r] * rest[r * columns + c];
            for (size_t r = 0; r < R; r++)
                rest[r * columns + c] -= q[r] * part;
        }
    for (size_t i = 0; i < R * columns; i++) {
        whole += a[i] * a[i];
        left += rest[i] * rest[i];
    }
    free(rest);
    return sqrt(left / whole);
}

/* |Y - H H^+ Y| / |Y| by Householder reflections of (H, Y) in long double, with no column given up:
 * right to 1e-19 times the condition. */
static double reference_error(const wt_projection *at) {
    size_t n = at->columns, R = at->rows->rows, width = n + OUTPUTS;
    long double whole = 0, left = 0, *a = malloc(R * width * sizeof *a);
    assert_non_null(a);
    for (size_t r = 0; r < R; r++)
        for (size_t c = 0; c < width; c++)
            a[r * width + c] = c < n ? at->h[r * n + c] : at->rows->y[r * OUTPUTS + c - n];
    for (size_t k = 0; k < n; k++) {
        long double square = 0, product;
        for (size_t r = k; r < R; r++)
            square += a[r * width + k] * a[r * width + k];
        long double first = a[k * width + k], head = first + copysignl(sqrtl(square), first);
        long double norm = square - first * first + head * head;
        for (size_t c = k + 1; c < width; c++) {
            product = head * a[k * width + c];
            for (size_t r = k + 1; r < R; r++)
                product += a[r * width + k] * a[r * width + c];
            a[k * width + c] -= 2 * product / norm * head;
            for (size_t r = k + 1; r < R; r++)
                a[r * width + c] -= 2 * product / norm * a[r * width + k];
        }
    }
    for (size_t r = 0; r < R; r++)
        for (size_t c = 0; c < OUTPUTS; c++) {
            long double y = at->rows->y[r * OUTPUTS + c], e = a[r * width + n + c];
            whole += y * y;
            left += r < n ? 0 : e * e;
        }
    free(a);
    return (double)sqrtl(left / whole);
}

/* Tolerances: orthogonality and what Q leaves of H are n roundings, whatever the condition (a
 * factor of 8 covers the sums over rows). The direction of a column that is all but dependent is
 * known to rounding times the condition, and so is the error of the fit.
 */
static void ill_conditioned_tokens_have_a_basis(void **state) {
    wt_context *context = *state;
    static const double conditions[] = {1, 1e4, 1e8, 1e10, 1e12, 1e13, 1e14};
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (size_t k = 0; k < sizeof conditions / sizeof *conditions; k++) {
            size_t n = families[f].columns, dropped;
            double condition = conditions[k];
            setting all = {0};
            long double *u = draw(ROWS, n, "u"), core[MOST * MOST];
            open_tokens(context, ROWS, n, &all);
            families[f].fill(n, condition, core);
            for (size_t r = 0; r < ROWS; r++)
                for (size_t c = 0; c < n; c++) {
                    long double sum = 0;
                    for (size_t i = 0; i < n; i++)
                        sum += u[r * n + i] * core[i * n + c];
                    all.data->x[r * n + c] = (double)sum;
                }
            evaluate_tokens(context, &all);
            double few = 8 * (double)n * 2.2e-16, skewed = skew(&all.at, &dropped);
            double left = left_over(&all.at, n, all.at.h), wanted = reference_error(&all.at);
            if (!(skewed <= few && left <= few))
                fail_msg("%s, condition %g: Q is skew by %g and leaves %g of H, not %g (%zu "
                         "dropped)",
                         families[f].name, condition, skewed, left, few, dropped);
            if (!(fabs(all.at.error - wanted) <= fmax(1e-14, 2.2e-16 * condition)))
                fail_msg("%s, condition %g: error %.17g, not %.17g", families[f].name, condition,
                         all.at.error, wanted);
            free(u);
            close_setting(&all);
        }
}

/* Columns that are equal, 0, or sums of others to the last bit but one: what they add is nothing,
 * and the fit is that of the others. Entries are small whole numbers, so that sums are exact. */
static void dependent_tokens_have_a_basis(void **state) {
    wt_context *context = *state;
    enum { OTHERS = 5, COLUMNS = 10 };
    for (uint64_t seed = 0; seed < 20; seed++) {
        setting all = {0}, part = {0};
        size_t dropped;
        open_tokens(context, ROWS, COLUMNS, &all);
        open_tokens(context, ROWS, OTHERS, &part);
        double *x = part.data->x;
        wt_random_normal(wt_stream_for(seed, "x", 0), 0, ROWS * OTHERS, x);
        for (size_t i = 0; i < ROWS * OTHERS; i++)
            x[i] = round(8 * x[i]);
        for (size_t r = 0; r < ROWS; r++, x += OTHERS) {
            double row[COLUMNS] = {x[0], x[0],        0,    x[1], x[2],
                                   x[3], x[0] + x[3], x[4], x[3], x[1] * (1 + 2.3e-16)};
            memcpy(all.data->x + r * COLUMNS, row, sizeof row);
        }
        evaluate_tokens(context, &all);
        evaluate_tokens(context, &part);
        assert_true(skew(&all.at, &dropped) <= 8 * COLUMNS * 2.2e-16);
        assert_int_equal(dropped, COLUMNS - OTHERS);
        assert_true(left_over(&all.at, COLUMNS, all.at.h) <= 8 * COLUMNS * 2.2e-16);
        CHECK_NEAR(all.at.error, part.at.error, 1e-14);
        for (size_t i = 0; i < COLUMNS * OUTPUTS; i++)
            assert_true(fabs(all.at.w[i]) < 10);
        close_setting(&all);
        close_setting(&part);
    }
}

/* A key that comes twice is two equal keys: the same attended tokens, to rounding. */
static void keys_that_come_often_are_repeated_keys(void **state) {
    enum { D = 3, HEADS = 2, WIDE = 6 };
    static const double x[3 * D] = {1, -0.5, 0.25, 0.5, 2, -1, -1.5, 0.75, 1}, times[] = {2, 1, 3};
    static const size_t starts[] = {0, 3}, wide_starts[] = {0, WIDE}, rows[] = {0, 1};
    double wide[WIDE * D], theta[HEADS * D * D], h[HEADS * D], wide_h[HEADS * D], *to = wide;
    wt_attention in = {.sequences = 1,
                       .dim = D,
                       .key_start = starts,
                       .row_start = rows,
                       .key = x,
                       .query = x + 2 * D,
                       .times = times};
    wt_attention written_out = in;
    written_out.key_start = wide_starts;
    written_out.key = wide;
    written_out.times = NULL;
    wt_random_normal(wt_stream_for(3, "theta", 0), 0, HEADS * D * D, theta);
    for (size_t b = 0; b < 3; b++)
        for (double c = 0; c < times[b]; c++, to += D)
            memcpy(to, x + b * D, D * sizeof *to);
    CHECK_OK(*state, wt_attention_run(*state, &in, HEADS, theta, NULL, h));
    CHECK_OK(*state, wt_attention_run(*state, &written_out, HEADS, theta, NULL, wide_h));
    for (size_t i = 0; i < HEADS * D; i++)
        CHECK_NEAR(h[i], wide_h[i], 1e-14);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ill_conditioned_tokens_have_a_basis),
        cmocka_unit_test(dependent_tokens_have_a_basis),
        cmocka_unit_test(keys_that_come_often_are_repeated_keys),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
