/* The memory of the transformer's fast paths, and what a step prepares. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "network/model/network_arena.h"
#include "network/model/transformer_fast.h"

static size_t round_up(size_t count, size_t to) {
    return (count + to - 1) / to * to;
}

static void set_shape(wt_transformer_work *work) {
    const wt_network_spec *spec = &work->network->spec;
    size_t n = spec->length + 1;
    work->shape = (wt_attention_shape){.n = n,
                                       .rows = round_up(n, 8),
                                       .dim = spec->dim,
                                       .stride = round_up(spec->dim, 32),
                                       .heads = spec->heads,
                                       .lanes = round_up(spec->heads, 16),
                                       .width = spec->dim / spec->heads};
    work->hidden_stride = round_up(spec->hidden, 16);
    work->table_rows = 2 * spec->length + 1;
    work->values_width = work->shape.width * work->shape.lanes;
}

static size_t cut_step(wt_transformer_work *work, float *block) {
    wt_floats arena = {.block = block};
    size_t stride = work->shape.stride, lanes = work->shape.lanes;
    size_t rows = round_up(work->table_rows, 8);
    work->live = wt_take(&arena, stride);
    for (int i = 0; i < 6; i++)
        work->norms[i] = wt_take(&arena, stride);
    work->table = wt_take(&arena, rows * stride);
    work->key = wt_take(&arena, work->values_width * stride);
    work->value = wt_take(&arena, work->values_width * stride);
    work->value_bias = wt_take(&arena, work->values_width);
    work->hat = wt_take(&arena, rows * stride);
    work->hat_scale = wt_take(&arena, rows);
    work->scores = wt_take(&arena, rows * lanes);
    work->values = wt_take(&arena, rows * work->values_width);
    work->weights = wt_take(&arena, rows * lanes);
    work->h = wt_take(&arena, stride);
    work->q = wt_take(&arena, stride);
    work->u = wt_take(&arena, lanes * stride);
    work->turned = wt_take(&arena, lanes * stride);
    work->d_hat = wt_take(&arena, rows * stride);
    work->parts = wt_take(&arena, WT_TABLE_CHUNKS * wt_transformer_part_floats(work));
    return arena.used;
}

wt_status wt_transformer_work_open(wt_context *context, wt_network *network,
                                   wt_transformer_work **out) {
    const wt_backend *backend;
    wt_transformer_work *work = NULL;
    wt_status status = WT_OK;
    *out = network->work;
    if (network->work != NULL)
        return WT_OK;
    WT_TRY(wt_backend_open(context, &backend));
    WT_TRY(WT_NEW_ZERO(context, &work, 1, "a transformer's work"));
    work->network = network;
    work->common = wt_network_best();
    work->loops = wt_transformer_best();
    work->blas = &backend->real32;
    set_shape(work);
    WT_TRY(WT_NEW_ZERO(context, &work->block, cut_step(work, NULL), "tables of a transformer"));
    cut_step(work, work->block);
    for (size_t i = 0; i < work->shape.dim; i++)
        work->live[i] = 1;
    work->shape.live = work->live;
    work->row =
        (wt_row_shape){.width = work->shape.dim, .stride = work->shape.stride, .live = work->live};
    network->work = *out = work;
    work = NULL;
done:
    wt_transformer_work_free(work);
    return status;
}

static void free_workers(wt_transformer_work *work) {
    for (size_t i = 0; i < work->workers; i++)
        wt_release(work->worker[i].block);
    wt_release(work->worker);
    work->worker = NULL;
    work->workers = 0;
}

void wt_transformer_work_free(void *given) {
    wt_transformer_work *work = given;
    if (work == NULL)
        return;
    free_workers(work);
    wt_release(work->codes);
    wt_release(work->group_block);
    wt_release(work->block);
    wt_release(work);
}

wt_sums wt_transformer_cut_sums(const wt_transformer_work *work, float *block, bool absorbed,
                                size_t *floats) {
    wt_floats arena = {.block = block};
    size_t stride = work->shape.stride;
    wt_sums sums = {0};
    sums.rest = wt_take(&arena, work->network->size - work->network->tensors[WT_WQ].offset);
    for (int i = 0; i < 6; i++)
        sums.norms[i] = wt_take(&arena, stride);
    sums.key = wt_take(&arena, work->values_width * stride);
    sums.value = wt_take(&arena, work->values_width * stride);
    sums.value_bias = wt_take(&arena, work->values_width);
    sums.cls = wt_take(&arena, stride);
    if (absorbed)
        sums.table = wt_take(&arena, work->table_rows * stride);
    else {
        sums.scores = wt_take(&arena, work->table_rows * work->shape.lanes);
        sums.values = wt_take(&arena, work->table_rows * work->values_width);
    }
    *floats = arena.used;
    return sums;
}

static void cut_tail(const wt_transformer_work *work, wt_floats *arena, wt_tail *tail) {
    size_t wide = WT_TAIL_SAMPLES * work->shape.stride;
    float **vectors[] = {&tail->y,   &tail->x,   &tail->c,     &tail->c_hat, &tail->m,
                         &tail->e,   &tail->w,   &tail->e_hat, &tail->d_y,   &tail->d_c,
                         &tail->d_m, &tail->d_e, &tail->d_w};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = wt_take(arena, wide);
    tail->f = wt_take(arena, WT_TAIL_SAMPLES * work->hidden_stride);
    tail->u = wt_take(arena, WT_TAIL_SAMPLES * work->hidden_stride);
    tail->d_u = wt_take(arena, WT_TAIL_SAMPLES * work->hidden_stride);
    tail->c_scale = wt_take(arena, WT_TAIL_SAMPLES);
    tail->e_scale = wt_take(arena, WT_TAIL_SAMPLES);
    tail->logits = wt_take(arena, 2 * WT_TAIL_SAMPLES);
    tail->words = wt_take_words(arena, WT_TAIL_SAMPLES * wt_dropout_words(2 * work->shape.stride));
}

static void cut_slot(const wt_transformer_work *work, wt_floats *arena, wt_slot *slot) {
    const wt_attention_shape *shape = &work->shape;
    slot->index = wt_take_words(arena, shape->rows);
    slot->words = wt_take_words(arena, wt_dropout_words(shape->rows * shape->stride));
    slot->a_words = wt_take_words(arena, wt_dropout_words(shape->rows * shape->lanes));
    slot->hat = wt_take(arena, shape->rows * shape->stride);
    slot->scale = wt_take(arena, shape->rows);
    slot->s = wt_take(arena, shape->rows * shape->lanes);
    slot->a = wt_take(arena, shape->rows * shape->lanes);
    slot->b = wt_take(arena, shape->rows * shape->lanes);
    slot->total = wt_take(arena, shape->lanes);
    slot->z = wt_take(arena, shape->lanes * shape->stride);
    slot->u = wt_take(arena, shape->lanes * shape->stride);
    slot->y = wt_take(arena, work->values_width);
}

static void cut_picks(const wt_transformer_work *work, wt_floats *arena, wt_picks *picks) {
    size_t rows = work->shape.rows, lanes = work->shape.lanes, wide = work->values_width;
    picks->index = wt_take_words(arena, WT_PICKS * rows);
    picks->in_turn = wt_take_words(arena, rows);
    picks->words = wt_take_words(arena, wt_dropout_words(rows * lanes));
    picks->e = wt_take(arena, WT_PICKS * rows * lanes);
    picks->b = wt_take(arena, WT_PICKS * rows * lanes);
    picks->total = wt_take(arena, WT_PICKS * lanes);
    picks->mean = wt_take(arena, WT_PICKS * lanes);
    picks->y = wt_take(arena, WT_PICKS * wide);
    picks->d_y = wt_take(arena, WT_PICKS * wide);
    for (size_t t = 0; arena->block != NULL && t < rows; t++)
        picks->in_turn[t] = (uint32_t)t;
}

static size_t cut_worker(const wt_transformer_work *work, wt_worker *worker, float *block) {
    wt_floats arena = {.block = block};
    const wt_attention_shape *shape = &work->shape;
    size_t square = shape->lanes * shape->stride, wide = WT_SLOTS * shape->stride;
    worker->block = block;
    cut_tail(work, &arena, &worker->tail);
    for (size_t i = 0; i < WT_SLOTS; i++)
        cut_slot(work, &arena, &worker->slots[i]);
    cut_picks(work, &arena, &worker->picks);
    worker->p = wt_take(&arena, shape->rows * shape->lanes);
    worker->along = wt_take(&arena, shape->rows);
    worker->turned = wt_take(&arena, square);
    worker->d_z = wt_take(&arena, square);
    worker->d_u = wt_take(&arena, square);
    worker->more = wt_take(&arena, shape->lanes);
    worker->mean = wt_take(&arena, shape->lanes);
    worker->h = wt_take(&arena, wide);
    worker->hat = wt_take(&arena, wide);
    worker->hat_scale = wt_take(&arena, WT_SLOTS);
    worker->q = wt_take(&arena, wide);
    worker->d_q = wt_take(&arena, wide);
    worker->d_h = wt_take(&arena, wide);
    worker->code = (uint8_t *)(void *)wt_take(&arena, shape->rows / 4 + 1);
    worker->sums = wt_take(&arena, work->values_width + shape->lanes);
    return arena.used;
}

static wt_status reserve_workers(wt_context *context, wt_transformer_work *work, size_t wanted) {
    wt_status status = WT_OK;
    if (wanted <= work->workers)
        return WT_OK;
    free_workers(work);
    WT_TRY(WT_NEW_ZERO(context, &work->worker, wanted, "workers of a transformer"));
    for (size_t i = 0; i < wanted; i++) {
        wt_worker *worker = &work->worker[i];
        WT_TRY(WT_NEW_ZERO(context, &worker->block, cut_worker(work, worker, NULL),
                           "a worker of a transformer"));
        cut_worker(work, worker, worker->block);
        work->workers = i + 1;
    }
done:
    if (status != WT_OK)
        free_workers(work);
    return status;
}

wt_status wt_transformer_reserve(wt_context *context, wt_transformer_work *work, size_t groups,
                                 bool absorbed) {
    wt_status status;
    work->nested = wt_chunk_message != NULL;
    work->absorbed = absorbed;
    WT_TRY(reserve_workers(context, work, work->nested ? 1 : (size_t)context->threads));
    if (groups > work->groups || absorbed != work->groups_absorbed) {
        wt_release(work->group_block);
        work->group_block = NULL;
        work->groups = 0;
        wt_transformer_cut_sums(work, NULL, absorbed, &work->group_floats);
        WT_TRY(
            WT_NEW(context, &work->group_block, groups * work->group_floats, "sums of a gradient"));
        for (size_t i = 0; i < groups; i++)
            work->sums[i] = wt_transformer_cut_sums(
                work, work->group_block + i * work->group_floats, absorbed, &work->group_floats);
        work->groups = groups;
        work->groups_absorbed = absorbed;
    }
done:
    return status;
}

const float *wt_transformer_tensor(const wt_transformer_work *work, size_t tensor) {
    return work->parameters + work->network->tensors[tensor].offset;
}

float *wt_transformer_rest(const wt_transformer_work *work, float *rest, size_t tensor) {
    const wt_network_tensor *tensors = work->network->tensors;
    return rest + (tensors[tensor].offset - tensors[WT_WQ].offset);
}

wt_worker *wt_transformer_worker(wt_transformer_work *work, int worker) {
    return &work->worker[work->nested ? 0 : worker];
}

/* Row r = k lanes + h of out (width lanes, stride): column h width + k of w (d, d) times the gains,
 * its mean taken out, times `scale`. */
static void fold(const wt_transformer_work *work, const float *w, float scale, float *out) {
    const wt_attention_shape *shape = &work->shape;
    size_t d = shape->dim;
    const float *g = work->norms[0];
    for (size_t h = 0; h < shape->heads; h++)
        for (size_t k = 0; k < shape->width; k++) {
            float *to = out + (k * shape->lanes + h) * shape->stride;
            const float *from = w + h * shape->width + k;
            double mean = 0;
            for (size_t i = 0; i < d; i++) {
                to[i] = g[i] * from[i * d] * scale;
                mean += to[i];
            }
            mean /= (double)d;
            for (size_t i = 0; i < d; i++)
                to[i] -= (float)mean;
        }
}

static void fold_bias(wt_transformer_work *work) {
    const wt_attention_shape *shape = &work->shape;
    size_t d = shape->dim;
    const float *wv = wt_transformer_tensor(work, WT_WV), *bv = wt_transformer_tensor(work, WT_BV);
    for (size_t h = 0; h < shape->heads; h++)
        for (size_t k = 0; k < shape->width; k++) {
            size_t j = h * shape->width + k;
            double sum = bv[j];
            for (size_t i = 0; i < d; i++)
                sum += (double)work->norms[1][i] * wv[i * d + j];
            work->value_bias[k * shape->lanes + h] = (float)sum;
        }
}

/* Where a float cannot hold the squares that a layer norm sums, the row becomes NaN: else it would
 * be normalised to 0. */
static void fill_token_table(wt_transformer_work *work, float scale) {
    size_t d = work->shape.dim, length = work->network->spec.length;
    float most = sqrtf(FLT_MAX / (float)d) / 2;
    const float *symbol = wt_transformer_tensor(work, WT_TOK_EMB);
    const float *position = wt_transformer_tensor(work, WT_POS_EMB);
    for (size_t r = 0; r < work->table_rows; r++) {
        const float *from = symbol + (r == 2 * length ? 2 : r % 2) * d;
        const float *place = position + r / 2 * d;
        float *to = work->table + r * work->shape.stride;
        for (size_t i = 0; i < d; i++)
            to[i] = (from[i] + place[i]) * scale;
        for (size_t i = 0; i < d; i++)
            to[i] = fabsf(to[i]) <= most ? to[i] : NAN;
        for (size_t i = d; i < work->shape.stride; i++)
            to[i] = 0; /* the way back of a step that was not finite leaves NaN here */
    }
}

void wt_transformer_prepare(wt_transformer_work *work, const float *parameters, float scale) {
    static const size_t norms[6] = {WT_LN1_G, WT_LN1_B, WT_LN2_G, WT_LN2_B, WT_LNF_G, WT_LNF_B};
    work->parameters = parameters;
    for (int i = 0; i < 6; i++)
        memcpy(work->norms[i], wt_transformer_tensor(work, norms[i]),
               work->shape.dim * sizeof *work->norms[i]);
    fold(work, wt_transformer_tensor(work, WT_WK), 1 / sqrtf((float)work->shape.width), work->key);
    fold(work, wt_transformer_tensor(work, WT_WV), 1, work->value);
    fold_bias(work);
    fill_token_table(work, scale);
}
