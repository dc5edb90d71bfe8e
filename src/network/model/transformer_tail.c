/* Lines 4 to 6 of transformer.h for a few samples at a time, and the way back. */
#include <string.h>

#include "network/model/transformer_fast.h"

typedef struct {
    const wt_transformer_work *work;
    size_t count; /* samples */
} rows;

/* out (count, columns) = in (count, inner) w (inner, columns) */
static void times(rows at, size_t inner, size_t columns, const float *in, size_t in_stride,
                  const float *w, float *out, size_t out_stride) {
    at.work->blas->gemm(WT_PLAIN, WT_PLAIN, at.count, columns, inner, 1, in, in_stride, w, columns,
                        0, out, out_stride);
}

/* d_in (count, inner) = d_out (count, columns) w^T, d_w += in^T d_out */
static void times_back(rows at, size_t inner, size_t columns, const float *in, size_t in_stride,
                       const float *w, const float *d_out, size_t out_stride, float *d_in,
                       float *d_w) {
    at.work->blas->gemm(WT_PLAIN, WT_TRANSPOSED, at.count, inner, columns, 1, d_out, out_stride, w,
                        columns, 0, d_in, in_stride);
    at.work->blas->gemm(WT_TRANSPOSED, WT_PLAIN, inner, columns, at.count, 1, in, in_stride, d_out,
                        out_stride, 1, d_w, columns);
}

static void add_bias(rows at, size_t columns, const float *restrict bias, float *out,
                     size_t stride) {
    for (size_t r = 0; r < at.count; r++) {
        float *restrict to = out + r * stride;
        for (size_t i = 0; i < columns; i++)
            to[i] += bias[i];
    }
}

static void add_bias_back(rows at, size_t columns, const float *d_out, size_t stride,
                          float *restrict d_bias) {
    for (size_t r = 0; r < at.count; r++) {
        const float *restrict from = d_out + r * stride;
        for (size_t i = 0; i < columns; i++)
            d_bias[i] += from[i];
    }
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

void wt_tail_draw(const wt_transformer_work *work, wt_tail *tail, size_t count, uint64_t first) {
    size_t draws = 2 * work->shape.stride, each = wt_dropout_words(draws);
    for (size_t i = 0; i < count; i++)
        wt_dropout_draw(&work->dropout, work->common, first + i, WT_DROP_BLOCKS, draws,
                        tail->words + i * each);
}

void wt_tail_forward(const wt_transformer_work *work, wt_tail *tail, size_t count, bool drop) {
    rows at = {work, count};
    size_t d = work->shape.dim, stride = work->shape.stride;
    size_t hidden = work->network->spec.hidden, wide = work->hidden_stride;
    /* 4. c = x_T + y wo + bo */
    times(at, d, d, tail->y, stride, wt_transformer_tensor(work, WT_WO), tail->c, stride);
    add_bias(at, d, wt_transformer_tensor(work, WT_BO), tail->c, stride);
    if (drop)
        drop_rows(at, tail, 0, tail->c);
    add(count * stride, tail->x, tail->c);
    /* 5. e = c + gelu(LN2 c w1 + b1) w2 + b2 */
    work->common->norm(&work->row, count, tail->c, work->norms[2], work->norms[3], tail->c_hat,
                       tail->m, tail->c_scale);
    times(at, d, hidden, tail->m, stride, wt_transformer_tensor(work, WT_W1), tail->f, wide);
    add_bias(at, hidden, wt_transformer_tensor(work, WT_B1), tail->f, wide);
    work->common->gelu(count * wide, tail->f, tail->u);
    times(at, hidden, d, tail->u, wide, wt_transformer_tensor(work, WT_W2), tail->e, stride);
    add_bias(at, d, wt_transformer_tensor(work, WT_B2), tail->e, stride);
    if (drop)
        drop_rows(at, tail, 1, tail->e);
    add(count * stride, tail->c, tail->e);
    /* 6. logits = LNf e head */
    work->common->norm(&work->row, count, tail->e, work->norms[4], work->norms[5], tail->e_hat,
                       tail->w, tail->e_scale);
    times(at, d, 2, tail->w, stride, wt_transformer_tensor(work, WT_HEAD), tail->logits, 2);
}

void wt_tail_back(const wt_transformer_work *work, wt_tail *tail, size_t count, bool drop,
                  wt_sums *sums) {
    rows at = {work, count};
    size_t d = work->shape.dim, stride = work->shape.stride, bytes = count * stride * sizeof(float);
    size_t hidden = work->network->spec.hidden, wide = work->hidden_stride;
    /* 6. logits = LNf e head */
    times_back(at, d, 2, tail->w, stride, wt_transformer_tensor(work, WT_HEAD), tail->logits, 2,
               tail->d_w, wt_transformer_rest(work, sums->rest, WT_HEAD));
    memset(tail->d_e, 0, bytes);
    work->common->norm_back(&work->row, count, tail->e_hat, tail->e_scale, work->norms[4],
                            tail->d_w, tail->d_e, sums->norms[4], sums->norms[5]);
    /* 5. e = c + gelu(LN2 c w1 + b1) w2 + b2 */
    memcpy(tail->d_c, tail->d_e, bytes);
    if (drop)
        drop_rows(at, tail, 1, tail->d_e);
    add_bias_back(at, d, tail->d_e, stride, wt_transformer_rest(work, sums->rest, WT_B2));
    times_back(at, hidden, d, tail->u, wide, wt_transformer_tensor(work, WT_W2), tail->d_e, stride,
               tail->d_u, wt_transformer_rest(work, sums->rest, WT_W2));
    for (size_t i = 0; i < count * wide; i++)
        tail->d_u[i] *= tail->f[i];
    add_bias_back(at, hidden, tail->d_u, wide, wt_transformer_rest(work, sums->rest, WT_B1));
    times_back(at, d, hidden, tail->m, stride, wt_transformer_tensor(work, WT_W1), tail->d_u, wide,
               tail->d_m, wt_transformer_rest(work, sums->rest, WT_W1));
    work->common->norm_back(&work->row, count, tail->c_hat, tail->c_scale, work->norms[2],
                            tail->d_m, tail->d_c, sums->norms[2], sums->norms[3]);
    /* 4. c = x_T + y wo + bo */
    memcpy(tail->d_e, tail->d_c, bytes);
    if (drop)
        drop_rows(at, tail, 0, tail->d_e);
    add_bias_back(at, d, tail->d_e, stride, wt_transformer_rest(work, sums->rest, WT_BO));
    times_back(at, d, d, tail->y, stride, wt_transformer_tensor(work, WT_WO), tail->d_e, stride,
               tail->d_y, wt_transformer_rest(work, sums->rest, WT_WO));
}
