#include "layer/model/layer.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "layer/model/attention.h"
#include "linalg/linalg.h"

static wt_status sizes(wt_context *context, size_t heads, size_t dim, size_t outputs,
                       size_t *thetas, size_t *values) {
    size_t columns;
    if (heads == 0 || dim == 0 || outputs == 0)
        return wt_fail(context, WT_USAGE,
                       "a layer needs heads, dim and outputs of 1 or more, not %zu, %zu and %zu",
                       heads, dim, outputs);
    if (!wt_multiply(heads, dim, &columns) || !wt_multiply(columns, dim, thetas) ||
        !wt_multiply(columns, outputs, values))
        return wt_fail(context, WT_MEMORY,
                       "%zu heads in %zu dimensions with %zu outputs are too many", heads, dim,
                       outputs);
    return WT_OK;
}

wt_status wt_layer_new(wt_context *context, size_t heads, size_t dim, size_t outputs,
                       wt_layer **out) {
    size_t thetas, values;
    wt_layer *layer = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(sizes(context, heads, dim, outputs, &thetas, &values));
    WT_TRY(WT_NEW_ZERO(context, &layer, 1, "a layer"));
    *layer = (wt_layer){.heads = heads, .dim = dim, .outputs = outputs};
    WT_TRY(WT_NEW(context, &layer->theta, thetas, "the Theta of a layer"));
    WT_TRY(WT_NEW(context, &layer->w, values, "the W of a layer"));
    *out = layer;
    layer = NULL;
done:
    wt_layer_free(layer);
    return status;
}

void wt_layer_free(wt_layer *layer) {
    if (layer == NULL)
        return;
    wt_release(layer->theta);
    wt_release(layer->w);
    wt_release(layer);
}

size_t wt_layer_heads(const wt_layer *layer) {
    return layer->heads;
}

size_t wt_layer_dim(const wt_layer *layer) {
    return layer->dim;
}

size_t wt_layer_outputs(const wt_layer *layer) {
    return layer->outputs;
}

double *wt_layer_theta(const wt_layer *layer) {
    return layer->theta;
}

double *wt_layer_w(const wt_layer *layer) {
    return layer->w;
}

wt_status wt_layer_copy(wt_context *context, const wt_layer *layer, wt_layer **out) {
    WT_PASS(wt_layer_new(context, layer->heads, layer->dim, layer->outputs, out));
    size_t columns = layer->heads * layer->dim;
    memcpy((*out)->theta, layer->theta, columns * layer->dim * sizeof *layer->theta);
    memcpy((*out)->w, layer->w, columns * layer->outputs * sizeof *layer->w);
    return WT_OK;
}

wt_status wt_layer_forward(wt_context *context, const wt_layer *layer, size_t n, size_t k,
                           const double *x, double *y) {
    size_t slab = k == 0 || k > WT_ATTENTION_TOKENS ? 1 : WT_ATTENTION_TOKENS / k;
    size_t columns = layer->heads * layer->dim, rows;
    double *h = NULL;
    wt_status status = WT_OK;
    if (n == 0 || k == 0)
        return WT_OK;
    slab = slab < n ? slab : n;
    WT_TRY(WT_NEW3(context, &h, slab, k, columns, "attended tokens"));
    for (size_t first = 0; first < n; first += slab) {
        rows = (n - first < slab ? n - first : slab) * k;
        wt_attention attention =
            wt_attention_of(rows / k, k, layer->dim, x + first * k * layer->dim);
        WT_TRY(wt_attention_run(context, &attention, layer->heads, layer->theta, NULL, h));
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, rows, layer->outputs, columns, 1, h, columns,
                       layer->w, layer->outputs, 0, y + first * k * layer->outputs,
                       layer->outputs));
    }
done:
    wt_release(h);
    return status;
}
