/* With dropout of token vectors: the attention of every sample by itself, heads absorbed. */
#include <string.h>

#include "network/model/transformer_fast.h"

static void transpose(const wt_attention_shape *shape, const float *from, float *to) {
    for (size_t i = 0; i < shape->stride; i++)
        for (size_t h = 0; h < shape->lanes; h++)
            to[i * shape->lanes + h] = from[h * shape->stride + i];
}

/* Line 1: the tokens of the sample, and [CLS] for the query and the residual. */
static void embed(const wt_transformer_work *work, wt_worker *worker, size_t at, const uint8_t *bit,
                  uint64_t sample) {
    const wt_attention_shape *shape = &work->shape;
    wt_slot *slot = &worker->slots[at];
    size_t stride = shape->stride, last = shape->n - 1;
    float *x = worker->tail.x + at * stride, *h = worker->h + at * stride;
    wt_transformer_index(work, bit, slot->index);
    wt_dropout_draw(&work->dropout, work->common, sample, WT_DROP_TOKENS, shape->n * stride,
                    slot->words);
    work->loops->embed(shape, work->table, slot->index, slot->words,
                       work->dropout.keep[WT_DROP_TOKENS], slot->hat, slot->scale);
    memcpy(x, work->table + slot->index[last] * stride, stride * sizeof *x);
    work->common->drop(stride, slot->words + last * stride / 2, work->dropout.keep[WT_DROP_TOKENS],
                       1, x);
    for (size_t i = 0; i < stride; i++)
        h[i] = slot->hat[last * stride + i] * work->norms[0][i] + work->norms[1][i];
}

/* Lines 2 and 3, from q to y. */
static void attend(const wt_transformer_work *work, wt_worker *worker, size_t at, uint64_t sample) {
    const wt_attention_shape *shape = &work->shape;
    const wt_transformer_loops *loops = work->loops;
    wt_slot *slot = &worker->slots[at];
    uint32_t keep = work->dropout.keep[WT_DROP_WEIGHTS];
    float *y = worker->tail.y + at * shape->stride;
    loops->combine(shape, worker->q + at * shape->stride, work->key, slot->u);
    transpose(shape, slot->u, worker->transposed);
    loops->project(shape, slot->hat, worker->transposed, slot->s);
    if (keep < WT_KEEP_ALL)
        wt_dropout_draw(&work->dropout, work->common, sample, WT_DROP_WEIGHTS,
                        shape->rows * shape->lanes, slot->a_words);
    loops->softmax(shape, slot->s, keep < WT_KEEP_ALL ? slot->a_words : NULL, keep,
                   work->dropout.scale[WT_DROP_WEIGHTS], slot->a,
                   keep < WT_KEEP_ALL ? slot->b : slot->a, slot->total);
    loops->gather(shape, keep < WT_KEEP_ALL ? slot->b : slot->a, slot->hat, slot->z);
    loops->contract(shape, work->value, slot->z, y);
    for (size_t h = 0; h < shape->heads; h++)
        for (size_t k = 0; k < shape->width; k++)
            y[h * shape->width + k] += slot->total[h] * work->value_bias[k * shape->lanes + h];
}

/* y_h = z_h value + total value_bias: d_z, what d_total gives to every token, and what the softmax
 * needs, sum_t b_t d_b_t = <y_h, d_y_h>. */
static void values_back(const wt_transformer_work *work, wt_worker *worker, const wt_slot *slot,
                        const float *y, const float *d_y, wt_sums *sums) {
    const wt_attention_shape *shape = &work->shape;
    work->loops->combine(shape, d_y, work->value, worker->d_z);
    work->loops->outer(shape, d_y, slot->z, sums->value);
    for (size_t h = 0; h < shape->heads; h++) {
        float more = 0, mean = 0;
        for (size_t k = 0; k < shape->width; k++) {
            size_t r = k * shape->lanes + h;
            size_t i = h * shape->width + k;
            more += d_y[i] * work->value_bias[r];
            mean += d_y[i] * y[i];
            sums->value_bias[r] += d_y[i] * slot->total[h];
        }
        worker->more[h] = more;
        worker->mean[h] = mean;
    }
}

/* Back from d_y to the tokens and to d_q. */
static void attend_back(const wt_transformer_work *work, wt_worker *worker, size_t at,
                        wt_sums *sums) {
    const wt_attention_shape *shape = &work->shape;
    const wt_transformer_loops *loops = work->loops;
    wt_slot *slot = &worker->slots[at];
    const float *b = work->dropout.keep[WT_DROP_WEIGHTS] < WT_KEEP_ALL ? slot->b : slot->a;
    values_back(work, worker, slot, worker->tail.y + at * shape->stride,
                worker->tail.d_y + at * shape->stride, sums);
    transpose(shape, worker->d_z, worker->transposed);
    loops->project(shape, slot->hat, worker->transposed, worker->p);
    loops->softmax_back(shape, slot->s, slot->a, b, worker->more, worker->mean, worker->p,
                        worker->along);
    loops->spread(shape, b, worker->d_z, worker->p, slot->u, slot->hat, slot->scale, worker->along,
                  slot->index, slot->words, work->dropout.keep[WT_DROP_TOKENS], sums->table);
    loops->gather(shape, worker->p, slot->hat, worker->d_u);
    loops->outer(shape, worker->q + at * shape->stride, worker->d_u, sums->key);
    loops->contract(shape, work->key, worker->d_u, worker->d_q + at * shape->stride);
}

/* q = h wq + bq with h = LN1 x_T, and the residual: into the row of [CLS]. */
static void query_back(const wt_transformer_work *work, wt_worker *worker, size_t count,
                       wt_sums *sums) {
    size_t d = work->shape.dim, stride = work->shape.stride, last = work->shape.n - 1;
    float *d_x = worker->tail.d_c, *d_bias = wt_transformer_rest(work, sums->rest, WT_BQ);
    float *row = sums->table + 2 * last * stride;
    work->blas->gemm(WT_PLAIN, WT_TRANSPOSED, count, d, d, 1, worker->d_q, stride,
                     wt_transformer_tensor(work, WT_WQ), d, 0, worker->d_h, stride);
    work->blas->gemm(WT_TRANSPOSED, WT_PLAIN, d, d, count, 1, worker->h, stride, worker->d_q,
                     stride, 1, wt_transformer_rest(work, sums->rest, WT_WQ), d);
    for (size_t at = 0; at < count; at++) {
        const wt_slot *slot = &worker->slots[at];
        for (size_t i = 0; i < d; i++)
            d_bias[i] += worker->d_q[at * stride + i];
        work->common->norm_back(&work->row, 1, slot->hat + last * stride, slot->scale + last,
                                work->norms[0], worker->d_h + at * stride, d_x + at * stride,
                                sums->norms[0], sums->norms[1]);
        work->common->drop(stride, slot->words + last * stride / 2,
                           work->dropout.keep[WT_DROP_TOKENS], 1, d_x + at * stride);
        for (size_t i = 0; i < stride; i++)
            row[i] += d_x[at * stride + i];
    }
}

void wt_transformer_absorbed(wt_transformer_work *work, wt_worker *worker, const wt_bits *batch,
                             size_t begin, size_t end, size_t group) {
    size_t d = work->shape.dim, stride = work->shape.stride;
    wt_sums *sums = &work->sums[group];
    for (size_t first = begin; first < end; first += WT_SLOTS) {
        size_t count = end - first < WT_SLOTS ? end - first : WT_SLOTS;
        for (size_t at = 0; at < count; at++)
            embed(work, worker, at, batch->bit + (first + at) * batch->length, first + at);
        for (size_t at = 0; at < count; at++)
            memcpy(worker->q + at * stride, wt_transformer_tensor(work, WT_BQ), d * sizeof(float));
        work->blas->gemm(WT_PLAIN, WT_PLAIN, count, d, d, 1, worker->h, stride,
                         wt_transformer_tensor(work, WT_WQ), d, 1, worker->q, stride);
        for (size_t at = 0; at < count; at++)
            attend(work, worker, at, first + at);
        wt_tail_step(work, &worker->tail, batch, first, count, group);
        for (size_t at = 0; at < count; at++)
            attend_back(work, worker, at, sums);
        query_back(work, worker, count, sums);
    }
}
