/* Lines 4 to 6 of transformer.h for a few samples at a time, and the way back. */
#include <string.h>

#include "network/model/transformer_fast.h"

typedef struct {
    const wt_transformer_work *work;
    size_t count; /* samples */
} rows;

/* out (count, columns) = in (count, inner) w + b, for the tensor w and the one behind it, b; only
 * the read-out has none. */
static void layer(rows at, enum wt_transformer_tensor w, const float *in, size_t in_stride,
                  float *out, size_t out_stride) {
    const wt_network_tensor *tensor = &at.work->network->tensors[w];
    at.work->blas->gemm(WT_PLAIN, WT_PLAIN, at.count, tensor->columns, tensor->rows, 1, in,
                        in_stride, wt_transformer_tensor(at.work, w), tensor->columns, 0, out,
                        out_stride);
    for (size_t r = 0; r < at.count && w != WT_HEAD; r++) {
        const float *restrict bias = wt_transformer_tensor(at.work, w + 1);
        float *restrict to = out + r * out_stride;
        for (size_t i = 0; i < tensor->columns; i++)
            to[i] += bias[i];
    }
}

/* d_in (count, inner) = d_out (count, columns) w^T; d_w = in^T d_out and d_b into the sums. */
static void layer_back(rows at, enum wt_transformer_tensor w, const float *in, size_t in_stride,
                       const float *d_out, size_t out_stride, float *d_in, wt_sums *sums) {
    const wt_network_tensor *tensor = &at.work->network->tensors[w];
    size_t inner = tensor->rows, columns = tensor->columns;
    for (size_t r = 0; r < at.count && w != WT_HEAD; r++) {
        const float *restrict from = d_out + r * out_stride;
        float *restrict d_bias = wt_transformer_rest(at.work, sums->rest, w + 1);
        for (size_t i = 0; i < columns; i++)
            d_bias[i] += from[i];
    }
    at.work->blas->gemm(WT_PLAIN, WT_TRANSPOSED, at.count, inner, columns, 1, d_out, out_stride,
                        wt_transformer_tensor(at.work, w), columns, 0, d_in, in_stride);
    at.work->blas->gemm(WT_TRANSPOSED, WT_PLAIN, inner, columns, at.count, 1, in, in_stride, d_out,
                        out_stride, 1, wt_transformer_rest(at.work, sums->rest, w), columns);
}

static void add(size_t count, const float *restrict from, float *restrict to) {
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

/* The first half of a sample's words is for line 4, the second for line 5. */
static void drop_rows(rows at, const wt_tail *tail, size_t half, float *x) {
    const wt_transformer_work *work = at.work;
    size_t stride = work->shape.stride, each = wt_dropout_words(2 * stride);
    for (size_t r = 0; r < at.count; r++)
        work->common->drop(stride, tail->words + r * each + half * stride / 2,
                           work->dropout.keep[WT_DROP_BLOCKS], work->dropout.scale[WT_DROP_BLOCKS],
                           x + r * stride);
}

/* The draws of samples first .. first + count - 1. */
static void draw(const wt_transformer_work *work, wt_tail *tail, size_t count, uint64_t first) {
    size_t draws = 2 * work->shape.stride, each = wt_dropout_words(draws);
    for (size_t i = 0; i < count; i++)
        wt_dropout_draw(&work->dropout, work->common, first + i, WT_DROP_BLOCKS, draws,
                        tail->words + i * each);
}

void wt_tail_forward(const wt_transformer_work *work, wt_tail *tail, size_t count, bool drop) {
    rows at = {work, count};
    size_t stride = work->shape.stride, wide = work->hidden_stride;
    /* 4. c = x_T + y wo + bo */
    layer(at, WT_WO, tail->y, stride, tail->c, stride);
    if (drop)
        drop_rows(at, tail, 0, tail->c);
    add(count * stride, tail->x, tail->c);
    /* 5. e = c + gelu(LN2 c w1 + b1) w2 + b2 */
    work->common->norm(&work->row, count, tail->c, work->norms[2], work->norms[3], tail->c_hat,
                       tail->m, tail->c_scale);
    layer(at, WT_W1, tail->m, stride, tail->f, wide);
    work->common->gelu(count * wide, tail->f, tail->u);
    layer(at, WT_W2, tail->u, wide, tail->e, stride);
    if (drop)
        drop_rows(at, tail, 1, tail->e);
    add(count * stride, tail->c, tail->e);
    /* 6. logits = LNf e head */
    work->common->norm(&work->row, count, tail->e, work->norms[4], work->norms[5], tail->e_hat,
                       tail->w, tail->e_scale);
    layer(at, WT_HEAD, tail->w, stride, tail->logits, 2);
}

static void back(const wt_transformer_work *work, wt_tail *tail, size_t count, bool drop,
                 wt_sums *sums) {
    rows at = {work, count};
    size_t stride = work->shape.stride, wide = work->hidden_stride;
    size_t bytes = count * stride * sizeof(float);
    /* 6. logits = LNf e head */
    layer_back(at, WT_HEAD, tail->w, stride, tail->logits, 2, tail->d_w, sums);
    memset(tail->d_e, 0, bytes);
    work->common->norm_back(&work->row, count, tail->e_hat, tail->e_scale, work->norms[4],
                            tail->d_w, tail->d_e, sums->norms[4], sums->norms[5]);
    /* 5. e = c + gelu(LN2 c w1 + b1) w2 + b2 */
    memcpy(tail->d_c, tail->d_e, bytes);
    if (drop)
        drop_rows(at, tail, 1, tail->d_e);
    layer_back(at, WT_W2, tail->u, wide, tail->d_e, stride, tail->d_u, sums);
    for (size_t i = 0; i < count * wide; i++)
        tail->d_u[i] *= tail->f[i];
    layer_back(at, WT_W1, tail->m, stride, tail->d_u, wide, tail->d_m, sums);
    work->common->norm_back(&work->row, count, tail->c_hat, tail->c_scale, work->norms[2],
                            tail->d_m, tail->d_c, sums->norms[2], sums->norms[3]);
    /* 4. c = x_T + y wo + bo */
    memcpy(tail->d_e, tail->d_c, bytes);
    if (drop)
        drop_rows(at, tail, 0, tail->d_e);
    layer_back(at, WT_WO, tail->y, stride, tail->d_e, stride, tail->d_y, sums);
}

void wt_tail_step(wt_transformer_work *work, wt_tail *tail, const wt_bits *batch, size_t first,
                  size_t count, size_t group) {
    bool drop = work->dropout.keep[WT_DROP_BLOCKS] < WT_KEEP_ALL;
    if (drop)
        draw(work, tail, count, first);
    wt_tail_forward(work, tail, count, drop);
    wt_network_judge(tail->logits, batch->label + first, count, batch->samples,
                     &work->results[group]);
    back(work, tail, count, drop, &work->sums[group]);
}
