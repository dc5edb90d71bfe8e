/* How far the tasks of a folder have come, and what they found in one store. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/sized.h"
#include "lab/folder.h"
#include "wattle/output.h"

/* Tasks of this machine are under way while the process that started them holds the folder. */
static wt_status ask_local(wt_context *context, const wt_folder *folder, wt_task_state *states) {
    char path[WT_FOLDER_PATH];
    wt_lock *lock = NULL;
    wt_folder_file(folder, path, "jobs.csv");
    wt_status status = wt_lock_open(context, path, &lock);
    wt_lock_free(lock);
    if (status != WT_CANNOT_CREATE)
        return status;
    for (size_t i = 0; i < folder->job_count; i++) {
        const wt_folder_job *job = &folder->jobs[i];
        for (size_t k = 0; job->local && job->round == folder->rounds && k < job->tasks; k++)
            states[job->first + k].active = true;
    }
    return WT_OK;
}

wt_status wt_folder_ask(wt_context *context, wt_folder *folder, bool held, wt_task_state *states,
                        bool *answered) {
    bool local = false, slurm = false;
    for (size_t i = 0; i < folder->job_count; i++) {
        local |= folder->jobs[i].local && folder->jobs[i].round == folder->rounds;
        slurm |= !folder->jobs[i].local && strcmp(folder->jobs[i].job, "-") != 0;
    }
    *answered = true;
    if (slurm)
        WT_PASS(wt_slurm_ask(context, folder, states, answered));
    return local && !held ? ask_local(context, folder, states) : WT_OK;
}

/* Tasks whose groups have cells that no store has. */
static wt_status mark_incomplete(wt_context *context, const wt_folder_cells *cells, size_t tasks,
                                 bool *incomplete) {
    const wt_plan *plan = cells->plan;
    wt_cell_form form = {.part = WT_CELL_TOGETHER};
    wt_status status = WT_OK;
    for (size_t g = 0; g < plan->group_count; g++) {
        const wt_plan_group group = wt_plan_at(plan, g);
        char name[WT_HASH_TEXT];
        if (group.follows || wt_plan_wanted(plan, &group, 0, group.trial.count) == 0)
            continue;
        WT_TRY(wt_plan_name(context, &group, 0, &form, name));
        size_t task = wt_deal_task(&cells->deal, name);
        if (task <= tasks)
            incomplete[task] = true;
    }
done:
    wt_cell_form_free(&form);
    return status;
}

/* Tasks of which a later round has groups; those of a round that was refused are among them. */
static void mark_again(const wt_folder_cells *cells, size_t tasks, bool *again) {
    for (size_t i = 0; i < cells->deal.count; i++) {
        size_t task = cells->deal.groups[i].task;
        if (task <= tasks && !wt_deal_is_last(&cells->deal, i))
            again[task] = true;
    }
}

static void count_state(wt_folder_state *out, const char *text) {
    size_t i = 0;
    while (i < out->state_count && strcmp(out->states[i].state, text) != 0)
        i++;
    if (i == WT_TASK_STATES)
        i--; /* there are not as many words */
    if (i == out->state_count)
        snprintf(out->states[out->state_count++].state, WT_TASK_STATE_TEXT, "%s", text);
    out->states[i].tasks++;
}

static void estimate(const wt_folder_cells *cells, wt_folder_state *out) {
    const wt_plan *plan = cells->plan;
    double took = (double)time(NULL) - cells->began, cost = 0, count = 0;
    out->rate = out->left = NAN;
    if (cells->recent == 0 || !(took > 0) || out->active == 0)
        return;
    for (size_t i = 0; i < plan->cell_count; i++)
        if (plan->wanted[i]) {
            cost += wt_folder_cell_cost(cells, i);
            count++;
        }
    bool known = isfinite(cost) && cells->recent_cost > 0;
    out->rate = (double)cells->recent / took;
    out->left = known ? took * cost / cells->recent_cost : count / out->rate;
}

static wt_status look(wt_context *context, wt_folder *folder, wt_folder_cells *cells,
                      wt_folder_state *out) {
    wt_arena arena = wt_arena_start(context, "the states of tasks");
    wt_task_state *states = WT_TAKE_ZERO(&arena, wt_task_state, folder->tasks + 1);
    bool *incomplete = WT_TAKE_ZERO(&arena, bool, folder->tasks + 1);
    bool *again = WT_TAKE_ZERO(&arena, bool, folder->tasks + 1);
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(wt_folder_ask(context, folder, false, states, &out->scheduler));
    WT_TRY(mark_incomplete(context, cells, folder->tasks, incomplete));
    mark_again(cells, folder->tasks, again);
    for (size_t task = 1; task <= folder->tasks; task++) {
        const char *text = states[task].text;
        if (*text == '\0')
            text = incomplete[task] && states[task].active ? "under way"
                   : incomplete[task]                      ? "incomplete"
                   : again[task]                           ? "resubmitted"
                                                           : "complete";
        count_state(out, text);
        out->active += states[task].active && (states[task].text[0] != '\0' || incomplete[task]);
    }
    out->cells = cells->plan->cell_count;
    out->done = cells->done;
    out->failed = cells->failed;
    out->tasks = folder->tasks;
    estimate(cells, out);
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_folder_look(wt_context *context, const char *path, wt_folder_state *given) {
    wt_folder folder;
    wt_folder_cells cells = {0};
    wt_sweep_spec *spec = NULL;
    wt_folder_state out = {.size = sizeof out};
    char file[WT_FOLDER_PATH];
    wt_status status;
    WT_TRY(wt_folder_open(context, path, true, &folder));
    WT_TRY(wt_sized_check(context, "wt_folder_state", given, sizeof out));
    wt_folder_file(&folder, file, "sweep.ini");
    WT_TRY(wt_sweep_spec_load(context, file, &spec));
    WT_TRY(wt_folder_cells_find(context, &folder, spec, &cells));
    WT_TRY(look(context, &folder, &cells, &out));
    wt_sized_write(given, &out, sizeof out);
done:
    wt_folder_cells_free(&cells);
    wt_sweep_spec_free(spec);
    wt_folder_free(&folder);
    return status;
}

static wt_status merge_part(wt_context *context, wt_store *into, const char *path,
                            wt_merge_report *sum) {
    wt_merge_report report = WT_SIZED(wt_merge_report);
    struct stat about;
    wt_store *from = NULL;
    wt_status status;
    if (stat(path, &about) != 0 || about.st_size == 0)
        return WT_OK;
    status = wt_store_open(context, path, WT_STORE_MODE_COPY, &from);
    if (status == WT_OK)
        status = wt_store_merge(context, into, from, &report);
    if (status == WT_DATA) { /* what was taken of it is not kept */
        wt_remark(context, "%s; %s is left out", wt_context_message(context), path);
        status = WT_OK;
        goto done;
    }
    WT_TRY(status);
    sum->added += report.added;
    sum->known += report.known;
    sum->mended += report.mended;
    sum->differs += report.differs;
    sum->disputed += report.disputed;
done:
    wt_store_free(from);
    return status;
}

wt_status wt_folder_merge(wt_context *context, const char *path, wt_merge_report *out) {
    wt_folder folder;
    wt_store *into = NULL;
    wt_merge_report sum = {.size = sizeof sum};
    char name[WT_FOLDER_PATH];
    wt_status status;
    WT_TRY(wt_folder_open(context, path, true, &folder));
    WT_TRY(wt_sized_check(context, "wt_merge_report", out, sizeof sum));
    wt_folder_file(&folder, name, "results.db");
    WT_TRY(wt_store_open(context, name, WT_STORE_MODE_CREATE, &into));
    for (size_t task = 1; task <= folder.tasks; task++) {
        wt_folder_file(&folder, name, "parts/%06zu.db", task);
        WT_TRY(merge_part(context, into, name, &sum));
    }
    wt_sized_write(out, &sum, sizeof sum);
done:
    wt_store_free(into);
    wt_folder_free(&folder);
    return status;
}
