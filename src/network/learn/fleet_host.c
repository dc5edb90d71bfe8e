/* The fleet engine on the host: networks side by side, one a thread, by the code that wt_trainer
 * has. The bits of a network are those of wt_trainer. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "network/learn/fleet.h"
#include "network/learn/trainer.h"

typedef struct {
    wt_bits *set;         /* the training set, or room for a step's samples */
    wt_sparse_task *task; /* NULL: it is not to judge */
    wt_stream inputs, flips, judged;
} slot_task;

/* What a thread needs. */
typedef struct {
    wt_network *network;
    float *gradient;
    wt_bits *piece;
} desk;

struct wt_fleet {
    wt_arena arena;
    size_t networks, size, workers;
    float *state[3]; /* parameters, first and second moments: (networks, size) each */
    slot_task *tasks;
    desk *desks;
    wt_train_range *ranges;
    size_t range_count;
    wt_adam_rule rule;
    bool online;
};

static float *state_of(const wt_fleet *fleet, size_t part, size_t slot) {
    return fleet->state[part] + slot * fleet->size;
}

static void free_task(slot_task *task) {
    wt_bits_free(task->set);
    wt_sparse_task_free(task->task);
    *task = (slot_task){0};
}

static void end(wt_fleet *fleet) {
    if (fleet == NULL)
        return;
    for (size_t i = 0; fleet->tasks != NULL && i < fleet->networks; i++)
        free_task(&fleet->tasks[i]);
    for (size_t i = 0; fleet->desks != NULL && i < fleet->workers; i++) {
        wt_network_free(fleet->desks[i].network);
        wt_bits_free(fleet->desks[i].piece);
    }
    wt_arena_free(&fleet->arena);
    wt_release(fleet);
}

static wt_status open_desks(wt_context *context, wt_fleet *fleet, const wt_network_spec *spec) {
    for (size_t i = 0; i < fleet->workers; i++) {
        desk *one = &fleet->desks[i];
        WT_PASS(wt_network_new(context, spec, &one->network));
        WT_PASS(wt_bits_new(context, WT_FLEET_COUNTED, spec->length, &one->piece));
        one->gradient = WT_TAKE(&fleet->arena, float, fleet->size);
    }
    fleet->range_count = wt_train_ranges(fleet->desks[0].network, fleet->ranges);
    return fleet->arena.status;
}

static wt_status begin(wt_context *context, wt_device *device, const wt_fleet_form *form,
                       size_t *networks, wt_fleet **out) {
    wt_fleet *fleet = NULL;
    wt_status status;
    (void)device;
    *out = NULL;
    *networks = form->networks;
    WT_TRY(WT_NEW_ZERO(context, &fleet, 1, "a fleet"));
    wt_arena *arena = &fleet->arena;
    *arena = wt_arena_start(context, "a fleet");
    fleet->networks = form->networks;
    fleet->size = form->size;
    fleet->online = form->online;
    fleet->workers = (size_t)wt_context_threads(context);
    fleet->rule = (wt_adam_rule){.rate = form->rate,
                                 .weight_decay = form->weight_decay,
                                 .clip = form->clip,
                                 .decoupled = form->decoupled};
    for (size_t part = 0; part < 3; part++)
        fleet->state[part] = WT_TAKE(arena, float, form->networks, form->size);
    fleet->tasks = WT_TAKE_ZERO(arena, slot_task, form->networks);
    fleet->desks = WT_TAKE_ZERO(arena, desk, fleet->workers);
    fleet->ranges = WT_TAKE(arena, wt_train_range, form->tensor_count);
    WT_TRY(arena->status);
    WT_TRY(open_desks(context, fleet, form->spec));
    *out = fleet;
    fleet = NULL;
done:
    end(fleet);
    return status;
}

/* The function and its positions, as a task of the library. */
static wt_status copy_task(wt_context *context, const wt_fleet_task *from, size_t length,
                           wt_sparse_task **out) {
    wt_sparse_task *task = NULL;
    size_t rows = (size_t)1 << from->bits;
    char *block;
    WT_PASS(WT_NEW_ZERO(context, &task, 1, "a task"));
    *out = task;
    WT_PASS(WT_NEW_ZERO(context, &block, sizeof *task->function + rows, "a function"));
    task->function = (void *)block;
    task->function->bits = from->bits;
    memcpy(task->function->value, from->value, rows);
    memcpy(task->relevant, from->relevant, from->bits * sizeof *task->relevant);
    task->length = length;
    task->probability = ldexp((double)from->threshold, -32);
    task->noise = from->noise;
    return WT_OK;
}

static wt_status draw(wt_context *context, wt_fleet *fleet, size_t slot,
                      const wt_fleet_task *task) {
    slot_task *to = &fleet->tasks[slot];
    size_t length = fleet->desks[0].network->spec.length;
    free_task(to);
    to->inputs = task->inputs;
    to->flips = task->flips;
    to->judged = task->judged;
    WT_PASS(wt_bits_new(context, task->samples, length, &to->set));
    if (!fleet->online) {
        memcpy(to->set->bit, task->bit, task->samples * length);
        memcpy(to->set->label, task->label, task->samples);
    }
    return task->value == NULL ? WT_OK : copy_task(context, task, length, &to->task);
}

static wt_status put(wt_context *context, wt_fleet *fleet, size_t slot, const float *parameters,
                     const float *first, const float *second) {
    const float *from[3] = {parameters, first, second};
    (void)context;
    for (size_t part = 0; part < 3; part++) {
        if (from[part] == NULL)
            memset(state_of(fleet, part, slot), 0, fleet->size * sizeof(float));
        else
            memcpy(state_of(fleet, part, slot), from[part], fleet->size * sizeof(float));
    }
    return WT_OK;
}

static wt_status get(wt_context *context, wt_fleet *fleet, size_t slot, float *parameters,
                     float *first, float *second) {
    float *to[3] = {parameters, first, second};
    (void)context;
    for (size_t part = 0; part < 3; part++)
        if (to[part] != NULL)
            memcpy(to[part], state_of(fleet, part, slot), fleet->size * sizeof(float));
    return WT_OK;
}

/* ---- steps and judgements ---- */

typedef struct {
    wt_context *context;
    const wt_fleet *fleet;
    const wt_fleet_order *orders;
    size_t steps, samples;
    wt_fleet_outcome *outcomes;
    uint32_t *counts;
} call;

static wt_status step_once(const call *of, const wt_fleet_order *order, desk *at, size_t step,
                           wt_fleet_outcome *out) {
    const wt_fleet *fleet = of->fleet;
    const slot_task *task = &fleet->tasks[order->slot];
    float *parameters = state_of(fleet, 0, order->slot);
    wt_network_result result = {.size = sizeof result};
    wt_adam_rule rule = fleet->rule;
    rule.step = order->step + step + 1;
    if (fleet->online)
        WT_PASS(wt_sparse_task_draw_from(of->context, task->task, task->inputs, task->flips,
                                         order->first + step * task->set->samples, true,
                                         task->set));
    WT_PASS(wt_network_gradient_keyed(of->context, at->network, parameters, task->set,
                                      order->keys[step], at->gradient, &result));
    *out = (wt_fleet_outcome){.loss = result.loss, .correct = (uint32_t)result.correct};
    wt_status status = wt_adam_update(of->context, &rule, fleet->ranges, fleet->range_count,
                                      at->gradient, parameters, state_of(fleet, 1, order->slot),
                                      state_of(fleet, 2, order->slot));
    if (status == WT_DATA) /* not finite, and nothing was changed */
        out->loss = NAN;
    return status == WT_DATA ? WT_OK : status;
}

static wt_status step_some(void *argument, size_t begin, size_t end, int worker) {
    const call *of = argument;
    for (size_t i = begin; i < end; i++)
        for (size_t k = 0; k < of->steps; k++)
            WT_PASS(step_once(of, &of->orders[i], &of->fleet->desks[worker], k,
                              &of->outcomes[i * of->steps + k]));
    return WT_OK;
}

static wt_status step(wt_context *context, wt_fleet *fleet, size_t count,
                      const wt_fleet_order *orders, size_t steps, wt_fleet_outcome *out) {
    call of = {
        .context = context, .fleet = fleet, .orders = orders, .steps = steps, .outcomes = out};
    return wt_parallel_for(context, count, 1, step_some, &of);
}

static wt_status judge_some(void *argument, size_t begin, size_t end, int worker) {
    const call *of = argument;
    const desk *at = &of->fleet->desks[worker];
    size_t windows = (of->samples + WT_FLEET_COUNTED - 1) / WT_FLEET_COUNTED;
    for (size_t i = begin; i < end; i++) {
        const wt_fleet_order *order = &of->orders[i];
        const slot_task *task = &of->fleet->tasks[order->slot];
        for (size_t w = 0; w < windows; w++) {
            size_t first = w * WT_FLEET_COUNTED, left = of->samples - first;
            wt_bits bits = *at->piece;
            wt_network_result result = {.size = sizeof result};
            bits.samples = left < WT_FLEET_COUNTED ? left : WT_FLEET_COUNTED;
            WT_PASS(wt_sparse_task_draw_from(of->context, task->task, task->judged, task->judged,
                                             order->first + first, false, &bits));
            WT_PASS(wt_network_evaluate(of->context, at->network,
                                        state_of(of->fleet, 0, order->slot), &bits, SIZE_MAX,
                                        &result));
            of->counts[i * windows + w] = (uint32_t)result.correct;
        }
    }
    return WT_OK;
}

static wt_status judge(wt_context *context, wt_fleet *fleet, size_t count,
                       const wt_fleet_order *orders, size_t samples, uint32_t *out) {
    call of = {
        .context = context, .fleet = fleet, .orders = orders, .samples = samples, .counts = out};
    return wt_parallel_for(context, count, 1, judge_some, &of);
}

const wt_fleet_engine wt_fleet_host = {
    .begin = begin, .end = end, .draw = draw, .put = put, .get = get, .step = step, .judge = judge};
