/* Reading the values of an array, block by block. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "io/file.h"
#include "io/types.h"

enum { BLOCK_VALUES = WT_BLOCK_BYTES / sizeof(double) };

typedef struct {
    uint8_t stored[WT_BLOCK_BYTES];
    double values[BLOCK_VALUES];
} block;

wt_status wt_file_walk(wt_context *context, const wt_file *file, const wt_array *array,
                       wt_file_values_fn take, void *user) {
    block *room = NULL;
    wt_input input = {0};
    size_t size = wt_type_bytes(array->type);
    wt_status status;
    WT_TRY(WT_NEW(context, &room, 1, "a block of values"));
    WT_TRY(file->format->begin(context, file, array, &input));
    for (size_t done = 0; done < array->count;) {
        size_t count = array->count - done < BLOCK_VALUES ? array->count - done : BLOCK_VALUES;
        WT_TRY(wt_context_check_cancelled(context));
        WT_TRY(wt_input_read(context, &input, room->stored, count * size));
        wt_values_decode(array->type, room->stored, count, room->values);
        WT_TRY(take(user, room->values, count));
        done += count;
    }
    WT_TRY(wt_input_finish(context, &input));
done:
    wt_input_close(&input);
    wt_release(room);
    return status;
}

/* Where the next stored value belongs in C order. */
typedef struct {
    const wt_array *array;
    double *out;
    size_t next;                 /* C order: just the count so far; Fortran order: offset in out */
    size_t index[WT_MAX_RANK];   /* Fortran order */
    size_t strides[WT_MAX_RANK]; /* of C order */
} placement;

static wt_status place_in_order(void *user, const double *values, size_t count) {
    placement *at = user;
    for (size_t i = 0; i < count; i++)
        at->out[at->next + i] = values[i];
    at->next += count;
    return WT_OK;
}

static wt_status place_transposed(void *user, const double *values, size_t count) {
    placement *at = user;
    const size_t *shape = at->array->shape;
    for (size_t i = 0; i < count; i++) {
        at->out[at->next] = values[i];
        /* The first index runs fastest; a full one starts over and carries to the next. */
        for (size_t k = 0; k < at->array->rank; k++) {
            at->next += at->strides[k];
            if (++at->index[k] < shape[k])
                break;
            at->next -= at->strides[k] * shape[k];
            at->index[k] = 0;
        }
    }
    return WT_OK;
}

wt_status wt_file_read(wt_context *context, const wt_file *file, const wt_array *array,
                       double *out) {
    placement at = {.array = array, .out = out};
    if (!array->fortran || array->rank < 2)
        return wt_file_walk(context, file, array, place_in_order, &at);
    size_t stride = 1;
    for (size_t k = array->rank; k-- > 0;) {
        at.strides[k] = stride;
        stride *= array->shape[k];
    }
    return wt_file_walk(context, file, array, place_transposed, &at);
}

typedef struct {
    wt_summary *summary;
    long double sum; /* its range holds the sum of any doubles */
} summing;

static wt_status sum_up(void *user, const double *values, size_t count) {
    summing *at = user;
    wt_summary *summary = at->summary;
    for (size_t i = 0; i < count; i++) {
        double value = values[i];
        if (isfinite(value)) {
            summary->min = summary->finite == 0 || value < summary->min ? value : summary->min;
            summary->max = summary->finite == 0 || value > summary->max ? value : summary->max;
            at->sum += value;
            summary->finite++;
        } else if (isnan(value))
            summary->nan++;
        else
            summary->inf++;
    }
    return WT_OK;
}

wt_status wt_file_summarise(wt_context *context, const wt_file *file, const wt_array *array,
                            wt_summary *out) {
    wt_summary found = {.min = NAN, .max = NAN, .mean = NAN};
    summing at = {.summary = &found};
    wt_status status = wt_sized_check(context, "wt_summary", out, sizeof found);
    if (status == WT_OK)
        status = wt_file_walk(context, file, array, sum_up, &at);
    if (status != WT_OK)
        return status;
    if (found.finite > 0)
        found.mean = (double)(at.sum / (long double)found.finite);
    wt_sized_write(out, &found, sizeof found);
    return WT_OK;
}

wt_status wt_values_check_finite(wt_context *context, const char *what, const double *values,
                                 size_t rank, const size_t *shape) {
    if (rank > WT_MAX_RANK)
        return wt_fail(context, WT_USAGE, "%s has %zu dimensions, more than %d", what, rank,
                       WT_MAX_RANK);
    size_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= shape[i];
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) {
            char index[WT_INDEX_TEXT], name[WT_QUOTED_BYTES];
            return wt_fail(context, WT_DATA, "%s%s is %s", wt_quote(what, name, sizeof name),
                           wt_index_text(i, rank, shape, index),
                           isnan(values[i]) ? "nan"
                           : values[i] > 0  ? "inf"
                                            : "-inf");
        }
    return WT_OK;
}
