/* Layers in .safetensors files: theta (m,d,d), w (m,d,p). */

#include "base/memory.h"
#include "layer/model/layer.h"
#include "wattle/io.h"

static wt_status check_shapes(wt_context *context, const wt_file *file, const wt_array *theta,
                              const wt_array *w) {
    const char *path = wt_file_path(file);
    if (theta->count == 0 || w->count == 0)
        return wt_fail(context, WT_DATA, "%s: 'theta' or 'w' has no numbers", path);
    if (theta->shape[1] != theta->shape[2])
        return wt_fail(context, WT_DATA, "%s: the matrices of 'theta' are %zu x %zu, not square",
                       path, theta->shape[1], theta->shape[2]);
    if (w->shape[0] != theta->shape[0] || w->shape[1] != theta->shape[1])
        return wt_fail(context, WT_DATA,
                       "%s: 'theta' has %zu heads in %zu dimensions, 'w' %zu in %zu", path,
                       theta->shape[0], theta->shape[1], w->shape[0], w->shape[1]);
    return WT_OK;
}

static wt_status read_finite(wt_context *context, const wt_file *file, const wt_array *array,
                             double *out) {
    wt_status status;
    WT_TRY(wt_file_read(context, file, array, out));
    if (wt_values_check_finite(context, array->name, out, array->rank, array->shape) != WT_OK) {
        status =
            wt_fail(context, WT_DATA, "%s: %s", wt_file_path(file), wt_context_message(context));
    }
done:
    return status;
}

wt_status wt_layer_load(wt_context *context, const char *path, wt_layer **out) {
    wt_file *file = NULL;
    const wt_array *theta, *w;
    wt_layer *layer = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_file_open(context, path, &file));
    WT_TRY(wt_file_expect(context, file, "theta (m,d,d)", &theta));
    WT_TRY(wt_file_expect(context, file, "w (m,d,p)", &w));
    WT_TRY(check_shapes(context, file, theta, w));
    WT_TRY(wt_layer_new(context, theta->shape[0], theta->shape[1], w->shape[2], &layer));
    WT_TRY(read_finite(context, file, theta, layer->theta));
    WT_TRY(read_finite(context, file, w, layer->w));
    *out = layer;
    layer = NULL;
done:
    wt_file_free(file);
    wt_layer_free(layer);
    return status;
}

wt_status wt_layer_save_noted(wt_context *context, const wt_layer *layer, const char *path,
                              const wt_metadata *notes, size_t count) {
    size_t m = layer->heads, d = layer->dim;
    const wt_tensor tensors[] = {
        {.name = "theta", .rank = 3, .shape = {m, d, d}, .values = layer->theta},
        {.name = "w", .rank = 3, .shape = {m, d, layer->outputs}, .values = layer->w}};
    wt_metadata metadata[2 + WT_LAYER_MAX_NOTES] = {{"wattle", "1"}, {"kind", "layer"}};
    if (count > WT_LAYER_MAX_NOTES)
        return wt_fail(context, WT_USAGE, "a layer takes %d notes, not %zu", WT_LAYER_MAX_NOTES,
                       count);
    for (size_t i = 0; i < count; i++)
        metadata[2 + i] = notes[i];
    return wt_safetensors_write(context, path, tensors, 2, metadata, 2 + count);
}

wt_status wt_layer_save(wt_context *context, const wt_layer *layer, const char *path) {
    return wt_layer_save_noted(context, layer, path, NULL, 0);
}
