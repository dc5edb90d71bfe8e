/* The width of the body that the slabs of accepted rows leave around the reported heads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"
#include "learn/sculpt_span.h"
#include "linalg/linear_program.h"
#include "wattle/linalg.h"
#include "wattle/random.h"
#include "wattle/sculpt.h"

#define MARGIN      1.1 /* of eta over the largest violation */
#define LARGEST_ETA 1   /* a wider body is as large as Theta itself */

wt_certificate_options wt_certificate_options_default(void) {
    return (wt_certificate_options){.part = 0.02, .directions = 64};
}

static wt_status check(wt_context *context, const wt_sequences *data, const wt_layer *layer,
                       const wt_certificate_options *options) {
    wt_status status;
    WT_TRY(wt_sequences_check(context, "the data", data));
    if (layer->dim != data->dim || layer->outputs != data->outputs)
        status = wt_fail(context, WT_USAGE,
                         "the layer has dimension %zu and %zu outputs, the data %zu and %zu",
                         layer->dim, layer->outputs, data->dim, data->outputs);
    else if (data->length < 2 || data->length > WT_SCULPT_TOKENS)
        status =
            wt_fail(context, WT_MISSED, "a certificate takes sequences of 2 to %d tokens, not %zu",
                    WT_SCULPT_TOKENS, data->length);
    else if (!(options->part > 0 && options->part <= 1))
        status = wt_fail(context, WT_USAGE,
                         "the part of rows must be above 0 and at most 1, not %g", options->part);
    else if (layer->heads >= layer->dim * layer->dim)
        status = wt_fail(context, WT_MISSED, "%zu heads leave no direction orthogonal to them",
                         layer->heads);
done:
    return status;
}

/* Slabs of the rows taken, with W_S the sum of the layer's W. */
static wt_status collect(wt_context *context, const wt_sequences *data, const wt_layer *layer,
                         const wt_certificate_options *options, wt_slabs *slabs) {
    size_t count = layer->dim * layer->outputs, k = data->length;
    wt_patterns patterns = {0};
    double *w = NULL;
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, &w, count, "the sum of W"));
    for (size_t head = 0; head < layer->heads; head++)
        for (size_t i = 0; i < count; i++)
            w[i] += layer->w[head * count + i];
    WT_TRY(wt_patterns_open(context, data, &patterns));
    WT_TRY(wt_patterns_find(context, data, w, &patterns));
    size_t rows = (size_t)ceil(options->part * (double)patterns.rows);
    WT_TRY(wt_slabs_collect(context, data, &patterns, true, rows * (k * (k - 1) / 2), slabs));
    if (slabs->count < slabs->unknowns)
        status = wt_fail(context, WT_MISSED,
                         "%zu slabs leave a body without end in %zu unknowns: a certificate needs "
                         "more examples",
                         slabs->count, slabs->unknowns);
done:
    wt_patterns_close(&patterns);
    wt_release(w);
    return status;
}

/* MARGIN times the largest violation; WT_MISSED when that certifies nothing. */
static wt_status eta_of(wt_context *context, const wt_slabs *slabs, const wt_layer *layer,
                        double *eta) {
    double most = 0;
    for (size_t head = 0; head < layer->heads; head++)
        most = fmax(most, wt_slabs_violation(slabs, layer->theta + head * slabs->unknowns));
    *eta = MARGIN * most;
    if (!(*eta <= LARGEST_ETA))
        return wt_fail(context, WT_MISSED,
                       "the reported heads leave slabs by %.3g: with eta above %d the body is as "
                       "large as Theta itself and certifies nothing",
                       most, LARGEST_ETA);
    return WT_OK;
}

/* The body moved so that the first head is its origin: directions are orthogonal to that head, so
 * that widths are the same, and the programs start from a point inside. */
static wt_status open_body(wt_context *context, const wt_slabs *slabs, double eta,
                           const double *origin, wt_body **out) {
    double *low = NULL, *high = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &low, slabs->count, "slabs"));
    WT_TRY(WT_NEW(context, &high, slabs->count, "slabs"));
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, slabs->count, 1, slabs->unknowns, -1, slabs->normal,
                   slabs->unknowns, origin, 1, 0, low, 1));
    for (size_t i = 0; i < slabs->count; i++) {
        high[i] = low[i] + slabs->middle[i] + eta;
        low[i] += slabs->middle[i] - eta;
    }
    WT_TRY(wt_body_open(context, slabs->count, slabs->unknowns, slabs->normal, low, high, out));
done:
    wt_release(low);
    wt_release(high);
    return status;
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
        double size = 0;
        for (size_t i = 0; i < u; i++)
            size += theta[i] * theta[i];
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
    double size = 0;
    if (options->directions == 0) {
        memcpy(out, basis + index * u, u * sizeof *out);
        return;
    }
    wt_random_normal(wt_stream_for(options->seed, "direction", index), 0, count, mix);
    for (size_t i = 0; i < count; i++)
        size += mix[i] * mix[i];
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
    wt_body *body;
    double *basis, *direction, *mix; /* (d^2, d^2), (d^2), (d^2) */
    double *widths;                  /* (directions): half-widths */
} measure;

static wt_status half_width(wt_context *context, const measure *job, size_t u, double *out) {
    double there, back;
    wt_status status;
    WT_TRY(wt_body_reach(context, job->body, job->direction, &there));
    for (size_t j = 0; j < u; j++)
        job->direction[j] = -job->direction[j];
    WT_TRY(wt_body_reach(context, job->body, job->direction, &back));
    *out = (there + back) / 2;
done:
    return status;
}

static wt_status widths_of(wt_context *context, const wt_slabs *slabs, const wt_layer *layer,
                           const wt_certificate_options *options, wt_certificate_result *result) {
    size_t u = slabs->unknowns, free_count = u - layer->heads;
    size_t count = options->directions == 0 ? free_count : options->directions;
    measure job = {0};
    wt_status status;
    WT_TRY(wt_allocate(context, &job.basis, u, u * sizeof *job.basis, "directions"));
    WT_TRY(WT_NEW(context, &job.direction, u, "a direction"));
    WT_TRY(WT_NEW(context, &job.mix, u, "a direction"));
    WT_TRY(WT_NEW(context, &job.widths, count, "widths of a body"));
    WT_TRY(basis_of(context, layer, job.basis));
    WT_TRY(open_body(context, slabs, result->eta, layer->theta, &job.body));
    wt_meter meter = wt_meter_start(context, "directions", (double)count);
    for (size_t i = 0; i < count; i++) {
        direction_of(options, u, free_count, job.basis, i, job.mix, job.direction);
        WT_TRY(half_width(context, &job, u, &job.widths[i]));
        wt_meter_set(&meter, (double)(i + 1));
    }
    qsort(job.widths, count, sizeof *job.widths, by_value);
    result->directions = count;
    result->median = (job.widths[(count - 1) / 2] + job.widths[count / 2]) / 2 / result->theta_size;
    result->largest = job.widths[count - 1] / result->theta_size;
done:
    wt_body_close(job.body);
    wt_release(job.basis);
    wt_release(job.direction);
    wt_release(job.mix);
    wt_release(job.widths);
    return status;
}

wt_status wt_certificate(wt_context *context, const wt_sequences *data, const wt_layer *layer,
                         const wt_certificate_options *options, wt_certificate_result *result) {
    double began = wt_clock(), sum = 0;
    size_t u = layer->dim * layer->dim;
    wt_slabs slabs = {0};
    wt_status status;
    *result = (wt_certificate_result){.eta = NAN, .median = NAN, .largest = NAN};
    WT_TRY(check(context, data, layer, options));
    for (size_t i = 0; i < layer->heads * u; i++)
        sum += layer->theta[i] * layer->theta[i];
    result->theta_size = sqrt(sum / (double)layer->heads);
    result->frobenius_factor = sqrt((double)(u - layer->heads));
    if (!(result->theta_size > 0)) {
        status =
            wt_fail(context, WT_MISSED, "all reported Theta are 0: no width is relative to that");
        goto done;
    }
    WT_TRY(collect(context, data, layer, options, &slabs));
    result->slabs = slabs.count;
    result->rows = slabs.count / (data->length * (data->length - 1) / 2);
    WT_TRY(eta_of(context, &slabs, layer, &result->eta));
    WT_TRY(widths_of(context, &slabs, layer, options, result));
done:
    result->seconds = wt_clock() - began;
    wt_slabs_close(&slabs);
    return status;
}

wt_status wt_certificate_contains(wt_context *context, const wt_sequences *data,
                                  const wt_layer *layer, const wt_certificate_options *options,
                                  const double *theta, bool *out) {
    wt_slabs slabs = {0};
    double eta;
    wt_status status;
    WT_TRY(check(context, data, layer, options));
    WT_TRY(collect(context, data, layer, options, &slabs));
    WT_TRY(eta_of(context, &slabs, layer, &eta));
    *out = wt_slabs_violation(&slabs, theta) <= eta;
done:
    wt_slabs_close(&slabs);
    return status;
}
