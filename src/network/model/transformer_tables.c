/* Without dropout of token vectors: scores and values of all 2 T + 1 vectors once for a step. */
#include <string.h>

#include "base/parallel.h"
#include "network/model/transformer_fast.h"

enum { LEAST_ROWS = 64 }; /* of a chunk of the table; a multiple of 8 */
/* Of the scores of a head: e^-60 is far above the smallest float. */
#define MOST_RANGE 60.0F

/* What a chunk of the table sums up on the way back. */
typedef struct {
    float *u, *value, *value_bias; /* (lanes, stride), (width lanes, stride), (width lanes) */
    float *g, *b;                  /* (stride) not used */
} part;

/* All counts are multiples of 16: the pieces are aligned as the block is. */
static part cut_part(const wt_transformer_work *work, size_t chunk) {
    size_t stride = work->shape.stride;
    part out = {.u = work->parts + chunk * wt_transformer_part_floats(work)};
    out.value = out.u + work->shape.lanes * stride;
    out.value_bias = out.value + work->values_width * stride;
    out.g = out.value_bias + work->values_width;
    out.b = out.g + stride;
    return out;
}

size_t wt_transformer_part_floats(const wt_transformer_work *work) {
    return (work->shape.lanes + work->values_width + 2) * work->shape.stride + work->values_width;
}

void wt_transformer_index(const wt_transformer_work *work, const uint8_t *bit, uint32_t *index) {
    size_t last = work->shape.n - 1;
    for (size_t t = 0; t < last; t++)
        index[t] = (uint32_t)(2 * t + bit[t]);
    index[last] = (uint32_t)(2 * last);
}

static size_t rows_a_chunk(const wt_transformer_work *work) {
    size_t rows = (work->table_rows + WT_TABLE_CHUNKS - 1) / WT_TABLE_CHUNKS;
    return rows < LEAST_ROWS ? LEAST_ROWS : (rows + 7) / 8 * 8;
}

/* q = h wq + bq and u = q key, the same for all samples. */
static void set_query(wt_transformer_work *work) {
    const wt_attention_shape *shape = &work->shape;
    size_t d = shape->dim, cls = (work->table_rows - 1) * shape->stride;
    work->common->norm(&work->row, 1, work->table + cls, work->norms[0], work->norms[1],
                       work->hat + cls, work->h, work->hat_scale + work->table_rows - 1);
    memcpy(work->q, wt_transformer_tensor(work, WT_BQ), d * sizeof *work->q);
    work->blas->gemm(WT_PLAIN, WT_PLAIN, 1, d, d, 1, work->h, shape->stride,
                     wt_transformer_tensor(work, WT_WQ), d, 1, work->q, shape->stride);
    work->loops->combine(shape, work->q, work->key, work->u);
    for (size_t i = 0; i < shape->stride; i++)
        for (size_t h = 0; h < shape->lanes; h++)
            work->transposed[i * shape->lanes + h] = work->u[h * shape->stride + i];
}

static wt_status fill_rows(void *argument, size_t begin, size_t end, int worker) {
    wt_transformer_work *work = argument;
    wt_attention_shape shape = work->shape;
    size_t count = end - begin, wide = work->values_width;
    float *hat = work->hat + begin * shape.stride, *values = work->values + begin * wide;
    (void)worker;
    work->common->norm(&work->row, count, work->table + begin * shape.stride, NULL, NULL, hat, NULL,
                       work->hat_scale + begin);
    shape.rows = (count + 7) / 8 * 8;
    work->loops->project(&shape, hat, work->transposed, work->scores + begin * shape.lanes);
    for (size_t r = 0; r < count; r++)
        memcpy(values + r * wide, work->value_bias, wide * sizeof *values);
    work->blas->gemm(WT_PLAIN, WT_TRANSPOSED, count, wide, shape.dim, 1, hat, shape.stride,
                     work->value, shape.stride, 1, values, wide);
    return WT_OK;
}

/* Whether exp of all scores of a head can be told from 0 beside the largest; not where one is no
 * finite number. */
static bool narrow(const wt_transformer_work *work) {
    size_t lanes = work->shape.lanes;
    for (size_t l = 0; l < lanes; l += 16) {     /* lanes are a multiple of 16 */
        float low[16], high[16], none[16] = {0}; /* 0, or NaN */
        memcpy(low, work->scores + l, sizeof low);
        memcpy(high, work->scores + l, sizeof high);
        for (size_t r = 0; r < work->table_rows; r++)
            for (size_t h = 0; h < 16; h++) {
                float score = work->scores[r * lanes + l + h];
                low[h] = score < low[h] ? score : low[h];
                high[h] = score > high[h] ? score : high[h];
                none[h] += score * 0;
            }
        for (size_t h = 0; h < 16; h++)
            if (!(high[h] - low[h] + none[h] <= MOST_RANGE))
                return false;
    }
    return true;
}

wt_status wt_transformer_fill_tables(wt_context *context, wt_transformer_work *work) {
    wt_attention_shape all = work->shape;
    set_query(work);
    WT_PASS(wt_parallel_for(context, work->table_rows, rows_a_chunk(work), fill_rows, work));
    work->narrow = narrow(work);
    all.n = work->table_rows;
    all.rows = (work->table_rows + 7) / 8 * 8;
    if (work->narrow)
        work->loops->softmax(&all, work->scores, NULL, WT_KEEP_ALL, 1, work->weights, work->weights,
                             work->worker[0].more);
    return WT_OK;
}

static wt_picked place(const wt_transformer_work *work, wt_picks *picks, size_t at) {
    size_t rows = work->shape.rows, lanes = work->shape.lanes, wide = work->values_width;
    uint32_t *index = picks->index + at * rows;
    return (wt_picked){.index = index,
                       .from = work->narrow ? index : picks->count,
                       .e = work->narrow ? work->weights : picks->e + at * rows * lanes,
                       .b = picks->b + at * rows * lanes,
                       .total = picks->total + at * lanes,
                       .y = picks->y + at * wide,
                       .d_y = picks->d_y + at * wide,
                       .mean = picks->mean + at * lanes};
}

/* The weights of one sample. */
static void weigh(const wt_transformer_work *work, wt_picks *picks, size_t at, const uint8_t *bit,
                  uint64_t sample) {
    const wt_attention_shape *shape = &work->shape;
    uint32_t keep = work->dropout.keep[WT_DROP_WEIGHTS], *index = picks->index + at * shape->rows;
    bool drop = keep < WT_KEEP_ALL;
    picks->picked[at] = place(work, picks, at);
    wt_transformer_index(work, bit, index);
    if (!work->narrow) {
        float *e = picks->e + at * shape->rows * shape->lanes;
        work->loops->pick(shape, work->scores, index, e);
        work->loops->softmax(shape, e, NULL, WT_KEEP_ALL, 1, e, e, picks->picked[at].total);
    }
    if (drop)
        wt_dropout_draw(&work->dropout, work->common, sample, WT_DROP_WEIGHTS,
                        shape->rows * shape->lanes, picks->words);
    work->loops->weigh(shape, drop ? picks->words : NULL, keep,
                       work->dropout.scale[WT_DROP_WEIGHTS], &picks->picked[at]);
}

static void attend(const wt_transformer_work *work, wt_worker *worker, size_t count) {
    const wt_attention_shape *shape = &work->shape;
    const float *cls = work->table + (work->table_rows - 1) * shape->stride;
    work->loops->mix(shape, work->values, count, worker->picks.picked);
    for (size_t at = 0; at < count; at++) {
        const wt_picked *sample = &worker->picks.picked[at];
        float *y = worker->tail.y + at * shape->stride;
        for (size_t h = 0; h < shape->heads; h++)
            for (size_t k = 0; k < shape->width; k++)
                y[h * shape->width + k] = sample->y[k * shape->lanes + h] / sample->total[h];
        memcpy(worker->tail.x + at * shape->stride, cls, shape->stride * sizeof *y);
    }
}

/* b and e lack the factor 1 / total: d_y and the mean of its products have it instead. */
static void attend_back(const wt_transformer_work *work, wt_worker *worker, size_t count,
                        wt_sums *sums) {
    const wt_attention_shape *shape = &work->shape;
    const wt_picks *picks = &worker->picks;
    for (size_t at = 0; at < count; at++) {
        const float *y = worker->tail.y + at * shape->stride;
        const float *slope = worker->tail.d_y + at * shape->stride;
        float *d_y = picks->d_y + at * work->values_width, *mean = picks->mean + at * shape->lanes;
        for (size_t h = 0; h < shape->heads; h++) {
            float share = 1 / picks->picked[at].total[h];
            mean[h] = 0;
            for (size_t k = 0, i = h * shape->width; k < shape->width; k++, i++) {
                d_y[k * shape->lanes + h] = slope[i] * share;
                mean[h] += slope[i] * y[i] * share;
            }
        }
        for (size_t i = 0; i < shape->stride; i++)
            sums->cls[i] += worker->tail.d_c[at * shape->stride + i];
    }
    work->loops->mix_back(shape, work->values, count, picks->picked, sums->scores, sums->values);
}

void wt_transformer_by_tables(wt_transformer_work *work, wt_worker *worker, const wt_bits *batch,
                              size_t begin, size_t end, size_t group) {
    wt_sums *sums = &work->sums[group];
    for (size_t first = begin; first < end; first += WT_PICKS) {
        size_t count = end - first < WT_PICKS ? end - first : WT_PICKS;
        for (size_t at = 0; at < count; at++)
            weigh(work, &worker->picks, at, batch->bit + (first + at) * batch->length, first + at);
        attend(work, worker, count);
        wt_tail_step(work, &worker->tail, batch, first, count, group);
        attend_back(work, worker, count, sums);
    }
}

typedef struct {
    wt_transformer_work *work;
    const wt_sums *sums;
    float *d_table;
    size_t each;
} back;

/* scores = hat u, values = hat value + value_bias, hat = normalised table. */
static wt_status rows_back(void *argument, size_t begin, size_t end, int worker) {
    const back *run = argument;
    const wt_transformer_work *work = run->work;
    wt_attention_shape shape = work->shape;
    size_t count = end - begin, stride = shape.stride, wide = work->values_width;
    part to = cut_part(work, begin / run->each);
    const float *hat = work->hat + begin * stride;
    const float *d_scores = run->sums->scores + begin * shape.lanes;
    const float *d_values = run->sums->values + begin * wide;
    float *d_hat = work->d_hat + begin * stride, *d_x = run->d_table + begin * stride;
    (void)worker;
    memset(to.u, 0, wt_transformer_part_floats(work) * sizeof *to.u);
    work->blas->gemm(WT_PLAIN, WT_PLAIN, count, stride, shape.lanes, 1, d_scores, shape.lanes,
                     work->u, stride, 0, d_hat, stride);
    work->blas->gemm(WT_PLAIN, WT_PLAIN, count, stride, wide, 1, d_values, wide, work->value,
                     stride, 1, d_hat, stride);
    work->blas->gemm(WT_TRANSPOSED, WT_PLAIN, wide, stride, count, 1, d_values, wide, hat, stride,
                     0, to.value, stride);
    work->blas->gemm(WT_TRANSPOSED, WT_PLAIN, shape.lanes, stride, count, 1, d_scores, shape.lanes,
                     hat, stride, 0, to.u, stride);
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < wide; i++)
            to.value_bias[i] += d_values[r * wide + i];
    memset(d_x, 0, count * stride * sizeof *d_x);
    work->common->norm_back(&work->row, count, hat, work->hat_scale + begin, work->live, d_hat, d_x,
                            to.g, to.b);
    return WT_OK;
}

/* u = q key, q = h wq + bq, h = LN1 x_T, and the residual. */
static void query_back(wt_transformer_work *work, const float *d_u, wt_sums *sums, float *d_table) {
    size_t d = work->shape.dim, stride = work->shape.stride, last = work->table_rows - 1;
    float *d_q = work->worker[0].d_q, *d_h = work->worker[0].d_h, *row = d_table + last * stride;
    work->loops->outer(&work->shape, work->q, d_u, sums->key);
    work->loops->contract(&work->shape, work->key, d_u, d_q);
    work->blas->gemm(WT_PLAIN, WT_TRANSPOSED, 1, d, d, 1, d_q, stride,
                     wt_transformer_tensor(work, WT_WQ), d, 0, d_h, stride);
    work->blas->gemm(WT_TRANSPOSED, WT_PLAIN, d, d, 1, 1, work->h, stride, d_q, stride, 1,
                     wt_transformer_rest(work, sums->rest, WT_WQ), d);
    memcpy(wt_transformer_rest(work, sums->rest, WT_BQ), d_q, d * sizeof *d_q);
    work->common->norm_back(&work->row, 1, work->hat + last * stride, work->hat_scale + last,
                            work->norms[0], d_h, row, sums->norms[0], sums->norms[1]);
    for (size_t i = 0; i < stride; i++)
        row[i] += sums->cls[i];
}

wt_status wt_transformer_tables_back(wt_context *context, wt_transformer_work *work, wt_sums *sums,
                                     float *d_table) {
    size_t square = work->values_width * work->shape.stride;
    back run = {.work = work, .sums = sums, .d_table = d_table, .each = rows_a_chunk(work)};
    size_t chunks = (work->table_rows + run.each - 1) / run.each;
    WT_PASS(wt_parallel_for(context, work->table_rows, run.each, rows_back, &run));
    part all = cut_part(work, 0);
    for (size_t c = 0; c < chunks; c++) {
        part one = cut_part(work, c);
        for (size_t i = 0; i < square; i++)
            sums->value[i] += one.value[i];
        for (size_t i = 0; i < work->values_width; i++)
            sums->value_bias[i] += one.value_bias[i];
        for (size_t i = 0; i < work->shape.lanes * work->shape.stride && c > 0; i++)
            all.u[i] += one.u[i];
    }
    query_back(work, all.u, sums, d_table);
    return WT_OK;
}
