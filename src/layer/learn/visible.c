#include "layer/learn/visible.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "layer/learn/recovery.h"
#include "layer/model/span.h"
#include "layer/task/vector.h"
#include "linalg/linalg.h"

/* Eigenvalues of X^T X this part of the largest count as 0: rounding of the tokens, squared, in
 * double or in float32. */
#define NOTHING        1e-22
#define NOTHING_SINGLE (64 * (double)FLT_EPSILON * (double)FLT_EPSILON)

/* Tokens whose mean squares along their axes are further apart are whitened. */
#define UNEVEN 100

/* Tokens after the norm, off their mean where there are biases. */
static wt_status copy_tokens(const wt_sequences *data, const wt_recover_options *options,
                             wt_visible *out) {
    wt_layer_form form = wt_recover_form(options);
    out->data.x = WT_TAKE(&out->arena, double, data->samples, data->length, data->dim);
    if (out->options.bias)
        out->mean = WT_TAKE(&out->arena, double, data->dim);
    WT_PASS(out->arena.status);
    (void)wt_span_tokens(&form, data, out->data.x, out->mean);
    return WT_OK;
}

/* y without the tokens that the residual connection adds. */
static wt_status take_tokens_off(const wt_sequences *data, wt_visible *out) {
    size_t numbers = data->samples * data->length * data->dim;
    double *y = out->data.y = WT_TAKE(&out->arena, double, numbers);
    WT_PASS(out->arena.status);
    for (size_t i = 0; i < numbers; i++)
        y[i] = data->y[i] - data->x[i];
    return WT_OK;
}

/* out (m, e, rank): B^T Theta B, and (u + Theta^T mean) B where biases are looked for; a start
 * without biases has u = 0. */
static wt_status lower_start(wt_context *context, const wt_visible *visible, const wt_layer *start,
                             wt_layer **out) {
    size_t d = visible->dim, r = visible->rank, e = d + visible->options.bias;
    size_t given = wt_layer_asked(start);
    wt_arena arena = wt_arena_start(context, "a start");
    double *moved = WT_TAKE(&arena, double, e, d), *half = WT_TAKE(&arena, double, e, r);
    const double *back = visible->back;
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(wt_layer_new_form(
        context, start->heads, r, start->outputs,
        &(wt_layer_form){.size = sizeof(wt_layer_form), .bias = visible->options.bias}, out));
    memset((*out)->w, 0, wt_layer_columns(*out) * start->outputs * sizeof *start->w);
    for (size_t i = 0; i < start->heads; i++) {
        const double *theta = start->theta + i * given * d;
        double *to = (*out)->theta + i * wt_layer_theta_size(*out);
        memset(moved, 0, e * d * sizeof *moved);
        memcpy(moved, theta, (given < e ? given : e) * d * sizeof *moved);
        for (size_t j = 0; visible->mean != NULL && j < d * d; j++)
            moved[d * d + j % d] += visible->mean[j / d] * theta[j];
        if (back == NULL) {
            memcpy(to, moved, e * d * sizeof *to);
            continue;
        }
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, e, r, d, 1, moved, d, back, r, 0, half, r));
        WT_TRY(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, r, r, d, 1, back, r, half, r, 0, to, r));
        if (e > d)
            memcpy(to + r * r, half + d * r, r * sizeof *to);
    }
done:
    wt_arena_free(&arena);
    return status;
}

/* toward (d) += V diag(1 / values) V^T X^T (1 - X toward), the rows of V without the first `skip`;
 * returns |1 - X toward|^2 as it was. */
static double turn_toward(const wt_sequences *data, size_t skip, const double *vectors,
                          const double *values, double *gradient, double *toward) {
    size_t d = data->dim, k = data->length;
    double apart = 0;
    memset(gradient, 0, d * sizeof *gradient);
    for (size_t t = 0; t < data->samples * k; t++) {
        const double *x = data->x + t * d;
        if (t % k >= wt_sequences_length_of(data, t / k))
            continue;
        double left = 1 - wt_vector_dot(d, x, toward);
        apart += left * left;
        for (size_t j = 0; j < d; j++)
            gradient[j] += left * x[j];
    }
    for (size_t i = skip; i < d; i++) {
        double along = wt_vector_dot(d, vectors + i * d, gradient) / values[i];
        for (size_t j = 0; j < d; j++)
            toward[j] += along * vectors[i * d + j];
    }
    return apart;
}

/* The normal a of a plane <a, x> = 1 that all tokens lie on, where there is one: by least squares,
 * refined twice, to within `part` of the rounding of the products. */
static wt_status find_normal(const double *vectors, const double *values, size_t skip, double part,
                             wt_visible *out) {
    enum { PASSES = 3 };
    size_t d = out->data.dim;
    double *gradient = WT_TAKE(&out->arena, double, d);
    double *toward = WT_TAKE_ZERO(&out->arena, double, d), squares = 0;
    WT_PASS(out->arena.status);
    for (size_t i = skip; i < d; i++)
        squares += values[i];
    for (int pass = 0; pass < PASSES; pass++)
        turn_toward(&out->data, skip, vectors, values, gradient, toward);
    if (turn_toward(&out->data, skip, vectors, values, gradient, toward) <
        part * squares * wt_vector_squares(d, toward))
        out->normal = toward;
    return WT_OK;
}

/* U and B of the vectors (d, d) that are left when the first `skip` are not. */
static wt_status choose_basis(size_t skip, bool uneven, const double *vectors, const double *values,
                              wt_visible *out) {
    size_t d = out->dim, r = out->rank = d - skip;
    double mean = 0;
    out->basis = WT_TAKE(&out->arena, double, d, r);
    out->back = WT_TAKE(&out->arena, double, d, r);
    WT_PASS(out->arena.status);
    for (size_t j = 0; j < r; j++)
        mean += values[skip + j] / (double)r;
    for (size_t j = 0; j < r; j++) {
        double size = uneven ? sqrt(values[skip + j] / mean) : 1;
        for (size_t i = 0; i < d; i++) {
            out->basis[i * r + j] = vectors[(skip + j) * d + i] / size;
            out->back[i * r + j] = vectors[(skip + j) * d + i] * size;
        }
    }
    return WT_OK;
}

/* The basis, and the tokens in it, where they leave directions out or differ much in size from one
 * to another. Without biases the plane that the tokens lie on comes first, if there is one. */
static wt_status reduce(wt_context *context, const wt_sequences *data, wt_visible *out) {
    size_t d = data->dim, tokens = data->samples * data->length, skip;
    wt_arena arena = wt_arena_start(context, "the span of the tokens");
    double *vectors = WT_TAKE(&arena, double, d, d), *values = WT_TAKE(&arena, double, d);
    double part = wt_recover_is_single(tokens * d, data->x) ? NOTHING_SINGLE : NOTHING;
    double size = 0; /* of what was taken off, whose rounding the tokens have */
    wt_status status;
    WT_TRY(arena.status);
    for (size_t j = 0; out->mean != NULL && j < d; j++)
        size += (double)tokens * out->mean[j] * out->mean[j];
    WT_TRY(wt_span_directions(context, tokens, d, out->data.x, part, size, vectors, values, &skip));
    if (!out->options.bias && d - skip > 1)
        WT_TRY(find_normal(vectors, values, skip, part, out));
    bool uneven = values[d - 1] > UNEVEN * values[skip];
    if ((skip == 0 && !uneven) || (out->normal != NULL && out->mean == NULL))
        goto done;
    WT_TRY(choose_basis(skip, uneven, vectors, values, out));
    size_t r = out->rank;
    double *x = WT_TAKE(&out->arena, double, tokens, r);
    WT_TRY(out->arena.status);
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, tokens, r, d, 1, out->data.x, d, out->basis, r, 0,
                   x, r));
    out->data.x = x;
    out->data.dim = r;
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_visible_make(wt_context *context, const wt_sequences *data,
                          const wt_recover_options *options, wt_visible *out) {
    wt_status status = WT_OK;
    *out = (wt_visible){.data = *data,
                        .options = *options,
                        .dim = data->dim,
                        .rank = data->dim,
                        .arena = wt_arena_start(context, "tokens in their span")};
    out->options.norm = WT_LAYER_NORM_NONE;
    out->options.residual = false;
    if (options->bias || options->norm != WT_LAYER_NORM_NONE || data->lengths != NULL)
        WT_TRY(copy_tokens(data, options, out));
    if (options->residual)
        WT_TRY(take_tokens_off(data, out));
    WT_TRY(reduce(context, data, out));
    if (out->normal != NULL) {
        out->options.bias = true;
        WT_TRY(copy_tokens(data, options, out));
        WT_TRY(reduce(context, data, out));
    }
    if (options->start != NULL &&
        (out->basis != NULL || out->options.bias || options->start->form.bias)) {
        WT_TRY(lower_start(context, out, options->start, &out->start));
        out->options.start = out->start;
    }
done:
    if (status != WT_OK)
        wt_visible_free(out);
    return status;
}

size_t wt_visible_span(const wt_visible *visible) {
    return visible->rank + (visible->normal != NULL && visible->rank < visible->dim);
}

void wt_visible_free(wt_visible *visible) {
    wt_arena_free(&visible->arena);
    wt_layer_free(visible->start);
    *visible = (wt_visible){0};
}

/* Theta, u and W of every head from the span to R^d. */
static wt_status widen(wt_context *context, const wt_visible *visible, const wt_layer *layer,
                       wt_layer *whole) {
    size_t d = visible->dim, r = visible->rank, p = layer->outputs, e = r + layer->form.bias;
    const double *basis = visible->basis;
    double *half = NULL;
    wt_status status;
    WT_TRY(WT_NEW2(context, &half, e, d, "Theta"));
    for (size_t i = 0; i < layer->heads; i++) {
        double *theta = whole->theta + i * wt_layer_theta_size(whole);
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, e, d, r, 1, layer->theta + i * e * r, r,
                       basis, r, 0, half, d));
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, d, d, r, 1, basis, r, half, d, 0, theta, d));
        if (e > r)
            memcpy(theta + d * d, half + r * d, d * sizeof *theta);
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, d, p, r, 1, basis, r, layer->w + i * r * p, p,
                       0, whole->w + i * d * p, p));
    }
    if (layer->form.bias)
        memcpy(wt_layer_c(whole), wt_layer_c(layer), p * sizeof *layer->w);
done:
    wt_release(half);
    return status;
}

/* What the mean of the tokens, which was taken off, adds to scores and outputs. */
static void give_mean_back(const wt_visible *visible, wt_layer *layer) {
    size_t d = layer->dim, p = layer->outputs;
    double *c = wt_layer_c(layer);
    for (size_t i = 0; i < layer->heads; i++) {
        double *theta = layer->theta + i * (d + 1) * d;
        const double *w = layer->w + i * d * p;
        for (size_t j = 0; j < d * d; j++)
            theta[d * d + j % d] -= visible->mean[j / d] * theta[j];
        for (size_t j = 0; j < d * p; j++)
            c[j % p] -= visible->mean[j / p] * w[j];
    }
}

/* A layer on the plane <a, x> = 1 needs no biases: a u^T is part of Theta, a c^T of the W. */
static void fold_biases(const double *normal, wt_layer *layer) {
    size_t m = layer->heads, d = layer->dim, p = layer->outputs;
    const double *c = wt_layer_c(layer);
    for (size_t i = 0; i < m; i++) {
        double *theta = layer->theta + i * (d + 1) * d, *w = layer->w + i * d * p;
        for (size_t j = 0; j < d * d; j++)
            theta[j] += normal[j / d] * theta[d * d + j % d];
        for (size_t j = 0; j < d * p; j++)
            w[j] += normal[j / p] * c[j % p] / (double)m;
        memmove(layer->theta + i * d * d, theta, d * d * sizeof *theta);
    }
}

wt_status wt_visible_lift(wt_context *context, const wt_visible *visible,
                          const wt_recover_options *options, wt_layer *layer) {
    wt_layer *whole = NULL;
    wt_status status = WT_OK;
    if (visible->basis != NULL) {
        WT_TRY(wt_layer_new_form(context, layer->heads, visible->dim, layer->outputs, &layer->form,
                                 &whole));
        WT_TRY(widen(context, visible, layer, whole));
        wt_layer small = *layer;
        *layer = *whole;
        *whole = small;
    }
    if (visible->mean != NULL)
        give_mean_back(visible, layer);
    if (visible->normal != NULL)
        fold_biases(visible->normal, layer);
    layer->form = wt_recover_form(options);
done:
    wt_layer_free(whole);
    return status;
}
