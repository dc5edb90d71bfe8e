/* Norms of a model's own weights, for the bounds. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "network/model/norms.h"

wt_status wt_model_norms_new(wt_context *context, size_t layers, size_t heads,
                             wt_model_norms **out) {
    wt_model_norms *norms = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(WT_NEW_ZERO(context, &norms, 1, "norms of a model"));
    *norms = (wt_model_norms){.layers = layers, .heads = heads, .x = 1, .cls = 1, .w = NAN};
    WT_TRY(WT_NEW2(context, &norms->head, layers, heads, "norms of heads"));
    WT_TRY(WT_NEW(context, &norms->sigma, layers, "norms of layers"));
    for (size_t i = 0; i < layers; i++)
        norms->sigma[i] = 1;
    for (size_t i = 0; i < layers * heads; i++)
        norms->head[i] = (wt_head_norms){NAN, NAN, NAN, NAN, NAN, NAN};
    *out = norms;
    norms = NULL;
done:
    wt_model_norms_free(norms);
    return status;
}

void wt_model_norms_free(wt_model_norms *norms) {
    if (norms == NULL)
        return;
    wt_release(norms->head);
    wt_release(norms->sigma);
    wt_release(norms);
}

size_t wt_model_norms_layers(const wt_model_norms *norms) {
    return norms->layers;
}

size_t wt_model_norms_heads(const wt_model_norms *norms) {
    return norms->heads;
}

size_t wt_model_norms_dim(const wt_model_norms *norms) {
    return norms->dim;
}

size_t wt_model_norms_length(const wt_model_norms *norms) {
    return norms->length;
}

const char *const *wt_model_norms_outside(const wt_model_norms *norms) {
    static const char *const nothing[] = {NULL};
    return norms->outside != NULL ? norms->outside : nothing;
}

/* Where a norm is kept; NULL when there is none. */
static const double *place_of(const wt_model_norms *norms, wt_model_norm norm, size_t layer,
                              size_t head) {
    bool of_head = norm <= WT_MODEL_NORM_C, of_layer = of_head || norm == WT_MODEL_NORM_SIGMA;
    if ((of_layer && layer >= norms->layers) || (of_head && head >= norms->heads))
        return NULL;
    const wt_head_norms *at = of_head ? &norms->head[layer * norms->heads + head] : NULL;
    switch (norm) {
    case WT_MODEL_NORM_QK21:
        return &at->qk21;
    case WT_MODEL_NORM_QK:
        return &at->qk;
    case WT_MODEL_NORM_V21:
        return &at->v21;
    case WT_MODEL_NORM_V:
        return &at->v;
    case WT_MODEL_NORM_C21:
        return &at->c21;
    case WT_MODEL_NORM_C:
        return &at->c;
    case WT_MODEL_NORM_SIGMA:
        return &norms->sigma[layer];
    case WT_MODEL_NORM_X:
        return &norms->x;
    case WT_MODEL_NORM_P:
        return &norms->p;
    case WT_MODEL_NORM_CLS:
        return &norms->cls;
    case WT_MODEL_NORM_W:
        return &norms->w;
    }
    return NULL;
}

double wt_model_norms_get(const wt_model_norms *norms, wt_model_norm norm, size_t layer,
                          size_t head) {
    const double *place = place_of(norms, norm, layer, head);
    return place == NULL ? NAN : *place;
}

wt_status wt_model_norms_set(wt_context *context, wt_model_norms *norms, wt_model_norm norm,
                             size_t layer, size_t head, double value) {
    const double *place = place_of(norms, norm, layer, head);
    if (place == NULL)
        return wt_fail(context, WT_USAGE, "there is no norm %d of head %zu in layer %zu", (int)norm,
                       head, layer);
    *(double *)place = value;
    return WT_OK;
}

double wt_length_of(size_t count, const double *values) {
    double square = 0;
    for (size_t i = 0; i < count; i++)
        square += values[i] * values[i];
    return sqrt(square);
}

wt_status wt_norms_pair(wt_context *context, size_t rows, size_t columns, const double *matrix,
                        size_t stride, double *columns21, double *spectral) {
    WT_PASS(wt_norm(context, WT_COLUMNS, rows, columns, matrix, stride, columns21));
    return wt_norm(context, WT_SPECTRAL, rows, columns, matrix, stride, spectral);
}

wt_status wt_norms_square(wt_context *context, size_t dim, const double *w_qk, wt_head_norms *out) {
    out->qk21 = 0;
    for (size_t i = 0; i < dim; i++)
        out->qk21 += wt_length_of(dim, w_qk + i * dim);
    return wt_norm(context, WT_SPECTRAL, dim, dim, w_qk, dim, &out->qk);
}

/* Of Q K^T scale without forming it: row i has the norm |q_i R|, where K^T K = G and
 * |q_i R|^2 = q_i G q_i^T; and with Q = U S V^T its spectral norm is that of K V S. */
wt_status wt_norms_product(wt_context *context, size_t dim, size_t rank, const double *q,
                           size_t q_stride, const double *k, size_t k_stride, double scale,
                           wt_head_norms *out) {
    size_t least = dim < rank ? dim : rank;
    wt_arena arena = wt_arena_start(context, "norms of a product");
    double *gram = WT_TAKE(&arena, double, rank, rank);
    double *product = WT_TAKE(&arena, double, dim, rank);
    double *u = WT_TAKE(&arena, double, dim, least), *s = WT_TAKE(&arena, double, least);
    double *vt = WT_TAKE(&arena, double, least, rank);
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, rank, rank, dim, 1, k, k_stride, k, k_stride,
                   0, gram, rank));
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, dim, rank, rank, 1, q, q_stride, gram, rank, 0,
                   product, rank));
    out->qk21 = 0;
    for (size_t i = 0; i < dim; i++) {
        double square = 0;
        for (size_t j = 0; j < rank; j++)
            square += q[i * q_stride + j] * product[i * rank + j];
        out->qk21 += scale * sqrt(fmax(square, 0)); /* rounding may pass below 0 */
    }
    WT_TRY(wt_svd(context, dim, rank, q, q_stride, u, s, vt));
    for (size_t i = 0; i < least; i++)
        for (size_t j = 0; j < rank; j++)
            vt[i * rank + j] *= s[i];
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, dim, least, rank, 1, k, k_stride, vt, rank, 0,
                   u, least));
    WT_TRY(wt_norm(context, WT_SPECTRAL, dim, least, u, least, &out->qk));
    out->qk *= scale;
done:
    wt_arena_free(&arena);
    return status;
}
