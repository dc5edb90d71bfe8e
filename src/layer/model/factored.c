#include "layer/model/factored.h"

#include <float.h>
#include <math.h>

#include "linalg/linalg.h"

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t most(size_t a, size_t b) {
    return a > b ? a : b;
}

wt_factored wt_factored_new(wt_arena *arena, size_t rows, size_t columns, size_t width) {
    size_t left = least(rows, width), right = least(columns, width);
    return (wt_factored){.rows = rows,
                         .columns = columns,
                         .width = width,
                         .left = left,
                         .right = right,
                         .a = WT_TAKE(arena, double, rows, width),
                         .b = WT_TAKE(arena, double, columns, width),
                         .u_a = WT_TAKE(arena, double, rows, left),
                         .u_b = WT_TAKE(arena, double, columns, right),
                         .core = WT_TAKE(arena, double, left, right),
                         .singular = WT_TAKE(arena, double, least(left, right)),
                         .room = WT_TAKE(arena, double, most(most(rows, columns), width), width),
                         .s_a = WT_TAKE(arena, double, left),
                         .s_b = WT_TAKE(arena, double, right),
                         .v_a = WT_TAKE(arena, double, left, width),
                         .v_b = WT_TAKE(arena, double, right, width)};
}

/* A = u s v; v becomes s v. */
static wt_status split_one(wt_context *context, size_t rows, size_t width, const double *a,
                           double *u, double *s, double *v) {
    size_t kept = least(rows, width);
    WT_PASS(wt_svd(context, rows, width, a, width, u, s, v));
    for (size_t i = 0; i < kept * width; i++)
        v[i] *= s[i / width];
    return WT_OK;
}

wt_status wt_factored_split(wt_context *context, wt_factored *of) {
    size_t r = of->width;
    WT_PASS(split_one(context, of->rows, r, of->a, of->u_a, of->s_a, of->v_a));
    WT_PASS(split_one(context, of->columns, r, of->b, of->u_b, of->s_b, of->v_b));
    WT_PASS(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, of->left, of->right, r, 1, of->v_a, r,
                    of->v_b, r, 0, of->core, of->right));
    return wt_svd(context, of->left, of->right, of->core, of->right, NULL, of->singular, NULL);
}

/* The sum of the 2-norms of the rows of (count, width). */
static double sum_of_norms(size_t count, size_t width, const double *rows) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double square = 0;
        for (size_t j = 0; j < width; j++)
            square += rows[i * width + j] * rows[i * width + j];
        sum += sqrt(square);
    }
    return sum;
}

/* Rows of theta are those of u_a core, seen along u_b; columns those of u_b core^T. */
static wt_status judge_21(wt_context *context, wt_factored *of, wt_head_summary *out) {
    size_t d = of->rows, k = of->left;
    WT_PASS(
        wt_gemm(context, WT_PLAIN, WT_PLAIN, d, k, k, 1, of->u_a, k, of->core, k, 0, of->room, k));
    out->rows_21 = sum_of_norms(d, k, of->room);
    WT_PASS(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, d, k, k, 1, of->u_b, k, of->core, k, 0,
                    of->room, k));
    out->columns_21 = sum_of_norms(d, k, of->room);
    return WT_OK;
}

/* The diagonal itself; of the rest its sum, that of all entries less the diagonal's, and its
 * squares, |theta|_F^2 less the diagonal's. */
static void judge_diagonal(const wt_factored *of, double all, wt_head_summary *out) {
    size_t d = of->rows, r = of->width;
    double *diagonal = of->room, sum = 0, squares = 0, total = 0, around = 0;
    double n = (double)d, others = n * (n - 1);
    for (size_t i = 0; i < d; i++) {
        diagonal[i] = 0;
        for (size_t j = 0; j < r; j++)
            diagonal[i] += of->a[i * r + j] * of->b[i * r + j];
        sum += diagonal[i];
        squares += diagonal[i] * diagonal[i];
    }
    for (size_t j = 0; j < r; j++) {
        double left = 0, right = 0;
        for (size_t i = 0; i < d; i++) {
            left += of->a[i * r + j];
            right += of->b[i * r + j];
        }
        total += left * right;
    }
    out->diagonal_mean = out->identity = sum / n;
    for (size_t i = 0; i < d; i++)
        around += (diagonal[i] - sum / n) * (diagonal[i] - sum / n);
    out->diagonal_spread = d > 1 ? sqrt(around / (n - 1)) : NAN;
    out->off_mean = d > 1 ? (total - sum) / others : NAN;
    double left = all - squares - others * out->off_mean * out->off_mean;
    if (left < n * DBL_EPSILON * all) /* rounding: nothing lies off the diagonal */
        left = 0;
    out->off_spread = d > 1 ? sqrt(left / (others - 1)) : NAN;
    out->standard_errors = out->diagonal_mean / (out->off_spread / sqrt(n));
}

/* tr(theta theta) = tr(M M) with M = B^T A, (r, r). */
static wt_status judge_symmetry(wt_context *context, wt_factored *of, double all,
                                wt_head_summary *out) {
    size_t d = of->rows, r = of->width;
    double trace = 0;
    WT_PASS(
        wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, r, r, d, 1, of->b, r, of->a, r, 0, of->room, r));
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < r; j++)
            trace += of->room[i * r + j] * of->room[j * r + i];
    out->symmetric = all > 0 ? 0.5 + 0.5 * trace / all : NAN;
    return WT_OK;
}

wt_status wt_factored_inspect(wt_context *context, wt_factored *of, double rounding,
                              wt_head_summary *out) {
    double all = 0;
    for (size_t i = 0; i < of->left; i++)
        all += of->singular[i] * of->singular[i];
    wt_spectrum_judge(of->rows, rounding, of->left, of->singular, out);
    out->frobenius = sqrt(all);
    judge_diagonal(of, all, out);
    out->identity_share = all > 0 ? (double)of->rows * out->identity * out->identity / all : NAN;
    WT_PASS(judge_symmetry(context, of, all, out));
    return judge_21(context, of, out);
}
