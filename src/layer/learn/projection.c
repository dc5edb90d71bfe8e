#include "layer/learn/projection.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "layer/task/vector.h"
#include "linalg/linalg.h"

wt_status wt_projection_new(wt_context *context, const wt_rows *rows, size_t heads,
                            wt_projection *out) {
    return wt_projection_new_grouped(context, rows, heads, 0, 0, out);
}

size_t wt_projection_group(const wt_projection *projection, size_t head) {
    return head / (projection->heads / projection->groups);
}

size_t wt_projection_shared(const wt_projection *projection) {
    return projection->groups * projection->rows->in.dim * projection->values;
}

static void take_room(wt_arena *arena, wt_projection *out) {
    size_t R = out->rows->rows, p = out->rows->outputs, n = out->spanned;
    size_t thetas = out->asked * out->width;
    out->theta = WT_TAKE(arena, double, thetas + wt_projection_shared(out));
    out->plain = WT_TAKE(arena, double, out->asked, out->width);
    out->h = out->narrow = WT_TAKE(arena, double, R, out->columns);
    out->qt = WT_TAKE(arena, double, R, n);
    out->first = WT_TAKE(arena, double, n, n);
    out->again = WT_TAKE(arena, double, n, n);
    out->third = WT_TAKE(arena, double, n, n);
    out->w = out->o = WT_TAKE(arena, double, out->columns, p);
    out->spare = WT_TAKE(arena, double, n, p);
    out->e = WT_TAKE(arena, double, R, p);
    out->starts = WT_TAKE(arena, size_t, out->rows->in.sequences + 1);
    if (out->groups == 0 || arena->status != WT_OK)
        return;
    out->v = out->theta + thetas;
    out->narrow = WT_TAKE(arena, double, R, n);
    out->o = WT_TAKE(arena, double, n, p);
}

wt_projection wt_projection_form(const wt_rows *rows, size_t heads, size_t groups, size_t values) {
    size_t columns = wt_attention_columns(&rows->in, heads), width = heads * rows->in.dim;
    return (wt_projection){.rows = rows,
                           .heads = heads,
                           .asked = wt_attention_query_dim(&rows->in),
                           .width = width,
                           .columns = columns,
                           .groups = groups,
                           .values = values,
                           .spanned = groups == 0 ? columns : heads * values + columns - width};
}

wt_status wt_projection_new_grouped(wt_context *context, const wt_rows *rows, size_t heads,
                                    size_t groups, size_t values, wt_projection *out) {
    wt_arena *arena = &out->arena;
    wt_status status;
    *out = wt_projection_form(rows, heads, groups, values);
    out->arena = wt_arena_start(context, "attended tokens and their basis");
    take_room(arena, out);
    WT_TRY(arena->status);
    out->weights =
        WT_TAKE(arena, double, wt_attention_weight_starts(&rows->in, out->starts), heads);
    WT_TRY(arena->status);
done:
    if (status != WT_OK)
        wt_projection_free(out);
    return status;
}

void wt_projection_free(wt_projection *projection) {
    wt_arena_free(&projection->arena);
    *projection = (wt_projection){0};
}

void wt_theta_pack(size_t heads, size_t asked, size_t dim, const double *plain, double *packed) {
    for (size_t i = 0; i < heads; i++)
        for (size_t u = 0; u < asked; u++)
            memcpy(packed + (u * heads + i) * dim, plain + (i * asked + u) * dim,
                   dim * sizeof *plain);
}

void wt_theta_unpack(size_t heads, size_t asked, size_t dim, const double *packed, double *plain) {
    for (size_t i = 0; i < heads; i++)
        for (size_t u = 0; u < asked; u++)
            memcpy(plain + (i * asked + u) * dim, packed + (u * heads + i) * dim,
                   dim * sizeof *plain);
}

static void transpose(size_t rows, size_t columns, const double *a, double *out) {
    enum { BLOCK = 32 };
    for (size_t i = 0; i < rows; i += BLOCK)
        for (size_t j = 0; j < columns; j += BLOCK)
            for (size_t r = i; r < rows && r < i + BLOCK; r++)
                for (size_t c = j; c < columns && c < j + BLOCK; c++)
                    out[c * rows + r] = a[r * columns + c];
}

/* A row of Q^T of this square length or less after the first pass is what rounding left of a column
 * of H that the columns before it span: they are equal to 1.5e-8 sqrt(NOTHING) of |H|. */
#define NOTHING 1e-12
/* Sums of squares below this lose digits to underflow. */
#define TINY 1e-280
/* Passes, and shifts of one, after which a basis is given up. */
enum { MOST_PASSES = 6, MOST_SHIFTS = 12 };

/* Diagonals of a Cholesky factor no further apart than this: H is well conditioned, so that one
 * pass leaves Q^T Q - I of rounding times the square of that. */
#define EVEN 1e-3

static double trace_of(size_t n, const double *gram) {
    double trace = 0;
    for (size_t i = 0; i < n; i++)
        trace += gram[i * n + i];
    return trace;
}

/* Rows of Q^T that stand for no direction of H are dropped; they count as of length 1. */
static void drop_directions(wt_projection *at, double *gram) {
    size_t n = at->spanned, R = at->rows->rows;
    for (size_t i = 0; i < n; i++) {
        if (gram[i * n + i] > NOTHING)
            continue;
        memset(at->qt + i * R, 0, R * sizeof *at->qt);
        for (size_t j = 0; j < i; j++)
            gram[i * n + j] = 0;
        for (size_t j = i + 1; j < n; j++)
            gram[j * n + i] = 0;
        gram[i * n + i] = 1;
    }
}

/* Whether Q^T has orthonormal rows after a plain pass. After a shifted one Q^T Q is below the
 * identity, so that its trace bounds its least eigenvalue from below, by 1/2 here: then rounding in
 * a plain pass is not amplified. */
static bool near_orthonormal(size_t n, double trace) {
    return (double)n - trace <= 0.5;
}

/* One pass: Q^T = L^-1 Q^T with L L^T its Gram matrix, to which a multiple of the identity is added
 * as long as that may be singular to working precision: rounding of its trace, and more where the
 * factor still breaks off. *last when Q^T is orthonormal then; *found = false where numbers are not
 * finite or no shift helps. */
static wt_status orthonormalise(wt_context *context, wt_projection *at, bool first, double *factor,
                                bool *last, bool *found) {
    size_t n = at->spanned, R = at->rows->rows, failed = 1;
    double shift = 0;
    *last = *found = false;
    for (size_t try = 0; try < MOST_SHIFTS && failed != 0; try++) {
        WT_PASS(wt_gram(context, WT_PLAIN, n, R, at->qt, R, 0, factor, n));
        if (!first)
            drop_directions(at, factor);
        double trace = trace_of(n, factor);
        if (!isfinite(trace))
            return WT_OK;
        *last = try == 0 && !first && near_orthonormal(n, trace);
        if (!*last)
            shift = fmax(16 * shift, DBL_EPSILON * (trace > TINY ? trace : 1));
        for (size_t i = 0; i < n && !*last; i++)
            factor[i * n + i] += shift;
        WT_PASS(wt_cholesky(context, n, factor, n, &failed));
    }
    *found = failed == 0;
    if (*found)
        WT_PASS(wt_solve_lower(context, WT_PLAIN, n, R, factor, n, at->qt, R));
    return WT_OK;
}

/* L = L M of lower triangles; row (n). */
static void multiply_lower(size_t n, double *l, const double *m, double *row) {
    for (size_t i = 0; i < n; i++) {
        memset(row, 0, (i + 1) * sizeof *row);
        for (size_t k = 0; k <= i; k++)
            for (size_t j = 0; j <= k; j++)
                row[j] += l[i * n + k] * m[k * n + j];
        memcpy(l + i * n, row, (i + 1) * sizeof *row);
    }
}

/* The pass that will do where H is well conditioned: H = Q L^T with L = first; *found = false, and
 * Q^T still H^T, where it is not. */
static wt_status find_basis_quickly(wt_context *context, wt_projection *at, bool *found) {
    size_t n = at->spanned, R = at->rows->rows, failed;
    double least = INFINITY, most = 0;
    *found = false;
    WT_PASS(wt_gram(context, WT_PLAIN, n, R, at->qt, R, 0, at->first, n));
    if (!isfinite(trace_of(n, at->first)))
        return WT_OK;
    WT_PASS(wt_cholesky(context, n, at->first, n, &failed));
    for (size_t i = 0; i < n && failed == 0; i++) {
        least = fmin(least, at->first[i * n + i]);
        most = fmax(most, at->first[i * n + i]);
    }
    *found = failed == 0 && least > EVEN * most;
    if (!*found)
        return WT_OK;
    memset(at->again, 0, n * n * sizeof *at->again);
    for (size_t i = 0; i < n; i++)
        at->again[i * n + i] = 1;
    return wt_solve_lower(context, WT_PLAIN, n, R, at->first, n, at->qt, R);
}

/* H = Q L^T: Cholesky QR in two passes where H is well conditioned, in three where it is not, and
 * in more where it is singular but for rounding (shifted Cholesky QR: Fukaya, Kannan, Nakatsukasa,
 * Yamamoto and Yanagisawa, SIAM J. Sci. Comput. 42, 2020). */
static wt_status find_basis(wt_context *context, wt_projection *at, bool *found) {
    size_t n = at->spanned, R = at->rows->rows;
    bool last;
    transpose(R, n, at->narrow, at->qt);
    if (at->quick) {
        WT_PASS(find_basis_quickly(context, at, found));
        if (*found)
            return WT_OK;
    }
    WT_PASS(orthonormalise(context, at, true, at->first, &last, found));
    for (size_t pass = 1; *found && !last; pass++) {
        WT_PASS(
            orthonormalise(context, at, false, pass == 1 ? at->again : at->third, &last, found));
        if (pass > 1)
            multiply_lower(n, at->again, at->third, at->spare);
        *found = *found && (last || pass + 1 < MOST_PASSES);
    }
    return WT_OK;
}

static bool all_finite(size_t count, const double *numbers) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += numbers[i] - numbers[i]; /* 0, or NaN */
    return sum == 0;
}

/* O += N^+ (what is in e), e = Y - N O; *found = false where they are not finite. */
static wt_status correct(wt_context *context, wt_projection *at, bool *found) {
    size_t n = at->spanned, R = at->rows->rows, p = at->rows->outputs;
    WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, n, p, R, 1, at->qt, R, at->e, p, 0, at->spare, p));
    WT_PASS(wt_solve_lower(context, WT_TRANSPOSED, n, p, at->again, n, at->spare, p));
    WT_PASS(wt_solve_lower(context, WT_TRANSPOSED, n, p, at->first, n, at->spare, p));
    for (size_t i = 0; i < n * p; i++)
        at->o[i] += at->spare[i];
    memcpy(at->e, at->rows->y, R * p * sizeof *at->e);
    *found = all_finite(n * p, at->o);
    if (!*found)
        return WT_OK;
    WT_PASS(
        wt_gemm(context, WT_PLAIN, WT_PLAIN, R, p, n, -1, at->narrow, n, at->o, p, 1, at->e, p));
    *found = all_finite(R * p, at->e);
    return WT_OK;
}

/* N = [H_i V_g], and the ones of the biases. */
static wt_status narrow(wt_context *context, wt_projection *at) {
    size_t d = at->rows->in.dim, v = at->values, n = at->spanned, R = at->rows->rows;
    if (at->groups == 0)
        return WT_OK;
    for (size_t i = 0; i < at->heads; i++)
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, R, v, d, 1, at->h + i * d, at->columns,
                        at->v + wt_projection_group(at, i) * d * v, v, 0, at->narrow + i * v, n));
    for (size_t r = 0; r < R && n > at->heads * v; r++)
        at->narrow[r * n + n - 1] = 1;
    return WT_OK;
}

/* W = [V_g O_i], and the sum of the biases. */
static wt_status widen(wt_context *context, wt_projection *at) {
    size_t d = at->rows->in.dim, v = at->values, p = at->rows->outputs;
    if (at->groups == 0)
        return WT_OK;
    for (size_t i = 0; i < at->heads; i++)
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, d, p, v, 1,
                        at->v + wt_projection_group(at, i) * d * v, v, at->o + i * v * p, p, 0,
                        at->w + i * d * p, p));
    memcpy(at->w + at->width * p, at->o + at->heads * v * p,
           (at->columns - at->width) * p * sizeof *at->w);
    return WT_OK;
}

wt_status wt_projection_evaluate(wt_context *context, wt_projection *at) {
    size_t n = at->columns, R = at->rows->rows, p = at->rows->outputs;
    bool found;
    at->error = INFINITY;
    memset(at->o, 0, at->spanned * p * sizeof *at->o);
    memcpy(at->e, at->rows->y, R * p * sizeof *at->e);
    wt_theta_unpack(at->heads, at->asked, at->rows->in.dim, at->theta, at->plain);
    WT_PASS(wt_attention_run(context, &at->rows->in, at->heads, at->plain, at->weights, at->h));
    found = all_finite(R * n, at->h);
    if (found) {
        WT_PASS(narrow(context, at));
        WT_PASS(find_basis(context, at, &found));
    }
    for (int i = 0; i < 2 && found; i++)
        WT_PASS(correct(context, at, &found));
    if (!found) {
        memset(at->o, 0, at->spanned * p * sizeof *at->o);
        memcpy(at->e, at->rows->y, R * p * sizeof *at->e);
        return widen(context, at);
    }
    at->error = sqrt(wt_vector_squares(R * p, at->e)) / at->rows->norm;
    return widen(context, at);
}
