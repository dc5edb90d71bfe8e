#include "layer/model/layer.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/sized.h"

static wt_status check_form(wt_context *context, size_t dim, size_t outputs,
                            const wt_layer_form *form) {
    WT_PASS(wt_check_choice(context, "norm", (int)form->norm, WT_LAYER_NORM_RMS + 1));
    WT_PASS(wt_check_choice(context, "mask", (int)form->mask, WT_LAYER_MASK_CAUSAL + 1));
    if (!(form->epsilon >= 0) || !isfinite(form->epsilon))
        return wt_fail(context, WT_USAGE, "the epsilon of a norm must be 0 or more, not %g",
                       form->epsilon);
    if (form->residual && outputs != dim)
        return wt_fail(context, WT_USAGE,
                       "a residual connection adds tokens of %zu dimensions to %zu outputs", dim,
                       outputs);
    return WT_OK;
}

static wt_status sizes(wt_context *context, const wt_layer *layer, size_t *thetas, size_t *values) {
    size_t heads = layer->heads, dim = layer->dim, outputs = layer->outputs, columns;
    if (heads == 0 || dim == 0 || outputs == 0)
        return wt_fail(context, WT_USAGE,
                       "a layer needs heads, dim and outputs of 1 or more, not %zu, %zu and %zu",
                       heads, dim, outputs);
    WT_PASS(check_form(context, dim, outputs, &layer->form));
    if (!wt_multiply(heads, dim, &columns) || columns == SIZE_MAX ||
        !wt_multiply(columns, wt_layer_asked(layer), thetas) ||
        !wt_multiply(wt_layer_columns(layer), outputs, values))
        return wt_fail(context, WT_MEMORY,
                       "%zu heads in %zu dimensions with %zu outputs are too many", heads, dim,
                       outputs);
    return WT_OK;
}

wt_status wt_layer_new_form(wt_context *context, size_t heads, size_t dim, size_t outputs,
                            const wt_layer_form *form, wt_layer **out) {
    wt_layer wanted = {.heads = heads, .dim = dim, .outputs = outputs}, *layer = NULL;
    size_t thetas, values;
    wt_status status;
    *out = NULL;
    WT_INIT(wt_layer_form, &wanted.form);
    WT_TRY(wt_sized_read(context, "wt_layer_form", form, &wanted.form, sizeof wanted.form));
    WT_TRY(sizes(context, &wanted, &thetas, &values));
    WT_TRY(WT_NEW_ZERO(context, &layer, 1, "a layer"));
    *layer = wanted;
    WT_TRY(WT_NEW(context, &layer->theta, thetas, "the Theta of a layer"));
    WT_TRY(WT_NEW(context, &layer->w, values, "the W of a layer"));
    *out = layer;
    layer = NULL;
done:
    wt_layer_free(layer);
    return status;
}

wt_status wt_layer_new(wt_context *context, size_t heads, size_t dim, size_t outputs,
                       wt_layer **out) {
    wt_layer_form plain;
    WT_INIT(wt_layer_form, &plain);
    return wt_layer_new_form(context, heads, dim, outputs, &plain, out);
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

double *wt_layer_c(const wt_layer *layer) {
    return layer->form.bias ? layer->w + layer->heads * layer->dim * layer->outputs : NULL;
}

wt_status wt_layer_get_form(wt_context *context, const wt_layer *layer, wt_layer_form *out) {
    WT_PASS(wt_sized_check(context, "wt_layer_form", out, sizeof *out));
    wt_sized_write(out, &layer->form, sizeof *out);
    return WT_OK;
}

wt_status wt_layer_copy(wt_context *context, const wt_layer *layer, wt_layer **out) {
    WT_PASS(
        wt_layer_new_form(context, layer->heads, layer->dim, layer->outputs, &layer->form, out));
    memcpy((*out)->theta, layer->theta,
           layer->heads * wt_layer_theta_size(layer) * sizeof *layer->theta);
    memcpy((*out)->w, layer->w, wt_layer_columns(layer) * layer->outputs * sizeof *layer->w);
    return WT_OK;
}

wt_status wt_layer_keep(wt_context *context, const wt_layer *layer, size_t count,
                        const size_t *heads, wt_layer **out) {
    size_t theta = wt_layer_theta_size(layer), w = layer->dim * layer->outputs;
    *out = NULL;
    for (size_t i = 0; i < count; i++)
        if (heads[i] >= layer->heads)
            return wt_fail(context, WT_USAGE, "the layer has heads 0 to %zu, no head %zu",
                           layer->heads - 1, heads[i]);
    WT_PASS(wt_layer_new_form(context, count, layer->dim, layer->outputs, &layer->form, out));
    for (size_t i = 0; i < count; i++) {
        memcpy((*out)->theta + i * theta, layer->theta + heads[i] * theta,
               theta * sizeof *layer->theta);
        memcpy((*out)->w + i * w, layer->w + heads[i] * w, w * sizeof *layer->w);
    }
    if (layer->form.bias)
        memcpy(wt_layer_c(*out), wt_layer_c(layer), layer->outputs * sizeof *layer->w);
    return WT_OK;
}

void wt_layer_keep_heads(wt_layer *layer, size_t heads) {
    const double *c = wt_layer_c(layer);
    layer->heads = heads;
    if (c != NULL)
        memmove(wt_layer_c(layer), c, layer->outputs * sizeof *c);
}
