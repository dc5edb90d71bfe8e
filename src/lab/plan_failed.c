/* The failed cells of a store as a plan. A group holds every n the store has of it, done or failed,
 * and comes with those that it is computed together with, so that it is computed as it was the
 * first time; the failed ones are wanted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/plan.h"

typedef struct {
    char name[WT_HASH_TEXT];
} group_name;

typedef struct {
    const wt_experiment *experiment;
    const json_t *object;
    char hash[WT_HASH_TEXT];
    group_name group, together; /* together: of all groups that were computed in one call */
    uint64_t seed, rep;
    double size;
    bool failed;
} member;

typedef struct {
    wt_context *context;
    const wt_store *store;
    json_t *objects;    /* owned by the plan */
    wt_value *values;   /* of one cell */
    wt_value *settings; /* (groups) of the plan */
    double *sizes;      /* (cells) of the plan */
    group_name *failed; /* of calls with a failed cell, in order when all are known */
    size_t failed_count, failed_room;
    member *members;
    size_t count, room, width; /* width: the most parameters of an experiment */
} gathering;

/* What is wrong with the parameters of a cell, with file and cell. */
static wt_status blame(const gathering *all, const wt_record *record, wt_status status) {
    if (status != WT_DATA)
        return status;
    return wt_fail(all->context, WT_DATA, "%s: is damaged: cell %.12s: %s",
                   wt_store_path(all->store), record->hash, wt_context_message(all->context));
}

/* Of all cells that differ in the parameters alone that the part leaves out. */
static wt_status name_part(const gathering *all, const wt_experiment *experiment,
                           const wt_trial *trial, wt_cell_part part, char out[WT_HASH_TEXT]) {
    char *text = NULL;
    wt_status status;
    WT_TRY(wt_cell_parameters(all->context, experiment, trial, 0, part, &text));
    WT_TRY(wt_cell_hash(all->context, experiment, text, trial->seed, out));
done:
    wt_release(text);
    return status;
}

/* The cell without its hash; *object is to be released, also when it fails. */
static wt_status read_member(gathering *all, const wt_record *record, json_t **object,
                             member *out) {
    wt_trial trial = {.values = all->values, .seed = (uint64_t)record->seed};
    const wt_experiment *experiment = wt_experiment_find(record->experiment);
    *object = NULL;
    if (experiment == NULL)
        return wt_fail(all->context, WT_DATA, "%s: has cells of '%s', no experiment of this wattle",
                       wt_store_path(all->store), record->experiment);
    *object = json_loads(record->parameters, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(*object))
        return blame(all, record, wt_fail(all->context, WT_DATA, "its parameters are not JSON"));
    WT_PASS(blame(all, record,
                  wt_cell_read(all->context, experiment, *object, all->values, &trial.rep)));
    *out = (member){.experiment = experiment,
                    .object = *object,
                    .seed = trial.seed,
                    .rep = trial.rep,
                    .failed = record->failed};
    if (experiment->group != NULL)
        out->size = all->values[wt_experiment_parameter(experiment, experiment->group)].number;
    WT_PASS(name_part(all, experiment, &trial, WT_CELL_GROUP, out->group.name));
    return name_part(all, experiment, &trial, WT_CELL_TOGETHER, out->together.name);
}

/* First pass: the groups that failed cells are of. */
static wt_status note_failed(void *user, const wt_record *record) {
    gathering *all = user;
    json_t *object = NULL;
    member one;
    wt_status status = WT_OK;
    if (!record->failed)
        return status;
    WT_TRY(read_member(all, record, &object, &one));
    WT_TRY(WT_GROW(all->context, &all->failed, all->failed_count, &all->failed_room, "groups"));
    all->failed[all->failed_count++] = one.together;
done:
    json_decref(object);
    return status;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const group_name *)a)->name, ((const group_name *)b)->name);
}

/* Second pass: all cells of these groups. */
static wt_status gather(void *user, const wt_record *record) {
    gathering *all = user;
    json_t *object = NULL;
    member one;
    wt_status status;
    WT_TRY(wt_context_check_cancelled(all->context));
    WT_TRY(read_member(all, record, &object, &one));
    if (bsearch(&one.together, all->failed, all->failed_count, sizeof *all->failed, by_name) ==
        NULL)
        goto done;
    snprintf(one.hash, sizeof one.hash, "%s", record->hash);
    WT_TRY(WT_GROW(all->context, &all->members, all->count, &all->room, "cells"));
    if (json_array_append(all->objects, object) != 0) {
        status = wt_fail(all->context, WT_MEMORY, "no memory for the parameters of a cell");
        goto done;
    }
    all->members[all->count++] = one;
done:
    json_decref(object);
    return status;
}

static int by_group(const void *a, const void *b) {
    const member *x = a, *y = b;
    int order = by_name(&x->group, &y->group);
    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

/* Members begin .. end-1 are one group. */
static wt_status add_group(gathering *all, size_t begin, size_t end, wt_plan *plan) {
    const member *first = &all->members[begin];
    double *sizes = all->sizes + begin;
    wt_value *values = all->settings + plan->group_count * all->width;
    wt_plan_group *group = &plan->groups[plan->group_count++];
    wt_cell_form form = {0};
    wt_status status;
    *group = (wt_plan_group){
        .experiment = first->experiment,
        .trial = {.values = values, .seed = first->seed, .sizes = sizes, .count = end - begin},
        .first = begin};
    WT_TRY(wt_cell_read(all->context, first->experiment, first->object, values, &group->trial.rep));
    for (size_t i = begin; i < end; i++)
        sizes[i - begin] = all->members[i].size;
    for (size_t i = begin; i < end; i++) {
        char hash[WT_HASH_TEXT];
        WT_TRY(wt_plan_name(all->context, group, i - begin, &form, hash));
        plan->wanted[i] = all->members[i].failed;
        if (strcmp(hash, all->members[i].hash) != 0)
            WT_TRY(wt_fail(all->context, WT_DATA,
                           "%s: cell %.12s should be called %.12s by its parameters",
                           wt_store_path(all->store), all->members[i].hash, hash));
    }
done:
    wt_cell_form_free(&form);
    return status;
}

/* Rooms are those of the cells in hand. */
static wt_status add_groups(gathering *all, wt_plan *plan) {
    size_t groups = 0;
    if (all->count > 0)
        qsort(all->members, all->count, sizeof *all->members, by_group);
    for (size_t i = 0; i < all->count; i++)
        groups += i == 0 || by_name(&all->members[i].group, &all->members[i - 1].group) != 0;
    all->settings = WT_TAKE(&plan->arena, wt_value, groups, all->width);
    all->sizes = WT_TAKE(&plan->arena, double, all->count);
    plan->groups = WT_TAKE(&plan->arena, wt_plan_group, groups);
    plan->wanted = WT_TAKE(&plan->arena, bool, all->count);
    plan->cell_count = all->count;
    WT_PASS(plan->arena.status);
    for (size_t begin = 0, end; begin < all->count; begin = end) {
        WT_PASS(wt_context_check_cancelled(all->context));
        for (end = begin; end < all->count &&
                          by_name(&all->members[end].group, &all->members[begin].group) == 0;)
            end++;
        WT_PASS(add_group(all, begin, end, plan));
    }
    return WT_OK;
}

wt_status wt_plan_new_failed(wt_context *context, wt_store *store, wt_plan **out) {
    wt_plan *made = NULL;
    gathering all = {.context = context, .store = store};
    const wt_experiment *one;
    wt_status status;
    *out = NULL;
    WT_TRY(WT_NEW_ZERO(context, &made, 1, "a plan"));
    made->arena = wt_arena_start(context, "a plan");
    made->objects = all.objects = json_array();
    for (size_t i = 0; (one = wt_experiment_at(i)) != NULL; i++)
        all.width = one->parameter_count > all.width ? one->parameter_count : all.width;
    WT_TRY(WT_NEW(context, &all.values, all.width, "values"));
    WT_TRY(wt_store_hold(context, store));
    status = wt_store_walk(context, store, NULL, note_failed, &all);
    if (status == WT_OK && all.failed_count > 0) {
        qsort(all.failed, all.failed_count, sizeof *all.failed, by_name);
        status = wt_store_walk(context, store, NULL, gather, &all);
    }
    wt_store_let_go(store);
    WT_TRY(status);
    WT_TRY(add_groups(&all, made));
    WT_TRY(wt_plan_chain(context, made->groups, made->group_count));
    *out = made;
    made = NULL;
done:
    wt_plan_free(made);
    wt_release(all.failed);
    wt_release(all.members);
    wt_release(all.values);
    return status;
}
