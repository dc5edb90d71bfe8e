/* A trial: task, training set, runs. */
#include "network/learn/trainer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
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

/* Neighbouring tensors that are trained are one range. */
static void set_ranges(wt_trainer *trainer) {
    for (size_t i = 0; i < trainer->network->tensor_count; i++) {
        const wt_network_tensor *tensor = &trainer->network->tensors[i];
        size_t begin = tensor->offset, end = begin + tensor->rows * tensor->columns;
        wt_train_range *last = &trainer->ranges[trainer->range_count - (trainer->range_count > 0)];
        if (tensor->fixed)
            continue;
        if (trainer->range_count > 0 && last->end == begin)
            last->end = end;
        else
            trainer->ranges[trainer->range_count++] = (wt_train_range){begin, end};
    }
}

static wt_status open_task(wt_context *context, wt_trainer *trainer) {
    const wt_train_spec *setting = &trainer->setting;
    const wt_sparse_spec spec = {.size = sizeof spec,
                                 .function = setting->task,
                                 .length = setting->length,
                                 .relevant = setting->relevant,
                                 .relevant_count = setting->relevant_count,
                                 .probability = setting->probability,
                                 .noise = setting->noise,
                                 .seed = wt_seed_for(setting->seed, "task", 0)};
    return wt_sparse_task_new(context, &spec, &trainer->task);
}

static wt_status open_network(wt_context *context, wt_trainer *trainer) {
    const wt_train_spec *setting = &trainer->setting;
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
    size_t piece = setting->validation_samples;
    wt_arena *arena = &trainer->arena;
    WT_PASS(wt_network_new(context, &spec, &trainer->network));
    trainer->size = wt_network_size(trainer->network);
    trainer->parameters = WT_TAKE(arena, float, trainer->size);
    trainer->gradient = WT_TAKE(arena, float, trainer->size);
    trainer->first = WT_TAKE(arena, float, trainer->size);
    trainer->second = WT_TAKE(arena, float, trainer->size);
    trainer->ranges = WT_TAKE(arena, wt_train_range, trainer->network->tensor_count);
    WT_PASS(arena->status);
    set_ranges(trainer);
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
    WT_INIT(wt_train_spec, own);
    WT_TRY(wt_sized_read(context, "wt_train_spec", setting, own, sizeof *own));
    wt_train_spec_settle(own);
    WT_TRY(check_setting(context, own));
    trainer->loss = trainer->accuracy = NAN;
    WT_TRY(train == NULL ? open_task(context, trainer)
                         : wt_train_set_take(context, trainer, train, held));
    WT_TRY(open_network(context, trainer));
    WT_TRY(wt_train_balls_open(context, trainer, own->balls));
    WT_TRY(wt_train_about(context, trainer));
    if (train == NULL)
        WT_TRY(wt_train_set_open(context, trainer));
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
    wt_release(trainer->history);
    wt_release(trainer);
}

/* ---- runs ---- */

static bool point_passes(const wt_trainer *trainer, const wt_train_point *point) {
    return point->validation_accuracy > trainer->setting.success || point->validation_accuracy == 1;
}

static bool validation_due(const wt_trainer *trainer) {
    const wt_train_spec *setting = &trainer->setting;
    const wt_train_point *last =
        trainer->points > 0 ? &trainer->history[trainer->points - 1] : NULL;
    if (trainer->step == 0 ||
        (trainer->step % setting->validate != 0 && trainer->step < setting->steps))
        return false;
    return last == NULL || last->run != trainer->run || last->step != trainer->step;
}

static bool run_has_success(const wt_trainer *trainer) {
    for (size_t i = trainer->points; i > 0 && trainer->history[i - 1].run == trainer->run; i--)
        if (point_passes(trainer, &trainer->history[i - 1]))
            return true;
    return false;
}

/* The lowest loss that a validation of this run saw, of those up to a step. */
static double lowest_loss(const wt_trainer *trainer, size_t step) {
    double lowest = INFINITY;
    for (size_t i = trainer->points; i > 0 && trainer->history[i - 1].run == trainer->run; i--)
        if (trainer->history[i - 1].step <= step)
            lowest = fmin(lowest, trainer->history[i - 1].loss);
    return lowest;
}

static bool run_has_settled(const wt_trainer *trainer) {
    double now = lowest_loss(trainer, trainer->step);
    double gain = lowest_loss(trainer, trainer->step / 2) - now; /* infinite, NaN: too early */
    return gain < trainer->setting.settle * (WT_LOG_2 - now);
}

/* After a validation: is the trial over, or a new run to begin? */
static void conclude(wt_trainer *trainer) {
    const wt_train_spec *setting = &trainer->setting;
    bool success = run_has_success(trainer);
    bool over = trainer->step >= setting->steps || run_has_settled(trainer);
    bool last_run = trainer->run + 1 >= setting->restarts;
    if (over ? success || last_run : success && !setting->to_end) {
        trainer->ended = true;
    } else if (over) {
        trainer->run++;
        wt_train_begin_run(trainer);
    }
}

/* Steps of this run and of those before it. */
static double steps_of_runs(const wt_trainer *trainer, size_t runs, size_t step) {
    return (double)runs * (double)trainer->setting.steps + (double)step;
}

static void open_meter(wt_context *context, wt_trainer *trainer) {
    if (trainer->metered)
        return;
    trainer->meter = wt_meter_start(context, "steps", (double)trainer->setting.steps);
    trainer->metered_from = steps_of_runs(trainer, trainer->run, trainer->step);
    trainer->metered = true;
}

/* The time left is that of all runs, as if none succeeded. */
static void show(wt_trainer *trainer) {
    const wt_train_point *last =
        trainer->points > 0 ? &trainer->history[trainer->points - 1] : NULL;
    double step = (double)trainer->step, from = trainer->metered_from;
    trainer->meter.share = (steps_of_runs(trainer, trainer->run, trainer->step) - from) /
                           (steps_of_runs(trainer, trainer->setting.restarts, 0) - from);
    if (last == NULL)
        wt_meter_tell(&trainer->meter, step, "run %zu, loss %.4f", trainer->run + 1, trainer->loss);
    else
        wt_meter_tell(&trainer->meter, step, "run %zu, loss %.4f, validation error %.4f",
                      trainer->run + 1, trainer->loss, 1 - last->validation_accuracy);
}

wt_status wt_trainer_run(wt_context *context, wt_trainer *trainer, size_t max_steps) {
    double began = wt_clock();
    size_t done_steps = 0;
    wt_status status = WT_OK;
    open_meter(context, trainer);
    while (!trainer->ended) {
        WT_TRY(wt_context_check_cancelled(context));
        if (validation_due(trainer)) {
            WT_TRY(wt_train_validate(context, trainer));
            conclude(trainer);
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
    return trainer->ended;
}

void wt_trainer_restart(wt_trainer *trainer) {
    trainer->run++;
    trainer->ended = false;
    wt_train_begin_run(trainer);
}

const wt_train_point *wt_trainer_history(const wt_trainer *trainer, size_t *count) {
    *count = trainer->points;
    return trainer->history;
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
    wt_train_result out = {.runs = trainer->run + 1,
                           .leave_step = trainer->marks[0],
                           .mark_step = trainer->marks[1],
                           .low_step = trainer->marks[2],
                           .steps = trainer->step,
                           .settled = run_has_settled(trainer),
                           .best_accuracy = NAN,
                           .loss = trainer->loss,
                           .train_accuracy = trainer->accuracy,
                           .redrawn = trainer->redrawn,
                           .seconds = trainer->seconds};
    for (size_t i = 0; i < trainer->points; i++) {
        const wt_train_point *point = &trainer->history[i];
        out.best_accuracy = fmax(out.best_accuracy, point->validation_accuracy);
        if (!out.success && point_passes(trainer, point)) {
            out.success = true;
            out.success_step = point->step;
        }
    }
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
