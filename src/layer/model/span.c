#include "layer/model/span.h"

#include <math.h>
#include <string.h>

#include "layer/task/vector.h"
#include "linalg/linalg.h"

/* The square of the rounding of float32, a little above. */
#define NOTHING 1e-13
/* Parts of the largest eigenvalue of a Gram matrix below which rounding may have made another. */
#define MAYBE 1e-12

/* Orthogonal to (1, .., 1): all columns but the first of the reflection of e_0 onto it. */
static wt_status span_of_normed(size_t d, wt_span *out) {
    double first = 1 / sqrt((double)d) - 1, other = 1 / sqrt((double)d);
    double square = first * first + (double)(d - 1) * other * other;
    out->rank = d - 1;
    out->basis = WT_TAKE(&out->arena, double, d, d - 1);
    WT_PASS(out->arena.status);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j + 1 < d; j++)
            out->basis[i * (d - 1) + j] =
                (i == j + 1 ? 1 : 0) - 2 * (i == 0 ? first : other) * other / square;
    return WT_OK;
}

size_t wt_span_tokens(const wt_layer_form *form, const wt_sequences *data, double *x,
                      double *mean) {
    size_t d = data->dim, k = data->length, tokens = 0;
    memset(x, 0, data->samples * k * d * sizeof *x);
    if (mean != NULL)
        memset(mean, 0, d * sizeof *mean);
    for (size_t s = 0; s < data->samples; s++) {
        size_t length = wt_sequences_length_of(data, s);
        wt_layer_normalise(form, length, d, data->x + s * k * d, x + s * k * d);
        tokens += length;
        for (size_t j = 0; mean != NULL && j < length * d; j++)
            mean[j % d] += x[s * k * d + j];
    }
    for (size_t j = 0; mean != NULL && j < d; j++)
        mean[j] /= (double)tokens;
    for (size_t s = 0; mean != NULL && s < data->samples; s++)
        for (size_t j = 0; j < wt_sequences_length_of(data, s) * d; j++)
            x[s * k * d + j] -= mean[j % d];
    return tokens;
}

wt_status wt_span_directions(wt_context *context, size_t n, size_t d, const double *x, double part,
                             double size, double *vectors, double *values, size_t *skip) {
    WT_PASS(wt_gram(context, WT_TRANSPOSED, n, d, x, d, 0, vectors, d));
    WT_PASS(wt_eigen_symmetric(context, d, vectors, d, true, values));
    size = fmax(size, values[d - 1]);
    /* rounding of the Gram matrix itself hides what is smaller: look at the rows */
    for (*skip = 0; *skip + 1 < d && values[*skip] < MAYBE * size; ++*skip) {
        double square = 0;
        for (size_t t = 0; t < n; t++) {
            double along = wt_vector_dot(d, x + t * d, vectors + *skip * d);
            square += along * along;
        }
        if (square > part * size)
            break;
    }
    return WT_OK;
}

void wt_span_basis(size_t d, size_t skip, const double *vectors, double *basis) {
    for (size_t i = 0; i < d; i++)
        for (size_t j = skip; j < d; j++)
            basis[i * (d - skip) + j - skip] = vectors[j * d + i];
}

/* The directions of the last rows of `vectors` (d, d); the others hold the offset. */
static wt_status take_directions(const double *vectors, size_t skip, const double *mean,
                                 double size, wt_span *out) {
    size_t d = out->dim;
    out->rank = d - skip;
    out->basis = WT_TAKE(&out->arena, double, d, out->rank);
    double *offset = WT_TAKE_ZERO(&out->arena, double, d);
    WT_PASS(out->arena.status);
    wt_span_basis(d, skip, vectors, out->basis);
    for (size_t v = 0; v < skip; v++) {
        double along = wt_vector_dot(d, mean, vectors + v * d);
        for (size_t i = 0; i < d; i++)
            offset[i] += along * vectors[v * d + i];
    }
    if (wt_vector_squares(d, offset) > NOTHING * size)
        out->offset = offset;
    return WT_OK;
}

static wt_status span_of_tokens(wt_context *context, const wt_layer_form *form,
                                const wt_sequences *data, wt_span *out) {
    size_t d = data->dim, rows = data->samples * data->length, skip;
    wt_arena arena = wt_arena_start(context, "the span of the tokens");
    double *x = WT_TAKE(&arena, double, rows, d);
    double *mean = WT_TAKE(&arena, double, d), *values = WT_TAKE(&arena, double, d);
    double *vectors = WT_TAKE(&arena, double, d, d);
    wt_status status;
    WT_TRY(arena.status);
    double tokens = (double)wt_span_tokens(form, data, x, mean);
    double size = wt_vector_squares(d, mean);
    WT_TRY(wt_span_directions(context, rows, d, x, NOTHING, tokens * size, vectors, values, &skip));
    if (skip > 0)
        WT_TRY(take_directions(vectors, skip, mean, size + values[d - 1] / tokens, out));
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_span_of(wt_context *context, const wt_layer_form *form, size_t dim,
                     const wt_sequences *data, wt_span *out) {
    wt_status status = WT_OK;
    *out = (wt_span){
        .dim = dim, .rank = dim, .arena = wt_arena_start(context, "the span of the tokens")};
    if (data != NULL)
        WT_TRY(span_of_tokens(context, form, data, out));
    else if (form->norm == WT_LAYER_NORM_LAYER && dim > 1)
        WT_TRY(span_of_normed(dim, out));
done:
    if (status != WT_OK)
        wt_span_free(out);
    return status;
}

void wt_span_free(wt_span *span) {
    wt_arena_free(&span->arena);
    *span = (wt_span){0};
}

/* theta (d + 1, d) of the offset's tokens to `to` (r + 1, r); room for (d + 1, r). */
static wt_status see_theta(wt_context *context, const wt_span *span, const double *theta,
                           double *room, double *to) {
    size_t d = span->dim, r = span->rank;
    if (span->basis == NULL) {
        memcpy(to, theta, (d + 1) * d * sizeof *to);
        return WT_OK;
    }
    WT_PASS(
        wt_gemm(context, WT_PLAIN, WT_PLAIN, d + 1, r, d, 1, theta, d, span->basis, r, 0, room, r));
    memcpy(to + r * r, room + d * r, r * sizeof *to);
    return wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, r, r, d, 1, span->basis, r, room, r, 0, to, r);
}

static wt_status see_w(wt_context *context, const wt_span *span, size_t p, const double *w,
                       double *to) {
    size_t d = span->dim, r = span->rank;
    if (span->basis == NULL) {
        memcpy(to, w, d * p * sizeof *to);
        return WT_OK;
    }
    return wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, r, p, d, 1, span->basis, r, w, p, 0, to, p);
}

wt_status wt_span_see(wt_context *context, const wt_span *span, const wt_layer *layer,
                      wt_layer **out) {
    size_t d = span->dim, r = span->rank, p = layer->outputs, e = wt_layer_asked(layer);
    const wt_layer_form form = {.size = sizeof form, .bias = true};
    wt_arena arena = wt_arena_start(context, "a layer in the span of its tokens");
    double *whole = WT_TAKE(&arena, double, d + 1, d), *room = WT_TAKE(&arena, double, d + 1, r);
    wt_layer *made = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(arena.status);
    WT_TRY(wt_layer_new_form(context, layer->heads, r, p, &form, &made));
    double *c = wt_layer_c(made);
    memset(c, 0, p * sizeof *c);
    if (layer->form.bias)
        memcpy(c, wt_layer_c(layer), p * sizeof *c);
    for (size_t i = 0; i < layer->heads; i++) {
        const double *theta = layer->theta + i * e * d, *w = layer->w + i * d * p;
        memset(whole + d * d, 0, d * sizeof *whole);
        memcpy(whole, theta, e * d * sizeof *whole);
        for (size_t j = 0; span->offset != NULL && j < d * d; j++)
            whole[d * d + j % d] += span->offset[j / d] * theta[j];
        for (size_t j = 0; span->offset != NULL && j < d * p; j++)
            c[j % p] += span->offset[j / p] * w[j];
        WT_TRY(see_theta(context, span, whole, room, made->theta + i * (r + 1) * r));
        WT_TRY(see_w(context, span, p, w, made->w + i * r * p));
    }
    *out = made;
    made = NULL;
done:
    wt_arena_free(&arena);
    wt_layer_free(made);
    return status;
}
