#include "layer/task/token_rows.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "layer/task/sequences.h"
#include "wattle/io.h"
#include "wattle/random.h"
#include "wattle/text.h"

/* Of the norm that BERT has after its tables. */
#define EPSILON 1e-12

/* ---- files ---------------------------------------------------------------------------------- */

static wt_status read_array(wt_context *context, const char *path, const char *name, size_t rank,
                            size_t dim, size_t *rows, double **out) {
    wt_file *file = NULL;
    wt_status status;
    WT_TRY(wt_file_open(context, path, &file));
    const wt_array *array = wt_file_find(file, name);
    if (array == NULL || array->rank != rank || array->shape[rank - 1] != dim || array->count == 0)
        WT_TRY(wt_fail(context, WT_DATA, "%s has no array '%s' of %s%zu numbers", path, name,
                       rank == 2 ? "rows of " : "", dim));
    *rows = array->count / dim;
    WT_TRY(WT_NEW(context, out, array->count, "rows of tokens"));
    WT_TRY(wt_file_read(context, file, array, *out));
    if (wt_values_check_finite(context, name, *out, rank, array->shape) != WT_OK)
        WT_TRY(wt_fail(context, WT_DATA, "%s: %s", path, wt_context_message(context)));
done:
    wt_file_free(file);
    if (status != WT_OK) {
        wt_release(*out);
        *out = NULL;
    }
    return status;
}

/* A copy of "FILE:NAME", its file, and the name in it; the colon is the last one. */
static wt_status split(wt_context *context, const char *text, char **file, char **name) {
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text || colon[1] == '\0')
        return wt_fail(context, WT_USAGE, "an array of a file is FILE:NAME, not '%s'", text);
    WT_PASS(WT_NEW(context, file, strlen(text) + 1, "a name"));
    memcpy(*file, text, strlen(text) + 1);
    *name = *file + (colon - text) + 1;
    (*name)[-1] = '\0';
    return WT_OK;
}

wt_status wt_token_rows_load(wt_context *context, const char *text, size_t dim,
                             wt_token_rows *out) {
    char *file = NULL, *name = NULL;
    double *values = NULL;
    uint64_t row = 0;
    wt_status status;
    *out = (wt_token_rows){0};
    WT_TRY(split(context, text, &file, &name));
    char *at = strrchr(name, '@');
    if (at != NULL) {
        *at = '\0';
        out->fixed = true;
        if (!wt_unsigned_parse(at + 1, &row))
            WT_TRY(wt_fail(context, WT_USAGE, "'%s' is no number of a row", at + 1));
    }
    WT_TRY(read_array(context, file, name, 2, dim, &out->rows, &values));
    if (row >= out->rows)
        WT_TRY(wt_fail(context, WT_DATA, "%s: '%s' has %zu rows, no row %llu", file, name,
                       out->rows, (unsigned long long)row));
    out->row = (size_t)row;
    out->values = values;
    values = NULL;
done:
    wt_release(file);
    wt_release(values);
    return status;
}

void wt_token_rows_free(wt_token_rows *rows) {
    if (rows != NULL)
        wt_release((void *)(uintptr_t)rows->values);
}

/* STEM.weight or STEM.bias. */
static wt_status read_part(wt_context *context, const char *file, const char *stem,
                           const char *part, size_t dim, double **out) {
    char name[256];
    size_t rows;
    if ((size_t)snprintf(name, sizeof name, "%s.%s", stem, part) >= sizeof name)
        return wt_fail(context, WT_USAGE, "the name '%s' is too long", stem);
    return read_array(context, file, name, 1, dim, &rows, out);
}

wt_status wt_token_norm_load(wt_context *context, const char *text, size_t dim, double **gain,
                             double **shift) {
    char *file = NULL, *stem = NULL;
    wt_status status;
    *gain = *shift = NULL;
    WT_TRY(split(context, text, &file, &stem));
    WT_TRY(read_part(context, file, stem, "weight", dim, gain));
    WT_TRY(read_part(context, file, stem, "bias", dim, shift));
done:
    wt_release(file);
    if (status != WT_OK) {
        wt_release(*gain);
        *gain = NULL;
    }
    return status;
}

/* ---- tokens --------------------------------------------------------------------------------- */

static void add_row(const wt_token_rows *from, size_t row, size_t dim, double *x) {
    for (size_t j = 0; j < dim; j++)
        x[j] += from->values[row * dim + j];
}

static wt_status check_rows(wt_context *context, const wt_token_rows *from) {
    if (from->values == NULL || from->rows == 0 || (from->fixed && from->row >= from->rows))
        return wt_fail(context, WT_USAGE, "tokens are rows of a table: %zu rows, no row %zu",
                       from->rows, from->row);
    return WT_OK;
}

static wt_status add_table(wt_context *context, const wt_token_rows *from, wt_sequences *out) {
    size_t k = out->length, d = out->dim;
    WT_PASS(check_rows(context, from));
    if (!from->fixed && from->rows < k)
        return wt_fail(context, WT_DATA,
                       "a table to be added has %zu rows for sequences of %zu tokens", from->rows,
                       k);
    for (size_t t = 0; t < out->samples * k; t++)
        add_row(from, from->fixed ? from->row : t % k, d, out->x + t * d);
    return WT_OK;
}

static void normalise(const double *gain, const double *shift, wt_sequences *out) {
    size_t d = out->dim;
    for (size_t t = 0; t < out->samples * out->length; t++) {
        double *x = out->x + t * d, mean = 0, square = 0;
        for (size_t j = 0; j < d; j++)
            mean += x[j] / (double)d;
        for (size_t j = 0; j < d; j++)
            square += (x[j] - mean) * (x[j] - mean) / (double)d;
        for (size_t j = 0; j < d; j++)
            x[j] = (x[j] - mean) / sqrt(square + EPSILON) * gain[j] + shift[j];
    }
}

wt_status wt_token_rows_draw(wt_context *context, const wt_layer_draw_options *options,
                             wt_sequences *out) {
    size_t d = out->dim, tokens = out->samples * out->length;
    const wt_token_rows *words = options->rows;
    wt_stream stream = wt_stream_for(options->seed, "rows of tokens", 0);
    WT_PASS(check_rows(context, words));
    if ((options->gain == NULL) != (options->shift == NULL))
        return wt_fail(context, WT_USAGE, "a norm of tokens has a gain and a shift");
    memset(out->x, 0, tokens * d * sizeof *out->x);
    for (size_t t = 0; t < tokens; t++) {
        double u;
        wt_random_uniform(stream, t, 1, &u);
        add_row(words, words->fixed ? words->row : (size_t)(u * (double)words->rows), d,
                out->x + t * d);
    }
    for (size_t i = 0; i < options->add_count; i++)
        WT_PASS(add_table(context, &options->add[i], out));
    for (size_t i = 0; i < tokens * d; i++)
        out->x[i] *= options->token_scale;
    if (options->gain != NULL)
        normalise(options->gain, options->shift, out);
    return WT_OK;
}
