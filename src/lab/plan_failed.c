/* The failed cells of a store as a plan. A group holds every n the store has of it, done or failed,
 * so that it is computed as it was the first time; the failed ones are wanted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/plan.h"

typedef struct {
    const wt_experiment *experiment;
    const json_t *object;
    char hash[WT_HASH_TEXT], group[WT_HASH_TEXT];
    uint64_t seed, rep;
    double size;
    bool failed;
} member;

typedef struct {
    wt_context *context;
    const wt_store *store;
    json_t *objects; /* owned by the plan */
    wt_value *values;
    member *members;
    size_t count, room, width; /* width: the most parameters of an experiment */
} gathering;

static wt_status read_member(gathering *all, const wt_record *record, member *out) {
    json_t *object = json_loads(record->parameters, 0, NULL);
    wt_trial trial = {.values = all->values, .seed = (uint64_t)record->seed};
    wt_status status;
    if (!json_is_object(object) || json_array_append_new(all->objects, object) != 0) {
        status = wt_fail(all->context, WT_DATA, "%s: the parameters of cell %.12s are not JSON",
                         wt_store_shown(all->store), record->hash);
        goto done;
    }
    const wt_experiment *experiment = out->experiment;
    WT_TRY(wt_cell_read(all->context, experiment, object, all->values, &trial.rep));
    out->object = object;
    out->seed = trial.seed;
    out->rep = trial.rep;
    out->failed = record->failed;
    if (experiment->group != NULL)
        out->size = all->values[wt_experiment_parameter(experiment, experiment->group)].number;
    snprintf(out->hash, sizeof out->hash, "%s", record->hash);
    WT_TRY(wt_plan_group_name(all->context, experiment, &trial, out->group));
done:
    return status;
}

static wt_status gather(void *user, const wt_record *record) {
    gathering *all = user;
    member *next = &all->members[all->count];
    if (all->count == all->room)
        return wt_fail(all->context, WT_DATA, "%s: grew while it was read",
                       wt_store_shown(all->store));
    *next = (member){.experiment = wt_experiment_find(record->experiment)};
    if (next->experiment == NULL)
        return wt_fail(all->context, WT_DATA, "%s: has cells of '%s', no experiment of this wattle",
                       wt_store_shown(all->store), record->experiment);
    all->count++;
    return read_member(all, record, next);
}

static int by_group(const void *a, const void *b) {
    const member *x = a, *y = b;
    int order = strcmp(x->group, y->group);
    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

/* Members begin .. end-1 are one group. */
static wt_status add_group(gathering *all, size_t begin, size_t end, double *sizes, wt_plan *plan) {
    const member *first = &all->members[begin];
    wt_value *values = plan->values + plan->group_count * all->width;
    wt_trial trial = {.values = values, .seed = first->seed, .sizes = sizes, .count = end - begin};
    wt_status status;
    WT_TRY(wt_cell_read(all->context, first->experiment, first->object, values, &trial.rep));
    for (size_t i = begin; i < end; i++)
        sizes[i - begin] = all->members[i].size;
    size_t place = plan->cell_count;
    WT_TRY(wt_plan_add(all->context, plan, first->experiment, trial));
    for (size_t i = begin; i < end; i++) {
        wt_plan_cell *cell = &plan->cells[place + i - begin];
        cell->wanted = all->members[i].failed;
        if (strcmp(cell->hash, all->members[i].hash) != 0) {
            status = wt_fail(all->context, WT_DATA,
                             "%s: cell %.12s should be called %.12s by its parameters",
                             wt_store_shown(all->store), all->members[i].hash, cell->hash);
            goto done;
        }
    }
done:
    return status;
}

static wt_status add_groups(gathering *all, wt_plan *plan) {
    double *sizes = NULL;
    wt_status status;
    WT_TRY(WT_NEW(all->context, &sizes, all->count, "sizes"));
    for (size_t begin = 0, end; begin < all->count; begin = end) {
        bool failed = false;
        for (end = begin;
             end < all->count && strcmp(all->members[end].group, all->members[begin].group) == 0;
             end++)
            failed |= all->members[end].failed;
        if (failed)
            WT_TRY(add_group(all, begin, end, sizes, plan));
    }
done:
    wt_release(sizes);
    return status;
}

wt_status wt_plan_failed(wt_context *context, wt_store *store, wt_plan *out) {
    gathering all = {.context = context, .store = store};
    wt_store_count count;
    const wt_experiment *one;
    wt_status status;
    *out = (wt_plan){.objects = json_array()};
    all.objects = out->objects;
    for (size_t i = 0; (one = wt_experiment_at(i)) != NULL; i++)
        all.width = one->parameter_count > all.width ? one->parameter_count : all.width;
    WT_TRY(wt_store_counts(context, store, &count));
    all.room = count.done + count.failed;
    WT_TRY(WT_NEW(context, &all.members, all.room, "cells"));
    WT_TRY(WT_NEW(context, &all.values, all.width, "values"));
    WT_TRY(wt_store_walk(context, store, NULL, gather, &all));
    qsort(all.members, all.count, sizeof *all.members, by_group);
    WT_TRY(WT_NEW(context, &out->values, count.failed * all.width, "values"));
    WT_TRY(wt_plan_reserve(context, out, count.failed, all.count));
    WT_TRY(add_groups(&all, out));
done:
    wt_release(all.members);
    wt_release(all.values);
    return status;
}
