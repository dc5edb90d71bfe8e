/* A step of Gauss-Newton for the sum of the heads' W.
 *
 * Row a with pattern P on its support S: h = X^T P, e = y - W^T h, and Pi the projection off the
 * differences of W^T x_b, b in S, which a change of P takes up. To first order (Kaufman) the
 * residual after a change D of W is Pi (e - D^T h), so that
 *     [ sum_a (h h^T) (x) Pi ] vec D = vec sum_a h (Pi e)^T. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/work.h"
#include "layer/learn/sculpt_rows.h"
#include "layer/task/vector.h"
#include "linalg/linalg.h"

#define DAMPING                                                                                    \
    1e-9 /* of the mean of the diagonal: directions that no row sees stay as they are              \
          */
/* Rows give p - k + 1 equations each, so that a few thousand, spread over the accepted ones, tell
 * as much of W as all of them. */
enum { MOST_ROWS = 4096, ROWS_A_CHUNK = 64 };

typedef struct {
    const wt_sequences *rows;
    const wt_patterns *patterns;
    const double *w;
    size_t count, accepted;  /* rows used, of the accepted */
    double *h, *hh, *pi, *e; /* (count, d), (count, d d), (count, p p), (count, p) */
    double *scratch;         /* a worker: values of the tokens (k, p) */
} refit;

/* Orthonormal differences of the supported points from the first of them, over the points. */
static size_t orthonormal(size_t k, size_t p, const double *weights, double *points) {
    size_t origin = k, kept = 0;
    for (size_t b = 0; b < k; b++) {
        if (!(weights[b] > 0))
            continue;
        if (origin == k) {
            /* Kept at the front: every later point is read after it, and overwrites none unread. */
            memmove(points, points + b * p, p * sizeof *points);
            origin = b;
            continue;
        }
        double *vector = points + (kept + 1) * p;
        for (size_t o = 0; o < p; o++)
            vector[o] = points[b * p + o] - points[o];
        for (size_t pass = 0; pass < 2; pass++)
            for (size_t j = 1; j <= kept; j++) {
                double along = wt_vector_dot(p, vector, points + j * p);
                for (size_t o = 0; o < p; o++)
                    vector[o] -= along * points[j * p + o];
            }
        double size = sqrt(wt_vector_squares(p, vector));
        for (size_t o = 0; o < p; o++)
            vector[o] /= size;
        kept++;
    }
    return kept;
}

/* h, e and the values of the tokens of one row. */
static void mix(const refit *job, size_t row, double *h, double *e, double *values) {
    const wt_sequences *rows = job->rows;
    size_t k = rows->length, d = rows->dim, p = rows->outputs;
    const double *tokens = rows->x + row / k * k * d, *weights = job->patterns->weights + row * k;
    memset(h, 0, d * sizeof *h);
    memset(values, 0, k * p * sizeof *values);
    memcpy(e, rows->y + row * p, p * sizeof *e);
    for (size_t b = 0; b < k; b++)
        for (size_t i = 0; i < d; i++) {
            h[i] += weights[b] * tokens[b * d + i];
            for (size_t o = 0; o < p; o++)
                values[b * p + o] += tokens[b * d + i] * job->w[i * p + o];
        }
    for (size_t b = 0; b < k; b++)
        for (size_t o = 0; o < p; o++)
            e[o] -= weights[b] * values[b * p + o];
}

static wt_status some_rows(void *argument, size_t begin, size_t end, int worker) {
    const refit *job = argument;
    size_t k = job->rows->length, d = job->rows->dim, p = job->rows->outputs;
    double *values = job->scratch + (size_t)worker * k * p;
    for (size_t i = begin; i < end; i++) {
        size_t row = job->patterns->order[i * job->accepted / job->count].row;
        double *h = job->h + i * d, *hh = job->hh + i * d * d, *e = job->e + i * p;
        double *pi = job->pi + i * p * p;
        mix(job, row, h, e, values);
        size_t kept = orthonormal(k, p, job->patterns->weights + row * k, values);
        for (size_t r = 0; r < d; r++)
            for (size_t s = 0; s < d; s++)
                hh[r * d + s] = h[r] * h[s];
        for (size_t r = 0; r < p; r++)
            for (size_t s = 0; s < p; s++)
                pi[r * p + s] = r == s;
        for (size_t j = 1; j <= kept; j++) {
            const double *q = values + j * p;
            double along = wt_vector_dot(p, q, e);
            for (size_t o = 0; o < p; o++)
                e[o] -= along * q[o];
            for (size_t r = 0; r < p; r++)
                for (size_t s = 0; s < p; s++)
                    pi[r * p + s] -= q[r] * q[s];
        }
    }
    return WT_OK;
}

/* Of some_rows, for a row whose pattern has every token. */
static double row_work(size_t k, size_t d, size_t p) {
    return wt_work_product(k, d, p + 1) + wt_work_product(k, k, p) * 2 + (double)(d * d) +
           wt_work_product(k - 1, p, p + 2);
}

/* Solves for D in place of side; outer is in order (i, j, o, q), the system wants (i, o, j, q). */
static wt_status solve(wt_context *context, size_t d, size_t p, const double *outer, double *side) {
    size_t size = d * p, failed;
    double *system = NULL, trace = 0;
    wt_status status;
    WT_TRY(WT_NEW2(context, &system, size, size, "a system for the sum of W"));
    for (size_t r = 0; r < size; r++)
        for (size_t c = 0; c <= r; c++)
            system[r * size + c] = outer[(r / p * d + c / p) * p * p + r % p * p + c % p];
    for (size_t r = 0; r < size; r++)
        trace += system[r * size + r];
    for (size_t r = 0; r < size; r++)
        system[r * size + r] += DAMPING * trace / (double)size;
    WT_TRY(wt_cholesky(context, size, system, size, &failed));
    if (failed != 0)
        WT_TRY(wt_fail(context, WT_MISSED, "the accepted rows do not determine the sum of W"));
    WT_TRY(wt_solve_lower(context, WT_PLAIN, size, 1, system, size, side, 1));
    WT_TRY(wt_solve_lower(context, WT_TRANSPOSED, size, 1, system, size, side, 1));
done:
    wt_release(system);
    return status;
}

wt_status wt_refit_sum(wt_context *context, const wt_sequences *rows, const wt_patterns *patterns,
                       size_t accepted, double *w) {
    size_t d = rows->dim, p = rows->outputs;
    size_t count = accepted < MOST_ROWS ? accepted : MOST_ROWS;
    refit job = {.rows = rows, .patterns = patterns, .w = w, .count = count, .accepted = accepted};
    wt_arena arena = wt_arena_start(context, "a system for the sum of W");
    wt_status status;
    job.h = WT_TAKE(&arena, double, count, d);
    job.hh = WT_TAKE(&arena, double, count, d, d);
    job.pi = WT_TAKE(&arena, double, count, p, p);
    job.e = WT_TAKE(&arena, double, count, p);
    job.scratch = WT_TAKE(&arena, double, (size_t)wt_context_threads(context), rows->length, p);
    double *outer = WT_TAKE(&arena, double, d, d, p, p);
    double *side = WT_TAKE(&arena, double, d, p);
    WT_TRY(arena.status);
    WT_TRY(wt_parallel_for(context, count, ROWS_A_CHUNK, some_rows, &job));
    wt_work_add(context, (double)count * row_work(rows->length, d, p));
    WT_TRY(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, d * d, p * p, count, 1, job.hh, d * d, job.pi,
                   p * p, 0, outer, p * p));
    WT_TRY(
        wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, d, p, count, 1, job.h, d, job.e, p, 0, side, p));
    WT_TRY(solve(context, d, p, outer, side));
    for (size_t i = 0; i < d * p; i++)
        w[i] += side[i];
done:
    wt_arena_free(&arena);
    return status;
}
