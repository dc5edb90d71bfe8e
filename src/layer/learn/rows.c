#include "layer/learn/rows.h"

#include <math.h>
#include <string.h>

#include "layer/task/vector.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

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

/* Where the keys and the known output rows of each sequence start. */
static wt_status count_rows(const wt_sequences *data, size_t n, size_t **key_start,
                            size_t **row_start, wt_arena *arena) {
    *key_start = WT_TAKE_ZERO(arena, size_t, n + 1);
    *row_start = WT_TAKE_ZERO(arena, size_t, n + 1);
    WT_PASS(arena->status);
    for (size_t s = 0; s < n; s++) {
        size_t length = wt_sequences_length_of(data, s), rows = 0;
        for (size_t a = 0; a < length; a++)
            rows += wt_sequences_known(data, s, a);
        (*key_start)[s + 1] = (*key_start)[s] + length;
        (*row_start)[s + 1] = (*row_start)[s] + rows;
    }
    return WT_OK;
}

/* Copies what is asked for, sequence by sequence. */
static wt_status gather(const wt_sequences *data, wt_rows *out) {
    wt_attention *in = &out->in;
    size_t n = in->sequences, d = data->dim, p = data->outputs, k = data->length, r = 0;
    size_t e = wt_attention_query_dim(in), *key_start, *row_start;
    WT_PASS(count_rows(data, n, &key_start, &row_start, &out->arena));
    out->rows = row_start[n];
    double *key = data->lengths == NULL ? data->x : WT_TAKE(&out->arena, double, key_start[n], d);
    double *query = WT_TAKE(&out->arena, double, out->rows, e);
    double *picked = WT_TAKE(&out->arena, double, out->rows, p);
    size_t *place = WT_TAKE(&out->arena, size_t, out->rows);
    WT_PASS(out->arena.status);
    for (size_t s = 0; s < n; s++) {
        const double *x = data->x + s * k * d, *y = data->y + s * k * p;
        size_t length = key_start[s + 1] - key_start[s];
        if (data->lengths != NULL)
            memcpy(key + key_start[s] * d, x, length * d * sizeof *x);
        for (size_t a = 0; a < length; a++) {
            if (!wt_sequences_known(data, s, a))
                continue;
            memcpy(query + r * e, x + a * d, d * sizeof *x);
            if (in->bias)
                query[r * e + d] = 1;
            memcpy(picked + r * p, y + a * p, p * sizeof *y);
            place[r++] = a;
        }
    }
    in->length = 0;
    in->key_start = key_start;
    in->row_start = row_start;
    in->place = place;
    in->key = key;
    in->query = query;
    out->y = picked;
    return WT_OK;
}

wt_status wt_rows_make(wt_context *context, const wt_sequences *data,
                       const wt_recover_options *options, size_t begin, size_t end, wt_rows *out) {
    wt_status status = WT_OK;
    wt_sequences part = wt_sequences_part(data, begin, end);
    *out = (wt_rows){.outputs = data->outputs,
                     .arena = wt_arena_start(context, "rows of sequences"),
                     .in = wt_attention_of(end - begin, data->length, data->dim, part.x)};
    out->in.bias = options->bias;
    out->in.causal = options->mask == WT_LAYER_MASK_CAUSAL;
    if (data->lengths == NULL && !data->partial && !options->bias) {
        out->rows = part.samples * part.length;
        out->y = part.y;
    } else {
        WT_TRY(gather(&part, out));
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
