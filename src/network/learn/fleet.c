/* Trials side by side: who is in the fleet, and what became of them. */
#include "network/learn/fleet.h"

#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "network/learn/fleet_parts.h"

wt_status wt_fleet_engine_of(wt_context *context, const wt_fleet_engine **out) {
    const wt_device *device = wt_context_get_device(context);
    *out = device->fleet;
    return device->fleet == NULL
               ? wt_fail(context, WT_UNAVAILABLE, "%s does not train networks", device->name)
               : WT_OK;
}

wt_status wt_fleet_check(wt_context *context, const wt_train_spec *setting) {
    if (setting->balls != NULL && setting->balls[0] != '\0')
        return wt_fail(context, WT_USAGE,
                       "norm balls (%s) are held on the host alone: a device trains without them",
                       setting->balls);
    return WT_OK;
}

/* ---- trials ---- */

/* A job on the way. */
typedef struct {
    wt_fleet_crew crew;
    const wt_fleet_job *job;
    wt_train_spec setting;
    size_t begun;        /* trials that have */
    const size_t *slots; /* of the trials that are opened */
} job_run;

static wt_status open_trials(void *argument, size_t begin, size_t end, int worker) {
    const job_run *run = argument;
    wt_context *context = run->crew.context;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        wt_fleet_member *one = &run->crew.members[run->slots[i]];
        WT_PASS(wt_train_task_open(context, &one->setting, &one->task));
        wt_status status =
            wt_train_set_open(context, &one->setting, one->task, &one->set, &one->state.redrawn);
        one->missed = status == WT_MISSED;
        if (status != WT_OK && status != WT_MISSED)
            return status;
    }
    return WT_OK;
}

/* The trial has ended: tells of it, and the slot is free. */
static wt_status retire(const job_run *run, size_t slot) {
    const wt_fleet_crew *crew = &run->crew;
    wt_fleet_member *one = &crew->members[slot];
    wt_train_result result = {
        .size = sizeof result, .best_accuracy = NAN, .loss = NAN, .train_accuracy = NAN};
    wt_trainer *trainer = NULL;
    wt_status status = WT_OK;
    if (one->broken) {
        wt_fail(crew->context, WT_DATA, "the gradient of step %zu is not finite",
                one->state.step + 1);
        status = run->job->done(run->job->user, one->trial, NULL, NULL);
        goto done;
    }
    if (!one->missed) {
        wt_train_state_result(&one->setting, &one->state, &result);
        result.size = sizeof result;
        result.seconds = one->seconds;
    }
    if (run->job->trainers && !one->missed) {
        WT_TRY(wt_trainer_new(crew->context, &one->setting, &trainer));
        WT_TRY(crew->engine->get(crew->context, crew->fleet, slot, trainer->parameters,
                                 trainer->first, trainer->second));
        trainer->state = one->state;
        trainer->seconds = one->seconds;
        one->state.history = NULL;
    }
    WT_TRY(run->job->done(run->job->user, one->trial, &result, trainer));
done:
    wt_trainer_free(trainer);
    wt_fleet_member_clear(one);
    return status;
}

/* Further trials into the slots that are free. */
static wt_status fill(job_run *run) {
    const wt_fleet_crew *crew = &run->crew;
    size_t count = 0, kept = 0;
    for (size_t slot = 0; slot < crew->slots && run->begun < run->job->count; slot++) {
        wt_fleet_member *one = &crew->members[slot];
        if (one->live)
            continue;
        one->trial = run->begun++;
        one->setting = run->setting;
        one->setting.seed = run->job->trials[one->trial].seed;
        one->setting.samples = run->job->trials[one->trial].samples;
        one->state.loss = one->state.accuracy = NAN;
        crew->list[count++] = slot;
    }
    run->slots = crew->list;
    WT_PASS(wt_parallel_for(crew->context, count, 1, open_trials, run));
    for (size_t i = 0; i < count; i++) {
        size_t slot = crew->list[i];
        wt_fleet_member *one = &crew->members[slot];
        if (one->missed) {
            WT_PASS(retire(run, slot));
            continue;
        }
        WT_PASS(wt_fleet_give(crew, slot, &one->setting, one->task, one->set));
        wt_bits_free(one->set);
        one->set = NULL;
        one->live = true;
        crew->list[kept++] = slot;
    }
    return wt_fleet_put_starts(crew, crew->list, kept);
}

/* ---- the whole ---- */

static wt_status run_all(job_run *run) {
    const wt_fleet_crew *crew = &run->crew;
    size_t count = 1, taken;
    while (count > 0 || (run->begun < run->job->count && !wt_context_stopping(crew->context))) {
        double began = wt_clock();
        WT_PASS(wt_context_check_cancelled(crew->context));
        if (!wt_context_stopping(crew->context))
            WT_PASS(fill(run));
        count = wt_fleet_list(crew);
        if (count == 0)
            continue;
        WT_PASS(wt_fleet_steps(crew, count, SIZE_MAX, &taken));
        WT_PASS(wt_fleet_validate(crew));
        double share = (wt_clock() - began) / (double)count;
        for (size_t slot = 0; slot < crew->slots; slot++) {
            wt_fleet_member *one = &crew->members[slot];
            one->seconds += share;
            if (one->live && (one->state.ended || one->broken))
                WT_PASS(retire(run, slot));
        }
    }
    return run->begun < run->job->count
               ? wt_fail(crew->context, WT_INTERRUPTED, "%s", wt_context_stop_name(crew->context))
               : WT_OK;
}

wt_status wt_fleet_run(wt_context *context, wt_device *device, const wt_fleet_engine *engine,
                       const wt_fleet_job *job) {
    job_run run = {.crew = {.device = device, .engine = engine}, .job = job};
    size_t samples = 1;
    wt_train_spec largest = *job->setting;
    wt_status status;
    for (size_t i = 0; i < job->count; i++)
        samples = job->trials[i].samples > samples ? job->trials[i].samples : samples;
    largest.samples = samples;
    WT_TRY(wt_train_spec_read(context, &largest, &run.setting));
    WT_TRY(wt_fleet_check(context, &run.setting));
    if (run.setting.online > 0)
        samples = run.setting.online;
    WT_TRY(wt_fleet_open(context, &run.crew, &run.setting, samples,
                         job->count < WT_FLEET_SLOTS ? job->count : WT_FLEET_SLOTS));
    status = run_all(&run);
done:
    wt_fleet_close(&run.crew);
    return status;
}
