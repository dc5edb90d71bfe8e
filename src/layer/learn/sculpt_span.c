#include "layer/learn/sculpt_span.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "layer/task/vector.h"
#include "linalg/linalg.h"

static bool inside(double weight) {
    return weight >= WT_SLAB_LEAST && weight <= 1 - WT_SLAB_LEAST;
}

/* Slabs of a row with these weights. */
static size_t slabs_of(size_t k, const double *weights, bool whole) {
    size_t good = 0;
    for (size_t b = 0; b < k; b++)
        good += inside(weights[b]);
    return whole && good < k ? 0 : good * (good - (good > 0)) / 2;
}

static size_t rows_for(const wt_patterns *patterns, bool whole, size_t wanted, size_t *slabs) {
    size_t rows = 0;
    *slabs = 0;
    while (rows < patterns->usable && *slabs < wanted) {
        *slabs += slabs_of(patterns->k, patterns->weights + patterns->order[rows].row * patterns->k,
                           whole);
        rows++;
    }
    return rows;
}

size_t wt_slabs_rows_for(const wt_patterns *patterns, size_t wanted) {
    size_t slabs;
    return rows_for(patterns, false, wanted, &slabs);
}

/* Writes the slabs of one row from number `at` on. */
static size_t add_row(wt_slabs *out, const wt_sequences *rows, size_t row, const double *weights,
                      size_t at) {
    size_t k = rows->length, d = rows->dim;
    const double *asking = rows->x + row * d, *tokens = rows->x + row / k * k * d;
    for (size_t b = 0; b < k; b++)
        for (size_t c = b + 1; c < k; c++) {
            if (!inside(weights[b]) || !inside(weights[c]))
                continue;
            double *normal = out->normal + at * d * d;
            for (size_t i = 0; i < d; i++)
                for (size_t j = 0; j < d; j++)
                    normal[i * d + j] = asking[i] * (tokens[b * d + j] - tokens[c * d + j]);
            out->middle[at++] = log(weights[b] / weights[c]);
        }
    return at;
}

wt_status wt_slabs_collect(wt_arena *arena, const wt_sequences *rows, const wt_patterns *patterns,
                           bool whole, size_t wanted, wt_slabs *out) {
    size_t k = rows->length, at = 0;
    *out = (wt_slabs){.unknowns = rows->dim * rows->dim};
    out->rows = rows_for(patterns, whole, wanted, &out->count);
    out->normal = WT_TAKE(arena, double, out->count, out->unknowns);
    out->middle = WT_TAKE(arena, double, out->count);
    for (size_t i = 0; arena->status == WT_OK && i < out->rows; i++) {
        size_t row = patterns->order[i].row;
        if (slabs_of(k, patterns->weights + row * k, whole) > 0)
            at = add_row(out, rows, row, patterns->weights + row * k, at);
    }
    return arena->status;
}

double wt_slabs_violation(const wt_slabs *slabs, const double *theta) {
    double most = 0;
    for (size_t i = 0; i < slabs->count; i++)
        most = fmax(
            most, fabs(wt_vector_dot(slabs->unknowns, slabs->normal + i * slabs->unknowns, theta) -
                       slabs->middle[i]));
    return most;
}

wt_status wt_span_find(wt_arena *arena, const wt_slabs *slabs, wt_span *out) {
    wt_context *context = arena->context;
    size_t u = slabs->unknowns;
    double scale = 1 / (double)slabs->count;
    *out = (wt_span){.unknowns = u,
                     .values = WT_TAKE(arena, double, u),
                     .vectors = WT_TAKE(arena, double, u, u),
                     .side = WT_TAKE(arena, double, u)};
    WT_PASS(arena->status);
    WT_PASS(wt_gram(context, WT_TRANSPOSED, slabs->count, u, slabs->normal, u, 0, out->vectors, u));
    for (size_t i = 0; i < u; i++)
        for (size_t j = 0; j <= i; j++)
            out->vectors[i * u + j] *= scale;
    WT_PASS(wt_eigen_symmetric(context, u, out->vectors, u, true, out->values));
    return wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, u, 1, slabs->count, scale, slabs->normal, u,
                   slabs->middle, 1, 0, out->side, 1);
}

double wt_span_gap(const wt_span *span, size_t j) {
    /* Rounding may leave an eigenvalue of 0 a little below it. */
    double floor = 1e-15 * span->values[span->unknowns - 1];
    return fmax(span->values[j], floor) / fmax(span->values[j - 1], floor);
}

void wt_span_center(const wt_span *span, size_t null, double *center) {
    size_t u = span->unknowns;
    double least = 1e-12 * span->values[u - 1];
    memset(center, 0, u * sizeof *center);
    for (size_t j = null; j < u; j++) {
        const double *vector = span->vectors + j * u;
        if (!(span->values[j] > least))
            continue;
        double part = wt_vector_dot(u, vector, span->side) / span->values[j];
        for (size_t i = 0; i < u; i++)
            center[i] += part * vector[i];
    }
}

double wt_span_distance(const wt_span *span, size_t null, const double *center,
                        const double *theta) {
    size_t u = span->unknowns;
    double sum = 0;
    for (size_t j = null; j < u; j++) {
        double part = 0;
        for (size_t i = 0; i < u; i++)
            part += span->vectors[j * u + i] * (theta[i] - center[i]);
        sum += part * part;
    }
    return sqrt(sum);
}
