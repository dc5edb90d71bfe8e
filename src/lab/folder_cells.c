/* What the stores of a folder have of a sweep. */
#define _GNU_SOURCE /* timegm, strptime */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lab/folder.h"

static uint32_t hash_of(const char *name) {
    return wt_slots_hash(0, name, WT_HASH_TEXT - 1);
}

/* The cell of that name; SIZE_MAX = none of the plan's. */
static size_t find_cell(const wt_folder_cells *cells, const char *name) {
    uint32_t hash = hash_of(name), number;
    size_t cursor = wt_slots_start(&cells->index, hash);
    while (wt_slots_next(&cells->index, hash, &cursor, &number))
        if (strcmp(cells->plan->cells[number].hash, name) == 0)
            return number;
    return SIZE_MAX;
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
        cells->recent_cost += cells->cost[cell];
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

static wt_status prepare(wt_folder_cells *cells) {
    wt_plan *plan = cells->plan;
    WT_PASS(WT_NEW_ZERO(cells->context, &cells->found, plan->cell_count, "cells"));
    WT_PASS(WT_NEW_ZERO(cells->context, &cells->cost, plan->cell_count, "cells"));
    for (size_t i = 0; i < plan->cell_count; i++)
        WT_PASS(
            wt_slots_add(cells->context, &cells->index, hash_of(plan->cells[i].hash), (uint32_t)i));
    for (size_t g = 0; g < plan->group_count; g++) {
        const wt_plan_group *group = &plan->groups[g];
        size_t count = group->trial.count;
        wt_cost cost;
        if (group->follows)
            continue;
        WT_PASS(wt_plan_group_cost(cells->context, group, &cost));
        double each = cost.flops / (double)wt_plan_wanted(plan, group, 0, count);
        for (const wt_plan_group *at = group; at != NULL; at = wt_plan_next(plan, at))
            for (size_t i = 0; i < count; i++)
                cells->cost[at->first + i] = each;
    }
    return WT_OK;
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
        out->plan->cells[i].wanted = out->found[i] == WT_CELL_MISSING;
        out->done += out->found[i] == WT_CELL_DONE;
        out->failed += out->found[i] == WT_CELL_FAILED;
    }
    return WT_OK;
}

void wt_folder_cells_free(wt_folder_cells *cells) {
    wt_plan_free(cells->plan);
    wt_slots_free(&cells->index);
    wt_release(cells->found);
    wt_release(cells->cost);
    wt_deal_free(&cells->deal);
}
