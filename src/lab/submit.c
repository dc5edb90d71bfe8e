#define _POSIX_C_SOURCE 200809L
#include "wattle/submit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sized.h"
#include "device/device.h"
#include "lab/slurm.h"
#include "lab/spec.h"
#include "wattle/output.h"

/* Groups to be computed, one of each that are computed together. */
typedef struct {
    uint32_t *groups; /* their numbers in the plan */
    double *costs;
    uint32_t *task;
    size_t count;
} units;

void wt_submit_options_init(wt_submit_options *options, size_t size) {
    wt_submit_options full = {.size = size, .cpus = 1};
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

static wt_status make_one(wt_context *context, const char *path) {
    struct stat about;
    int code = mkdir(path, 0777) == 0 ? 0 : errno;
    return code == 0 || (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
               ? WT_OK
               : wt_fail(context, WT_CANNOT_CREATE, "%s: cannot be made: %s", path, strerror(code));
}

/* With the folders it is in. */
static wt_status make_folder(wt_context *context, const wt_folder *folder, const char *name) {
    char path[WT_FOLDER_PATH];
    wt_folder_file(folder, path, "%s", name);
    for (char *slash = path; (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
        *slash = '\0';
        WT_PASS(make_one(context, path));
    }
    return make_one(context, path);
}

/* What is missing and in no task's hands. */
static wt_status list_units(const wt_submission *work, wt_folder_cells *cells,
                            const wt_task_state *states, wt_arena *arena, units *out) {
    const wt_plan *plan = cells->plan;
    wt_cell_form form = {.part = WT_CELL_TOGETHER};
    wt_known_cost known = {0};
    wt_status status;
    out->groups = WT_TAKE(arena, uint32_t, plan->group_count);
    out->costs = WT_TAKE(arena, double, plan->group_count);
    out->task = WT_TAKE(arena, uint32_t, plan->group_count);
    WT_TRY(arena->status);
    for (size_t g = 0; g < plan->group_count; g++) {
        const wt_plan_group group = wt_plan_at(plan, g);
        size_t wanted = wt_plan_wanted(plan, &group, 0, group.trial.count), task;
        char name[WT_HASH_TEXT];
        wt_cost cost;
        WT_TRY(wt_context_check_cancelled(work->context));
        if (group.follows || wanted == 0)
            continue;
        WT_TRY(wt_plan_name(work->context, &group, 0, &form, name));
        task = wt_deal_task(&cells->deal, name);
        if (task <= work->folder->tasks && states[task].active) {
            work->report->under_way += wanted;
            continue;
        }
        WT_TRY(wt_plan_group_cost(work->context, &group, &known, &cost));
        out->groups[out->count] = (uint32_t)g;
        out->costs[out->count++] = cost.flops;
        work->report->wanted += wanted;
        if (isnan(cost.bytes) || cost.bytes > work->report->bytes)
            work->report->bytes = cost.bytes;
    }
done:
    wt_cell_form_free(&form);
    return status;
}

/* Which unit is whose, by their names. */
static wt_status note_tasks(const wt_submission *work, const wt_plan *plan, const units *all,
                            wt_deal *out) {
    wt_cell_form form = {.part = WT_CELL_TOGETHER};
    wt_status status = WT_OK;
    for (size_t i = 0; i < all->count; i++) {
        const wt_plan_group group = wt_plan_at(plan, all->groups[i]);
        char name[WT_HASH_TEXT];
        WT_TRY(wt_plan_name(work->context, &group, 0, &form, name));
        WT_TRY(wt_deal_add(work->context, out, name, work->first + all->task[i]));
    }
done:
    wt_cell_form_free(&form);
    return status;
}

static wt_status deal(wt_submission *work, const wt_plan *plan, const units *all, wt_arena *arena,
                      wt_deal *out) {
    wt_submit_report *report = work->report;
    double rate, known = 0, *loads = WT_TAKE(arena, double, work->tasks);
    WT_PASS(arena->status);
    WT_PASS(wt_deal_balance(work->context, all->costs, all->count, work->tasks, all->task, loads));
    if (work->preview == NULL)
        WT_PASS(note_tasks(work, plan, all, out));
    WT_PASS(wt_sweep_rate(work->context, &rate));
    for (size_t i = 0; i < all->count; i++)
        known += all->costs[i];
    double speed = rate * (double)work->options->cpus;
    for (size_t i = 0; i < work->tasks; i++)
        report->seconds = fmax(report->seconds, loads[i] / speed);
    report->work = known / speed;
    if (!isfinite(known) || !(known > 0))
        report->seconds = report->work = NAN;
    report->bytes *= (double)work->options->cpus;
    report->tasks = work->tasks;
    return WT_OK;
}

/* The file that tasks read. Those of another sweep that still wait would read this one. */
static wt_status write_sweep(const wt_submission *work, const wt_sweep_spec *spec, bool active) {
    wt_script text = {.context = work->context}, words = {.context = work->context};
    char *line = NULL, path[WT_FOLDER_PATH];
    wt_sweep_spec *before = NULL;
    char *line_before = NULL;
    struct stat about;
    wt_status status;
    WT_TRY(wt_sweep_spec_line(work->context, spec, &line));
    wt_sweep_spec_write(&text, line);
    wt_sweep_spec_words(&words, line);
    WT_TRY(words.status);
    if (words.length > 0)
        WT_TRY(wt_fail(work->context, WT_USAGE,
                       "'%.80s..' is too long for a line of sweep.ini, %d characters: write it as "
                       "a grid",
                       words.text + 1, WT_SPEC_LINE));
    wt_folder_file(work->folder, path, "sweep.ini");
    if (active && stat(path, &about) == 0) {
        WT_TRY(wt_sweep_spec_load(work->context, path, &before));
        WT_TRY(wt_sweep_spec_line(work->context, before, &line_before));
        if (strcmp(line, line_before) != 0)
            WT_TRY(wt_fail(work->context, WT_CANNOT_CREATE,
                           "%s: tasks of another sweep are under way there: wait for them, cancel "
                           "them (scancel), or take another folder",
                           work->folder->path));
    }
    if (work->preview == NULL)
        WT_TRY(wt_folder_write(work->context, work->folder, "sweep.ini", &text));
done:
    wt_sweep_spec_free(before);
    wt_release(line);
    wt_release(line_before);
    wt_script_free(&text);
    wt_script_free(&words);
    return status;
}

static wt_status write_round(const wt_submission *work, const wt_deal *dealt) {
    wt_script task = {.context = work->context}, merge = {.context = work->context};
    char path[WT_FOLDER_PATH];
    wt_status status;
    WT_TRY(wt_submit_scripts(work, &task, &merge));
    if (work->preview != NULL) {
        wt_script_add(work->preview, "\n# task.sh\n%s\n# merge.sh\n%s", task.text, merge.text);
        WT_TRY(work->preview->status);
        goto done;
    }
    wt_folder_file(work->folder, path, "deal-%zu.txt", work->folder->rounds);
    WT_TRY(wt_deal_write(work->context, dealt, path));
    WT_TRY(wt_folder_write(work->context, work->folder, "task.sh", &task));
    WT_TRY(wt_folder_write(work->context, work->folder, "merge.sh", &merge));
done:
    wt_script_free(&task);
    wt_script_free(&merge);
    return status;
}

static wt_status launch(wt_submission *work) {
    return work->options->launcher == WT_LAUNCHER_LOCAL ? wt_local_launch(work)
                                                        : wt_slurm_launch(work);
}

/* The states of tasks before; it must be known which of them still run. */
static wt_status ask(const wt_submission *work, wt_arena *arena, wt_task_state **states,
                     bool *active) {
    bool answered;
    *states = WT_TAKE_ZERO(arena, wt_task_state, work->folder->tasks + 1);
    WT_PASS(arena->status);
    WT_PASS(wt_folder_ask(work->context, work->folder, work->preview == NULL, *states, &answered));
    if (!answered && work->preview == NULL)
        return wt_fail(work->context, WT_UNAVAILABLE,
                       "whether tasks of %s still run is not known: %s", work->folder->path,
                       wt_context_message(work->context));
    *active = false;
    for (size_t i = 1; i <= work->folder->tasks; i++)
        *active |= (*states)[i].active;
    return WT_OK;
}

static wt_status submit(wt_submission *work, const wt_sweep_spec *spec) {
    wt_arena arena = wt_arena_start(work->context, "a submission");
    wt_folder_cells cells = {0};
    wt_task_state *states = NULL;
    wt_deal dealt = {0};
    units all = {0};
    bool active = false;
    wt_status status;
    WT_TRY(ask(work, &arena, &states, &active));
    WT_TRY(wt_folder_cells_find(work->context, work->folder, spec, &cells));
    work->report->cells = cells.plan->cell_count;
    work->report->done = cells.done;
    work->report->failed = cells.failed;
    WT_TRY(write_sweep(work, spec, active));
    WT_TRY(list_units(work, &cells, states, &arena, &all));
    if (all.count == 0)
        goto done;
    work->first = work->folder->tasks + 1;
    work->tasks = work->options->tasks < all.count ? work->options->tasks : all.count;
    work->folder->rounds++;
    WT_TRY(deal(work, cells.plan, &all, &arena, &dealt));
    wt_folder_cells_free(&cells);
    cells = (wt_folder_cells){0};
    if (work->preview == NULL)
        WT_TRY(write_round(work, &dealt));
    WT_TRY(launch(work));
    if (work->preview != NULL)
        WT_TRY(write_round(work, &dealt));
done:
    wt_deal_free(&dealt);
    wt_folder_cells_free(&cells);
    wt_arena_free(&arena);
    return status;
}

static wt_status check_options(wt_context *context, const wt_submit_options *given) {
    size_t index;
    WT_PASS(wt_check_choice(context, "launcher", (int)given->launcher, WT_LAUNCHER_LOCAL + 1));
    if (given->tasks == 0 || given->cpus == 0)
        return wt_fail(context, WT_USAGE, "a submission needs a number of tasks, and processors");
    if (given->tasks > WT_PLAN_MOST || given->cpus > WT_MAX_THREADS)
        return wt_fail(context, WT_USAGE, "at most %d tasks of %d processors", WT_PLAN_MOST,
                       WT_MAX_THREADS);
    if (given->program == NULL || given->program[0] != '/')
        return wt_fail(context, WT_USAGE, "tasks need the absolute path of the command");
    if (given->device != NULL) /* that the nodes have it is not known here */
        WT_PASS(wt_device_check_name(context, given->device, &index));
    return wt_slurm_check_words(context, given->extra);
}

static wt_status begin(wt_context *context, const wt_sweep_spec *spec, const char *path,
                       const wt_submit_options *given, wt_submit_report *out, wt_script *preview) {
    wt_submit_options options;
    wt_submit_report report = {.size = sizeof report};
    wt_folder folder = {0};
    wt_lock *lock = NULL;
    char table[WT_FOLDER_PATH];
    wt_submission work = {.context = context,
                          .options = &options,
                          .folder = &folder,
                          .report = &report,
                          .preview = preview};
    wt_status status;
    WT_INIT(wt_submit_options, &options);
    WT_TRY(wt_sized_read(context, "wt_submit_options", given, &options, sizeof options));
    WT_TRY(wt_sized_check(context, "wt_submit_report", out, sizeof report));
    WT_TRY(check_options(context, &options));
    WT_TRY(wt_folder_open(context, path, false, &folder));
    if (options.launcher == WT_LAUNCHER_SLURM)
        WT_TRY(wt_slurm_find_limits(&work));
    if (preview == NULL) {
        WT_TRY(make_folder(context, &folder, ""));
        WT_TRY(make_folder(context, &folder, "parts"));
        WT_TRY(make_folder(context, &folder, "logs"));
        wt_folder_file(&folder, table, "jobs.csv");
        WT_TRY(wt_lock_open(context, table, &lock));
        wt_folder_free(&folder);
        WT_TRY(wt_folder_open(context, path, false, &folder)); /* as it is under the lock */
    }
    WT_TRY(submit(&work, spec));
done:
    if (status == WT_OK || status == WT_INTERRUPTED)
        wt_sized_write(out, &report, sizeof report);
    wt_lock_free(lock);
    wt_folder_free(&folder);
    return status;
}

wt_status wt_sweep_submit(wt_context *context, const wt_sweep_spec *spec, const char *folder,
                          const wt_submit_options *options, wt_submit_report *report) {
    return begin(context, spec, folder, options, report, NULL);
}

wt_status wt_sweep_submit_preview(wt_context *context, const wt_sweep_spec *spec,
                                  const char *folder, const wt_submit_options *options,
                                  wt_submit_report *report, char **text) {
    wt_script preview = {.context = context};
    *text = NULL;
    wt_status status = begin(context, spec, folder, options, report, &preview);
    if (status == WT_OK) {
        *text = preview.text;
        preview.text = NULL;
    }
    wt_script_free(&preview);
    return status;
}
