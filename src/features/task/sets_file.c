/* Sets in .npz files: query (n,d), keys (n,N,d), mask (n,N), y (n) or (n,q). */
#include <string.h>

#include "base/memory.h"
#include "features/task/sets.h"
#include "wattle/io.h"

static wt_status disagree(wt_context *context, const wt_file *file, const wt_array *a,
                          const wt_array *b, const char *what) {
    return wt_fail(context, WT_DATA, "%s: '%s' and '%s' disagree in the number of %s",
                   wt_file_path(file), a->name, b->name, what);
}

/* Masks come as any numeric type: non-zero is live. */
static wt_status read_mask(wt_context *context, const wt_file *file, const wt_array *array,
                           uint8_t *mask) {
    double *values = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &values, array->count, "mask"));
    WT_TRY(wt_file_read(context, file, array, values));
    if (wt_values_check_finite(context, "mask", values, array->rank, array->shape) != WT_OK) {
        status =
            wt_fail(context, WT_DATA, "%s: %s", wt_file_path(file), wt_context_message(context));
        goto done;
    }
    for (size_t i = 0; i < array->count; i++)
        mask[i] = values[i] != 0;
done:
    wt_release(values);
    return status;
}

static wt_status read_sets(wt_context *context, const wt_file *file, wt_sets **made) {
    const wt_array *query, *keys, *mask = NULL, *y = NULL;
    WT_PASS(wt_file_expect(context, file, "query (n,d)", &query));
    WT_PASS(wt_file_expect(context, file, "keys (n,N,d)", &keys));
    if (wt_file_find(file, "mask") != NULL)
        WT_PASS(wt_file_expect(context, file, "mask (n,N)", &mask));
    if (wt_file_find(file, "y") != NULL)
        WT_PASS(wt_file_expect(context, file, "y (n) or (n,q)", &y));
    size_t samples = query->shape[0], dim = query->shape[1], slots = keys->shape[1];
    if (keys->shape[0] != samples)
        return disagree(context, file, query, keys, "samples");
    if (keys->shape[2] != dim)
        return disagree(context, file, query, keys, "dimensions");
    if (mask != NULL && mask->shape[0] != samples)
        return disagree(context, file, query, mask, "samples");
    if (mask != NULL && mask->shape[1] != slots)
        return disagree(context, file, keys, mask, "keys");
    if (y != NULL && y->shape[0] != samples)
        return disagree(context, file, query, y, "samples");
    size_t outputs = y == NULL ? 0 : y->rank == 1 ? 1 : y->shape[1];
    /* Empty ones are told before room is made: a shape with a nought in it may be any size. */
    WT_PASS(wt_sets_check(context, &(wt_sets){.samples = samples, .keys = slots, .dim = dim},
                          wt_file_path(file)));
    WT_PASS(wt_sets_new(context, samples, slots, dim, outputs, mask != NULL, made));
    wt_sets *out = *made;
    WT_PASS(wt_file_read(context, file, query, out->query));
    WT_PASS(wt_file_read(context, file, keys, out->key));
    if (mask != NULL)
        WT_PASS(read_mask(context, file, mask, out->mask));
    if (outputs > 0)
        WT_PASS(wt_file_read(context, file, y, out->y));
    return wt_sets_check(context, out, wt_file_path(file));
}

wt_status wt_sets_load(wt_context *context, const char *path, wt_sets **out) {
    wt_file *file = NULL;
    wt_sets *sets = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_file_open(context, path, &file));
    WT_TRY(read_sets(context, file, &sets));
    *out = sets;
    sets = NULL;
done:
    wt_file_free(file);
    wt_sets_free(sets);
    return status;
}

wt_status wt_sets_save(wt_context *context, const wt_sets *sets, const char *path,
                       const double *beta) {
    size_t n = sets->samples, count = 2, slots = n * sets->keys;
    double *mask = NULL;
    wt_tensor tensors[5] = {
        {.name = "query", .rank = 2, .shape = {n, sets->dim}, .values = sets->query},
        {.name = "keys", .rank = 3, .shape = {n, sets->keys, sets->dim}, .values = sets->key}};
    wt_status status = WT_OK;
    if (sets->mask != NULL) {
        WT_TRY(WT_NEW(context, &mask, slots, "mask"));
        for (size_t i = 0; i < slots; i++)
            mask[i] = sets->mask[i] != 0;
        tensors[count++] = (wt_tensor){.name = "mask",
                                       .type = WT_TYPE_F32,
                                       .rank = 2,
                                       .shape = {n, sets->keys},
                                       .values = mask};
    }
    if (sets->y != NULL)
        tensors[count++] = (wt_tensor){.name = "y",
                                       .rank = sets->outputs == 1 ? 1 : 2,
                                       .shape = {n, sets->outputs},
                                       .values = sets->y};
    if (beta != NULL)
        tensors[count++] =
            (wt_tensor){.name = "beta", .rank = 1, .shape = {sets->dim}, .values = beta};
    WT_TRY(wt_npz_write(context, path, tensors, count));
done:
    wt_release(mask);
    return status;
}
