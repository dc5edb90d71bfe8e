/* Samples of bits in files: bits (n,T), labels (n). */
#include "base/memory.h"
#include "wattle/boolean.h"
#include "wattle/io.h"

static wt_status find(wt_context *context, const wt_file *file, const char *name, size_t rank,
                      const wt_array **out) {
    *out = wt_file_find(file, name);
    if (*out == NULL)
        return wt_fail(context, WT_DATA, "%s has no array '%s'", wt_file_path(file), name);
    if ((*out)->rank != rank)
        return wt_fail(context, WT_DATA, "%s: '%s' has %zu dimensions, not %zu", wt_file_path(file),
                       name, (*out)->rank, rank);
    return WT_OK;
}

typedef struct {
    wt_context *context;
    const wt_file *file;
    const wt_array *array;
    uint8_t *next; /* where the next value goes */
    uint8_t *first;
} reading;

static wt_status take(void *user, const double *values, size_t count) {
    reading *of = user;
    for (size_t i = 0; i < count; i++) {
        if (values[i] != 0 && values[i] != 1)
            return wt_fail(of->context, WT_DATA, "%s: value %zu of '%s' is %g, neither 0 nor 1",
                           wt_file_path(of->file), (size_t)(of->next - of->first), of->array->name,
                           values[i]);
        *of->next++ = values[i] == 1;
    }
    return WT_OK;
}

static wt_status read_bits(wt_context *context, const wt_file *file, const wt_array *array,
                           uint8_t *out) {
    reading of = {context, file, array, out, out};
    return wt_file_walk(context, file, array, take, &of);
}

/* A walk is in the order of storage: with the first index running fastest, rows lie apart. */
static wt_status turn(wt_context *context, wt_bits *bits) {
    size_t n = bits->samples, length = bits->length;
    uint8_t *turned = NULL;
    wt_status status = WT_NEW(context, &turned, n * length, "bits");
    for (size_t i = 0; status == WT_OK && i < n; i++)
        for (size_t t = 0; t < length; t++)
            turned[i * length + t] = bits->bit[t * n + i];
    if (status == WT_OK) {
        wt_release(bits->bit);
        bits->bit = turned;
    }
    return status;
}

wt_status wt_bits_load(wt_context *context, const char *path, wt_bits *out) {
    wt_file *file = NULL;
    const wt_array *bits, *labels;
    wt_status status;
    *out = (wt_bits){0};
    WT_TRY(wt_file_open(context, path, &file));
    WT_TRY(find(context, file, "bits", 2, &bits));
    WT_TRY(find(context, file, "labels", 1, &labels));
    if (bits->shape[0] != labels->shape[0] || bits->count == 0) {
        status = wt_fail(context, WT_DATA, "%s: 'bits' has %zu samples of %zu bits, 'labels' %zu",
                         path, bits->shape[0], bits->shape[1], labels->shape[0]);
        goto done;
    }
    WT_TRY(wt_bits_new(context, bits->shape[0], bits->shape[1], out));
    WT_TRY(read_bits(context, file, bits, out->bit));
    WT_TRY(read_bits(context, file, labels, out->label));
    if (bits->fortran)
        WT_TRY(turn(context, out));
done:
    wt_file_free(file);
    if (status != WT_OK)
        wt_bits_free(out);
    return status;
}
