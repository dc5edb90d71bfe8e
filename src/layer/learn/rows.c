#include "layer/learn/rows.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

static size_t length_of(const wt_sequences *data, const wt_recover_options *options, size_t s) {
    return options->lengths == NULL ? data->length : options->lengths[s];
}

static void measure(wt_rows *rows) {
    double square = 0;
    for (size_t i = 0; i < rows->rows * rows->outputs; i++)
        square += rows->y[i] * rows->y[i];
    rows->norm = square > 0 ? sqrt(square) : 1;
}

wt_status wt_rows_measure(wt_context *context, wt_rows *rows) {
    wt_status status = WT_NEW(context, &rows->sequence_of, rows->rows, "rows of sequences");
    if (status != WT_OK)
        return status;
    measure(rows);
    for (size_t s = 0; s < rows->in.sequences; s++)
        for (size_t r = wt_attention_row(&rows->in, s); r < wt_attention_row(&rows->in, s + 1); r++)
            rows->sequence_of[r] = s;
    return WT_OK;
}

/* Copies what is asked for, sequence by sequence. */
static void pick(const wt_sequences *data, const wt_recover_options *options, size_t begin,
                 wt_rows *out) {
    size_t d = data->dim, p = data->outputs, k = data->length;
    for (size_t s = 0; s < out->in.sequences; s++) {
        size_t length = length_of(data, options, begin + s);
        size_t key = out->key_start[s], row = out->row_start[s];
        size_t skip = options->last_row ? length - 1 : 0, rows = length - skip;
        const double *x = data->x + (begin + s) * k * d, *y = data->y + (begin + s) * k * p;
        memcpy(out->key + key * d, x, length * d * sizeof *x);
        memcpy(out->query + row * d, x + skip * d, rows * d * sizeof *x);
        memcpy(out->own_y + row * p, y + skip * p, rows * p * sizeof *y);
    }
}

static wt_status gather(wt_context *context, const wt_sequences *data,
                        const wt_recover_options *options, size_t begin, wt_rows *out) {
    size_t n = out->in.sequences, d = data->dim;
    wt_status status;
    WT_TRY(WT_NEW(context, &out->key_start, n + 1, "starts of sequences"));
    WT_TRY(WT_NEW(context, &out->row_start, n + 1, "starts of rows"));
    out->key_start[0] = out->row_start[0] = 0;
    for (size_t s = 0; s < n; s++) {
        size_t length = length_of(data, options, begin + s);
        out->key_start[s + 1] = out->key_start[s] + length;
        out->row_start[s + 1] = out->row_start[s] + (options->last_row ? 1 : length);
    }
    out->rows = out->row_start[n];
    WT_TRY(WT_NEW(context, &out->key, out->key_start[n] * d, "tokens"));
    WT_TRY(WT_NEW(context, &out->query, out->rows * d, "asking tokens"));
    WT_TRY(WT_NEW(context, &out->own_y, out->rows * data->outputs, "outputs"));
    pick(data, options, begin, out);
    out->in = (wt_attention){.sequences = n,
                             .dim = d,
                             .key_start = out->key_start,
                             .row_start = out->row_start,
                             .key = out->key,
                             .query = out->query};
    out->y = out->own_y;
done:
    return status;
}

wt_status wt_rows_make(wt_context *context, const wt_sequences *data,
                       const wt_recover_options *options, size_t begin, size_t end, wt_rows *out) {
    wt_status status = WT_OK;
    size_t k = data->length;
    *out = (wt_rows){.outputs = data->outputs};
    out->in = wt_attention_of(end - begin, k, data->dim, data->x + begin * k * data->dim);
    if (options->lengths == NULL && !options->last_row) {
        out->rows = (end - begin) * k;
        out->y = data->y + begin * k * data->outputs;
    } else {
        WT_TRY(gather(context, data, options, begin, out));
    }
    WT_TRY(wt_rows_measure(context, out));
done:
    if (status != WT_OK)
        wt_rows_free(out);
    return status;
}

void wt_rows_free(wt_rows *rows) {
    wt_release(rows->sequence_of);
    wt_release(rows->key_start);
    wt_release(rows->row_start);
    wt_release(rows->key);
    wt_release(rows->query);
    wt_release(rows->own_y);
    *rows = (wt_rows){0};
}

/* S (p, columns): the rows of the Vt of a Gaussian (columns, p) matrix, turned. */
wt_status wt_rows_sketch(wt_context *context, wt_rows *rows, size_t columns, uint64_t seed) {
    size_t p = rows->outputs;
    double *gaussian = NULL, *u = NULL, *s = NULL, *vt = NULL, *y = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &gaussian, columns * p, "a sketch"));
    WT_TRY(WT_NEW(context, &u, columns * columns, "a sketch"));
    WT_TRY(WT_NEW(context, &s, columns, "a sketch"));
    WT_TRY(WT_NEW(context, &vt, columns * p, "a sketch"));
    WT_TRY(WT_NEW(context, &y, rows->rows * columns, "sketched outputs"));
    wt_random_normal(wt_stream_for(seed, "sketch", 0), 0, columns * p, gaussian);
    WT_TRY(wt_svd(context, columns, p, gaussian, p, u, s, vt));
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, rows->rows, columns, p, 1, rows->y, p, vt, p,
                   0, y, columns));
    wt_release(rows->own_y);
    rows->y = rows->own_y = y;
    y = NULL;
    rows->outputs = columns;
    measure(rows);
done:
    wt_release(gaussian);
    wt_release(u);
    wt_release(s);
    wt_release(vt);
    wt_release(y);
    return status;
}
