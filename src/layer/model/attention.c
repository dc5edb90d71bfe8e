#include "layer/model/attention.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/work.h"
#include "linalg/backend.h"

/* Rows a chunk: enough for a GEMM to run well, few enough to share among threads. */
#define ROWS_A_CHUNK 128

wt_attention wt_attention_of(size_t n, size_t k, size_t dim, const double *x) {
    return (wt_attention){.sequences = n, .dim = dim, .length = k, .key = x, .query = x};
}

size_t wt_attention_weight_starts(const wt_attention *in, size_t *starts) {
    size_t total = 0;
    for (size_t s = 0; s < in->sequences; s++) {
        starts[s] = total;
        total += (wt_attention_row(in, s + 1) - wt_attention_row(in, s)) *
                 (wt_attention_key(in, s + 1) - wt_attention_key(in, s));
    }
    starts[in->sequences] = total;
    return total;
}

size_t wt_attention_grain(const wt_attention *in) {
    size_t rows = wt_attention_rows(in);
    size_t mean = in->sequences == 0 ? 1 : rows / in->sequences;
    return mean == 0 || mean >= ROWS_A_CHUNK ? 1 : ROWS_A_CHUNK / mean;
}

typedef struct {
    const wt_routines *blas;
    const wt_attention *in;
    size_t heads;
    const double *theta;
    double *weights, *h;
    size_t *starts;
    double *scratch; /* a worker: X Theta of a chunk, weights of a sequence */
    size_t scratch_each, most_chunk_rows;
} job;

/* a (keys): scores to weights, over the first `seen`; times (keys), or NULL. */
static void softmax(size_t keys, size_t seen, const double *times, double *a) {
    double most = a[0], sum = 0;
    for (size_t c = 1; c < seen; c++)
        most = a[c] > most ? a[c] : most;
    for (size_t c = 0; c < seen; c++) {
        a[c] = exp(a[c] - most) * (times == NULL ? 1 : times[c]);
        sum += a[c];
    }
    for (size_t c = 0; c < seen; c++)
        a[c] /= sum;
    memset(a + seen, 0, (keys - seen) * sizeof *a);
}

/* One head of the sequences of a chunk:
 *   1. T (rows, d) = queries Theta_i
 *   2. A (q, l)    = softmax(T_s X_s^T), keys by how often they come
 *   3. h (q, d)    = A X_s */
static void one_head(const job *work, size_t head, size_t begin, size_t end, double *scratch) {
    const wt_attention *in = work->in;
    size_t d = in->dim, e = wt_attention_query_dim(in), first = wt_attention_row(in, begin);
    size_t columns = wt_attention_columns(in, work->heads);
    double *asked = scratch, *spare = scratch + work->most_chunk_rows * d;
    work->blas->gemm(WT_PLAIN, WT_PLAIN, wt_attention_row(in, end) - first, d, e, 1,
                     in->query + first * e, e, work->theta + head * e * d, d, 0, asked, d);
    for (size_t s = begin; s < end; s++) {
        size_t row = wt_attention_row(in, s), rows = wt_attention_row(in, s + 1) - row;
        size_t key = wt_attention_key(in, s), keys = wt_attention_key(in, s + 1) - key;
        if (rows == 0)
            continue;
        double *a = work->weights == NULL
                        ? spare
                        : work->weights + work->heads * work->starts[s] + head * rows * keys;
        work->blas->gemm(WT_PLAIN, WT_TRANSPOSED, rows, keys, d, 1, asked + (row - first) * d, d,
                         in->key + key * d, d, 0, a, keys);
        for (size_t r = 0; r < rows; r++)
            softmax(keys, wt_attention_seen(in, s, row + r),
                    in->times == NULL ? NULL : in->times + key, a + r * keys);
        work->blas->gemm(WT_PLAIN, WT_PLAIN, rows, d, keys, 1, a, keys, in->key + key * d, d, 0,
                         work->h + row * columns + head * d, columns);
    }
}

static wt_status some_sequences(void *argument, size_t begin, size_t end, int worker) {
    const job *work = argument;
    double *scratch = work->scratch + (size_t)worker * work->scratch_each;
    for (size_t head = 0; head < work->heads; head++)
        one_head(work, head, begin, end, scratch);
    size_t columns = wt_attention_columns(work->in, work->heads);
    for (size_t r = wt_attention_row(work->in, begin);
         work->in->bias && r < wt_attention_row(work->in, end); r++)
        work->h[(r + 1) * columns - 1] = 1;
    return WT_OK;
}

/* The most rows of a chunk, and the most weights of a sequence. */
static void measure(const wt_attention *in, size_t grain, size_t *rows, size_t *weights) {
    *rows = *weights = 0;
    for (size_t s = 0; s < in->sequences; s++) {
        size_t one = (wt_attention_row(in, s + 1) - wt_attention_row(in, s)) *
                     (wt_attention_key(in, s + 1) - wt_attention_key(in, s));
        *weights = one > *weights ? one : *weights;
        if (s % grain == 0) {
            size_t end = in->sequences - s < grain ? in->sequences : s + grain;
            size_t chunk = wt_attention_row(in, end) - wt_attention_row(in, s);
            *rows = chunk > *rows ? chunk : *rows;
        }
    }
}

wt_status wt_attention_run(wt_context *context, const wt_attention *in, size_t heads,
                           const double *theta, double *weights, double *h) {
    size_t grain = wt_attention_grain(in), most_weights;
    size_t workers = (size_t)wt_context_threads(context);
    const wt_backend *backend;
    job work = {.in = in, .heads = heads, .theta = theta, .weights = weights, .h = h};
    wt_status status;
    WT_TRY(wt_backend_open(context, &backend));
    work.blas = &backend->real64;
    measure(in, grain, &work.most_chunk_rows, &most_weights);
    work.scratch_each = work.most_chunk_rows * in->dim + most_weights;
    WT_TRY(WT_NEW(context, &work.starts, in->sequences + 1, "starts of attention weights"));
    size_t pairs = wt_attention_weight_starts(in, work.starts);
    wt_work_add(context, (double)heads * (wt_work_product(wt_attention_rows(in), in->dim,
                                                          wt_attention_query_dim(in)) +
                                          2 * wt_work_product(pairs, in->dim, 1)));
    WT_TRY(WT_NEW2(context, &work.scratch, workers, work.scratch_each, "attention"));
    WT_TRY(wt_parallel_for(context, in->sequences, grain, some_sequences, &work));
done:
    wt_release(work.starts);
    wt_release(work.scratch);
    return status;
}
