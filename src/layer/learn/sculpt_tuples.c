#include "layer/learn/sculpt_tuples.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "layer/model/attention.h"
#include "layer/task/vector.h"
#include "linalg/linalg.h"

/* Added to the diagonal of a Gram matrix, as a part of its mean: two candidates that attend alike
 * leave it singular, and W is wanted all the same. */
#define RIDGE 1e-10
enum { TUPLES_A_CHUNK = 16 };

static wt_status look(wt_arena *arena, const wt_sequences *rows, size_t count, const double *theta,
                      wt_candidate_part *out) {
    size_t r = rows->samples * rows->length, width = count * rows->dim, p = rows->outputs;
    wt_attention in = wt_attention_of(rows->samples, rows->length, rows->dim, rows->x);
    wt_context *context = arena->context;
    double *h = NULL;
    wt_status status;
    out->gram = WT_TAKE(arena, double, width, width);
    out->side = WT_TAKE(arena, double, width, p);
    WT_TRY(arena->status);
    WT_TRY(WT_NEW2(context, &h, r, width, "attended tokens of candidates"));
    WT_TRY(wt_attention_run(context, &in, count, theta, NULL, h));
    WT_TRY(wt_gram(context, WT_TRANSPOSED, r, width, h, width, 0, out->gram, width));
    WT_TRY(wt_mirror_lower(context, width, out->gram, width));
    WT_TRY(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, width, p, r, 1, h, width, rows->y, p, 0,
                   out->side, p));
    out->whole = wt_vector_squares(r * p, rows->y);
done:
    wt_release(h);
    return status;
}

wt_status wt_candidates_open(wt_arena *arena, const wt_sequences *fit, const wt_sequences *held,
                             size_t count, const double *theta, wt_candidates *out) {
    *out = (wt_candidates){.count = count, .dim = fit->dim, .outputs = fit->outputs};
    WT_PASS(look(arena, fit, count, theta, &out->fit));
    return look(arena, held, count, theta, &out->held);
}

typedef struct {
    wt_context *context;
    const wt_candidates *candidates;
    size_t heads;
    const size_t *tuples;
    double *errors;  /* (tuples): square errors on the held-out part */
    double *scratch; /* a worker: gram (m d, m d), w (m d, p), side (m d, p) */
    size_t scratch_each;
} trial;

/* The blocks of a part that belong to a tuple. */
static void gather(const trial *job, const wt_candidate_part *part, const size_t *tuple,
                   double *gram, double *side) {
    size_t d = job->candidates->dim, p = job->candidates->outputs, size = job->heads * d;
    size_t width = job->candidates->count * d;
    for (size_t i = 0; i < size; i++) {
        size_t row = tuple[i / d] * d + i % d;
        for (size_t head = 0; head < job->heads; head++)
            memcpy(gram + i * size + head * d, part->gram + row * width + tuple[head] * d,
                   d * sizeof *gram);
        memcpy(side + i * p, part->side + row * p, p * sizeof *side);
    }
}

/* W of a tuple by the fitting part, into scratch behind its Gram matrix. */
static wt_status solve(const trial *job, const size_t *tuple, double *scratch) {
    size_t size = job->heads * job->candidates->dim, p = job->candidates->outputs, failed;
    double *gram = scratch, *w = scratch + size * size, trace = 0;
    gather(job, &job->candidates->fit, tuple, gram, w);
    for (size_t i = 0; i < size; i++)
        trace += gram[i * size + i];
    for (size_t i = 0; i < size; i++)
        gram[i * size + i] += RIDGE * trace / (double)size;
    WT_PASS(wt_cholesky(job->context, size, gram, size, &failed));
    if (failed != 0) {
        memset(w, 0, size * p * sizeof *w);
        return WT_OK;
    }
    WT_PASS(wt_solve_lower(job->context, WT_PLAIN, size, p, gram, size, w, p));
    return wt_solve_lower(job->context, WT_TRANSPOSED, size, p, gram, size, w, p);
}

/* |y|^2 - 2 <W, h^T y> + <W, h^T h W> on the held-out part. */
static wt_status judge(const trial *job, const size_t *tuple, double *scratch, double *error) {
    size_t size = job->heads * job->candidates->dim, p = job->candidates->outputs;
    double *gram = scratch, *w = scratch + size * size, *side = w + size * p;
    gather(job, &job->candidates->held, tuple, gram, side);
    for (size_t i = 0; i < size * p; i++)
        side[i] *= -2;
    WT_PASS(
        wt_gemm(job->context, WT_PLAIN, WT_PLAIN, size, p, size, 1, gram, size, w, p, 1, side, p));
    double sum = job->candidates->held.whole;
    for (size_t i = 0; i < size * p; i++)
        sum += w[i] * side[i];
    *error = fmax(sum, 0); /* below 0 by rounding alone */
    return WT_OK;
}

static wt_status try_tuples(void *argument, size_t begin, size_t end, int worker) {
    const trial *job = argument;
    double *scratch = job->scratch + (size_t)worker * job->scratch_each;
    for (size_t t = begin; t < end; t++) {
        WT_PASS(solve(job, job->tuples + t * job->heads, scratch));
        WT_PASS(judge(job, job->tuples + t * job->heads, scratch, &job->errors[t]));
    }
    return WT_OK;
}

wt_status wt_candidates_best(wt_context *context, const wt_candidates *candidates, size_t heads,
                             size_t count, const size_t *tuples, size_t *best, double *error,
                             double *w) {
    size_t size = heads * candidates->dim, p = candidates->outputs;
    trial job = {.context = context, .candidates = candidates, .heads = heads, .tuples = tuples};
    wt_arena arena = wt_arena_start(context, "errors of tuples");
    wt_status status;
    job.scratch_each = size * (size + 2 * p);
    job.errors = WT_TAKE(&arena, double, count);
    job.scratch = WT_TAKE(&arena, double, (size_t)wt_context_threads(context), job.scratch_each);
    WT_TRY(arena.status);
    WT_TRY(wt_parallel_for(context, count, TUPLES_A_CHUNK, try_tuples, &job));
    *best = 0;
    for (size_t t = 1; t < count; t++)
        if (job.errors[t] < job.errors[*best])
            *best = t;
    *error = candidates->held.whole > 0 ? sqrt(job.errors[*best] / candidates->held.whole) : 0;
    if (w != NULL) {
        WT_TRY(solve(&job, tuples + *best * heads, job.scratch));
        memcpy(w, job.scratch + size * size, size * p * sizeof *w);
    }
done:
    wt_arena_free(&arena);
    return status;
}
