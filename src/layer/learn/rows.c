#include "layer/learn/rows.h"

#include <math.h>
#include <string.h>

#include "layer/task/vector.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

static size_t length_of(const wt_sequences *data, const wt_recover_options *options, size_t s) {
    return options->lengths == NULL ? data->length : options->lengths[s];
}

static void measure(wt_rows *rows) {
    double square = wt_vector_squares(rows->rows * rows->outputs, rows->y);
    rows->norm = square > 0 ? sqrt(square) : 1;
}

wt_status wt_rows_measure(wt_rows *rows) {
    rows->sequence_of = WT_TAKE(&rows->arena, size_t, rows->rows);
    if (rows->arena.status != WT_OK)
        return rows->arena.status;
    measure(rows);
    for (size_t s = 0; s < rows->in.sequences; s++)
        for (size_t r = wt_attention_row(&rows->in, s); r < wt_attention_row(&rows->in, s + 1); r++)
            rows->sequence_of[r] = s;
    return WT_OK;
}

/* Copies what is asked for, sequence by sequence. */
static wt_status gather(const wt_sequences *data, const wt_recover_options *options, size_t begin,
                        wt_rows *out) {
    size_t n = out->in.sequences, d = data->dim, p = data->outputs, k = data->length;
    size_t *key_start = WT_TAKE_ZERO(&out->arena, size_t, n + 1);
    size_t *row_start = WT_TAKE_ZERO(&out->arena, size_t, n + 1);
    WT_PASS(out->arena.status);
    for (size_t s = 0; s < n; s++) {
        size_t length = length_of(data, options, begin + s);
        key_start[s + 1] = key_start[s] + length;
        row_start[s + 1] = row_start[s] + (options->last_row ? 1 : length);
    }
    out->rows = row_start[n];
    double *key = WT_TAKE(&out->arena, double, key_start[n], d);
    double *query = WT_TAKE(&out->arena, double, out->rows, d);
    double *picked = WT_TAKE(&out->arena, double, out->rows, p);
    WT_PASS(out->arena.status);
    for (size_t s = 0; s < n; s++) {
        size_t length = key_start[s + 1] - key_start[s], rows = row_start[s + 1] - row_start[s];
        const double *x = data->x + (begin + s) * k * d, *y = data->y + (begin + s) * k * p;
        memcpy(key + key_start[s] * d, x, length * d * sizeof *x);
        memcpy(query + row_start[s] * d, x + (length - rows) * d, rows * d * sizeof *x);
        memcpy(picked + row_start[s] * p, y + (length - rows) * p, rows * p * sizeof *y);
    }
    out->in = (wt_attention){.sequences = n,
                             .dim = d,
                             .key_start = key_start,
                             .row_start = row_start,
                             .key = key,
                             .query = query};
    out->y = picked;
    return WT_OK;
}

wt_status wt_rows_make(wt_context *context, const wt_sequences *data,
                       const wt_recover_options *options, size_t begin, size_t end, wt_rows *out) {
    wt_status status = WT_OK;
    size_t k = data->length;
    *out = (wt_rows){
        .outputs = data->outputs,
        .arena = wt_arena_start(context, "rows of sequences"),
        .in = wt_attention_of(end - begin, k, data->dim, data->x + begin * k * data->dim)};
    if (options->lengths == NULL && !options->last_row) {
        out->rows = (end - begin) * k;
        out->y = data->y + begin * k * data->outputs;
    } else {
        WT_TRY(gather(data, options, begin, out));
    }
    WT_TRY(wt_rows_measure(out));
done:
    if (status != WT_OK)
        wt_rows_free(out);
    return status;
}

void wt_rows_free(wt_rows *rows) {
    wt_arena_free(&rows->arena);
    *rows = (wt_rows){0};
}

/* S (p, columns): the rows of the Vt of a Gaussian (columns, p) matrix, transposed. */
wt_status wt_rows_sketch(wt_context *context, wt_rows *rows, size_t columns, uint64_t seed) {
    size_t p = rows->outputs;
    wt_arena arena = wt_arena_start(context, "a sketch");
    double *gaussian = WT_TAKE(&arena, double, columns, p);
    double *u = WT_TAKE(&arena, double, columns, columns);
    double *s = WT_TAKE(&arena, double, columns);
    double *vt = WT_TAKE(&arena, double, columns, p);
    double *y = WT_TAKE(&rows->arena, double, rows->rows, columns);
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(rows->arena.status);
    wt_random_normal(wt_stream_for(seed, "sketch", 0), 0, columns * p, gaussian);
    WT_TRY(wt_svd(context, columns, p, gaussian, p, u, s, vt));
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, rows->rows, columns, p, 1, rows->y, p, vt, p,
                   0, y, columns));
    rows->y = y;
    rows->outputs = columns;
    measure(rows);
done:
    wt_arena_free(&arena);
    return status;
}
