/* Samples of bits, and files of them: bits (n,T), labels (n). */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "network/task/boolean.h"
#include "wattle/io.h"
#include "wattle/random.h"

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

/* ---- numbers ---- */

typedef struct {
    wt_context *context;
    const char *where, *name; /* the file, "" = none, and the array */
    uint8_t *next;            /* where the next value goes */
    uint8_t *first;
    double low; /* what stands beside 1: 0 or -1; NaN = not seen yet */
} reading;

static wt_status take(void *user, const double *values, size_t count) {
    reading *of = user;
    for (size_t i = 0; i < count; i++) {
        if (isnan(of->low) && (values[i] == 0 || values[i] == -1))
            of->low = values[i];
        if (values[i] != of->low && values[i] != 1)
            return wt_fail(of->context, WT_DATA, "%s%svalue %zu of '%s' is %g, %s", of->where,
                           of->where[0] != '\0' ? ": " : "", (size_t)(of->next - of->first),
                           of->name, values[i],
                           of->low == 0    ? "neither 0 nor 1"
                           : of->low == -1 ? "neither -1 nor 1"
                                           : "none of 0 and 1, or -1 and 1");
        *of->next++ = values[i] == 1;
    }
    return WT_OK;
}

wt_status wt_bits_new_from(wt_context *context, size_t samples, size_t length, const double *bits,
                           const double *labels, wt_bits **out) {
    reading of_bits = {context, "", "bits", NULL, NULL, NAN};
    reading of_labels = {context, "", "y", NULL, NULL, NAN};
    wt_status status;
    *out = NULL;
    if (samples == 0 || length == 0)
        return wt_fail(context, WT_USAGE, "%zu samples of %zu bits are none", samples, length);
    WT_TRY(wt_bits_new(context, samples, length, out));
    of_bits.next = of_bits.first = (*out)->bit;
    of_labels.next = of_labels.first = (*out)->label;
    memset((*out)->label, 0, samples);
    WT_TRY(take(&of_bits, bits, samples * length));
    if (labels != NULL)
        WT_TRY(take(&of_labels, labels, samples));
done:
    if (status != WT_OK) {
        wt_bits_free(*out);
        *out = NULL;
    }
    return status;
}

/* ---- files ---- */

static wt_status read_bits(wt_context *context, const wt_file *file, const wt_array *array,
                           uint8_t *out) {
    reading of = {context, wt_file_path(file), array->name, out, out, NAN};
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

/* Labels go by either name. */
static wt_status find_labels(wt_context *context, const wt_file *file, const wt_array *bits,
                             const wt_array **out) {
    bool named = wt_file_find(file, "labels") != NULL;
    WT_PASS(wt_file_expect(context, file, named ? "labels (n)" : "y (n)", out));
    if (bits->shape[0] != (*out)->shape[0])
        return wt_fail(context, WT_DATA, "%s: 'bits' has %zu samples of %zu bits, '%s' %zu",
                       wt_file_path(file), bits->shape[0], bits->shape[1], (*out)->name,
                       (*out)->shape[0]);
    return WT_OK;
}

/* `labelled` is whether there must be labels, and then whether there are. */
static wt_status load(wt_context *context, const char *path, bool *labelled, wt_bits **out) {
    wt_file *file = NULL;
    const wt_array *bits, *labels = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_file_open(context, path, &file));
    WT_TRY(wt_file_expect(context, file, "bits (n,T)", &bits));
    if (*labelled || wt_file_find(file, "labels") != NULL || wt_file_find(file, "y") != NULL)
        WT_TRY(find_labels(context, file, bits, &labels));
    if (bits->count == 0)
        WT_TRY(wt_fail(context, WT_DATA, "%s: 'bits' has %zu samples of %zu bits", path,
                       bits->shape[0], bits->shape[1]));
    *labelled = labels != NULL;
    WT_TRY(wt_bits_new(context, bits->shape[0], bits->shape[1], out));
    memset((*out)->label, 0, bits->shape[0]);
    WT_TRY(read_bits(context, file, bits, (*out)->bit));
    if (labels != NULL)
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

wt_status wt_bits_load(wt_context *context, const char *path, wt_bits **out) {
    bool labelled = true;
    return load(context, path, &labelled, out);
}

wt_status wt_bits_load_inputs(wt_context *context, const char *path, bool *labelled,
                              wt_bits **out) {
    *labelled = false;
    return load(context, path, labelled, out);
}

wt_status wt_bits_copy(wt_context *context, const wt_bits *from, wt_bits **out) {
    WT_PASS(wt_bits_new(context, from->samples, from->length, out));
    memcpy((*out)->bit, from->bit, from->samples * from->length);
    memcpy((*out)->label, from->label, from->samples);
    return WT_OK;
}

void wt_bits_take(const wt_bits *from, size_t sample, wt_bits *to, size_t at) {
    memcpy(to->bit + at * to->length, from->bit + sample * from->length, to->length);
    to->label[at] = from->label[sample];
}

wt_status wt_bits_split(wt_context *context, const wt_bits *bits, double part, uint64_t seed,
                        wt_bits **others, wt_bits **held) {
    size_t n = bits->samples, count = (size_t)llround(part * (double)n), *chosen = NULL;
    wt_status status;
    *others = *held = NULL;
    if (!(part > 0 && part < 1) || count == 0 || count == n)
        return wt_fail(context, WT_USAGE,
                       "a part of %g of %zu samples leaves none to learn from or none to judge by",
                       part, n);
    WT_TRY(WT_NEW(context, &chosen, count, "held-out samples"));
    WT_TRY(wt_random_subset(context, wt_stream_for(seed, "holdout", 0), n, count, chosen));
    WT_TRY(wt_bits_new(context, n - count, bits->length, others));
    WT_TRY(wt_bits_new(context, count, bits->length, held));
    for (size_t i = 0, taken = 0; i < n; i++)
        if (taken < count && chosen[taken] == i)
            wt_bits_take(bits, i, *held, taken++);
        else
            wt_bits_take(bits, i, *others, i - taken);
done:
    wt_release(chosen);
    if (status != WT_OK) {
        wt_bits_free(*others);
        wt_bits_free(*held);
        *others = *held = NULL;
    }
    return status;
}
