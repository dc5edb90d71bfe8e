/* Layers to learn from: random ones, the hard instance, and sequences drawn through a layer. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "linalg/linalg.h"
#include "linalg/token_law.h"
#include "wattle/layer.h"

/* Theta (d, d) Gaussian, or U V^T of Gaussian U, V (d, r); u and v are scratch. */
static wt_status draw_theta(wt_context *context, size_t d, size_t rank, uint64_t seed, size_t head,
                            double *u, double *v, double *theta) {
    if (rank == 0) {
        wt_random_normal(wt_stream_for(seed, "theta", head), 0, d * d, theta);
        return WT_OK;
    }
    wt_random_normal(wt_stream_for(seed, "theta left", head), 0, d * rank, u);
    wt_random_normal(wt_stream_for(seed, "theta right", head), 0, d * rank, v);
    return wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, d, d, rank, 1, u, rank, v, rank, 0, theta, d);
}

static void scale_to(double norm, size_t count, double *values) {
    double square = 0;
    for (size_t i = 0; i < count; i++)
        square += values[i] * values[i];
    for (size_t i = 0; i < count; i++)
        values[i] *= norm / sqrt(square);
}

wt_status wt_layer_teacher(wt_context *context, size_t heads, size_t dim, size_t outputs,
                           double scale, size_t rank, uint64_t seed, wt_layer *out) {
    double *u = NULL, *v = NULL;
    wt_status status;
    *out = (wt_layer){0};
    if (!(scale >= 0) || !isfinite(scale)) {
        status = wt_fail(context, WT_USAGE, "the scale of Theta must be 0 or more, not %g", scale);
        goto done;
    }
    if (rank > dim) {
        status = wt_fail(context, WT_USAGE, "a rank of %zu is above the dimension %zu", rank, dim);
        goto done;
    }
    WT_TRY(wt_layer_new(context, heads, dim, outputs, out));
    WT_TRY(WT_NEW(context, &u, dim * rank, "a factor of Theta"));
    WT_TRY(WT_NEW(context, &v, dim * rank, "a factor of Theta"));
    for (size_t i = 0; i < heads; i++) {
        WT_TRY(draw_theta(context, dim, rank, seed, i, u, v, out->theta + i * dim * dim));
        scale_to(scale, dim * dim, out->theta + i * dim * dim);
        double *w = out->w + i * dim * outputs;
        wt_random_normal(wt_stream_for(seed, "w", i), 0, dim * outputs, w);
        for (size_t j = 0; j < dim * outputs; j++)
            w[j] /= sqrt((double)dim);
    }
done:
    wt_release(u);
    wt_release(v);
    if (status != WT_OK)
        wt_layer_free(out);
    return status;
}

/* Equation j, 0 .. n: sum_i c_i tanh(2j - 2i + 1) + c_0 = (-1)^(n - j); c has c_0 last. */
static wt_status parity_weights(wt_context *context, size_t n, double *c) {
    double *a = NULL, *b = NULL;
    size_t rank, side = n + 1;
    wt_status status;
    WT_TRY(WT_NEW(context, &a, side * side, "equations of a parity"));
    WT_TRY(WT_NEW(context, &b, side, "equations of a parity"));
    for (size_t j = 0; j < side; j++) {
        for (size_t i = 1; i <= n; i++)
            a[j * side + i - 1] = tanh(2.0 * (double)j - 2.0 * (double)i + 1.0);
        a[j * side + n] = 1;
        b[j] = (n - j) % 2 == 0 ? 1 : -1;
    }
    WT_TRY(wt_least_squares(context, side, side, 1, a, side, b, 1, -1, c, 1, &rank));
    if (rank != side)
        status = wt_fail(context, WT_INTERNAL, "the equations of a parity of %zu have rank %zu", n,
                         rank);
done:
    wt_release(a);
    wt_release(b);
    return status;
}

wt_status wt_layer_parity(wt_context *context, size_t bits, size_t dim, wt_layer *out) {
    double *c = NULL;
    wt_status status;
    *out = (wt_layer){0};
    if (bits == 0 || bits >= dim) {
        status = wt_fail(context, WT_USAGE,
                         "a parity of %zu bits needs 1 or more bits and more dimensions than "
                         "bits, not %zu",
                         bits, dim);
        goto done;
    }
    WT_TRY(wt_layer_new(context, bits, dim, 1, out));
    WT_TRY(WT_NEW(context, &c, bits + 1, "weights of a parity"));
    WT_TRY(parity_weights(context, bits, c));
    memset(out->theta, 0, bits * dim * dim * sizeof *out->theta);
    memset(out->w, 0, bits * dim * sizeof *out->w);
    for (size_t i = 0; i < bits; i++) {
        double *theta = out->theta + i * dim * dim;
        for (size_t q = 1; q <= bits; q++)
            theta[q * dim] = 1;
        theta[0] = (double)bits + 1 - 2 * ((double)i + 1);
        out->w[i * dim] = c[i];
    }
done:
    wt_release(c);
    if (status != WT_OK)
        wt_layer_free(out);
    return status;
}

typedef struct {
    wt_law law;
    double scale;
    uint64_t seed, first;
    const wt_sequences *out;
} drawing;

static wt_status draw_tokens(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const drawing *work = argument;
    const wt_sequences *out = work->out;
    wt_tokens_draw(work->law, work->scale, wt_stream_for(work->seed, "sequences", 0),
                   (work->first + begin) * out->length, (end - begin) * out->length, out->dim,
                   out->x + begin * out->length * out->dim);
    return WT_OK;
}

static wt_status add_noise(wt_context *context, double noise, uint64_t seed, uint64_t first,
                           wt_sequences *out) {
    size_t each = out->length * out->outputs, even = each + each % 2;
    double *row = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &row, each, "noise"));
    for (size_t i = 0; i < out->samples; i++) {
        wt_random_normal(wt_stream_for(seed, "sequence noise", 0), (first + i) * even, each, row);
        for (size_t j = 0; j < each; j++)
            out->y[i * each + j] += noise * row[j];
    }
done:
    wt_release(row);
    return status;
}

wt_status wt_layer_draw(wt_context *context, const wt_layer *layer, wt_law law, double scale,
                        double noise, uint64_t seed, uint64_t first, wt_sequences *out) {
    drawing work = {.law = law, .scale = scale, .seed = seed, .first = first, .out = out};
    wt_status status;
    if (out->dim != layer->dim || out->outputs != layer->outputs)
        return wt_fail(context, WT_USAGE,
                       "sequences of %zu dimensions and %zu outputs do not fit a layer of %zu and "
                       "%zu",
                       out->dim, out->outputs, layer->dim, layer->outputs);
    if (!(noise >= 0) || !isfinite(noise) || !(scale > 0) || !isfinite(scale))
        return wt_fail(context, WT_USAGE,
                       "noise must be 0 or more and the token scale above 0, not %g and %g", noise,
                       scale);
    WT_TRY(wt_law_check(context, law));
    WT_TRY(wt_parallel_for(context, out->samples, 64, draw_tokens, &work));
    WT_TRY(wt_layer_forward(context, layer, out->samples, out->length, out->x, out->y));
    if (noise > 0)
        WT_TRY(add_noise(context, noise, seed, first, out));
done:
    return status;
}

void wt_layer_zero_sum(wt_layer *layer) {
    size_t count = layer->dim * layer->outputs;
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t head = 0; head < layer->heads; head++)
            sum += layer->w[head * count + i];
        for (size_t head = 0; head < layer->heads; head++)
            layer->w[head * count + i] -= sum / (double)layer->heads;
    }
}
