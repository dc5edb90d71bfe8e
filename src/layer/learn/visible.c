#include "layer/learn/visible.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "layer/learn/recovery.h"
#include "layer/task/vector.h"
#include "linalg/linalg.h"

/* Eigenvalues of X^T X this part of the largest count as 0: rounding of the tokens, squared, in
 * double or in float32. */
#define NOTHING        1e-22
#define NOTHING_SINGLE (64 * (double)FLT_EPSILON * (double)FLT_EPSILON)

/* values (d) increasing and vectors (d, d) as rows of X^T X; *skip of them count as 0. */
static wt_status span(wt_context *context, const wt_sequences *data, double *vectors,
                      double *values, size_t *skip) {
    size_t d = data->dim;
    double part =
        wt_recover_is_single(data->samples * data->length * d, data->x) ? NOTHING_SINGLE : NOTHING;
    WT_PASS(wt_gram(context, WT_TRANSPOSED, data->samples * data->length, d, data->x, d, 0, vectors,
                    d));
    WT_PASS(wt_eigen_symmetric(context, d, vectors, d, true, values));
    /* rounding of the Gram matrix itself hides what is smaller: look at the tokens */
    for (*skip = 0; *skip < d && values[*skip] < 1e-12 * values[d - 1]; ++*skip) {
        double square = 0;
        for (size_t t = 0; t < data->samples * data->length; t++) {
            double along = wt_vector_dot(d, data->x + t * d, vectors + *skip * d);
            square += along * along;
        }
        if (square > part * values[d - 1])
            break;
    }
    return WT_OK;
}

/* out (m, rank, rank) = U^T Theta U. */
static wt_status lower_start(wt_context *context, const wt_visible *visible, const wt_layer *start,
                             wt_layer **out) {
    size_t d = visible->dim, r = visible->rank;
    double *half = NULL;
    wt_status status;
    WT_TRY(wt_layer_new(context, start->heads, r, start->outputs, out));
    memset((*out)->w, 0, start->heads * r * start->outputs * sizeof *start->w);
    WT_TRY(WT_NEW2(context, &half, r, d, "a start"));
    for (size_t i = 0; i < start->heads; i++) {
        WT_TRY(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, r, d, d, 1, visible->basis, r,
                       start->theta + i * d * d, d, 0, half, d));
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, r, r, d, 1, half, d, visible->basis, r, 0,
                       (*out)->theta + i * r * r, r));
    }
done:
    wt_release(half);
    return status;
}

wt_status wt_visible_make(wt_context *context, const wt_sequences *data,
                          const wt_recover_options *options, wt_visible *out) {
    size_t d = data->dim, tokens = data->samples * data->length, skip;
    wt_arena arena = wt_arena_start(context, "the span of the tokens");
    double *vectors = WT_TAKE(&arena, double, d, d), *values = WT_TAKE(&arena, double, d);
    wt_status status;
    *out = (wt_visible){.data = *data, .options = *options, .dim = d, .rank = d};
    WT_TRY(arena.status);
    WT_TRY(span(context, data, vectors, values, &skip));
    if (skip == 0)
        goto done;
    size_t r = out->rank = out->data.dim = d - skip;
    out->data.x = NULL;
    WT_TRY(WT_NEW2(context, &out->basis, d, r, "the span of the tokens"));
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < r; j++)
            out->basis[i * r + j] = vectors[(skip + j) * d + i];
    WT_TRY(WT_NEW2(context, &out->data.x, tokens, r, "tokens in their span"));
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, tokens, r, d, 1, data->x, d, out->basis, r, 0,
                   out->data.x, r));
    if (options->start != NULL) {
        WT_TRY(lower_start(context, out, options->start, &out->start));
        out->options.start = out->start;
    }
done:
    wt_arena_free(&arena);
    if (status != WT_OK)
        wt_visible_free(out);
    return status;
}

void wt_visible_free(wt_visible *visible) {
    if (visible->basis != NULL)
        wt_release(visible->data.x);
    wt_release(visible->basis);
    wt_layer_free(visible->start);
    *visible = (wt_visible){0};
}

wt_status wt_visible_lift(wt_context *context, const wt_visible *visible, wt_layer *layer) {
    size_t d = visible->dim, r = visible->rank, p = layer->outputs;
    wt_layer *whole = NULL;
    double *half = NULL;
    wt_status status = WT_OK;
    if (r == d)
        goto done;
    WT_TRY(wt_layer_new(context, layer->heads, d, p, &whole));
    WT_TRY(WT_NEW2(context, &half, d, r, "Theta"));
    for (size_t i = 0; i < layer->heads; i++) {
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, d, r, r, 1, visible->basis, r,
                       layer->theta + i * r * r, r, 0, half, r));
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, d, d, r, 1, half, r, visible->basis, r, 0,
                       whole->theta + i * d * d, d));
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, d, p, r, 1, visible->basis, r,
                       layer->w + i * r * p, p, 0, whole->w + i * d * p, p));
    }
    wt_layer small = *layer;
    *layer = *whole;
    *whole = small;
done:
    wt_release(half);
    wt_layer_free(whole);
    return status;
}
