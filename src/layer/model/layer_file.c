/* Layers in .safetensors files: theta (m,d,d), w (m,d,p); with biases u (m,d) and c (p). Mask, norm
 * and residual connection stand in the metadata. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "layer/model/layer.h"
#include "layer/task/form_fields.h"
#include "wattle/io.h"
#include "wattle/text.h"

/* u and c, which come together or not at all. */
static wt_status find_biases(wt_context *context, const wt_file *file, const wt_array *w,
                             const wt_array **u, const wt_array **c) {
    const char *path = wt_file_path(file);
    *u = wt_file_find(file, "u");
    *c = wt_file_find(file, "c");
    if (*u == NULL && *c == NULL)
        return WT_OK;
    if (*u == NULL || *c == NULL)
        return wt_fail(context, WT_DATA, "%s has biases '%s' without '%s'", path,
                       *u == NULL ? "c" : "u", *u == NULL ? "u" : "c");
    if ((*u)->rank != 2 || (*u)->shape[0] != w->shape[0] || (*u)->shape[1] != w->shape[1] ||
        (*c)->rank != 1 || (*c)->shape[0] != w->shape[2])
        return wt_fail(context, WT_DATA, "%s: biases of this layer are u (%zu,%zu) and c (%zu)",
                       path, w->shape[0], w->shape[1], w->shape[2]);
    return WT_OK;
}

/* The place of the file's word for a key; 0 where it says nothing. */
static wt_status read_word(wt_context *context, const wt_file *file, const char *key,
                           const char *const *words, int *out) {
    const char *said = wt_file_metadata(file, key);
    *out = 0;
    if (said == NULL)
        return WT_OK;
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(said, words[i]) == 0) {
            *out = i;
            return WT_OK;
        }
    return wt_fail(context, WT_DATA, "%s: there is no %s '%s'", wt_file_path(file), key, said);
}

static wt_status read_form(wt_context *context, const wt_file *file, wt_layer_form *out) {
    static const char *const answers[] = {"no", "yes", NULL};
    const char *epsilon = wt_file_metadata(file, "epsilon");
    int mask, norm, residual;
    WT_PASS(read_word(context, file, "mask", wt_layer_masks, &mask));
    WT_PASS(read_word(context, file, "norm", wt_layer_norms, &norm));
    WT_PASS(read_word(context, file, "residual", answers, &residual));
    out->mask = (wt_layer_mask)mask;
    out->norm = (wt_layer_norm)norm;
    out->residual = residual == 1;
    if (epsilon != NULL && !wt_real_parse(epsilon, &out->epsilon))
        return wt_fail(context, WT_DATA, "%s: epsilon '%s' is no number", wt_file_path(file),
                       epsilon);
    return WT_OK;
}

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

/* theta and u of the file as the one block of a layer with biases. */
static wt_status read_augmented(wt_context *context, const wt_file *file, const wt_array *theta,
                                const wt_array *u, wt_layer *layer) {
    size_t m = layer->heads, d = layer->dim;
    wt_arena arena = wt_arena_start(context, "the Theta of a layer");
    double *plain = WT_TAKE(&arena, double, m, d, d), *rows = WT_TAKE(&arena, double, m, d);
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(read_finite(context, file, theta, plain));
    WT_TRY(read_finite(context, file, u, rows));
    for (size_t i = 0; i < m; i++) {
        double *to = layer->theta + i * (d + 1) * d;
        memcpy(to, plain + i * d * d, d * d * sizeof *to);
        memcpy(to + d * d, rows + i * d, d * sizeof *to);
    }
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_layer_load(wt_context *context, const char *path, wt_layer **out) {
    wt_file *file = NULL;
    const wt_array *theta, *w, *u, *c;
    wt_layer *layer = NULL;
    wt_layer_form form;
    wt_status status;
    *out = NULL;
    WT_INIT(wt_layer_form, &form);
    WT_TRY(wt_file_open(context, path, &file));
    WT_TRY(wt_file_expect(context, file, "theta (m,d,d)", &theta));
    WT_TRY(wt_file_expect(context, file, "w (m,d,p)", &w));
    WT_TRY(check_shapes(context, file, theta, w));
    WT_TRY(find_biases(context, file, w, &u, &c));
    WT_TRY(read_form(context, file, &form));
    form.bias = u != NULL;
    WT_TRY(
        wt_layer_new_form(context, theta->shape[0], theta->shape[1], w->shape[2], &form, &layer));
    if (form.bias) {
        WT_TRY(read_augmented(context, file, theta, u, layer));
        WT_TRY(read_finite(context, file, c, wt_layer_c(layer)));
    } else {
        WT_TRY(read_finite(context, file, theta, layer->theta));
    }
    WT_TRY(read_finite(context, file, w, layer->w));
    *out = layer;
    layer = NULL;
done:
    wt_file_free(file);
    wt_layer_free(layer);
    return status;
}

/* The words of a form that is not plain; returns how many. */
static size_t note_form(const wt_layer_form *form, char *epsilon, size_t room, wt_metadata *out) {
    size_t count = 0;
    if (form->mask != WT_LAYER_MASK_NONE)
        out[count++] = (wt_metadata){"mask", wt_layer_masks[form->mask]};
    if (form->residual)
        out[count++] = (wt_metadata){"residual", "yes"};
    if (form->norm != WT_LAYER_NORM_NONE) {
        snprintf(epsilon, room, "%.17g", form->epsilon);
        out[count++] = (wt_metadata){"norm", wt_layer_norms[form->norm]};
        out[count++] = (wt_metadata){"epsilon", epsilon};
    }
    return count;
}

wt_status wt_layer_save_noted(wt_context *context, const wt_layer *layer, const char *path,
                              const wt_metadata *notes, size_t count) {
    enum { OWN = 6 };
    size_t m = layer->heads, d = layer->dim, tensors = 2, own = 2;
    wt_arena arena = wt_arena_start(context, "the Theta of a layer");
    const double *theta = layer->theta, *u = NULL;
    wt_metadata metadata[OWN + WT_LAYER_MAX_NOTES] = {{"wattle", "1"}, {"kind", "layer"}};
    char epsilon[32];
    wt_status status;
    if (count > WT_LAYER_MAX_NOTES)
        return wt_fail(context, WT_USAGE, "a layer takes %d notes, not %zu", WT_LAYER_MAX_NOTES,
                       count);
    if (layer->form.bias) {
        double *plain = WT_TAKE(&arena, double, m, d, d), *rows = WT_TAKE(&arena, double, m, d);
        WT_TRY(arena.status);
        for (size_t i = 0; i < m; i++) {
            const double *from = layer->theta + i * (d + 1) * d;
            memcpy(plain + i * d * d, from, d * d * sizeof *from);
            memcpy(rows + i * d, from + d * d, d * sizeof *from);
        }
        theta = plain;
        u = rows;
        tensors = 4;
    }
    const wt_tensor all[] = {
        {.name = "theta", .rank = 3, .shape = {m, d, d}, .values = theta},
        {.name = "w", .rank = 3, .shape = {m, d, layer->outputs}, .values = layer->w},
        {.name = "u", .rank = 2, .shape = {m, d}, .values = u},
        {.name = "c", .rank = 1, .shape = {layer->outputs}, .values = wt_layer_c(layer)}};
    own += note_form(&layer->form, epsilon, sizeof epsilon, metadata + own);
    for (size_t i = 0; i < count; i++)
        metadata[own + i] = notes[i];
    WT_TRY(wt_safetensors_write(context, path, all, tensors, metadata, own + count));
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_layer_save(wt_context *context, const wt_layer *layer, const char *path) {
    return wt_layer_save_noted(context, layer, path, NULL, 0);
}
