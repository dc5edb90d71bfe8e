/* What the stores of a folder have of a sweep. */
#define _GNU_SOURCE /* timegm, strptime */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lab/folder.h"

static int by_name(const void *left, const void *right) {
    const wt_named_cell *a = left, *b = right;
    if (a->head != b->head)
        return a->head < b->head ? -1 : 1;
    return (a->next > b->next) - (a->next < b->next);
}

/* Its first digits as numbers; a name that is shorter is none of a plan's. */
static bool read_name(const char *name, wt_named_cell *out) {
    char head[17], next[9];
    if (strlen(name) != WT_HASH_TEXT - 1)
        return false;
    snprintf(head, sizeof head, "%.16s", name);
    snprintf(next, sizeof next, "%.8s", name + 16);
    out->head = strtoull(head, NULL, 16);
    out->next = (uint32_t)strtoul(next, NULL, 16);
    return true;
}

/* The cell of that name; SIZE_MAX = none of the plan's. */
static size_t find_cell(const wt_folder_cells *cells, const char *name) {
    wt_named_cell wanted;
    const wt_named_cell *found =
        read_name(name, &wanted) && cells->plan->cell_count > 0
            ? bsearch(&wanted, cells->index, cells->plan->cell_count, sizeof wanted, by_name)
            : NULL;
    return found == NULL ? SIZE_MAX : found->cell;
}

double wt_folder_cell_cost(const wt_folder_cells *cells, size_t cell) {
    const wt_plan *plan = cells->plan;
    return cells->cost[wt_plan_setting(plan, cell / plan->groups->trial.count)];
}

static double read_date(const char *text) {
    struct tm date = {0};
    return strptime(text, "%Y-%m-%dT%H:%M:%SZ", &date) == NULL ? NAN : (double)timegm(&date);
}

static wt_status take_cell(void *user, const wt_record *record) {
    wt_folder_cells *cells = user;
    size_t cell = find_cell(cells, record->hash);
    if (cell == SIZE_MAX)
        return WT_OK;
    unsigned char *found = &cells->found[cell];
    if (cells->counts_recent && *found == WT_CELL_MISSING) {
        cells->recent++;
        cells->recent_cost += wt_folder_cell_cost(cells, cell);
        cells->began = fmin(cells->began, read_date(record->finished_date) - record->wall_seconds);
    }
    if (*found != WT_CELL_DONE)
        *found = record->failed ? WT_CELL_FAILED : WT_CELL_DONE;
    return WT_OK;
}

/* Of a store that is there, and is more than a file somebody has just begun. */
static wt_status look_at(wt_folder_cells *cells, const char *path) {
    struct stat about;
    wt_store *store = NULL;
    wt_status status;
    if (stat(path, &about) != 0 || about.st_size == 0)
        return WT_OK;
    WT_TRY(wt_store_open(cells->context, path, WT_STORE_MODE_READ, &store));
    WT_TRY(wt_plan_meanings(cells->context, cells->plan, store, wt_store_agree));
    WT_TRY(wt_store_walk(cells->context, store, NULL, take_cell, cells));
done:
    wt_store_free(store);
    return status;
}

/* Stores of tasks that cannot be read are those of tasks that found nothing. */
static wt_status look_at_all(wt_folder_cells *cells, const wt_folder *folder) {
    char path[WT_FOLDER_PATH];
    size_t last = SIZE_MAX; /* first task of the last round */
    for (size_t i = 0; i < folder->job_count; i++)
        if (!folder->jobs[i].merges && folder->jobs[i].round == folder->rounds &&
            folder->jobs[i].first < last)
            last = folder->jobs[i].first;
    wt_folder_file(folder, path, "results.db");
    WT_PASS(look_at(cells, path));
    for (size_t task = 1; task <= folder->tasks; task++) {
        WT_PASS(wt_context_check_cancelled(cells->context));
        wt_folder_file(folder, path, "parts/%06zu.db", task);
        cells->counts_recent = task >= last;
        wt_status status = look_at(cells, path);
        if (status != WT_OK && status != WT_DATA)
            return status;
        if (status == WT_DATA)
            wt_remark(cells->context, "%s; it is left out", wt_context_message(cells->context));
    }
    return WT_OK;
}

static wt_status name_cells(wt_folder_cells *cells) {
    const wt_plan *plan = cells->plan;
    wt_cell_form form = {0};
    wt_status status;
    WT_TRY(WT_NEW(cells->context, &cells->index, plan->cell_count, "cells"));
    for (size_t g = 0; g < plan->group_count; g++) {
        const wt_plan_group group = wt_plan_at(plan, g);
        for (size_t i = 0; i < group.trial.count; i++) {
            wt_named_cell *next = &cells->index[group.first + i];
            char hash[WT_HASH_TEXT];
            WT_TRY(wt_context_check_cancelled(cells->context));
            WT_TRY(wt_plan_name(cells->context, &group, i, &form, hash));
            (void)read_name(hash, next);
            next->cell = (uint32_t)(group.first + i);
        }
    }
    if (plan->cell_count > 0)
        qsort(cells->index, plan->cell_count, sizeof *cells->index, by_name);
done:
    wt_cell_form_free(&form);
    return status;
}

/* Of the settings, by the first draw of each. */
static wt_status find_costs(wt_folder_cells *cells) {
    const wt_plan *plan = cells->plan;
    const size_t settings = plan->group_count / plan->draws;
    wt_known_cost known = {0};
    WT_PASS(WT_NEW(cells->context, &cells->cost, settings, "settings"));
    for (size_t s = 0; s < settings; s++) {
        const wt_plan_group group = wt_plan_at(plan, s * plan->draws);
        const size_t count = group.trial.count;
        wt_cost cost;
        if (group.follows)
            continue;
        WT_PASS(wt_plan_group_cost(cells->context, &group, &known, &cost));
        double each = cost.flops / (double)wt_plan_wanted(plan, &group, 0, count);
        for (wt_plan_group at = group; at.experiment != NULL; at = wt_plan_next(plan, &at))
            cells->cost[at.first / count / plan->draws] = each;
    }
    return WT_OK;
}

static wt_status prepare(wt_folder_cells *cells) {
    WT_PASS(WT_NEW_ZERO(cells->context, &cells->found, cells->plan->cell_count, "cells"));
    WT_PASS(name_cells(cells));
    return find_costs(cells);
}

wt_status wt_folder_cells_find(wt_context *context, const wt_folder *folder,
                               const wt_sweep_spec *spec, wt_folder_cells *out) {
    char path[WT_FOLDER_PATH];
    *out = (wt_folder_cells){.context = context, .began = INFINITY};
    WT_PASS(wt_plan_new(context, spec, (wt_shard){0, 1}, &out->plan));
    WT_PASS(prepare(out));
    for (size_t round = 1; round <= folder->rounds; round++) {
        wt_folder_file(folder, path, "deal-%zu.txt", round);
        WT_PASS(wt_deal_read(context, path, &out->deal));
    }
    WT_PASS(look_at_all(out, folder));
    for (size_t i = 0; i < out->plan->cell_count; i++) {
        out->plan->wanted[i] = out->found[i] == WT_CELL_MISSING;
        out->done += out->found[i] == WT_CELL_DONE;
        out->failed += out->found[i] == WT_CELL_FAILED;
    }
    return WT_OK;
}

void wt_folder_cells_free(wt_folder_cells *cells) {
    wt_plan_free(cells->plan);
    wt_release(cells->index);
    wt_release(cells->found);
    wt_release(cells->cost);
    wt_deal_free(&cells->deal);
}
