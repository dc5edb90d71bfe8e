/* Judging without dropout, and what attention looks at.
 *
 * With e_r = exp(score_r) for the rows r of the table, y = sum_t e v / sum_t e over the sample's
 * rows. Four positions have 16 patterns of bits: `codes` holds, for every four positions and every
 * pattern, the sums of e and of e v, so that a sample is a quarter of the rows. All e are positive
 * and nothing is taken away again: the sums are as good as the plain ones. They are used while
 * the table has weights (`narrow`); otherwise every sample has a softmax of its own. */
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "network/model/transformer_fast.h"

enum {
    FIRST_ROUND = 256, /* samples judged before the first look at the errors; doubles to */
    MOST_ROUND = 2048,
    MOST_CHUNKS = MOST_ROUND / WT_TAIL_SAMPLES,
    FOUR = 4,
    PATTERNS = 16,
    CODE_CHUNK = 16, /* fours of positions */
};

typedef struct {
    wt_transformer_work *work;
    const wt_bits *batch;
    size_t first, columns; /* of the round; (width + 1) lanes */
    float *attention;
    wt_network_result results[MOST_CHUNKS];
} job;

/* to (columns) += e_r and e_r v_r */
static void add_row(const job *run, size_t r, float *restrict to) {
    const wt_transformer_work *work = run->work;
    size_t lanes = work->shape.lanes;
    const float *restrict e = work->weights + r * lanes;
    const float *restrict value = work->values + r * work->values_width;
    for (size_t h = 0; h < lanes; h++)
        to[h] += e[h];
    for (size_t k = 0; k < work->shape.width; k++)
        for (size_t h = 0; h < lanes; h++)
            to[(k + 1) * lanes + h] += e[h] * value[k * lanes + h];
}

static wt_status fill_codes(void *argument, size_t begin, size_t end, int worker) {
    const job *run = argument;
    size_t length = run->work->network->spec.length;
    (void)worker;
    memset(run->work->codes + begin * PATTERNS * run->columns, 0,
           (end - begin) * PATTERNS * run->columns * sizeof(float));
    for (size_t q = begin; q < end; q++)
        for (size_t pattern = 0; pattern < PATTERNS; pattern++)
            for (size_t j = 0; j < FOUR && q * FOUR + j < length; j++)
                add_row(run, 2 * (q * FOUR + j) + (pattern >> j & 1),
                        run->work->codes + (q * PATTERNS + pattern) * run->columns);
    return WT_OK;
}

/* Behind the codes: the row of [CLS], where every sum begins. */
static wt_status set_codes(wt_context *context, job *run) {
    wt_transformer_work *work = run->work;
    size_t fours = (work->network->spec.length + FOUR - 1) / FOUR;
    if (!work->narrow)
        return WT_OK;
    if (work->codes == NULL)
        WT_PASS(WT_NEW2(context, &work->codes, fours * PATTERNS + 1, run->columns,
                        "sums of patterns of bits"));
    float *base = work->codes + fours * PATTERNS * run->columns;
    memset(base, 0, run->columns * sizeof *base);
    add_row(run, work->table_rows - 1, base);
    return wt_parallel_for(context, fours, CODE_CHUNK, fill_codes, run);
}

/* Bit j of code[q] is bit 4 q + j of the sample. */
static void encode(size_t length, const uint8_t *bit, uint8_t *code) {
    size_t whole = length / FOUR;
    for (size_t q = 0; q < whole; q++) {
        const uint8_t *at = bit + q * FOUR;
        code[q] = (uint8_t)(at[0] | at[1] << 1 | at[2] << 2 | at[3] << 3);
    }
    if (length % FOUR != 0)
        code[whole] = 0;
    for (size_t t = whole * FOUR; t < length; t++)
        code[whole] |= (uint8_t)(bit[t] << t % FOUR);
}

static void by_codes(const job *run, wt_worker *worker, const uint8_t *bit, float *y) {
    const wt_transformer_work *work = run->work;
    const wt_attention_shape *shape = &work->shape;
    size_t fours = (work->network->spec.length + FOUR - 1) / FOUR;
    const float *sums = worker->sums;
    encode(work->network->spec.length, bit, worker->code);
    work->loops->add_rows(fours, worker->code, run->columns, work->codes,
                          work->codes + fours * PATTERNS * run->columns, worker->sums);
    for (size_t h = 0; h < shape->heads; h++)
        for (size_t k = 0; k < shape->width; k++)
            y[h * shape->width + k] = sums[(k + 1) * shape->lanes + h] / sums[h];
}

/* The attention weights of one sample into the slot. */
static void attend(const wt_transformer_work *work, wt_slot *slot, const uint8_t *bit) {
    wt_transformer_index(work, bit, slot->index);
    work->loops->pick(&work->shape, work->scores, slot->index, slot->s);
    work->loops->softmax(&work->shape, slot->s, NULL, WT_KEEP_ALL, 1, slot->a, slot->a,
                         slot->total);
}

static void by_softmax(const job *run, wt_worker *worker, const uint8_t *bit, float *y) {
    const wt_attention_shape *shape = &run->work->shape;
    wt_slot *slot = &worker->slots[0];
    attend(run->work, slot, bit);
    const wt_picked picked = {.index = slot->index, .b = slot->a, .y = slot->y};
    run->work->loops->mix(shape, run->work->values, 1, &picked);
    for (size_t h = 0; h < shape->heads; h++)
        for (size_t k = 0; k < shape->width; k++)
            y[h * shape->width + k] = slot->y[k * shape->lanes + h];
}

/* Items: samples of the round. */
static wt_status judge(void *argument, size_t begin, size_t end, int number) {
    job *run = argument;
    wt_transformer_work *work = run->work;
    wt_worker *worker = wt_transformer_worker(work, number);
    size_t stride = work->shape.stride, chunk = begin / WT_TAIL_SAMPLES, first = run->first + begin;
    for (size_t i = 0; i < end - begin; i++) {
        (work->narrow ? by_codes : by_softmax)(run, worker,
                                               run->batch->bit + (first + i) * run->batch->length,
                                               worker->tail.y + i * stride);
        memcpy(worker->tail.x + i * stride, work->table + (work->table_rows - 1) * stride,
               stride * sizeof(float));
    }
    wt_tail_forward(work, &worker->tail, end - begin, false);
    run->results[chunk] = (wt_network_result){0};
    wt_network_answer(work->network, worker->tail.logits, first, end - begin);
    wt_network_judge(worker->tail.logits, run->batch->label + first, end - begin,
                     run->batch->samples, &run->results[chunk]);
    return WT_OK;
}

static wt_status start(wt_context *context, wt_network *network, const float *parameters,
                       job *run) {
    WT_PASS(wt_transformer_work_open(context, network, &run->work));
    WT_PASS(wt_transformer_reserve(context, run->work, 0, run->work->groups_absorbed));
    run->work->dropout = wt_dropout_none();
    wt_transformer_prepare(run->work, parameters, 1);
    WT_PASS(wt_transformer_fill_tables(context, run->work));
    run->columns = (run->work->shape.width + 1) * run->work->shape.lanes;
    return WT_OK;
}

wt_status wt_transformer_evaluate(wt_context *context, wt_network *network, const float *parameters,
                                  const wt_bits *batch, size_t max_errors,
                                  wt_network_result *result) {
    job run = {.batch = batch};
    size_t round = FIRST_ROUND;
    WT_PASS(start(context, network, parameters, &run));
    WT_PASS(set_codes(context, &run));
    while (result->samples < batch->samples && result->samples - result->correct <= max_errors) {
        size_t left = batch->samples - result->samples, count = left < round ? left : round;
        run.first = result->samples;
        WT_PASS(wt_parallel_for(context, count, WT_TAIL_SAMPLES, judge, &run));
        for (size_t c = 0; c * WT_TAIL_SAMPLES < count; c++) {
            result->loss += run.results[c].loss;
            result->miss += run.results[c].miss;
            result->correct += run.results[c].correct;
        }
        result->samples += count;
        round = round < MOST_ROUND ? 2 * round : MOST_ROUND;
    }
    result->loss /= (double)result->samples;
    result->miss /= (double)result->samples;
    return WT_OK;
}

static wt_status look(void *argument, size_t begin, size_t end, int number) {
    const job *run = argument;
    const wt_attention_shape *shape = &run->work->shape;
    wt_slot *slot = &wt_transformer_worker(run->work, number)->slots[0];
    for (size_t i = begin; i < end; i++) {
        float *out = run->attention + i * shape->heads * shape->n;
        attend(run->work, slot, run->batch->bit + i * run->batch->length);
        for (size_t h = 0; h < shape->heads; h++)
            for (size_t t = 0; t < shape->n; t++)
                out[h * shape->n + t] = slot->a[t * shape->lanes + h];
    }
    return WT_OK;
}

wt_status wt_transformer_attention(wt_context *context, wt_network *network,
                                   const float *parameters, const wt_bits *batch, float *out) {
    job run = {.batch = batch, .attention = out};
    WT_PASS(start(context, network, parameters, &run));
    return wt_parallel_for(context, batch->samples, WT_TAIL_SAMPLES, look, &run);
}
