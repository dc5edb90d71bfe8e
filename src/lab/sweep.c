#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include "lab/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/sized.h"
#include "lab/slots.h"
#include "lab/sweep_parts.h"

#define UNSAVED_SECONDS 0.1 /* of computing that may wait for a commit */

static void spell_now(char out[32]) {
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static wt_status put_cell(const wt_sweep_outcome *found, const wt_plan_group *group, size_t i,
                          const double *metrics, const char *date) {
    const wt_sweep_job *work = found->work;
    const wt_plan *plan = found->of->plan;
    const wt_experiment *experiment = group->experiment;
    bool failed = metrics == NULL;
    char *parameters = NULL, *numbers = NULL;
    wt_status status;
    WT_TRY(wt_plan_parameters(found->context, plan, group, i, &parameters));
    if (!failed)
        WT_TRY(wt_cell_metrics(found->context, experiment, metrics, &numbers));
    wt_record record = {.size = sizeof record,
                        .hash = plan->cells[group->first + i].hash,
                        .experiment = experiment->name,
                        .parameters = parameters,
                        .seed = (int64_t)group->trial.seed,
                        .result_version = experiment->result_version,
                        .failed = failed,
                        .message = found->message,
                        .metrics = failed ? "{}" : numbers,
                        .wall_seconds = found->seconds / (double)found->wanted,
                        .version = work->options->version,
                        .machine = work->options->machine,
                        .finished_date = date};
    WT_TRY(wt_store_put(work->context, work->store, &record));
done:
    wt_release(parameters);
    wt_release(numbers);
    return status;
}

static wt_status save(void *user) {
    wt_sweep_job *work = user;
    wt_status status = WT_OK;
    if (work->engine.broken) /* part of a group may have been put */
        return status;
    WT_TRY(wt_store_commit(work->context, work->store));
    work->unsaved = 0;
    work->stored = *work->report;
done:
    return status;
}

wt_status wt_sweep_put(void *user) {
    const wt_sweep_outcome *found = user;
    wt_sweep_job *work = found->work;
    wt_sweep_report *report = work->report;
    const wt_plan *plan = found->of->plan;
    const double *metrics = found->metrics;
    char date[32];
    spell_now(date);
    for (const wt_plan_group *at = found->of->group; at != NULL; at = wt_plan_next(plan, at)) {
        size_t width = at->experiment->metric_count;
        for (size_t i = found->begin; i < found->end; i++)
            if (plan->cells[at->first + i].wanted)
                WT_PASS(put_cell(found, at, i, metrics == NULL ? NULL : metrics + i * width, date));
        if (metrics != NULL)
            metrics += found->end * width;
    }
    *(found->metrics == NULL ? &report->failed : &report->done) += found->wanted;
    if (report->failed > 0)
        snprintf(work->what, sizeof work->what, "cells, %zu failed,", report->failed);
    work->unsaved += found->seconds;
    if (work->unsaved >= UNSAVED_SECONDS)
        WT_PASS(save(work));
    return WT_OK;
}

/* Computes the first `count` cells of each group of a unit. When that fails, the last of each, its
 * largest n, is put as failed, and `*done` is false: the others may do without it. */
static wt_status try_unit(wt_sweep_job *work, wt_context *context, const wt_sweep_unit *of,
                          wt_trial *trials, size_t groups, size_t count, double *metrics,
                          bool *done) {
    const wt_experiment *experiment = of->group->experiment;
    char message[WT_MESSAGE_BYTES] = "";
    double began = wt_clock();
    for (size_t k = 0; k < groups; k++)
        trials[k].count = count;
    wt_status status = groups > 1 ? experiment->run_together(context, trials, groups, metrics)
                                  : experiment->run(context, trials, metrics);
    *done = status == WT_OK;
    if (status == WT_INTERRUPTED)
        return status;
    if (!*done)
        snprintf(message, sizeof message, "%s", wt_context_message(context));
    wt_sweep_outcome found = {.work = work,
                              .context = context,
                              .of = of,
                              .begin = *done ? 0 : count - 1,
                              .end = count,
                              .metrics = *done ? metrics : NULL,
                              .message = message,
                              .seconds = wt_clock() - began};
    found.wanted = wt_plan_wanted(of->plan, of->group, found.begin, count);
    return wt_engine_keep(&work->engine, wt_sweep_put, &found, (double)found.wanted,
                          of->cost * (double)found.wanted);
}

/* All groups of the unit, also those that the store has: the others come out as they would have
 * with them. */
static wt_status run_unit(void *user, wt_context *context, size_t index) {
    wt_sweep_job *work = user;
    const wt_sweep_unit *of = &work->units[index];
    size_t count = of->group->trial.count, groups = 0, k = 0;
    wt_arena arena = wt_arena_start(context, "metrics");
    bool done = false;
    wt_status status;
    for (const wt_plan_group *at = of->group; at != NULL; at = wt_plan_next(of->plan, at))
        groups++;
    wt_trial *trials = WT_TAKE(&arena, wt_trial, groups);
    double *metrics = WT_TAKE(&arena, double, groups, count, of->group->experiment->metric_count);
    WT_TRY(arena.status);
    for (const wt_plan_group *at = of->group; at != NULL; at = wt_plan_next(of->plan, at))
        trials[k++] = at->trial;
    for (; !done && wt_plan_wanted(of->plan, of->group, 0, count) > 0; count--)
        WT_TRY(try_unit(work, context, of, trials, groups, count, metrics, &done));
done:
    wt_arena_free(&arena);
    return status;
}

static wt_status declare(const wt_sweep_job *work, wt_plan *const *plans, size_t count) {
    for (size_t i = 0; i < count; i++)
        WT_PASS(wt_plan_meanings(work->context, plans[i], work->store, wt_store_declare));
    WT_PASS(wt_sweep_note_engine(work));
    if (work->options->command != NULL)
        WT_PASS(wt_store_note(work->context, work->store, "command", work->options->command));
    for (size_t i = 0; i < count; i++)
        if (plans[i]->sweep != NULL)
            WT_PASS(wt_store_note(work->context, work->store, "sweep", plans[i]->sweep));
    return wt_store_commit(work->context, work->store);
}

/* A cell that several plans want is left to the first of them. */
static wt_status drop_doubles(wt_context *context, wt_plan *const *plans, size_t count) {
    const wt_plan_cell **wanted = NULL;
    size_t cells = 0, kept = 0;
    wt_slots names = {0};
    wt_status status = WT_OK;
    for (size_t i = 0; i < count; i++)
        cells += plans[i]->cell_count;
    if (count < 2)
        goto done;
    WT_TRY(WT_NEW(context, &wanted, cells, "cells"));
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < plans[i]->cell_count; c++) {
            wt_plan_cell *cell = &plans[i]->cells[c];
            uint32_t hash = wt_slots_hash(0, cell->hash, sizeof cell->hash), number;
            size_t cursor = wt_slots_start(&names, hash);
            while (cell->wanted && wt_slots_next(&names, hash, &cursor, &number))
                cell->wanted = strcmp(wanted[number]->hash, cell->hash) != 0;
            if (!cell->wanted)
                continue;
            WT_TRY(wt_slots_add(context, &names, hash, (uint32_t)kept));
            wanted[kept++] = cell;
        }
done:
    wt_slots_free(&names);
    wt_release(wanted);
    return status;
}

/* A unit of every group, or groups computed together, with a wanted cell. Where the cost of one is
 * not known, cells are alike. */
static wt_status list_units(wt_sweep_job *work, wt_plan *const *plans, size_t count) {
    size_t groups = 0;
    bool known = true;
    for (size_t i = 0; i < count; i++)
        groups += plans[i]->group_count;
    WT_PASS(WT_NEW(work->context, &work->units, groups, "groups"));
    for (size_t i = 0; i < count; i++)
        for (size_t g = 0; g < plans[i]->group_count; g++) {
            wt_sweep_unit next = {plans[i], &plans[i]->groups[g], NAN};
            size_t wanted = wt_plan_wanted(plans[i], next.group, 0, next.group->trial.count);
            wt_cost cost;
            if (next.group->follows || wanted == 0)
                continue;
            WT_PASS(wt_plan_group_cost(work->context, next.group, &cost));
            next.cost = cost.flops / (double)wanted;
            known &= isfinite(cost.flops) && cost.flops > 0;
            work->units[work->unit_count++] = next;
            work->engine.total += (double)wanted;
            work->engine.cost += cost.flops;
        }
    if (!known)
        work->engine.cost = 0;
    return WT_OK;
}

wt_status wt_sweep_run_plans(wt_context *context, wt_plan *const *plans, size_t count,
                             wt_store *store, const wt_sweep_options *options,
                             wt_sweep_report *report) {
    double began = wt_clock();
    size_t cells = 0;
    wt_sweep_job work = {.context = context,
                         .store = store,
                         .options = options,
                         .report = report,
                         .engine = {.context = context, .workers = options->workers, .apart = true},
                         .what = "cells"};
    wt_status status;
    *report = (wt_sweep_report){.size = sizeof *report};
    work.stored = *report;
    work.engine.what = work.what;
    for (size_t i = 0; i < count; i++)
        cells += wt_plan_cells(plans[i]);
    WT_TRY(drop_doubles(context, plans, count));
    WT_TRY(list_units(&work, plans, count));
    WT_TRY(declare(&work, plans, count));
    if (work.unit_count == 0)
        goto done;
    work.engine.units = work.unit_count;
    WT_TRY(wt_engine_open(&work.engine));
    status = wt_sweep_run_fleets(&work);
    if (status == WT_OK)
        status = wt_engine_run(&work.engine, work.unit_count, run_unit, &work);
    status = wt_engine_finish(&work.engine, status, save, &work);
    *report = work.stored; /* what could not be committed is not there */
    if (status == WT_INTERRUPTED)
        status = wt_fail(context, WT_INTERRUPTED,
                         "%s; %zu of %zu cells are in %s, and running again does the rest",
                         wt_context_stop_name(context),
                         cells - (size_t)work.engine.total + report->done + report->failed, cells,
                         wt_store_path(store));
done:
    report->seconds = wt_clock() - began;
    wt_engine_close(&work.engine);
    wt_release(work.units);
    return status;
}

void wt_sweep_options_init(wt_sweep_options *options, size_t size) {
    wt_sweep_options full = {.size = size, .version = "", .machine = ""};
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

wt_status wt_sweep_run(wt_context *context, wt_plan *plan, wt_store *store,
                       const wt_sweep_options *given, wt_sweep_report *out) {
    wt_sweep_options options;
    wt_sweep_report report;
    wt_status status;
    WT_INIT(wt_sweep_options, &options);
    WT_TRY(wt_sized_read(context, "wt_sweep_options", given, &options, sizeof options));
    WT_TRY(wt_sized_check(context, "wt_sweep_report", out, sizeof report));
    status = wt_sweep_run_plans(context, &plan, 1, store, &options, &report);
    wt_sized_write(out, &report, sizeof report);
done:
    return status;
}
