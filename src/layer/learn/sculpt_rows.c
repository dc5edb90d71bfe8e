#include "layer/learn/sculpt_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/work.h"
#include "layer/task/vector.h"
#include "linalg/hull.h"
#include "linalg/linalg.h"

enum { ROWS_A_CHUNK = 512 };

wt_status wt_patterns_open(wt_arena *arena, const wt_sequences *rows, wt_patterns *out) {
    *out = (wt_patterns){.rows = rows->samples * rows->length, .k = rows->length};
    out->weights = WT_TAKE(arena, double, out->rows, out->k);
    out->order = WT_TAKE(arena, wt_row_fit, out->rows);
    return arena->status;
}

typedef struct {
    const wt_sequences *rows;
    const double *values; /* X W (samples, k, p) */
    wt_patterns *patterns;
} finder;

/* Root mean square distance of the k points (k, p) from their mean. */
static double spread_of(size_t k, size_t p, const double *points) {
    double sum = 0;
    for (size_t o = 0; o < p; o++) {
        double mean = 0;
        for (size_t b = 0; b < k; b++)
            mean += points[b * p + o] / (double)k;
        for (size_t b = 0; b < k; b++)
            sum += (points[b * p + o] - mean) * (points[b * p + o] - mean);
    }
    return sqrt(sum / (double)k);
}

static wt_status find_rows(void *argument, size_t begin, size_t end, int worker) {
    finder *job = argument;
    const wt_sequences *rows = job->rows;
    size_t k = rows->length, p = rows->outputs;
    (void)worker;
    for (size_t row = begin; row < end; row++) {
        wt_row_fit *fit = &job->patterns->order[row];
        const double *points = job->values + row / k * k * p;
        fit->row = row;
        bool unique = wt_hull_nearest(k, p, points, rows->y + row * p,
                                      job->patterns->weights + row * k, &fit->residual);
        fit->residual = unique ? fit->residual / spread_of(k, p, points) : INFINITY;
    }
    return WT_OK;
}

/* Of one row: the Gram matrix of its points, its factor, what is left and the spread. Wolfe's
 * method factors a few smaller matrices more, by the numbers in them; they are not counted. */
static double row_work(size_t k, size_t p) {
    return wt_work_product(k, k + 1, p) * 3 / 4 + wt_work_product(k, k, k) / 6 +
           3 * wt_work_product(k, p, 1);
}

static int by_residual(const void *left, const void *right) {
    const wt_row_fit *a = left, *b = right;
    if (a->residual != b->residual)
        return a->residual < b->residual ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

wt_status wt_patterns_find(wt_context *context, const wt_sequences *rows, const double *w,
                           wt_patterns *patterns) {
    double *values = NULL;
    wt_status status;
    WT_TRY(WT_NEW2(context, &values, patterns->rows, rows->outputs, "values of tokens"));
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, patterns->rows, rows->outputs, rows->dim, 1,
                   rows->x, rows->dim, w, rows->outputs, 0, values, rows->outputs));
    finder job = {.rows = rows, .values = values, .patterns = patterns};
    WT_TRY(wt_parallel_for(context, patterns->rows, ROWS_A_CHUNK, find_rows, &job));
    wt_work_add(context, (double)patterns->rows * row_work(rows->length, rows->outputs));
    qsort(patterns->order, patterns->rows, sizeof *patterns->order, by_residual);
    patterns->usable = patterns->rows;
    while (patterns->usable > 0 && isinf(patterns->order[patterns->usable - 1].residual))
        patterns->usable--;
done:
    wt_release(values);
    return status;
}

/* W = (A^T A)^-1 A^T B by the eigenvalues of A^T A, those below 1e-12 of the largest left out: the
 * rows are far more than d, and W is but an estimate. A (count, d), B (count, p). */
static wt_status regress(wt_context *context, size_t count, size_t d, size_t p, const double *a,
                         const double *b, double *w) {
    size_t rank;
    wt_arena arena = wt_arena_start(context, "a Gram matrix");
    wt_status status;
    double *gram = WT_TAKE(&arena, double, d, d);
    double *side = WT_TAKE(&arena, double, d, p);
    WT_TRY(arena.status);
    WT_TRY(wt_gram(context, WT_TRANSPOSED, count, d, a, d, 0, gram, d));
    WT_TRY(wt_mirror_lower(context, d, gram, d));
    WT_TRY(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, d, p, count, 1, a, d, b, p, 0, side, p));
    WT_TRY(wt_least_squares(context, d, d, p, gram, d, side, p, 1e-12, w, p, &rank));
done:
    wt_arena_free(&arena);
    return status;
}

/* to (samples, width) = sums over the k tokens of from (samples, k, width). */
static void sum_tokens(const wt_sequences *rows, size_t width, const double *from, double *to) {
    memset(to, 0, rows->samples * width * sizeof *to);
    for (size_t row = 0; row < rows->samples * rows->length; row++)
        for (size_t j = 0; j < width; j++)
            to[row / rows->length * width + j] += from[row * width + j];
}

wt_status wt_crude_sum(wt_context *context, const wt_sequences *rows, double *w,
                       double *explained) {
    size_t n = rows->samples, d = rows->dim, p = rows->outputs;
    wt_arena arena = wt_arena_start(context, "sums of tokens");
    wt_status status;
    double *x = WT_TAKE(&arena, double, n, d);
    double *y = WT_TAKE(&arena, double, n, p);
    WT_TRY(arena.status);
    sum_tokens(rows, d, rows->x, x);
    sum_tokens(rows, p, rows->y, y);
    WT_TRY(regress(context, n, d, p, x, y, w));
    double whole = wt_vector_squares(n * p, y);
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, n, p, d, -1, x, d, w, p, 1, y, p));
    *explained = whole > 0 ? 1 - wt_vector_squares(n * p, y) / whole : 0;
done:
    wt_arena_free(&arena);
    return status;
}
