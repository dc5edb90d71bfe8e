/* Cells of a sweep as fleets on a device: those of equal shape are trained side by side, and kept
 * one by one as they end. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "device/device.h"
#include "lab/sweep_parts.h"

/* Units that differ in the experiment's `fleet`, seed and repetition alone. */
typedef struct {
    wt_sweep_job *work;
    wt_sweep_unit *units; /* of all fleets, one fleet after the other */
    size_t *first;        /* (fleets + 1) */
    size_t count;
} fleets;

static bool fits(const wt_sweep_unit *unit) {
    const wt_plan_group group = wt_sweep_group(unit);
    return group.experiment->fleet != NULL && group.experiment->fits_fleet(&group.trial);
}

static bool are_equal(const wt_sweep_unit *a, const wt_sweep_unit *b) {
    const wt_plan_group left = wt_sweep_group(a), right = wt_sweep_group(b);
    const wt_experiment *experiment = left.experiment;
    if (experiment != right.experiment)
        return false;
    for (size_t i = 0; i < experiment->parameter_count; i++) {
        const wt_value *x = &left.trial.values[i], *y = &right.trial.values[i];
        bool same = x->text != NULL && y->text != NULL
                        ? strcmp(x->text, y->text) == 0
                        : x->text == y->text && x->number == y->number;
        if (!same && strcmp(experiment->parameters[i].name, experiment->fleet) != 0)
            return false;
    }
    return true;
}

/* Moves units that can be in fleets from the list to these, in the order of the list. */
static void gather(fleets *all) {
    wt_sweep_job *work = all->work;
    size_t taken = 0, left = 0;
    for (size_t i = 0; i < work->unit_count; i++) {
        const wt_sweep_unit leader = work->units[i];
        if (leader.plan == NULL)
            continue;
        if (!fits(&leader)) {
            work->units[left++] = leader;
            continue;
        }
        all->first[all->count++] = taken;
        for (size_t k = i; k < work->unit_count; k++)
            if (work->units[k].plan != NULL && fits(&work->units[k]) &&
                are_equal(&leader, &work->units[k])) {
                all->units[taken++] = work->units[k];
                work->units[k].plan = NULL;
            }
    }
    all->first[all->count] = taken;
    work->unit_count = left;
}

/* A fleet on the way. */
typedef struct {
    wt_sweep_job *work;
    wt_context *context;
    const wt_sweep_unit *units;
    bool *kept;
    double shown; /* when the last cell was kept, by wt_clock */
} running;

static wt_status keep(running *fleet, size_t index, const double *metrics, const char *message) {
    const wt_sweep_unit *unit = &fleet->units[index];
    double now = wt_clock();
    wt_sweep_outcome found = {.work = fleet->work,
                              .context = fleet->context,
                              .of = unit,
                              .end = 1,
                              .wanted = 1,
                              .metrics = metrics,
                              .message = message,
                              .seconds = now - fleet->shown};
    fleet->shown = now;
    fleet->kept[index] = true;
    return wt_engine_keep(&fleet->work->engine, wt_sweep_put, &found, 1, unit->cost);
}

static wt_status keep_cell(void *user, size_t index, const double *metrics) {
    running *fleet = user;
    char message[WT_MESSAGE_BYTES] = "";
    if (metrics == NULL)
        snprintf(message, sizeof message, "%s", wt_context_message(fleet->context));
    return keep(fleet, index, metrics, message);
}

/* Whether the cells, and not what they run on, are to blame. */
static bool is_theirs(wt_status status) {
    return status == WT_USAGE || status == WT_DATA || status == WT_MEMORY;
}

static wt_status run_fleet(void *user, wt_context *context, size_t index) {
    const fleets *all = user;
    const wt_sweep_unit *units = all->units + all->first[index];
    size_t count = all->first[index + 1] - all->first[index];
    wt_arena arena = wt_arena_start(context, "cells of a fleet");
    wt_trial *trials = WT_TAKE(&arena, wt_trial, count);
    running fleet = {.work = all->work,
                     .context = context,
                     .units = units,
                     .kept = WT_TAKE_ZERO(&arena, bool, count),
                     .shown = wt_clock()};
    char message[WT_MESSAGE_BYTES];
    wt_status status;
    WT_TRY(arena.status);
    for (size_t i = 0; i < count; i++)
        trials[i] = wt_sweep_group(&units[i]).trial;
    status = wt_sweep_group(units).experiment->run_fleet(context, trials, count, keep_cell, &fleet);
    if (is_theirs(status) && !all->work->engine.broken) {
        snprintf(message, sizeof message, "%s", wt_context_message(context));
        status = WT_OK;
        for (size_t i = 0; i < count && status == WT_OK; i++)
            status = fleet.kept[i] ? WT_OK : keep(&fleet, i, NULL, message);
    }
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_sweep_run_fleets(wt_sweep_job *work) {
    wt_engine *engine = &work->engine;
    fleets all = {.work = work};
    size_t workers = engine->workers;
    bool apart = engine->apart;
    wt_status status = WT_OK;
    if (wt_context_get_device(work->context) == NULL)
        return WT_OK;
    WT_TRY(WT_NEW(work->context, &all.units, work->unit_count, "fleets"));
    WT_TRY(WT_NEW(work->context, &all.first, work->unit_count + 1, "fleets"));
    gather(&all);
    engine->workers = 1; /* a fleet has all threads for its starts, and the memory budget */
    engine->apart = false;
    status = wt_engine_run(engine, all.count, run_fleet, &all);
    engine->workers = workers;
    engine->apart = apart;
done:
    wt_release(all.units);
    wt_release(all.first);
    return status;
}
