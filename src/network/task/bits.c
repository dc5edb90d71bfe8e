/* Samples of bits, and files of them: bits (n,T), labels (n). */
#include "base/memory.h"
#include "network/task/boolean.h"
#include "wattle/io.h"

wt_status wt_bits_new(wt_context *context, size_t samples, size_t length, wt_bits **out) {
    wt_bits *bits = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(WT_NEW_ZERO(context, &bits, 1, "bits"));
    bits->samples = samples;
    bits->length = length;
    WT_TRY(WT_NEW2(context, &bits->bit, samples, length, "bits"));
    WT_TRY(WT_NEW(context, &bits->label, samples, "labels"));
    *out = bits;
    bits = NULL;
done:
    wt_bits_free(bits);
    return status;
}

void wt_bits_free(wt_bits *bits) {
    if (bits == NULL)
        return;
    wt_release(bits->bit);
    wt_release(bits->label);
    wt_release(bits);
}

size_t wt_bits_samples(const wt_bits *bits) {
    return bits->samples;
}

size_t wt_bits_length(const wt_bits *bits) {
    return bits->length;
}

uint8_t *wt_bits_sample(wt_bits *bits, size_t index) {
    return bits->bit + index * bits->length;
}

uint8_t *wt_bits_labels(wt_bits *bits) {
    return bits->label;
}

/* ---- files ---- */

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

/* A walk is in the order of storage: with the first index running fastest, that is (T, n). */
static wt_status transpose(wt_context *context, wt_bits *bits) {
    size_t n = bits->samples, length = bits->length;
    uint8_t *rows = NULL;
    wt_status status = WT_NEW2(context, &rows, n, length, "bits");
    for (size_t i = 0; status == WT_OK && i < n; i++)
        for (size_t t = 0; t < length; t++)
            rows[i * length + t] = bits->bit[t * n + i];
    if (status == WT_OK) {
        wt_release(bits->bit);
        bits->bit = rows;
    }
    return status;
}

wt_status wt_bits_load(wt_context *context, const char *path, wt_bits **out) {
    wt_file *file = NULL;
    const wt_array *bits, *labels;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_file_open(context, path, &file));
    WT_TRY(wt_file_expect(context, file, "bits (n,T)", &bits));
    WT_TRY(wt_file_expect(context, file, "labels (n)", &labels));
    if (bits->shape[0] != labels->shape[0] || bits->count == 0) {
        status = wt_fail(context, WT_DATA, "%s: 'bits' has %zu samples of %zu bits, 'labels' %zu",
                         path, bits->shape[0], bits->shape[1], labels->shape[0]);
        goto done;
    }
    WT_TRY(wt_bits_new(context, bits->shape[0], bits->shape[1], out));
    WT_TRY(read_bits(context, file, bits, (*out)->bit));
    WT_TRY(read_bits(context, file, labels, (*out)->label));
    if (bits->fortran)
        WT_TRY(transpose(context, *out));
done:
    wt_file_free(file);
    if (status != WT_OK) {
        wt_bits_free(*out);
        *out = NULL;
    }
    return status;
}
