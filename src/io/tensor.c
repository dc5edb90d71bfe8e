#include "io/tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/npy.h"

static const char *show_name(const wt_tensor *tensor, char out[WT_QUOTED_BYTES]) {
    return tensor->name == NULL ? "the array" : wt_quote(tensor->name, out, WT_QUOTED_BYTES);
}

/* The nearest float of a finite value must be finite. */
static wt_status check_float(wt_context *context, const wt_tensor *tensor, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (isfinite(tensor->values[i]) && !isfinite((float)tensor->values[i])) {
            char name[WT_QUOTED_BYTES], index[WT_INDEX_TEXT];
            return wt_fail(context, WT_USAGE, "%s%s is %g, too large for F32",
                           show_name(tensor, name),
                           wt_index_text(i, tensor->rank, tensor->shape, index), tensor->values[i]);
        }
    return WT_OK;
}

wt_status wt_tensor_measure(wt_context *context, const wt_tensor *tensor, wt_array *out) {
    char name[WT_QUOTED_BYTES];
    const char *shown = show_name(tensor, name);
    *out = (wt_array){.name = tensor->name, .type = tensor->type, .rank = tensor->rank};
    if (tensor->type != WT_TYPE_F64 && tensor->type != WT_TYPE_F32)
        return wt_fail(context, WT_USAGE, "%s: only F64 and F32 are written, not %s", shown,
                       wt_type_name(tensor->type));
    if (tensor->rank > WT_MAX_RANK)
        return wt_fail(context, WT_USAGE, "%s: %zu dimensions are more than %d", shown,
                       tensor->rank, WT_MAX_RANK);
    memcpy(out->shape, tensor->shape, tensor->rank * sizeof *out->shape);
    if (!wt_array_measure(out))
        return wt_fail(context, WT_USAGE, "%s: the shape overflows", shown);
    return WT_OK;
}

wt_status wt_tensor_check(wt_context *context, const wt_tensor *tensor, wt_array *out) {
    wt_status status = wt_tensor_measure(context, tensor, out);
    bool may_overflow = status == WT_OK && tensor->type == WT_TYPE_F32;
    return may_overflow ? check_float(context, tensor, out->count) : status;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static wt_status check_names_differ(wt_context *context, const wt_tensor *tensors, size_t count) {
    const char **names = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &names, count, "the names of the arrays"));
    for (size_t i = 0; i < count; i++)
        names[i] = tensors[i].name;
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 1; i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0) {
            char name[WT_QUOTED_BYTES];
            WT_TRY(wt_fail(context, WT_USAGE, "two arrays are named '%s'",
                           wt_quote(names[i], name, sizeof name)));
        }
done:
    wt_release(names);
    return status;
}

wt_status wt_tensors_check(wt_context *context, const wt_tensor *tensors, size_t count) {
    wt_array measured;
    for (size_t i = 0; i < count; i++) {
        const char *name = tensors[i].name;
        if (name == NULL || *name == '\0' || !wt_utf8_valid(name))
            return wt_fail(context, WT_USAGE, "array %zu: the name is %s", i,
                           name == NULL || *name == '\0' ? "missing" : "not UTF-8");
        WT_PASS(wt_tensor_check(context, &tensors[i], &measured));
    }
    return check_names_differ(context, tensors, count);
}

size_t wt_npy_head(const wt_tensor *tensor, char out[WT_NPY_HEAD_BYTES]) {
    enum { BEFORE = WT_NPY_MAGIC_BYTES + 4, ALIGNMENT = 64 };
    memcpy(out, WT_NPY_MAGIC "\1\0", WT_NPY_MAGIC_BYTES + 2);
    size_t at = BEFORE;
    at += (size_t)snprintf(out + at, WT_NPY_HEAD_BYTES - at,
                           "{'descr': '%s', 'fortran_order': False, 'shape': (",
                           wt_type_npy(tensor->type));
    for (size_t i = 0; i < tensor->rank; i++)
        at += (size_t)snprintf(out + at, WT_NPY_HEAD_BYTES - at, i == 0 ? "%zu" : ", %zu",
                               tensor->shape[i]);
    at += (size_t)snprintf(out + at, WT_NPY_HEAD_BYTES - at, tensor->rank == 1 ? ",), }" : "), }");
    do
        out[at++] = ' ';
    while (at % ALIGNMENT != ALIGNMENT - 1);
    out[at++] = '\n';
    out[BEFORE - 2] = (char)((at - BEFORE) & 255);
    out[BEFORE - 1] = (char)((at - BEFORE) >> 8);
    return at;
}

const char *wt_shape_format(size_t rank, const size_t *shape, char *out) {
    size_t used = 0;
    for (size_t i = 0; i < rank && used < WT_SHAPE_TEXT; i++)
        used += (size_t)snprintf(out + used, WT_SHAPE_TEXT - used, "%s%zu", i == 0 ? "(" : ",",
                                 shape[i]);
    if (used < WT_SHAPE_TEXT)
        snprintf(out + used, WT_SHAPE_TEXT - used, ")");
    return out;
}
