/* The fleet engine on a GPU: slots, chunks and what goes to and fro. */
#include "fleet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <new>
#include <vector>

enum {
    MOST_CHUNK = 256, /* networks in step at a time: enough to fill the GPU */
    MOST_STEPS = 64,
    JUDGED_ROWS = 1024, /* that a network has in hand */
};

struct wt_fleet {
    wt_device *device;
    fleet_shape shape;
    fleet_work work;
    fleet_adam adam;
    double rate;
    bool online;
    size_t networks, chunk;
    cuda_block slots, ones, outcomes, counts;
    cudaStream_t stream;
    std::vector<int> samples; /* of every slot */
    std::vector<fleet_one> orders;
    std::vector<double> measured;
};

#define TRY_CUDA(call, what) CUDA_PASS(cuda_check(context, fleet->device, (call), (what)))

/* ---- shapes ---- */

static int round_up(size_t count, size_t to) {
    return (int)((count + to - 1) / to * to);
}

static wt_status refuse(wt_context *context, wt_device *device, const char *sentence) {
    return device->services->fail(context, WT_USAGE, sentence);
}

/* Kept with probability keep / 65536, times 65536 / keep: as the host has it. */
static void set_drop(fleet_shape *shape, int place, double probability) {
    double keep = round((1 - probability) * FLEET_KEEP_ALL);
    keep = keep < 1 ? 1 : keep;
    shape->keep[place] = (uint32_t)keep;
    shape->scale[place] = (float)(FLEET_KEEP_ALL / keep);
}

static wt_status check_shape(wt_context *context, wt_device *device, const wt_fleet_form *form) {
    const wt_network_spec *spec = form->spec;
    char sentence[256];
    if (strcmp(spec->kind, "transformer") == 0 && (spec->dim > 128 || spec->heads > 16)) {
        snprintf(sentence, sizeof sentence,
                 "%s trains transformers of width 128 and 16 heads at most, not of %zu and %zu",
                 device->name, spec->dim, spec->heads);
        return refuse(context, device, sentence);
    }
    if (form->samples > 1u << 20 || spec->length > 1u << 20 || spec->hidden > 1u << 14 ||
        spec->dim > 1u << 13) {
        snprintf(sentence, sizeof sentence,
                 "%s trains networks of at most 2^20 bits and samples, not of %zu and %zu",
                 device->name, spec->length, form->samples);
        return refuse(context, device, sentence);
    }
    return WT_OK;
}

static void set_shape(const wt_fleet_form *form, fleet_shape *shape) {
    const wt_network_spec *spec = form->spec;
    const char *activation = spec->activation;
    memset(shape, 0, sizeof *shape);
    shape->kind = strcmp(spec->kind, "transformer") == 0 ? FLEET_TRANSFORMER
                  : strcmp(spec->kind, "mlp") == 0       ? FLEET_MLP
                                                         : FLEET_HEAD;
    shape->activation = strcmp(activation, "gelu") == 0   ? FLEET_GELU
                        : strcmp(activation, "relu") == 0 ? FLEET_RELU
                        : strcmp(activation, "tanh") == 0 ? FLEET_TANH
                                                          : FLEET_IDENTITY;
    bool transformer = shape->kind == FLEET_TRANSFORMER;
    shape->length = (int)spec->length;
    shape->n = shape->length + 1;
    shape->dim = (int)spec->dim;
    shape->stride = round_up(spec->dim, 32);
    if (transformer && shape->stride > 64)
        shape->stride = 128;
    shape->heads = (int)spec->heads;
    shape->width = transformer ? shape->dim / shape->heads : 0;
    shape->hidden = (int)spec->hidden;
    shape->wide = round_up(spec->hidden, 32);
    shape->table = 2 * shape->length + 1;
    shape->tiles = (shape->n + FLEET_TILE - 1) / FLEET_TILE;
    shape->samples = (int)form->samples;
    shape->segments = (shape->samples + FLEET_SEGMENT - 1) / FLEET_SEGMENT;
    shape->inputs = round_up(shape->kind == FLEET_HEAD ? (size_t)shape->table : spec->length, 32);
    shape->drawn = round_up(spec->length, 4);
    int judged = (1 << 24) / (transformer ? shape->drawn : shape->inputs) / 128 * 128;
    judged = judged < 128 ? 128 : judged > JUDGED_ROWS ? JUDGED_ROWS : judged;
    shape->rows = shape->samples > judged ? round_up(form->samples, 128) : judged;
    shape->size = (int64_t)form->size;
    for (size_t i = 0; i < form->tensor_count; i++)
        shape->offset[i] = (int64_t)form->tensors[i].offset;
    set_drop(shape, DROP_TOKENS, spec->embedding_drop);
    set_drop(shape, DROP_WEIGHTS, spec->attention_drop);
    set_drop(shape, DROP_BLOCKS, spec->block_drop);
}

/* Neighbouring tensors that are trained are one range. */
static void set_adam(const wt_fleet_form *form, fleet_adam *adam) {
    memset(adam, 0, sizeof *adam);
    adam->decay = form->decoupled ? 0 : (float)form->weight_decay;
    adam->decoupled = form->decoupled ? (float)(form->rate * form->weight_decay) : 0;
    adam->clip = form->clip;
    for (size_t i = 0; i < form->tensor_count; i++) {
        const wt_network_tensor *tensor = &form->tensors[i];
        int64_t begin = (int64_t)tensor->offset;
        int64_t end = begin + (int64_t)(tensor->rows * tensor->columns);
        if (tensor->fixed)
            continue;
        if (adam->ranges > 0 && adam->end[adam->ranges - 1] == begin)
            adam->end[adam->ranges - 1] = end;
        else {
            adam->begin[adam->ranges] = begin;
            adam->end[adam->ranges++] = end;
        }
    }
}

/* ---- begin and end ---- */

static void end(wt_fleet *fleet) {
    if (fleet == NULL)
        return;
    if (fleet->stream != NULL)
        (void)cudaStreamDestroy(fleet->stream);
    cuda_block *const blocks[] = {&fleet->slots, &fleet->ones, &fleet->outcomes, &fleet->counts};
    for (cuda_block *block : blocks)
        cuda_give(fleet->device, block);
    delete fleet;
}

static wt_status take_blocks(wt_context *context, wt_fleet *fleet) {
    const fleet_shape &shape = fleet->shape;
    wt_device *device = fleet->device;
    fleet_work plan;
    size_t slots = fleet_slot_bytes(shape, fleet->networks, NULL, &plan);
    size_t room = fleet_chunk_bytes(shape, fleet->chunk, NULL, &plan);
    cuda_give(device, &fleet->slots);
    CUDA_PASS(cuda_take(context, device, slots + room, "a fleet of networks", &fleet->slots));
    char *block = (char *)fleet->slots.data;
    fleet_slot_bytes(shape, fleet->networks, block, &fleet->work);
    fleet_chunk_bytes(shape, fleet->chunk, block + slots, &fleet->work);
    return WT_OK;
}

/* As many as fit: first fewer at a time, then fewer slots. */
static wt_status take_memory(wt_context *context, wt_fleet *fleet) {
    size_t left = 0, all = 0;
    fleet_work plan;
    cuda_trim(fleet->device); /* what the pool keeps is there to be had */
    TRY_CUDA(cudaMemGetInfo(&left, &all), "asking for its memory");
    while (fleet->chunk > 1 &&
           fleet_chunk_bytes(fleet->shape, fleet->chunk, NULL, &plan) > left / 2)
        fleet->chunk /= 2;
    for (;;) {
        wt_status status = take_blocks(context, fleet);
        if (status != WT_MEMORY || (fleet->chunk == 1 && fleet->networks == 1))
            return status;
        size_t *more = fleet->chunk > 1 ? &fleet->chunk : &fleet->networks;
        *more /= 2;
        if (fleet->networks < fleet->chunk)
            fleet->chunk = fleet->networks;
    }
}

static wt_status open_fleet(wt_context *context, wt_fleet *fleet) {
    wt_device *device = fleet->device;
    CUDA_PASS(take_memory(context, fleet));
    CUDA_PASS(cuda_take(context, device, fleet->chunk * MOST_STEPS * sizeof(fleet_one),
                        "orders of a fleet", &fleet->ones));
    CUDA_PASS(cuda_take(context, device, fleet->chunk * MOST_STEPS * 3 * sizeof(double),
                        "outcomes of a fleet", &fleet->outcomes));
    TRY_CUDA(cudaStreamCreateWithFlags(&fleet->stream, cudaStreamNonBlocking), "a stream");
    TRY_CUDA(cudaMemsetAsync(fleet->slots.data, 0, fleet->slots.bytes, fleet->stream),
             "clearing a fleet");
    fleet->samples.assign(fleet->networks, 0);
    fleet->orders.resize(fleet->chunk * MOST_STEPS);
    fleet->measured.resize(fleet->chunk * MOST_STEPS * 3);
    return WT_OK;
}

static wt_status begin(wt_context *context, wt_device *device, const wt_fleet_form *form,
                       size_t *networks, wt_fleet **out) {
    *out = NULL;
    CUDA_PASS(cuda_enter(context, device));
    CUDA_PASS(check_shape(context, device, form));
    wt_fleet *fleet = new (std::nothrow) wt_fleet();
    if (fleet == NULL)
        return device->services->fail(context, WT_MEMORY, "no memory for a fleet");
    fleet->device = device;
    fleet->networks = form->networks;
    fleet->chunk = MOST_CHUNK;
    if (form->networks < fleet->chunk)
        fleet->chunk = form->networks;
    fleet->rate = form->rate;
    fleet->online = form->online;
    set_shape(form, &fleet->shape);
    set_adam(form, &fleet->adam);
    wt_status status = open_fleet(context, fleet);
    if (status != WT_OK) {
        end(fleet);
        return status;
    }
    *networks = fleet->networks;
    *out = fleet;
    return WT_OK;
}

/* ---- to and fro ---- */

static wt_status copy_in(wt_context *context, wt_fleet *fleet, void *to, const void *from,
                         size_t bytes) {
    TRY_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, fleet->stream),
             "copying to it");
    return WT_OK;
}

static wt_status wait_for(wt_context *context, wt_fleet *fleet, const char *what) {
    TRY_CUDA(cudaGetLastError(), what);
    TRY_CUDA(cudaStreamSynchronize(fleet->stream), what);
    return WT_OK;
}

static wt_status draw(wt_context *context, wt_fleet *fleet, size_t slot,
                      const wt_fleet_task *task) {
    const fleet_shape &shape = fleet->shape;
    const fleet_work &work = fleet->work;
    fleet_source source = {};
    source.inputs[0] = task->inputs.seed;
    source.inputs[1] = task->inputs.stream;
    source.flips[0] = task->flips.seed;
    source.flips[1] = task->flips.stream;
    source.judged[0] = task->judged.seed;
    source.judged[1] = task->judged.stream;
    source.threshold = task->threshold;
    source.noise = task->noise;
    source.bits = (int)task->bits;
    source.values = (int64_t)slot << 16;
    for (size_t i = 0; i < task->bits; i++)
        source.relevant[i] = (int)task->relevant[i];
    CUDA_PASS(cuda_enter(context, fleet->device));
    fleet->samples[slot] = (int)task->samples;
    CUDA_PASS(copy_in(context, fleet, work.sources + slot, &source, sizeof source));
    if (task->value != NULL)
        CUDA_PASS(copy_in(context, fleet, work.values + source.values, task->value,
                          (size_t)1 << task->bits));
    if (!fleet->online) {
        size_t place = slot * (size_t)shape.samples, length = (size_t)shape.length;
        CUDA_PASS(
            copy_in(context, fleet, work.bit + place * length, task->bit, task->samples * length));
        CUDA_PASS(copy_in(context, fleet, work.label + place, task->label, task->samples));
    }
    return wait_for(context, fleet, "taking a task");
}

static wt_status put(wt_context *context, wt_fleet *fleet, size_t slot, const float *parameters,
                     const float *first, const float *second) {
    size_t size = (size_t)fleet->shape.size, bytes = size * sizeof(float);
    float *to[3] = {fleet->work.parameters, fleet->work.first, fleet->work.second};
    const float *from[3] = {parameters, first, second};
    CUDA_PASS(cuda_enter(context, fleet->device));
    for (int part = 0; part < 3; part++) {
        if (from[part] != NULL)
            CUDA_PASS(copy_in(context, fleet, to[part] + slot * size, from[part], bytes));
        else
            TRY_CUDA(cudaMemsetAsync(to[part] + slot * size, 0, bytes, fleet->stream), "a start");
    }
    return wait_for(context, fleet, "taking parameters");
}

static wt_status get(wt_context *context, wt_fleet *fleet, size_t slot, float *parameters,
                     float *first, float *second) {
    size_t size = (size_t)fleet->shape.size;
    float *from[3] = {fleet->work.parameters, fleet->work.first, fleet->work.second};
    float *to[3] = {parameters, first, second};
    CUDA_PASS(cuda_enter(context, fleet->device));
    for (int part = 0; part < 3; part++)
        if (to[part] != NULL)
            TRY_CUDA(cudaMemcpyAsync(to[part], from[part] + slot * size, size * sizeof(float),
                                     cudaMemcpyDeviceToHost, fleet->stream),
                     "copying from it");
    return wait_for(context, fleet, "giving parameters");
}

/* ---- steps and judgements ---- */

static void step_once(const fleet_call &call, bool online) {
    if (online)
        fleet_draw(call, false);
    if (call.shape.kind == FLEET_TRANSFORMER)
        fleet_transformer_step(call);
    else if (call.shape.kind == FLEET_MLP)
        fleet_mlp_step(call);
    else
        fleet_head_step(call);
}

static wt_status step_chunk(wt_context *context, wt_fleet *fleet, size_t count,
                            const wt_fleet_order *orders, size_t steps, wt_fleet_outcome *out) {
    fleet_call call = {fleet->shape, fleet->work, (int)count, 0, fleet->stream};
    for (size_t i = 0; i < count; i++) {
        int samples = fleet->samples[orders[i].slot];
        call.most = samples > call.most ? samples : call.most;
        for (size_t k = 0; k < steps; k++) {
            double t = (double)(orders[i].step + k + 1);
            fleet_one *one = &fleet->orders[k * count + i];
            one->slot = (int)orders[i].slot;
            one->samples = samples;
            one->key = orders[i].keys[k];
            one->first = orders[i].first + k * (uint64_t)samples;
            one->rate = (float)(fleet->rate / (1 - pow(0.9, t)));
            one->root = (float)(1 / sqrt(1 - pow(0.999, t)));
        }
    }
    CUDA_PASS(copy_in(context, fleet, fleet->ones.data, fleet->orders.data(),
                      steps * count * sizeof(fleet_one)));
    for (size_t k = 0; k < steps; k++) {
        call.work.ones = (const fleet_one *)fleet->ones.data + k * count;
        call.work.outcome = (double *)fleet->outcomes.data + k * count * 3;
        step_once(call, fleet->online);
        fleet_update(call, fleet->adam);
    }
    TRY_CUDA(cudaMemcpyAsync(fleet->measured.data(), fleet->outcomes.data,
                             steps * count * 3 * sizeof(double), cudaMemcpyDeviceToHost,
                             fleet->stream),
             "copying from it");
    CUDA_PASS(wait_for(context, fleet, "a step of training"));
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < steps; k++) {
            const double *found = &fleet->measured[(k * count + i) * 3];
            out[i * steps + k].loss = found[0];
            out[i * steps + k].correct = (uint32_t)found[1];
        }
    return WT_OK;
}

static wt_status step(wt_context *context, wt_fleet *fleet, size_t count,
                      const wt_fleet_order *orders, size_t steps, wt_fleet_outcome *out) {
    CUDA_PASS(cuda_enter(context, fleet->device));
    for (size_t first = 0; first < count; first += fleet->chunk) {
        size_t some = count - first < fleet->chunk ? count - first : fleet->chunk;
        CUDA_PASS(fleet->device->services->check_cancelled(context));
        CUDA_PASS(step_chunk(context, fleet, some, orders + first, steps, out + first * steps));
    }
    return WT_OK;
}

static wt_status judge_chunk(wt_context *context, wt_fleet *fleet, size_t count,
                             const wt_fleet_order *orders, size_t samples, uint32_t *out) {
    fleet_call call = {fleet->shape, fleet->work, (int)count, 0, fleet->stream};
    size_t windows = (samples + WT_FLEET_COUNTED - 1) / WT_FLEET_COUNTED;
    size_t rows = (size_t)fleet->shape.rows / WT_FLEET_COUNTED * WT_FLEET_COUNTED;
    uint32_t *counts = (uint32_t *)fleet->counts.data;
    size_t turn = 0;
    for (size_t first = 0; first < samples; first += rows, turn = (turn + 1) % MOST_STEPS) {
        size_t some = samples - first < rows ? samples - first : rows;
        fleet_one *ones = (fleet_one *)fleet->ones.data + turn * count;
        if (turn == 0 && first > 0)
            CUDA_PASS(wait_for(context, fleet, "judging")); /* the orders are written anew */
        for (size_t i = 0; i < count; i++) {
            fleet_one *one = &fleet->orders[turn * count + i];
            *one = fleet_one{};
            one->slot = (int)orders[i].slot;
            one->samples = (int)some;
            one->first = orders[i].first + first;
        }
        CUDA_PASS(
            copy_in(context, fleet, ones, &fleet->orders[turn * count], count * sizeof(fleet_one)));
        call.work.ones = ones;
        call.most = (int)some;
        fleet_draw(call, true);
        if (first == 0 && call.shape.kind == FLEET_TRANSFORMER)
            fleet_transformer_tables(call);
        else if (first == 0 && call.shape.kind == FLEET_HEAD)
            fleet_head_tables(call);
        if (call.shape.kind == FLEET_TRANSFORMER)
            fleet_transformer_judge(call);
        else if (call.shape.kind == FLEET_MLP)
            fleet_mlp_judge(call);
        else
            fleet_head_judge(call);
        fleet_count(call, counts, (int)windows, (int)(first / WT_FLEET_COUNTED));
    }
    TRY_CUDA(cudaMemcpyAsync(out, counts, count * windows * sizeof *counts, cudaMemcpyDeviceToHost,
                             fleet->stream),
             "copying from it");
    return wait_for(context, fleet, "judging");
}

static wt_status judge(wt_context *context, wt_fleet *fleet, size_t count,
                       const wt_fleet_order *orders, size_t samples, uint32_t *out) {
    size_t windows = (samples + WT_FLEET_COUNTED - 1) / WT_FLEET_COUNTED;
    size_t bytes = fleet->chunk * windows * sizeof(uint32_t);
    CUDA_PASS(cuda_enter(context, fleet->device));
    if (fleet->counts.bytes < bytes) {
        cuda_give(fleet->device, &fleet->counts);
        CUDA_PASS(cuda_take(context, fleet->device, bytes, "counts of a fleet", &fleet->counts));
    }
    for (size_t first = 0; first < count; first += fleet->chunk) {
        size_t some = count - first < fleet->chunk ? count - first : fleet->chunk;
        CUDA_PASS(fleet->device->services->check_cancelled(context));
        CUDA_PASS(
            judge_chunk(context, fleet, some, orders + first, samples, out + first * windows));
    }
    return WT_OK;
}

const wt_fleet_engine cuda_fleet_engine = {begin, end, draw, put, get, step, judge};
