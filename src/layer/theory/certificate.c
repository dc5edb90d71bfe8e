/* The width of the body that the slabs of accepted rows leave around the reported heads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/sized.h"
#include "layer/learn/sculpt_span.h"
#include "layer/model/layer.h"
#include "layer/task/vector.h"
#include "linalg/linalg.h"
#include "linalg/linear_program.h"
#include "wattle/random.h"
#include "wattle/sculpt.h"

#define MARGIN      1.1  /* of eta over the largest violation */
#define LARGEST_ETA 1    /* a wider body is as large as Theta itself */
#define LEAST_ETA   1e-9 /* a narrower slab is rounding */
enum { BATCH = 16 };     /* directions between two looks at the progress */

void wt_certificate_options_init(wt_certificate_options *options, size_t size) {
    const wt_certificate_options full = {.part = 0.02, .directions = 64};
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

/* Reads and checks what the caller gave. */
static wt_status check(wt_context *context, const wt_sequences *data, const wt_layer *layer,
                       const wt_certificate_options *given, wt_certificate_options *options) {
    wt_status status;
    WT_INIT(wt_certificate_options, options);
    WT_TRY(wt_sized_read(context, "wt_certificate_options", given, options, sizeof *options));
    WT_TRY(wt_sequences_check(context, data, "the data"));
    if (layer->dim != data->dim || layer->outputs != data->outputs)
        status = wt_fail(context, WT_USAGE,
                         "the layer has dimension %zu and %zu outputs, the data %zu and %zu",
                         layer->dim, layer->outputs, data->dim, data->outputs);
    else if (options->teacher != NULL && options->teacher->dim != data->dim)
        status = wt_fail(context, WT_USAGE, "the teacher has dimension %zu, the data %zu",
                         options->teacher->dim, data->dim);
    else if (data->length < 2 || data->length > WT_SCULPT_MAX_TOKENS)
        status =
            wt_fail(context, WT_MISSED, "a certificate takes sequences of 2 to %d tokens, not %zu",
                    WT_SCULPT_MAX_TOKENS, data->length);
    else if (!(options->part > 0 && options->part <= 1))
        status = wt_fail(context, WT_USAGE,
                         "the part of rows must be above 0 and at most 1, not %g", options->part);
    else if (layer->heads >= layer->dim * layer->dim)
        status = wt_fail(context, WT_MISSED, "%zu heads leave no direction orthogonal to them",
                         layer->heads);
done:
    return status;
}

/* Slabs of the rows taken, with W_S the sum of the layer's W, from the arena. */
static wt_status collect(wt_arena *arena, const wt_sequences *data, const wt_layer *layer,
                         const wt_certificate_options *options, wt_slabs *slabs) {
    size_t count = layer->dim * layer->outputs, k = data->length;
    wt_context *context = arena->context;
    wt_arena own = wt_arena_start(context, "patterns of attention");
    double *w = WT_TAKE_ZERO(&own, double, count);
    wt_patterns patterns;
    wt_status status;
    WT_TRY(own.status);
    for (size_t i = 0; i < layer->heads * count; i++)
        w[i % count] += layer->w[i];
    WT_TRY(wt_patterns_open(&own, data, &patterns));
    WT_TRY(wt_patterns_find(context, data, w, &patterns));
    size_t rows = (size_t)ceil(options->part * (double)patterns.rows);
    WT_TRY(wt_slabs_collect(arena, data, &patterns, true, rows * (k * (k - 1) / 2), slabs));
    if (slabs->count < slabs->unknowns)
        status = wt_fail(context, WT_MISSED,
                         "%zu slabs leave a body without end in %zu unknowns: a certificate needs "
                         "more examples",
                         slabs->count, slabs->unknowns);
done:
    wt_arena_free(&own);
    return status;
}

/* MARGIN times the largest violation; WT_MISSED when that certifies nothing. */
static wt_status eta_of(wt_context *context, const wt_slabs *slabs, const wt_layer *layer,
                        double *eta) {
    double most = 0;
    for (size_t head = 0; head < layer->heads; head++)
        most = fmax(most, wt_slabs_violation(slabs, layer->theta + head * slabs->unknowns));
    *eta = fmax(MARGIN * most, LEAST_ETA);
    if (!(*eta <= LARGEST_ETA))
        return wt_fail(context, WT_MISSED,
                       "the reported heads leave slabs by %.3g: with eta above %d the body is as "
                       "large as Theta itself and certifies nothing",
                       most, LARGEST_ETA);
    return WT_OK;
}

/* The body moved so that the first head is its origin: directions are orthogonal to that head, so
 * that widths are the same, and the programs start from a point inside. */
static wt_status bounds_of(wt_context *context, const wt_slabs *slabs, double eta,
                           const double *origin, double *low, double *high) {
    WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, slabs->count, 1, slabs->unknowns, -1,
                    slabs->normal, slabs->unknowns, origin, 1, 0, low, 1));
    for (size_t i = 0; i < slabs->count; i++) {
        high[i] = low[i] + slabs->middle[i] + eta;
        low[i] += slabs->middle[i] - eta;
    }
    return WT_OK;
}

/* Rows 0 .. heads-1 of an orthonormal basis span the heads' Theta, the others are orthogonal to
 * them: eigenvectors of sum_i Theta_i Theta_i^T, each scaled to norm 1. */
static wt_status basis_of(wt_context *context, const wt_layer *layer, double *basis) {
    size_t u = layer->dim * layer->dim;
    double *values = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &values, u, "directions"));
    memset(basis, 0, u * u * sizeof *basis);
    for (size_t head = 0; head < layer->heads; head++) {
        const double *theta = layer->theta + head * u;
        double size = wt_vector_squares(u, theta);
        for (size_t i = 0; size > 0 && i < u; i++)
            for (size_t j = 0; j <= i; j++)
                basis[i * u + j] += theta[i] * theta[j] / size;
    }
    WT_TRY(wt_eigen_symmetric(context, u, basis, u, true, values));
done:
    wt_release(values);
    return status;
}

/* A random unit vector among the first `count` rows of the basis, those of eigenvalue 0; or, for a
 * basis, row `index` itself. */
static void direction_of(const wt_certificate_options *options, size_t u, size_t count,
                         const double *basis, size_t index, double *mix, double *out) {
    if (options->directions == 0) {
        memcpy(out, basis + index * u, u * sizeof *out);
        return;
    }
    wt_random_normal(wt_stream_for(options->seed, "direction", index), 0, count, mix);
    double size = wt_vector_squares(count, mix);
    memset(out, 0, u * sizeof *out);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < u; j++)
            out[j] += mix[i] / sqrt(size) * basis[i * u + j];
}

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

typedef struct {
    wt_context *context;
    const wt_certificate_options *options;
    wt_body body;
    double *low, *high;
    size_t free_count; /* directions orthogonal to the heads */
    double *basis;     /* (d^2, d^2): those first */
    double *scratch;   /* (threads, 2 d^2): a direction, and what it is mixed of */
    double *widths;    /* (directions): half-widths */
    size_t first;      /* direction of the batch in hand */
    wt_arena arena;
} measure;

static wt_status half_widths(void *argument, size_t begin, size_t end, int worker) {
    const measure *job = argument;
    size_t u = job->body.columns;
    double *direction = job->scratch + (size_t)worker * 2 * u, there, back;
    for (size_t i = job->first + begin; i < job->first + end; i++) {
        direction_of(job->options, u, job->free_count, job->basis, i, direction + u, direction);
        WT_PASS(wt_body_reach(job->context, &job->body, direction, &there));
        for (size_t j = 0; j < u; j++)
            direction[j] = -direction[j];
        WT_PASS(wt_body_reach(job->context, &job->body, direction, &back));
        job->widths[i] = (there + back) / 2;
    }
    return WT_OK;
}

static wt_status make_room(measure *job, size_t count) {
    size_t u = job->body.columns, rows = job->body.rows;
    size_t threads = (size_t)wt_context_threads(job->context);
    job->basis = WT_TAKE(&job->arena, double, u, u);
    job->scratch = WT_TAKE(&job->arena, double, threads, 2, u);
    job->low = WT_TAKE(&job->arena, double, rows);
    job->high = WT_TAKE(&job->arena, double, rows);
    job->widths = WT_TAKE(&job->arena, double, count);
    WT_PASS(job->arena.status);
    job->body.low = job->low;
    job->body.high = job->high;
    return WT_OK;
}

static wt_status widths_of(wt_context *context, const wt_slabs *slabs, const wt_layer *layer,
                           const wt_certificate_options *options, wt_certificate_result *result) {
    measure job = {.context = context,
                   .options = options,
                   .body = {.rows = slabs->count, .columns = slabs->unknowns, .a = slabs->normal},
                   .free_count = slabs->unknowns - layer->heads,
                   .arena = wt_arena_start(context, "the widths of a body")};
    size_t count = options->directions == 0 ? job.free_count : options->directions;
    wt_status status;
    WT_TRY(make_room(&job, count));
    WT_TRY(basis_of(context, layer, job.basis));
    WT_TRY(bounds_of(context, slabs, result->eta, layer->theta, job.low, job.high));
    wt_meter meter = wt_meter_start(context, "directions", (double)count);
    for (; job.first < count; job.first += BATCH) {
        size_t batch = count - job.first < BATCH ? count - job.first : BATCH;
        WT_TRY(wt_parallel_for(context, batch, 1, half_widths, &job));
        wt_meter_set(&meter, (double)(job.first + batch));
    }
    qsort(job.widths, count, sizeof *job.widths, by_value);
    result->directions = count;
    result->median = (job.widths[(count - 1) / 2] + job.widths[count / 2]) / 2 / result->theta_size;
    result->largest = job.widths[count - 1] / result->theta_size;
done:
    wt_arena_free(&job.arena);
    return status;
}

/* How many of the teacher's heads are in the body. */
static void ask_teacher(const wt_slabs *slabs, const wt_layer *teacher,
                        wt_certificate_result *result) {
    result->teacher_heads = teacher->heads;
    for (size_t head = 0; head < teacher->heads; head++)
        result->teacher_inside +=
            wt_slabs_violation(slabs, teacher->theta + head * slabs->unknowns) <= result->eta;
}

wt_status wt_certificate_compute(wt_context *context, const wt_sequences *data,
                                 const wt_layer *layer, const wt_certificate_options *given,
                                 wt_certificate_result *out) {
    double began = wt_clock();
    size_t u = layer->dim * layer->dim;
    wt_arena arena = wt_arena_start(context, "slabs");
    wt_slabs slabs;
    wt_certificate_options options;
    wt_certificate_result full = {.eta = NAN, .median = NAN, .largest = NAN}, *result = &full;
    wt_status status = wt_sized_check(context, "wt_certificate_result", out, sizeof full);
    if (status != WT_OK)
        return status;
    WT_TRY(check(context, data, layer, given, &options));
    result->theta_size =
        sqrt(wt_vector_squares(layer->heads * u, layer->theta) / (double)layer->heads);
    result->frobenius_factor = sqrt((double)(u - layer->heads));
    if (!(result->theta_size > 0))
        WT_TRY(
            wt_fail(context, WT_MISSED, "all reported Theta are 0: no width is relative to that"));
    WT_TRY(collect(&arena, data, layer, &options, &slabs));
    result->slabs = slabs.count;
    result->rows = slabs.count / (data->length * (data->length - 1) / 2);
    WT_TRY(eta_of(context, &slabs, layer, &result->eta));
    if (options.teacher != NULL)
        ask_teacher(&slabs, options.teacher, result);
    WT_TRY(widths_of(context, &slabs, layer, &options, result));
done:
    result->seconds = wt_clock() - began;
    wt_sized_write(out, result, sizeof full);
    wt_arena_free(&arena);
    return status;
}

wt_status wt_certificate_contains(wt_context *context, const wt_sequences *data,
                                  const wt_layer *layer, const wt_certificate_options *given,
                                  const double *theta, bool *out) {
    wt_certificate_options options;
    wt_arena arena = wt_arena_start(context, "slabs");
    wt_slabs slabs;
    double eta;
    wt_status status;
    WT_TRY(check(context, data, layer, given, &options));
    WT_TRY(collect(&arena, data, layer, &options, &slabs));
    WT_TRY(eta_of(context, &slabs, layer, &eta));
    *out = wt_slabs_violation(&slabs, theta) <= eta;
done:
    wt_arena_free(&arena);
    return status;
}
