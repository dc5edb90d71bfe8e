#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include "lab/sweep.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"

#define UNSAVED_SECONDS 0.1 /* of computing that may wait for a commit */

typedef struct {
    wt_context *context;
    wt_plan *plan;
    wt_store *store;
    const wt_sweep_options *options;
    wt_sweep_report *report;
    wt_context **contexts;    /* one a worker */
    size_t *todo, todo_count; /* groups with a wanted cell */
    pthread_mutex_t storing;  /* held while the store, the report and the meter are touched; not
                                 mtx_t, which ThreadSanitizer does not know */
    bool broken;              /* the store failed: nothing more goes in */
    double unsaved;           /* seconds of computing not committed yet */
    wt_sweep_report stored;   /* what of the report was committed */
    wt_meter meter;
    char what[64]; /* "cells" or "cells, 2 failed," */
} job;

static void spell_now(char out[32]) {
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* One cell of a group; metrics are NULL when the group failed. */
static wt_status put_cell(job *work, wt_context *context, const wt_plan_group *group, size_t i,
                          const double *metrics, const char *message, double seconds,
                          const char *date) {
    char *parameters = NULL, *numbers = NULL;
    wt_status status;
    WT_TRY(wt_plan_parameters(context, work->plan, group, i, &parameters));
    if (metrics != NULL)
        WT_TRY(wt_cell_metrics(context, group->experiment,
                               metrics + i * group->experiment->metric_count, &numbers));
    wt_record record = {.size = sizeof record,
                        .hash = work->plan->cells[group->first + i].hash,
                        .experiment = group->experiment->name,
                        .parameters = parameters,
                        .seed = (int64_t)group->trial.seed,
                        .result_version = group->experiment->result_version,
                        .failed = metrics == NULL,
                        .message = message,
                        .metrics = metrics == NULL ? "{}" : numbers,
                        .wall_seconds = seconds,
                        .version = work->options->version,
                        .machine = work->options->machine,
                        .finished_date = date};
    WT_TRY(wt_store_put(work->context, work->store, &record));
done:
    wt_release(parameters);
    wt_release(numbers);
    return status;
}

/* Of cells begin .. end-1 of a group. */
static size_t wanted_of(const job *work, const wt_plan_group *group, size_t begin, size_t end) {
    size_t count = 0;
    for (size_t i = begin; i < end; i++)
        count += work->plan->cells[group->first + i].wanted;
    return count;
}

static void tell(job *work) {
    const wt_sweep_report *report = work->report;
    if (report->failed > 0)
        snprintf(work->what, sizeof work->what, "cells, %zu failed,", report->failed);
    wt_meter_set(&work->meter, (double)(report->done + report->failed));
}

static wt_status save(job *work) {
    wt_status status;
    WT_TRY(wt_store_commit(work->context, work->store));
    work->unsaved = 0;
    work->stored = *work->report;
done:
    return status;
}

/* Wanted cells begin .. end-1 of a group, by one worker at a time. */
static wt_status put_cells(job *work, wt_context *context, const wt_plan_group *group, size_t begin,
                           size_t end, const double *metrics, const char *message, double seconds) {
    size_t wanted = wanted_of(work, group, begin, end);
    char date[32];
    wt_status status = WT_OK;
    spell_now(date);
    for (size_t i = begin; i < end; i++)
        if (work->plan->cells[group->first + i].wanted)
            WT_TRY(put_cell(work, context, group, i, metrics, message, seconds / (double)wanted,
                            date));
    *(metrics == NULL ? &work->report->failed : &work->report->done) += wanted;
    work->unsaved += seconds;
    if (work->unsaved >= UNSAVED_SECONDS)
        WT_TRY(save(work));
    tell(work);
done:
    return status;
}

/* Computes the first `count` cells of a group. When that fails, the last of them, its largest n, is
 * put as failed, and `*done` is false: the others may do without it. */
static wt_status try_group(job *work, wt_context *context, const wt_plan_group *group, size_t count,
                           double *metrics, bool *done) {
    wt_trial trial = group->trial;
    char message[WT_MESSAGE_BYTES] = "";
    double began = wt_clock();
    trial.count = count;
    wt_status status = group->experiment->run(context, &trial, metrics);
    *done = status == WT_OK;
    if (status == WT_INTERRUPTED)
        return status;
    if (!*done)
        snprintf(message, sizeof message, "%s", wt_context_message(context));
    double seconds = wt_clock() - began;
    pthread_mutex_lock(&work->storing);
    status = work->broken ? WT_OK
                          : put_cells(work, context, group, *done ? 0 : count - 1, count,
                                      *done ? metrics : NULL, message, seconds);
    work->broken |= status != WT_OK;
    pthread_mutex_unlock(&work->storing);
    return status;
}

static wt_status run_group(job *work, const wt_plan_group *group, int worker) {
    wt_context *context = work->contexts[worker];
    size_t count = group->trial.count;
    double *metrics = NULL;
    bool done = false;
    wt_status status;
    WT_TRY(WT_NEW(context, &metrics, count * group->experiment->metric_count, "metrics"));
    for (; !done && wanted_of(work, group, 0, count) > 0; count--)
        WT_TRY(try_group(work, context, group, count, metrics, &done));
done:
    wt_release(metrics);
    return status;
}

static wt_status run_chunk(void *argument, size_t begin, size_t end, int worker) {
    job *work = argument;
    wt_status status = WT_OK;
    for (size_t i = begin; status == WT_OK && i < end; i++)
        status = run_group(work, &work->plan->groups[work->todo[i]], worker);
    return status;
}

/* Calls `take` with the meaning of every experiment of the plan. */
static wt_status each_meaning(wt_context *context, const wt_plan *plan, wt_store *store,
                              wt_status (*take)(wt_context *context, wt_store *store,
                                                const char *experiment, const char *meaning)) {
    const wt_experiment *last = NULL;
    char *meaning = NULL;
    wt_status status = WT_OK;
    for (size_t g = 0; g < plan->group_count; g++) {
        if (plan->groups[g].experiment == last)
            continue;
        last = plan->groups[g].experiment;
        wt_release(meaning);
        WT_TRY(wt_cell_meaning(context, last, &meaning));
        WT_TRY(take(context, store, last->name, meaning));
    }
done:
    wt_release(meaning);
    return status;
}

wt_status wt_sweep_check(wt_context *context, const wt_plan *plan, wt_store *store) {
    return each_meaning(context, plan, store, wt_store_agree);
}

static wt_status declare(job *work) {
    wt_status status;
    WT_TRY(each_meaning(work->context, work->plan, work->store, wt_store_declare));
    if (work->options->command != NULL)
        WT_TRY(wt_store_note(work->context, work->store, "command", work->options->command));
    if (work->options->sweep != NULL)
        WT_TRY(wt_store_note(work->context, work->store, "sweep", work->options->sweep));
    WT_TRY(wt_store_commit(work->context, work->store));
done:
    return status;
}

static wt_status list_groups(job *work, size_t *cells) {
    wt_status status;
    *cells = 0;
    WT_TRY(WT_NEW(work->context, &work->todo, work->plan->group_count, "groups"));
    for (size_t g = 0; g < work->plan->group_count; g++) {
        const wt_plan_group *group = &work->plan->groups[g];
        size_t wanted = wanted_of(work, group, 0, group->trial.count);
        if (wanted > 0)
            work->todo[work->todo_count++] = g;
        *cells += wanted;
    }
done:
    return status;
}

/* Each worker's part of the budget is its own; faults for tests stay with the caller's context. */
static wt_status open_contexts(job *work, size_t workers) {
    size_t budget = wt_context_memory(work->context);
    size_t part = budget > 0 && budget < workers ? 1 : budget / workers; /* 0 would be no limit */
    wt_status status;
    WT_TRY(WT_NEW_ZERO(work->context, &work->contexts, workers, "workers"));
    for (size_t i = 0; i < workers; i++) {
        if (wt_context_new(&work->contexts[i]) != WT_OK) {
            status = wt_fail(work->context, WT_MEMORY, "no memory for %zu workers", workers);
            goto done;
        }
        work->contexts[i]->parent = work->context;
        wt_context_set_memory(work->contexts[i], part);
        WT_TRY(wt_context_set_threads(work->contexts[i], 1));
    }
done:
    return status;
}

static void close_job(job *work, size_t workers) {
    for (size_t i = 0; work->contexts != NULL && i < workers; i++)
        wt_context_free(work->contexts[i]);
    wt_release(work->contexts);
    wt_release(work->todo);
    pthread_mutex_destroy(&work->storing);
}

/* The loop over groups, then a commit of what is left whatever ended it. */
static wt_status run_groups(job *work, size_t workers) {
    int threads = wt_context_threads(work->context);
    wt_status status, saved = WT_OK;
    WT_TRY(wt_context_set_threads(work->context, (int)workers));
    status = wt_parallel_for(work->context, work->todo_count, 1, run_chunk, work);
    (void)wt_context_set_threads(work->context, threads);
    if (!work->broken)
        saved = save(work);
    if (saved != WT_OK)
        status = saved;
    *work->report = work->stored; /* what could not be committed is not there */
done:
    return status;
}

wt_status wt_sweep_run(wt_context *context, wt_plan *plan, wt_store *store,
                       const wt_sweep_options *options, wt_sweep_report *report) {
    size_t workers = options->workers == 0 ? (size_t)wt_context_threads(context) : options->workers;
    size_t cells = 0;
    double began = wt_clock();
    job work = {.context = context,
                .plan = plan,
                .store = store,
                .options = options,
                .report = report,
                .what = "cells"};
    wt_status status;
    *report = (wt_sweep_report){0};
    if (workers > WT_MAX_THREADS)
        return wt_fail(context, WT_USAGE, "at most %d workers, not %zu", WT_MAX_THREADS, workers);
    if (pthread_mutex_init(&work.storing, NULL) != 0)
        return wt_fail(context, WT_INTERNAL, "no lock for the workers");
    WT_TRY(list_groups(&work, &cells));
    WT_TRY(declare(&work));
    if (cells == 0)
        goto done;
    workers = workers < work.todo_count ? workers : work.todo_count;
    WT_TRY(open_contexts(&work, workers));
    work.meter = wt_meter_start(context, work.what, (double)cells);
    status = run_groups(&work, workers);
    if (status == WT_INTERRUPTED)
        status = wt_fail(context, WT_INTERRUPTED,
                         "interrupted; %zu of %zu cells are in %s, and running again does the rest",
                         report->done + report->failed, cells, wt_store_shown(store));
done:
    report->seconds = wt_clock() - began;
    close_job(&work, workers);
    return status;
}
