#include "draw_rows.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "wattle/io.h"
#include "wattle/memory.h"
#include "wattle/random.h"
#include "wattle/text.h"

/* Of the norm that BERT has after its tables. */
#define EPSILON 1e-12

/* Rows of a file, and which of them a token takes. */
typedef struct {
    size_t rows;
    double *values; /* (rows, dim) */
    bool fixed;     /* the one row for all */
    uint64_t row;
} table;

static wt_status read_array(cli_call *call, const char *path, const char *name, size_t rank,
                            size_t dim, table *out) {
    wt_file *file = NULL;
    wt_status status;
    WT_TRY(wt_file_open(call->context, path, &file));
    const wt_array *array = wt_file_find(file, name);
    if (array == NULL || array->rank != rank || array->shape[rank - 1] != dim || array->count == 0)
        WT_TRY(wt_fail(call->context, WT_DATA, "%s has no array '%s' of %s%zu numbers", path, name,
                       rank == 2 ? "rows of " : "", dim));
    out->rows = array->count / dim;
    WT_TRY(WT_NEW(call->context, &out->values, array->count, "rows of tokens"));
    WT_TRY(wt_file_read(call->context, file, array, out->values));
    if (wt_values_check_finite(call->context, name, out->values, rank, array->shape) != WT_OK)
        WT_TRY(wt_fail(call->context, WT_DATA, "%s: %s", path, wt_context_message(call->context)));
done:
    wt_file_free(file);
    return status;
}

/* A copy of "FILE:NAME", its file, and the name in it; the colon is the last one. */
static wt_status split(cli_call *call, const char *text, char **file, char **name) {
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text || colon[1] == '\0')
        return wt_fail(call->context, WT_USAGE, "an array of a file is FILE:NAME, not '%s'", text);
    WT_PASS(WT_NEW(call->context, file, strlen(text) + 1, "a name"));
    memcpy(*file, text, strlen(text) + 1);
    *name = *file + (colon - text) + 1;
    (*name)[-1] = '\0';
    return WT_OK;
}

/* "FILE:NAME" or "FILE:NAME@ROW". */
static wt_status open_table(cli_call *call, const char *text, size_t dim, table *out) {
    char *file = NULL, *name;
    wt_status status;
    WT_TRY(split(call, text, &file, &name));
    char *at = strrchr(name, '@');
    if (at != NULL) {
        *at = '\0';
        out->fixed = true;
        if (!wt_unsigned_parse(at + 1, &out->row))
            WT_TRY(wt_fail(call->context, WT_USAGE, "'%s' is no number of a row", at + 1));
    }
    WT_TRY(read_array(call, file, name, 2, dim, out));
    if (out->fixed && out->row >= out->rows)
        WT_TRY(wt_fail(call->context, WT_DATA, "%s: '%s' has %zu rows, no row %llu", file, name,
                       out->rows, (unsigned long long)out->row));
done:
    wt_release(file);
    return status;
}

/* STEM.weight or STEM.bias. */
static wt_status read_part(cli_call *call, const char *file, const char *stem, const char *part,
                           size_t dim, table *out) {
    char name[256];
    if ((size_t)snprintf(name, sizeof name, "%s.%s", stem, part) >= sizeof name)
        return wt_fail(call->context, WT_USAGE, "the name '%s' is too long", stem);
    return read_array(call, file, name, 1, dim, out);
}

wt_status cli_normalise(cli_call *call, const char *norm, wt_sequences *out) {
    size_t d = wt_sequences_dim(out), tokens = wt_sequences_samples(out) * wt_sequences_length(out);
    char *file = NULL, *stem;
    table gain = {0}, shift = {0};
    wt_status status;
    WT_TRY(split(call, norm, &file, &stem));
    WT_TRY(read_part(call, file, stem, "weight", d, &gain));
    WT_TRY(read_part(call, file, stem, "bias", d, &shift));
    for (size_t t = 0; t < tokens; t++) {
        double *x = wt_sequences_x(out) + t * d, mean = 0, square = 0;
        for (size_t j = 0; j < d; j++)
            mean += x[j] / (double)d;
        for (size_t j = 0; j < d; j++)
            square += (x[j] - mean) * (x[j] - mean) / (double)d;
        for (size_t j = 0; j < d; j++)
            x[j] = (x[j] - mean) / sqrt(square + EPSILON) * gain.values[j] + shift.values[j];
    }
done:
    wt_release(file);
    wt_release(gain.values);
    wt_release(shift.values);
    return status;
}

static void add_row(const table *from, size_t row, size_t dim, double *x) {
    for (size_t j = 0; j < dim; j++)
        x[j] += from->values[row * dim + j];
}

static wt_status add_tables(cli_call *call, const cli_texts *add, wt_sequences *out) {
    size_t k = wt_sequences_length(out), d = wt_sequences_dim(out);
    for (size_t i = 0; i < add->count; i++) {
        table from = {0};
        wt_status status = open_table(call, add->items[i], d, &from);
        if (status == WT_OK && !from.fixed && from.rows < k)
            status = wt_fail(call->context, WT_DATA, "%s has %zu rows for sequences of %zu tokens",
                             add->items[i], from.rows, k);
        for (size_t t = 0; status == WT_OK && t < wt_sequences_samples(out) * k; t++)
            add_row(&from, from.fixed ? (size_t)from.row : t % k, d, wt_sequences_x(out) + t * d);
        wt_release(from.values);
        WT_PASS(status);
    }
    return WT_OK;
}

wt_status cli_draw_rows(cli_call *call, const char *from, const cli_texts *add, double scale,
                        wt_sequences *out) {
    size_t k = wt_sequences_length(out), d = wt_sequences_dim(out);
    size_t tokens = wt_sequences_samples(out) * k;
    double *x = wt_sequences_x(out);
    wt_stream stream = wt_stream_for(call->common.seed, "rows of tokens", 0);
    table words = {0};
    wt_status status;
    WT_TRY(open_table(call, from, d, &words));
    memset(x, 0, tokens * d * sizeof *x);
    for (size_t t = 0; t < tokens; t++) {
        double u;
        wt_random_uniform(stream, t, 1, &u);
        add_row(&words, words.fixed ? (size_t)words.row : (size_t)(u * (double)words.rows), d,
                x + t * d);
    }
    WT_TRY(add_tables(call, add, out));
    for (size_t i = 0; i < tokens * d; i++)
        x[i] *= scale;
done:
    wt_release(words.values);
    return status;
}
