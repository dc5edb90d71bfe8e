/* The features of a block of units, a few samples at a time, by matrix products alone.
 *
 * Attention, one sample, with w = d+1, `count` units, x~ (N, w) its live keys:
 *   1. Q (w, count)  = sum_a x~0[a] W[a]        W packed as (w, w, count)
 *   2. S (N, count)  = x~ Q, then relu(S)/N or softmax over the keys
 *   3. phi (w, count) = x~^T S
 * Neurons: Z (samples, inputs) = [x0; x1; ..; xN; 1], masked keys zero; phi = relu(Z w^T). */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "features/model/features.h"
#include "linalg/backend.h"

#define SAMPLES_A_CHUNK 32

typedef struct {
    const wt_routines *blas; /* of doubles */
    const wt_features *features;
    const wt_sets *sets;
    size_t first, count, columns;
    double *out; /* one of the two may be NULL */
    float *out_float;
    size_t stride, stride_float;
    double *packed; /* W of the block as (w, w, count) */
    double *scratch;
    size_t scratch_each; /* doubles a worker */
} job;

/* (d+1) numbers: the token and a one. */
static void extend(const double *token, size_t dim, double *out) {
    memcpy(out, token, dim * sizeof *out);
    out[dim] = 1;
}

/* Live keys of a sample as rows [x; 1], and transposed; returns how many. */
static size_t gather_keys(const wt_sets *sets, size_t sample, double *out, double *transposed) {
    size_t live = 0;
    for (size_t i = 0; i < sets->keys; i++) {
        size_t at = sample * sets->keys + i;
        if (sets->mask != NULL && sets->mask[at] == 0)
            continue;
        extend(sets->key + at * sets->dim, sets->dim, out + live * (sets->dim + 1));
        live++;
    }
    size_t w = sets->dim + 1;
    for (size_t j = 0; j < w; j++)
        for (size_t i = 0; i < live; i++)
            transposed[j * live + i] = out[i * w + j];
    return live;
}

static void relu(size_t count, double *values) {
    for (size_t i = 0; i < count; i++)
        values[i] = values[i] > 0 ? values[i] : 0;
}

/* Over the keys, for each of `units` columns of S (keys, units); sums is scratch (units). */
static void softmax(size_t keys, size_t units, double *s, double *sums) {
    for (size_t u = 0; u < units; u++) {
        double most = s[u];
        for (size_t i = 1; i < keys; i++)
            most = fmax(most, s[i * units + u]);
        sums[u] = most;
    }
    for (size_t i = 0; i < keys; i++)
        for (size_t u = 0; u < units; u++)
            s[i * units + u] = exp(s[i * units + u] - sums[u]);
    memset(sums, 0, units * sizeof *sums);
    for (size_t i = 0; i < keys; i++)
        for (size_t u = 0; u < units; u++)
            sums[u] += s[i * units + u];
    for (size_t i = 0; i < keys; i++)
        for (size_t u = 0; u < units; u++)
            s[i * units + u] /= sums[u];
}

/* Where sample i of the chunk goes: straight to the output, or to scratch on the way to float. */
static double *row_of(const job *work, size_t sample, double *spare) {
    return work->out != NULL ? work->out + sample * work->stride : spare;
}

static void store_float(const job *work, size_t sample, const double *row) {
    if (work->out_float == NULL)
        return;
    float *to = work->out_float + sample * work->stride_float;
    for (size_t i = 0; i < work->columns; i++)
        to[i] = (float)row[i];
}

static wt_status attention_chunk(void *argument, size_t begin, size_t end, int worker) {
    const job *work = argument;
    const wt_sets *sets = work->sets;
    const wt_model_spec *spec = &work->features->spec;
    size_t w = work->features->width, count = work->count, samples = end - begin;
    double *query = work->scratch + (size_t)worker * work->scratch_each;
    double *keys = query + SAMPLES_A_CHUNK * w;
    double *transposed = keys + sets->keys * w;
    double *q = transposed + sets->keys * w;
    double *s = q + SAMPLES_A_CHUNK * work->columns;
    double *sums = s + sets->keys * count;
    double *spare = sums + count;
    for (size_t i = 0; i < samples; i++)
        extend(sets->query + (begin + i) * sets->dim, sets->dim, query + i * w);
    work->blas->gemm(WT_PLAIN, WT_PLAIN, samples, work->columns, w, 1, query, w, work->packed,
                     work->columns, 0, q, work->columns);
    for (size_t i = 0; i < samples; i++) {
        size_t live = gather_keys(sets, begin + i, keys, transposed);
        double *row = row_of(work, begin + i, spare);
        work->blas->gemm(WT_PLAIN, WT_PLAIN, live, count, w, 1, keys, w, q + i * work->columns,
                         count, 0, s, count);
        if (spec->activation == WT_ACTIVATION_SOFTMAX)
            softmax(live, count, s, sums);
        else
            relu(live * count, s);
        double scale = spec->activation == WT_ACTIVATION_SOFTMAX ? 1 : 1 / (double)live;
        work->blas->gemm(WT_PLAIN, WT_PLAIN, w, count, live, scale, transposed, live, s, count, 0,
                         row, count);
        store_float(work, begin + i, row);
    }
    return WT_OK;
}

/* [x0; x1; ..; xN; 1] with masked keys zero. */
static void flatten(const wt_sets *sets, size_t sample, double *out) {
    size_t dim = sets->dim;
    memcpy(out, sets->query + sample * dim, dim * sizeof *out);
    memcpy(out + dim, sets->key + sample * sets->keys * dim, sets->keys * dim * sizeof *out);
    for (size_t i = 0; sets->mask != NULL && i < sets->keys; i++)
        if (sets->mask[sample * sets->keys + i] == 0)
            memset(out + (1 + i) * dim, 0, dim * sizeof *out);
    out[(1 + sets->keys) * dim] = 1;
}

static wt_status neurons_chunk(void *argument, size_t begin, size_t end, int worker) {
    const job *work = argument;
    size_t inputs = work->features->inputs, samples = end - begin;
    double *z = work->scratch + (size_t)worker * work->scratch_each;
    double *spare = z + SAMPLES_A_CHUNK * inputs;
    for (size_t i = 0; i < samples; i++)
        flatten(work->sets, begin + i, z + i * inputs);
    double *rows = row_of(work, begin, spare);
    size_t stride = work->out != NULL ? work->stride : work->columns;
    work->blas->gemm(WT_PLAIN, WT_TRANSPOSED, samples, work->count, inputs, 1, z, inputs,
                     work->features->weights + work->first * inputs, inputs, 0, rows, stride);
    for (size_t i = 0; i < samples; i++) {
        relu(work->columns, rows + i * stride);
        store_float(work, begin + i, rows + i * stride);
    }
    return WT_OK;
}

/* W (count, w, w) of the block as (w, w, count). */
static void pack_weights(const job *work) {
    size_t inputs = work->features->inputs;
    for (size_t u = 0; u < work->count; u++) {
        const double *from = work->features->weights + (work->first + u) * inputs;
        for (size_t i = 0; i < inputs; i++)
            work->packed[i * work->count + u] = from[i];
    }
}

/* Doubles a worker needs. */
static size_t scratch_numbers(const wt_features *features, size_t keys, size_t count) {
    size_t columns = count * features->width;
    if (features->spec.kind == WT_MODEL_KIND_RFMLP)
        return SAMPLES_A_CHUNK * (features->inputs + columns);
    return (SAMPLES_A_CHUNK + 2 * keys) * features->width + (SAMPLES_A_CHUNK + 1) * columns +
           (keys + 1) * count;
}

double wt_features_scratch_bytes(const wt_context *context, const wt_features *features,
                                 size_t keys, size_t count) {
    double workers = (double)wt_context_threads(context);
    double packed =
        features->spec.kind == WT_MODEL_KIND_RFMLP ? 0 : (double)count * (double)features->inputs;
    return sizeof(double) * (workers * (double)scratch_numbers(features, keys, count) + packed);
}

static wt_status make_block(wt_context *context, job *work) {
    const wt_features *features = work->features;
    const wt_sets *sets = work->sets;
    bool neurons = features->spec.kind == WT_MODEL_KIND_RFMLP;
    const wt_backend *backend;
    wt_status status;
    WT_TRY(wt_model_check_sets(context, &features->spec, "the data", sets));
    WT_TRY(wt_backend_open(context, &backend));
    work->blas = &backend->real64;
    work->columns = work->count * features->width;
    work->scratch_each = scratch_numbers(features, sets->keys, work->count);
    size_t workers = (size_t)wt_context_threads(context);
    WT_TRY(WT_NEW2(context, &work->scratch, workers, work->scratch_each, "features"));
    if (!neurons) {
        WT_TRY(WT_NEW2(context, &work->packed, work->count, features->inputs, "packed weights"));
        pack_weights(work);
    }
    WT_TRY(wt_parallel_for(context, sets->samples, SAMPLES_A_CHUNK,
                           neurons ? neurons_chunk : attention_chunk, work));
done:
    wt_release(work->scratch);
    wt_release(work->packed);
    return status;
}

wt_status wt_features_block(wt_context *context, const wt_features *features, const wt_sets *sets,
                            size_t first, size_t count, double *out, size_t stride) {
    job work = {.features = features,
                .sets = sets,
                .first = first,
                .count = count,
                .out = out,
                .stride = stride};
    return make_block(context, &work);
}

wt_status wt_features_block_float(wt_context *context, const wt_features *features,
                                  const wt_sets *sets, size_t first, size_t count, float *out,
                                  size_t stride, double *exact) {
    job work = {.features = features,
                .sets = sets,
                .first = first,
                .count = count,
                .out = exact,
                .out_float = out,
                .stride = count * features->width,
                .stride_float = stride};
    return make_block(context, &work);
}
