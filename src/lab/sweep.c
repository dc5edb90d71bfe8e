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
    const wt_experiment *experiment = group->experiment;
    bool failed = metrics == NULL;
    char hash[WT_HASH_TEXT], *numbers = NULL;
    wt_cell_form form = {0};
    wt_status status;
    WT_TRY(wt_plan_name(found->context, group, i, &form, hash));
    if (!failed)
        WT_TRY(wt_cell_metrics(found->context, experiment, metrics, &numbers));
    wt_record record = {.size = sizeof record,
                        .hash = hash,
                        .experiment = experiment->name,
                        .parameters = form.out,
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
    wt_cell_form_free(&form);
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
    if (metrics != NULL && !work->noted) {
        WT_PASS(wt_store_engines_note(work->context, work->store, &work->engines));
        work->noted = true;
    }
    for (wt_plan_group at = wt_sweep_group(found->of); at.experiment != NULL;
         at = wt_plan_next(plan, &at)) {
        size_t width = at.experiment->metric_count;
        for (size_t i = found->begin; i < found->end; i++)
            if (plan->wanted[at.first + i])
                WT_PASS(
                    put_cell(found, &at, i, metrics == NULL ? NULL : metrics + i * width, date));
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
    const wt_plan_group group = wt_sweep_group(of);
    const wt_experiment *experiment = group.experiment;
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
    found.wanted = wt_plan_wanted(of->plan, &group, found.begin, count);
    return wt_engine_keep(&work->engine, wt_sweep_put, &found, (double)found.wanted,
                          of->cost * (double)found.wanted);
}

/* All groups of the unit, also those that the store has: the others come out as they would have
 * with them. */
static wt_status run_unit(void *user, wt_context *context, size_t index) {
    wt_sweep_job *work = user;
    const wt_sweep_unit *of = &work->units[index];
    const wt_plan_group group = wt_sweep_group(of);
    const size_t width = group.experiment->metric_count;
    size_t count = group.trial.count, groups = 0, k = 0;
    wt_arena arena = wt_arena_start(context, "metrics");
    bool done = false;
    wt_status status;
    for (wt_plan_group at = group; at.experiment != NULL; at = wt_plan_next(of->plan, &at))
        groups++;
    wt_trial *trials = WT_TAKE(&arena, wt_trial, groups);
    double *metrics = WT_TAKE(&arena, double, groups, count, width);
    WT_TRY(arena.status);
    for (wt_plan_group at = group; at.experiment != NULL; at = wt_plan_next(of->plan, &at))
        trials[k++] = at.trial;
    for (; !done && wt_plan_wanted(of->plan, &group, 0, count) > 0; count--)
        WT_TRY(try_unit(work, context, of, trials, groups, count, metrics, &done));
done:
    wt_arena_free(&arena);
    return status;
}

static wt_status declare(const wt_sweep_job *work, wt_plan *const *plans, size_t count) {
    for (size_t i = 0; i < count; i++)
        WT_PASS(wt_plan_meanings(work->context, plans[i], work->store, wt_store_declare));
    if (work->options->command != NULL)
        WT_PASS(wt_store_note(work->context, work->store, "command", work->options->command));
    for (size_t i = 0; i < count; i++)
        if (plans[i]->sweep != NULL)
            WT_PASS(wt_store_note(work->context, work->store, "sweep", plans[i]->sweep));
    return wt_store_commit(work->context, work->store);
}

/* The names of wanted cells; found by the first bytes of them. */
typedef struct {
    wt_context *context;
    char (*names)[WT_HASH_TEXT];
    size_t count, room;
    wt_slots slots;
} wanted_names;

/* Takes the cell off the list where it is on it twice. */
static wt_status note_wanted(wanted_names *all, const char *hash, bool *wanted) {
    uint32_t key = wt_slots_hash(0, hash, WT_HASH_TEXT), number;
    size_t cursor = wt_slots_start(&all->slots, key);
    while (*wanted && wt_slots_next(&all->slots, key, &cursor, &number))
        *wanted = strcmp(all->names[number], hash) != 0;
    if (!*wanted)
        return WT_OK;
    WT_PASS(WT_GROW(all->context, &all->names, all->count, &all->room, "cells"));
    WT_PASS(wt_slots_add(all->context, &all->slots, key, (uint32_t)all->count));
    memcpy(all->names[all->count++], hash, WT_HASH_TEXT);
    return WT_OK;
}

/* A cell that several plans want is left to the first of them. */
static wt_status drop_doubles(wt_context *context, wt_plan *const *plans, size_t count) {
    wanted_names all = {.context = context};
    wt_cell_form form = {0};
    wt_status status = WT_OK;
    for (size_t i = 0; i < count && count > 1; i++)
        for (size_t g = 0; g < plans[i]->group_count; g++) {
            const wt_plan_group group = wt_plan_at(plans[i], g);
            for (size_t c = 0; c < group.trial.count; c++) {
                char hash[WT_HASH_TEXT];
                if (!plans[i]->wanted[group.first + c])
                    continue;
                WT_TRY(wt_plan_name(context, &group, c, &form, hash));
                WT_TRY(note_wanted(&all, hash, &plans[i]->wanted[group.first + c]));
            }
        }
done:
    wt_cell_form_free(&form);
    wt_slots_free(&all.slots);
    wt_release(all.names);
    return status;
}

/* A unit of every group, or groups computed together, with a wanted cell. Where the cost of one is
 * not known, cells are alike. */
static wt_status list_units(wt_sweep_job *work, wt_plan *const *plans, size_t count) {
    wt_known_cost known_cost = {0};
    size_t room = 0;
    bool known = true;
    for (size_t i = 0; i < count; i++)
        for (size_t g = 0; g < plans[i]->group_count; g++) {
            const wt_plan_group group = wt_plan_at(plans[i], g);
            size_t wanted = wt_plan_wanted(plans[i], &group, 0, group.trial.count);
            wt_cost cost;
            if (group.follows || wanted == 0)
                continue;
            WT_PASS(wt_plan_group_cost(work->context, &group, &known_cost, &cost));
            known &= isfinite(cost.flops) && cost.flops > 0;
            WT_PASS(WT_GROW(work->context, &work->units, work->unit_count, &room, "groups"));
            work->units[work->unit_count++] =
                (wt_sweep_unit){plans[i], g, cost.flops / (double)wanted};
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
    WT_TRY(wt_store_engines_look(context, store, &work.engines));
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
