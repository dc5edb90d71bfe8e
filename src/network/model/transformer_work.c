/* The memory of the transformer's fast paths, and what a step prepares. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/parallel.h"
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

static uint32_t *take_words(wt_arena *arena, size_t count, size_t draws) {
    return WT_TAKE_ZERO(arena, uint32_t, count, wt_dropout_words(draws));
}

static void take_step(wt_transformer_work *work) {
    wt_arena *arena = &work->arena;
    size_t stride = work->shape.stride, lanes = work->shape.lanes, wide = work->values_width;
    size_t rows = round_up(work->table_rows, 8);
    float **norms = work->norms;
    WT_TAKE_FLOATS(arena, 1, stride, &work->live, &norms[0], &norms[1], &norms[2], &norms[3],
                   &norms[4], &norms[5], &work->h, &work->q);
    WT_TAKE_FLOATS(arena, rows, stride, &work->table, &work->hat, &work->d_hat);
    WT_TAKE_FLOATS(arena, wide, stride, &work->key, &work->value);
    WT_TAKE_FLOATS(arena, 1, wide, &work->value_bias);
    WT_TAKE_FLOATS(arena, 1, rows, &work->hat_scale);
    WT_TAKE_FLOATS(arena, rows, lanes, &work->scores, &work->weights);
    WT_TAKE_FLOATS(arena, rows, wide, &work->values);
    WT_TAKE_FLOATS(arena, lanes, stride, &work->u, &work->transposed);
    WT_TAKE_FLOATS(arena, WT_TABLE_CHUNKS, wt_transformer_part_floats(work), &work->parts);
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
    work->common = wt_loops_best()->network;
    work->loops = wt_loops_best()->transformer;
    work->blas = &backend->real32;
    set_shape(work);
    work->arena = wt_arena_start(context, "tables of a transformer");
    take_step(work);
    WT_TRY(work->arena.status);
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
        wt_arena_free(&work->worker[i].arena);
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
    wt_arena_free(&work->arena);
    wt_release(work);
}

/* Sums are cleared and added as one block: pieces of it, each a multiple of 16 floats. */
typedef struct {
    float *block; /* NULL: only counted */
    size_t used;
} cutter;

static float *cut(cutter *from, size_t floats) {
    float *piece = from->block == NULL ? NULL : from->block + from->used;
    from->used += round_up(floats, 16);
    return piece;
}

static wt_sums cut_sums(const wt_transformer_work *work, float *block, bool absorbed,
                        size_t *floats) {
    cutter from = {.block = block};
    size_t stride = work->shape.stride;
    wt_sums sums = {0};
    sums.rest = cut(&from, work->network->size - work->network->tensors[WT_WQ].offset);
    for (int i = 0; i < 6; i++)
        sums.norms[i] = cut(&from, stride);
    sums.key = cut(&from, work->values_width * stride);
    sums.value = cut(&from, work->values_width * stride);
    sums.value_bias = cut(&from, work->values_width);
    sums.cls = cut(&from, stride);
    if (absorbed)
        sums.table = cut(&from, work->table_rows * stride);
    else {
        sums.scores = cut(&from, work->table_rows * work->shape.lanes);
        sums.values = cut(&from, work->table_rows * work->values_width);
    }
    *floats = from.used;
    return sums;
}

static void take_tail(const wt_transformer_work *work, wt_arena *arena, wt_tail *tail) {
    size_t stride = work->shape.stride, samples = WT_TAIL_SAMPLES;
    WT_TAKE_FLOATS(arena, samples, stride, &tail->y, &tail->x, &tail->c, &tail->c_hat, &tail->m,
                   &tail->e, &tail->w, &tail->e_hat, &tail->d_y, &tail->d_c, &tail->d_m, &tail->d_e,
                   &tail->d_w);
    WT_TAKE_FLOATS(arena, samples, work->hidden_stride, &tail->f, &tail->u, &tail->d_u);
    WT_TAKE_FLOATS(arena, 1, samples, &tail->c_scale, &tail->e_scale);
    WT_TAKE_FLOATS(arena, samples, 2, &tail->logits);
    tail->words = take_words(arena, samples, 2 * stride);
}

static void take_slot(const wt_transformer_work *work, wt_arena *arena, wt_slot *slot) {
    size_t rows = work->shape.rows, stride = work->shape.stride, lanes = work->shape.lanes;
    slot->index = WT_TAKE_ZERO(arena, uint32_t, rows);
    slot->words = take_words(arena, 1, rows * stride);
    slot->a_words = take_words(arena, 1, rows * lanes);
    WT_TAKE_FLOATS(arena, rows, stride, &slot->hat);
    WT_TAKE_FLOATS(arena, 1, rows, &slot->scale);
    WT_TAKE_FLOATS(arena, rows, lanes, &slot->s, &slot->a, &slot->b);
    WT_TAKE_FLOATS(arena, 1, lanes, &slot->total);
    WT_TAKE_FLOATS(arena, lanes, stride, &slot->z, &slot->u);
    WT_TAKE_FLOATS(arena, 1, work->values_width, &slot->y);
}

static void take_picks(const wt_transformer_work *work, wt_arena *arena, wt_picks *picks) {
    size_t rows = work->shape.rows, lanes = work->shape.lanes;
    picks->index = WT_TAKE_ZERO(arena, uint32_t, WT_PICKS, rows);
    picks->count = WT_TAKE_ZERO(arena, uint32_t, rows);
    picks->words = take_words(arena, 1, rows * lanes);
    WT_TAKE_FLOATS(arena, WT_PICKS * rows, lanes, &picks->e, &picks->b);
    WT_TAKE_FLOATS(arena, WT_PICKS, lanes, &picks->total, &picks->mean);
    WT_TAKE_FLOATS(arena, WT_PICKS, work->values_width, &picks->y, &picks->d_y);
    for (size_t t = 0; picks->count != NULL && t < rows; t++)
        picks->count[t] = (uint32_t)t;
}

static wt_status open_worker(wt_context *context, const wt_transformer_work *work,
                             wt_worker *worker) {
    wt_arena *arena = &worker->arena;
    size_t rows = work->shape.rows, stride = work->shape.stride, lanes = work->shape.lanes;
    *arena = wt_arena_start(context, "a worker of a transformer");
    take_tail(work, arena, &worker->tail);
    for (size_t i = 0; i < WT_SLOTS; i++)
        take_slot(work, arena, &worker->slots[i]);
    take_picks(work, arena, &worker->picks);
    WT_TAKE_FLOATS(arena, rows, lanes, &worker->p);
    WT_TAKE_FLOATS(arena, 1, rows, &worker->along);
    WT_TAKE_FLOATS(arena, lanes, stride, &worker->transposed, &worker->d_z, &worker->d_u);
    WT_TAKE_FLOATS(arena, 1, lanes, &worker->more, &worker->mean);
    WT_TAKE_FLOATS(arena, WT_SLOTS, stride, &worker->h, &worker->hat, &worker->q, &worker->d_q,
                   &worker->d_h);
    WT_TAKE_FLOATS(arena, 1, WT_SLOTS, &worker->hat_scale);
    worker->code = WT_TAKE_ZERO(arena, uint8_t, rows + 4);
    WT_TAKE_FLOATS(arena, 1, work->values_width + lanes, &worker->sums);
    return arena->status;
}

static wt_status reserve_workers(wt_context *context, wt_transformer_work *work, size_t wanted) {
    wt_status status = WT_OK;
    if (wanted <= work->workers)
        return WT_OK;
    free_workers(work);
    WT_TRY(WT_NEW_ZERO(context, &work->worker, wanted, "workers of a transformer"));
    while (work->workers < wanted)
        WT_TRY(open_worker(context, work, &work->worker[work->workers++]));
done:
    if (status != WT_OK)
        free_workers(work);
    return status;
}

wt_status wt_transformer_reserve(wt_context *context, wt_transformer_work *work, size_t groups,
                                 bool absorbed) {
    work->nested = wt_parallel_alone(context);
    work->absorbed = absorbed;
    WT_PASS(reserve_workers(context, work, work->nested ? 1 : (size_t)context->threads));
    if (groups > work->groups || absorbed != work->groups_absorbed) {
        wt_release(work->group_block);
        work->group_block = NULL;
        work->groups = 0;
        cut_sums(work, NULL, absorbed, &work->group_floats);
        WT_PASS(
            WT_NEW2(context, &work->group_block, groups, work->group_floats, "sums of a gradient"));
        for (size_t i = 0; i < groups; i++)
            work->sums[i] = cut_sums(work, work->group_block + i * work->group_floats, absorbed,
                                     &work->group_floats);
        work->groups = groups;
        work->groups_absorbed = absorbed;
    }
    return WT_OK;
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
