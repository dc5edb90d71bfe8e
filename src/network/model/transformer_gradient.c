/* The step: groups of samples side by side, their sums in order, and the way back from the folded
 * matrices to the parameters. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "network/model/transformer_fast.h"

enum {
    COLUMNS = 4096, /* of the sums, a chunk */
    FEW = 16,       /* columns summed side by side; rows are filled up to a multiple of it */
};

typedef struct {
    wt_transformer_work *work;
    const wt_bits *batch;
    size_t groups;
} job;

/* Bytes of a group's tables that belong to no head: a few heads are filled up to 16 lanes. */
static size_t filling(const wt_transformer_work *work, bool absorbed) {
    const wt_attention_shape *shape = &work->shape;
    size_t idle = (shape->lanes - shape->heads) * (shape->width + 1);
    return absorbed ? 0 : work->table_rows * idle * sizeof(float);
}

/* The largest power of two that leaves every group enough samples and wastes little memory: by the
 * shape and the number of samples alone, for the bits depend on it. */
static size_t groups_for(const wt_transformer_work *work, bool absorbed, size_t samples) {
    size_t groups = 1, idle = filling(work, absorbed);
    while (groups < WT_MOST_GROUPS && samples / (2 * groups) >= WT_LEAST_A_GROUP &&
           2 * groups * idle <= WT_MOST_FILLING)
        groups *= 2;
    return groups;
}

static wt_status run_group(void *argument, size_t begin, size_t end, int worker) {
    job *run = argument;
    wt_transformer_work *work = run->work;
    for (size_t group = begin; group < end; group++) {
        size_t first = run->batch->samples * group / run->groups;
        size_t last = run->batch->samples * (group + 1) / run->groups;
        memset(work->group_block + group * work->group_floats, 0,
               work->group_floats * sizeof *work->group_block);
        work->results[group] = (wt_network_result){0};
        (work->absorbed ? wt_transformer_absorbed : wt_transformer_by_tables)(
            work, wt_transformer_worker(work, worker), run->batch, first, last, group);
    }
    return WT_OK;
}

/* Into the first group's, in the order of the groups. */
static wt_status add_groups(void *argument, size_t begin, size_t end, int worker) {
    const job *run = argument;
    (void)worker;
    float *restrict to = run->work->group_block;
    for (size_t group = 1; group < run->groups; group++) {
        const float *restrict from = run->work->group_block + group * run->work->group_floats;
        for (size_t i = begin; i < end; i++)
            to[i] += from[i];
    }
    return WT_OK;
}

/* key_r = g wk_j / sqrt(width), value_r = g wv_j, value_bias_r = <b, wv_j> + bv_j. */
static void unfold(const wt_transformer_work *work, const wt_sums *sums, float *gradient) {
    const wt_attention_shape *shape = &work->shape;
    const wt_network_tensor *tensors = work->network->tensors;
    const float *wk = wt_transformer_tensor(work, WT_WK), *wv = wt_transformer_tensor(work, WT_WV);
    float *d_wk = gradient + tensors[WT_WK].offset, *d_wv = gradient + tensors[WT_WV].offset;
    float *d_bv = gradient + tensors[WT_BV].offset, scale = 1 / sqrtf((float)shape->width);
    size_t d = shape->dim;
    memset(gradient + tensors[WT_BK].offset, 0, d * sizeof *gradient); /* the same for all tokens */
    for (size_t h = 0; h < shape->heads; h++)
        for (size_t k = 0; k < shape->width; k++) {
            size_t j = h * shape->width + k, r = k * shape->lanes + h;
            const float *key = sums->key + r * shape->stride;
            const float *value = sums->value + r * shape->stride;
            d_bv[j] = sums->value_bias[r];
            for (size_t i = 0; i < d; i++) {
                d_wk[i * d + j] = work->norms[0][i] * key[i] * scale;
                d_wv[i * d + j] =
                    work->norms[0][i] * value[i] + work->norms[1][i] * sums->value_bias[r];
                sums->norms[0][i] += wk[i * d + j] * key[i] * scale + wv[i * d + j] * value[i];
                sums->norms[1][i] += wv[i * d + j] * sums->value_bias[r];
            }
        }
}

/* Rows 2t and 2t + 1 of the table hold pos_emb[t], all even ones tok_emb[0], all odd ones
 * tok_emb[1], and the last tok_emb[2]. Sums over all positions go in double. */
static void unfold_table(const wt_transformer_work *work, const float *d_table, float scale,
                         float *gradient) {
    const wt_network_tensor *tensors = work->network->tensors;
    size_t d = work->shape.dim, stride = work->shape.stride, length = work->network->spec.length;
    float *symbol = gradient + tensors[WT_TOK_EMB].offset;
    float *position = gradient + tensors[WT_POS_EMB].offset;
    for (size_t t = 0; t < length; t++)
        for (size_t i = 0; i < d; i++)
            position[t * d + i] =
                scale * (d_table[2 * t * stride + i] + d_table[(2 * t + 1) * stride + i]);
    for (size_t i = 0; i < d; i += FEW) {
        size_t few = d - i < FEW ? d - i : FEW;
        double sum[2][FEW] = {{0}};
        for (size_t r = 0; r < 2 * length; r++)
            for (size_t j = 0; j < FEW; j++)
                sum[r % 2][j] += d_table[r * stride + i + j];
        for (size_t j = 0; j < few; j++) {
            symbol[i + j] = (float)(scale * sum[0][j]);
            symbol[d + i + j] = (float)(scale * sum[1][j]);
        }
    }
    for (size_t i = 0; i < d; i++)
        symbol[2 * d + i] = position[length * d + i] = scale * d_table[2 * length * stride + i];
}

static void finish(const wt_transformer_work *work, const wt_sums *sums, const float *d_table,
                   float scale, float *gradient) {
    static const size_t copied[] = {WT_WQ, WT_BQ, WT_WO, WT_BO,  WT_W1,
                                    WT_B1, WT_W2, WT_B2, WT_HEAD};
    static const size_t norms[6] = {WT_LN1_G, WT_LN1_B, WT_LN2_G, WT_LN2_B, WT_LNF_G, WT_LNF_B};
    const wt_network_tensor *tensors = work->network->tensors;
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++)
        memcpy(gradient + tensors[copied[i]].offset,
               wt_transformer_rest(work, sums->rest, copied[i]),
               tensors[copied[i]].rows * tensors[copied[i]].columns * sizeof *gradient);
    unfold(work, sums, gradient);
    for (size_t i = 0; i < 6; i++)
        memcpy(gradient + tensors[norms[i]].offset, sums->norms[i],
               work->shape.dim * sizeof *gradient);
    unfold_table(work, d_table, scale, gradient);
}

wt_status wt_transformer_gradient_by(wt_context *context, wt_network *network, bool absorbed,
                                     const wt_dropout *dropout, const float *parameters,
                                     const wt_bits *batch, float *gradient,
                                     wt_network_result *result) {
    wt_transformer_work *work;
    job run = {.batch = batch};
    float scale = dropout->scale[WT_DROP_TOKENS];
    WT_PASS(wt_transformer_work_open(context, network, &work));
    run.work = work;
    run.groups = groups_for(work, absorbed, batch->samples);
    work->dropout = *dropout;
    WT_PASS(wt_transformer_reserve(context, work, run.groups, absorbed));
    wt_transformer_prepare(work, parameters, scale);
    if (!absorbed)
        WT_PASS(wt_transformer_fill_tables(context, work));
    WT_PASS(wt_parallel_for(context, run.groups, 1, run_group, &run));
    WT_PASS(wt_parallel_for(context, work->group_floats, COLUMNS, add_groups, &run));
    if (!absorbed)
        WT_PASS(wt_transformer_tables_back(context, work, &work->sums[0], work->table));
    finish(work, &work->sums[0], absorbed ? work->sums[0].table : work->table, scale, gradient);
    *result = (wt_network_result){.size = sizeof *result, .samples = batch->samples};
    for (size_t group = 0; group < run.groups; group++) {
        result->loss += work->results[group].loss / (double)batch->samples;
        result->miss += work->results[group].miss / (double)batch->samples;
        result->correct += work->results[group].correct;
    }
    return WT_OK;
}

wt_status wt_transformer_gradient(wt_context *context, wt_network *network, const float *parameters,
                                  const wt_bits *batch, uint64_t key, float *gradient,
                                  wt_network_result *result) {
    wt_dropout dropout = wt_dropout_for(&network->spec, key);
    return wt_transformer_gradient_by(context, network, dropout.keep[WT_DROP_TOKENS] < WT_KEEP_ALL,
                                      &dropout, parameters, batch, gradient, result);
}
