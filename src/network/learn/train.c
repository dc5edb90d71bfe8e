/* A trial: task, training set, runs. */
#include "network/learn/trainer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "device/device.h"
#include "network/learn/train_fields.h"
#include "wattle/random.h"

/* ---- opening ---- */

static wt_status check_setting(wt_context *context, const wt_train_spec *setting) {
    size_t count;
    const wt_field *fields = wt_train_fields(&count);
    bool dropout = setting->embedding_dropout > 0 || setting->attention_dropout > 0 ||
                   setting->block_dropout > 0;
    wt_status status = wt_fields_check(context, fields, count, setting);
    if (status == WT_OK && setting->settle > 0 && (setting->online > 0 || dropout))
        status = wt_fail(context, WT_USAGE,
                         "a run can settle only on a training set, and without dropout");
    return status;
}

wt_status wt_train_spec_read(wt_context *context, const wt_train_spec *given, wt_train_spec *out) {
    WT_INIT(wt_train_spec, out);
    WT_PASS(wt_sized_read(context, "wt_train_spec", given, out, sizeof *out));
    wt_train_spec_settle(out);
    return check_setting(context, out);
}

/* Neighbouring tensors that are trained are one range. */
size_t wt_train_ranges(const wt_network *network, wt_train_range *out) {
    size_t count = 0;
    for (size_t i = 0; i < network->tensor_count; i++) {
        const wt_network_tensor *tensor = &network->tensors[i];
        size_t begin = tensor->offset, end = begin + tensor->rows * tensor->columns;
        if (tensor->fixed)
            continue;
        if (count > 0 && out[count - 1].end == begin)
            out[count - 1].end = end;
        else
            out[count++] = (wt_train_range){begin, end};
    }
    return count;
}

wt_status wt_train_task_open(wt_context *context, const wt_train_spec *setting,
                             wt_sparse_task **out) {
    const wt_sparse_spec spec = {.size = sizeof spec,
                                 .function = setting->task,
                                 .length = setting->length,
                                 .relevant = setting->relevant,
                                 .relevant_count = setting->relevant_count,
                                 .probability = setting->probability,
                                 .noise = setting->noise,
                                 .seed = wt_seed_for(setting->seed, "task", 0)};
    return wt_sparse_task_new(context, &spec, out);
}

wt_status wt_train_network_open(wt_context *context, const wt_train_spec *setting,
                                wt_network **out) {
    const wt_network_spec spec = {.size = sizeof spec,
                                  .kind = setting->model,
                                  .length = setting->length,
                                  .dim = setting->dim,
                                  .heads = setting->heads,
                                  .hidden = setting->hidden,
                                  .embedding_drop = setting->embedding_dropout,
                                  .attention_drop = setting->attention_dropout,
                                  .block_drop = setting->block_dropout,
                                  .fixed_positions = setting->fixed_positions,
                                  .activation = setting->activation};
    return wt_network_new(context, &spec, out);
}

static wt_status open_network(wt_context *context, wt_trainer *trainer) {
    const wt_train_spec *setting = &trainer->setting;
    size_t piece = setting->validation_samples;
    wt_arena *arena = &trainer->arena;
    WT_PASS(wt_train_network_open(context, setting, &trainer->network));
    trainer->size = wt_network_size(trainer->network);
    trainer->parameters = WT_TAKE(arena, float, trainer->size);
    trainer->gradient = WT_TAKE(arena, float, trainer->size);
    trainer->first = WT_TAKE(arena, float, trainer->size);
    trainer->second = WT_TAKE(arena, float, trainer->size);
    trainer->ranges = WT_TAKE(arena, wt_train_range, trainer->network->tensor_count);
    WT_PASS(arena->status);
    trainer->range_count = wt_train_ranges(trainer->network, trainer->ranges);
    return wt_bits_new(context, piece < WT_TRAIN_PIECE ? piece : WT_TRAIN_PIECE, setting->length,
                       &trainer->piece);
}

/* On the samples that are given, or on those of a task where there are none. */
static wt_status open_trainer(wt_context *context, const wt_train_spec *setting,
                              const wt_bits *train, const wt_bits *held, wt_trainer **out) {
    wt_trainer *trainer = NULL;
    wt_status status;
    *out = NULL;
    wt_train_spec *own;
    WT_TRY(WT_NEW_ZERO(context, &trainer, 1, "a trainer"));
    trainer->arena = wt_arena_start(context, "a trainer");
    own = &trainer->setting;
    WT_TRY(wt_train_spec_read(context, setting, own));
    trainer->state.loss = trainer->state.accuracy = NAN;
    WT_TRY(train == NULL ? wt_train_task_open(context, own, &trainer->task)
                         : wt_train_set_take(context, trainer, train, held));
    WT_TRY(open_network(context, trainer));
    WT_TRY(wt_train_balls_open(context, trainer, own->balls));
    WT_TRY(wt_train_about(context, trainer));
    if (train == NULL)
        WT_TRY(wt_train_set_open(context, own, trainer->task, &trainer->batch,
                                 &trainer->state.redrawn));
    wt_train_begin_run(trainer);
    *out = trainer;
done:
    if (status != WT_OK)
        wt_trainer_free(trainer);
    return status;
}

wt_status wt_trainer_new(wt_context *context, const wt_train_spec *setting, wt_trainer **out) {
    return open_trainer(context, setting, NULL, NULL, out);
}

wt_status wt_trainer_new_on(wt_context *context, const wt_train_spec *setting, const wt_bits *train,
                            const wt_bits *held, wt_trainer **out) {
    return open_trainer(context, setting, train, held, out);
}

void wt_trainer_free(wt_trainer *trainer) {
    if (trainer == NULL)
        return;
    for (size_t i = 0; i < trainer->about_count; i++)
        wt_release((char *)trainer->about[i].value);
    wt_release(trainer->about);
    wt_sparse_task_free(trainer->task);
    wt_network_free(trainer->network);
    wt_arena_free(&trainer->arena);
    wt_bits_free(trainer->batch);
    wt_bits_free(trainer->held);
    wt_bits_free(trainer->piece);
    wt_release(trainer->state.history);
    wt_release(trainer);
}

/* ---- runs ---- */

/* Steps of this run and of those before it. */
static double steps_of_runs(const wt_trainer *trainer, size_t runs, size_t step) {
    return (double)runs * (double)trainer->setting.steps + (double)step;
}

static void open_meter(wt_context *context, wt_trainer *trainer) {
    if (trainer->metered)
        return;
    trainer->meter = wt_meter_start(context, "steps", (double)trainer->setting.steps);
    trainer->metered_from = steps_of_runs(trainer, trainer->state.run, trainer->state.step);
    trainer->metered = true;
}

/* The time left is that of all runs, as if none succeeded. */
static void show(wt_trainer *trainer) {
    const wt_train_point *last =
        trainer->state.points > 0 ? &trainer->state.history[trainer->state.points - 1] : NULL;
    double step = (double)trainer->state.step, from = trainer->metered_from;
    trainer->meter.share =
        (steps_of_runs(trainer, trainer->state.run, trainer->state.step) - from) /
        (steps_of_runs(trainer, trainer->setting.restarts, 0) - from);
    if (last == NULL)
        wt_meter_tell(&trainer->meter, step, "run %zu, loss %.4f", trainer->state.run + 1,
                      trainer->state.loss);
    else
        wt_meter_tell(&trainer->meter, step, "run %zu, loss %.4f, validation error %.4f",
                      trainer->state.run + 1, trainer->state.loss, 1 - last->validation_accuracy);
}

wt_status wt_trainer_run(wt_context *context, wt_trainer *trainer, size_t max_steps) {
    double began = wt_clock();
    size_t done_steps = 0;
    wt_status status = WT_OK;
    open_meter(context, trainer);
    if (wt_context_get_device(context) != NULL) {
        status = wt_trainer_run_device(context, trainer, max_steps, show);
        goto done;
    }
    while (!trainer->state.ended) {
        WT_TRY(wt_context_check_cancelled(context));
        if (wt_train_state_free_steps(&trainer->setting, &trainer->state) == 0) {
            WT_TRY(wt_train_validate(context, trainer));
            if (wt_train_state_conclude(&trainer->setting, &trainer->state))
                wt_train_begin_run(trainer);
            continue;
        }
        if (done_steps == max_steps)
            break;
        WT_TRY(wt_train_step(context, trainer));
        done_steps++;
        show(trainer);
    }
done:
    trainer->seconds += wt_clock() - began;
    return status;
}

bool wt_trainer_ended(const wt_trainer *trainer) {
    return trainer->state.ended;
}

void wt_trainer_restart(wt_trainer *trainer) {
    trainer->state.run++;
    trainer->state.ended = false;
    wt_train_begin_run(trainer);
}

const wt_train_point *wt_trainer_history(const wt_trainer *trainer, size_t *count) {
    *count = trainer->state.points;
    return trainer->state.history;
}

const wt_network *wt_trainer_network(const wt_trainer *trainer) {
    return trainer->network;
}

const float *wt_trainer_parameters(const wt_trainer *trainer) {
    return trainer->parameters;
}

const wt_sparse_task *wt_trainer_task(const wt_trainer *trainer) {
    return trainer->task;
}

wt_status wt_trainer_result(wt_context *context, const wt_trainer *trainer,
                            wt_train_result *given) {
    wt_train_result out;
    wt_train_state_result(&trainer->setting, &trainer->state, &out);
    out.seconds = trainer->seconds;
    wt_status status = wt_sized_check(context, "wt_train_result", given, sizeof out);
    if (status == WT_OK)
        wt_sized_write(given, &out, sizeof out);
    return status;
}

wt_status wt_train_run(wt_context *context, const wt_train_spec *setting, uint64_t seed,
                       wt_train_result *out) {
    const wt_train_result none = {.best_accuracy = NAN, .loss = NAN, .train_accuracy = NAN};
    wt_trainer *trainer = NULL;
    wt_train_spec own;
    wt_status status;
    WT_INIT(wt_train_spec, &own);
    WT_TRY(wt_sized_read(context, "wt_train_spec", setting, &own, sizeof own));
    own.seed = seed;
    WT_TRY(wt_sized_check(context, "wt_train_result", out, sizeof none));
    wt_sized_write(out, &none, sizeof none);
    status = wt_trainer_new(context, &own, &trainer);
    if (status == WT_MISSED) { /* no training set to be had: a trial that fails */
        status = WT_OK;
        goto done;
    }
    WT_TRY(status);
    WT_TRY(wt_trainer_run(context, trainer, SIZE_MAX));
    WT_TRY(wt_trainer_result(context, trainer, out));
done:
    wt_trainer_free(trainer);
    return status;
}
