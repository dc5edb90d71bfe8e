#include "lab/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "lab/deal.h"

/* The settings of a sweep: one value a parameter, made canonical; equal ones once. */
typedef struct {
    wt_context *context;
    const wt_sweep_spec *spec;
    const wt_axes *axes;
    wt_arena *arena; /* of values and sizes */
    size_t grouped;  /* place of the grouped parameter; the number of parameters = none */
    wt_value *values;
    size_t count;
    double *sizes; /* of the grouped parameter; one of no meaning where there is none */
    size_t size_count, groups, cells;
} settings;

static size_t axis_count(const settings *all, size_t parameter) {
    return parameter == all->grouped ? 1 : all->axes->parameters[parameter].count;
}

/* Setting `index` of the product of all axes, the last parameter running fastest. */
static void pick(const settings *all, size_t index, wt_value *out) {
    for (size_t i = all->axes->experiment->parameter_count; i-- > 0;) {
        size_t count = axis_count(all, i);
        out[i] = all->axes->parameters[i].values[index % count];
        index /= count;
    }
}

static wt_status settle(const settings *all, wt_value *values) {
    const wt_experiment *experiment = all->axes->experiment;
    wt_status status =
        experiment->settle == NULL ? WT_OK : experiment->settle(all->context, values);
    if (status != WT_USAGE && status != WT_DATA)
        return status;
    char reason[WT_MESSAGE_BYTES];
    snprintf(reason, sizeof reason, "%s", wt_context_message(all->context));
    return wt_sweep_spec_fail(all->context, all->spec, wt_sweep_spec_blame(all->spec, reason), "%s",
                              reason);
}

wt_status wt_plan_part_name(wt_context *context, const wt_experiment *experiment,
                            const wt_trial *trial, wt_cell_part part, char out[WT_HASH_TEXT]) {
    char *text = NULL;
    wt_status status;
    WT_TRY(wt_cell_parameters(context, experiment, trial, 0, part, &text));
    WT_TRY(wt_cell_hash(context, experiment, text, trial->seed, out));
done:
    wt_release(text);
    return status;
}

static wt_status too_many(const settings *all) {
    return wt_sweep_spec_fail(all->context, all->spec, NULL, "asks for more than %d cells",
                              WT_PLAN_MOST);
}

/* All combinations; the first of equal ones. */
static wt_status make_settings(settings *all) {
    const wt_experiment *experiment = all->axes->experiment;
    size_t width = experiment->parameter_count, combinations = 1;
    wt_slots known = {0};
    wt_status status;
    for (size_t i = 0; i < width; i++)
        if (!wt_multiply(combinations, axis_count(all, i), &combinations) ||
            combinations > WT_PLAN_MOST)
            return too_many(all);
    all->values = WT_TAKE(all->arena, wt_value, combinations, width);
    WT_TRY(all->arena->status);
    for (size_t i = 0; i < combinations; i++) {
        wt_value *next = all->values + all->count * width;
        bool twice = false;
        uint32_t number;
        WT_TRY(wt_context_check_cancelled(all->context));
        pick(all, i, next);
        WT_TRY(settle(all, next));
        uint32_t hash = wt_plan_setting_hash(experiment, next, false);
        size_t cursor = wt_slots_start(&known, hash);
        while (!twice && wt_slots_next(&known, hash, &cursor, &number))
            twice = wt_plan_setting_equal(experiment, next, all->values + number * width, false);
        if (!twice)
            WT_TRY(wt_slots_add(all->context, &known, hash, (uint32_t)all->count++));
    }
done:
    wt_slots_free(&known);
    return status;
}

/* The first 32 bits of the name, dealt out in turn. */
static bool in_shard(const char *hash, wt_shard shard) {
    char head[9];
    memcpy(head, hash, 8);
    head[8] = '\0';
    return strtoul(head, NULL, 16) % shard.count == shard.index;
}

wt_status wt_plan_add(wt_context *context, wt_plan *plan, const wt_experiment *experiment,
                      wt_trial trial) {
    wt_plan_group *group = &plan->groups[plan->group_count];
    *group = (wt_plan_group){.experiment = experiment, .trial = trial, .first = plan->cell_count};
    group->trial.sizes = plan->sizes + plan->cell_count;
    for (size_t i = 0; i < trial.count; i++) {
        wt_plan_cell *cell = &plan->cells[plan->cell_count + i];
        double size = trial.sizes == NULL ? 0 : trial.sizes[i];
        cell->wanted = true;
        plan->sizes[plan->cell_count + i] = size;
        WT_PASS(wt_cell_form_fill(context, &plan->form, experiment, &trial, size));
        WT_PASS(wt_cell_hash(context, experiment, plan->form.out, trial.seed, cell->hash));
    }
    plan->group_count++;
    plan->cell_count += trial.count;
    return WT_OK;
}

wt_status wt_plan_reserve(wt_plan *plan, size_t groups, size_t cells) {
    plan->groups = WT_TAKE_ZERO(&plan->arena, wt_plan_group, groups);
    plan->cells = WT_TAKE_ZERO(&plan->arena, wt_plan_cell, cells);
    plan->sizes = WT_TAKE(&plan->arena, double, cells);
    return plan->arena.status;
}

/* Trial number `index` of all: settings, then seeds, then repetitions, which run fastest. */
static wt_trial trial_at(const settings *all, size_t index) {
    const wt_axes *axes = all->axes;
    size_t setting = index / axes->reps / axes->seeds.count;
    return (wt_trial){
        .values = all->values + setting * axes->experiment->parameter_count,
        .seed = (uint64_t)axes->seeds.values[index / axes->reps % axes->seeds.count].number,
        .rep = index % axes->reps,
        .sizes = all->sizes,
        .count = all->size_count};
}

/* Which groups a plan has: those of a shard, or those dealt to a task. */
typedef struct {
    wt_shard shard;
    const wt_deal *deal; /* NULL = none */
    size_t task;
} selection;

static wt_status add_groups(wt_context *context, const settings *all, const selection *of,
                            wt_plan *plan) {
    for (size_t i = 0; i < all->groups; i++) {
        char hash[WT_HASH_TEXT];
        wt_trial trial = trial_at(all, i);
        bool parted = of->shard.count > 1 || of->deal != NULL;
        WT_PASS(wt_context_check_cancelled(context));
        if (parted)
            WT_PASS(
                wt_plan_part_name(context, all->axes->experiment, &trial, WT_CELL_TOGETHER, hash));
        if (parted &&
            !(of->deal != NULL ? wt_deal_has(of->deal, hash, of->task) : in_shard(hash, of->shard)))
            continue;
        WT_PASS(wt_plan_add(context, plan, all->axes->experiment, trial));
    }
    return WT_OK;
}

/* Settings, sizes and how many cells that makes. */
static wt_status make_all(settings *all, wt_axes *axes) {
    WT_PASS(wt_axes_read(all->context, all->spec, axes));
    const wt_experiment *experiment = axes->experiment;
    all->grouped = experiment->group == NULL
                       ? experiment->parameter_count
                       : wt_experiment_parameter(experiment, experiment->group);
    WT_PASS(make_settings(all));
    bool grouped = all->grouped < experiment->parameter_count;
    all->size_count = grouped ? axes->parameters[all->grouped].count : 1;
    if (!wt_multiply(all->count, axes->seeds.count, &all->groups) ||
        !wt_multiply(all->groups, axes->reps, &all->groups) ||
        !wt_multiply(all->groups, all->size_count, &all->cells) || all->cells > WT_PLAN_MOST)
        return too_many(all);
    all->sizes = WT_TAKE_ZERO(all->arena, double, all->size_count);
    WT_PASS(all->arena->status);
    for (size_t i = 0; grouped && i < all->size_count; i++)
        all->sizes[i] = axes->parameters[all->grouped].values[i].number;
    return WT_OK;
}

static wt_status fill(wt_context *context, const wt_sweep_spec *spec, const selection *of,
                      wt_plan *out) {
    settings all = {.context = context, .spec = spec, .axes = &out->axes, .arena = &out->arena};
    WT_PASS(make_all(&all, &out->axes));
    WT_PASS(wt_sweep_spec_line(context, spec, &out->sweep));
    WT_PASS(wt_plan_reserve(out, all.groups, all.cells));
    WT_PASS(add_groups(context, &all, of, out));
    return wt_plan_chain(context, out);
}

static wt_status make(wt_context *context, const wt_sweep_spec *spec, const selection *of,
                      wt_plan **out) {
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, out, 1, "a plan"));
    (*out)->arena = wt_arena_start(context, "a plan");
    WT_TRY(fill(context, spec, of, *out));
done:
    if (status != WT_OK) {
        wt_plan_free(*out);
        *out = NULL;
    }
    return status;
}

wt_status wt_plan_new(wt_context *context, const wt_sweep_spec *spec, wt_shard shard,
                      wt_plan **out) {
    *out = NULL;
    if (shard.index >= shard.count)
        return wt_fail(context, WT_USAGE, "there is no part %zu of %zu", shard.index + 1,
                       shard.count);
    return make(context, spec, &(selection){.shard = shard}, out);
}

wt_status wt_plan_new_task(wt_context *context, const wt_sweep_spec *spec, const char *path,
                           size_t task, wt_plan **out) {
    wt_deal deal = {0};
    wt_status status;
    *out = NULL;
    WT_TRY(wt_deal_read(context, path, &deal));
    WT_TRY(make(context, spec, &(selection){.deal = &deal, .task = task}, out));
done:
    wt_deal_free(&deal);
    return status;
}

wt_status wt_plan_walk(wt_context *context, const wt_sweep_spec *spec, wt_axes *axes,
                       wt_status (*take)(void *user, const wt_experiment *experiment,
                                         const char *parameters),
                       void *user) {
    wt_arena arena = wt_arena_start(context, "settings");
    settings all = {.context = context, .spec = spec, .axes = axes, .arena = &arena};
    wt_cell_form form = {0};
    wt_status status;
    *axes = (wt_axes){0};
    WT_TRY(make_all(&all, axes));
    for (size_t i = 0; i < all.count * all.size_count; i++) {
        const wt_trial trial = {.values = all.values +
                                          i / all.size_count * axes->experiment->parameter_count};
        WT_TRY(wt_context_check_cancelled(context));
        WT_TRY(wt_cell_form_fill(context, &form, axes->experiment, &trial,
                                 all.sizes[i % all.size_count]));
        WT_TRY(take(user, axes->experiment, form.out));
    }
done:
    wt_cell_form_free(&form);
    wt_arena_free(&arena);
    return status;
}

wt_status wt_plan_parameters(wt_context *context, const wt_plan *plan, const wt_plan_group *group,
                             size_t cell, char **out) {
    return wt_cell_parameters(context, group->experiment, &group->trial,
                              plan->sizes[group->first + cell], WT_CELL_WHOLE, out);
}

size_t wt_plan_wanted(const wt_plan *plan, const wt_plan_group *group, size_t begin, size_t end) {
    size_t count = 0;
    for (; group != NULL; group = wt_plan_next(plan, group))
        for (size_t i = begin; i < end; i++)
            count += plan->cells[group->first + i].wanted;
    return count;
}

size_t wt_plan_cells(const wt_plan *plan) {
    return plan->cell_count;
}

void wt_plan_free(wt_plan *plan) {
    if (plan == NULL)
        return;
    wt_arena_free(&plan->arena);
    wt_release(plan->sweep);
    wt_cell_form_free(&plan->form);
    wt_axes_free(&plan->axes);
    json_decref(plan->objects);
    wt_release(plan);
}

/* Calls `take` with the meaning of every experiment of the plan. */
wt_status wt_plan_meanings(wt_context *context, const wt_plan *plan, wt_store *store,
                           wt_meaning_fn take) {
    const wt_experiment *last = NULL;
    char *meaning = NULL;
    wt_status status = WT_OK;
    for (size_t g = 0; g < plan->group_count; g++) {
        if (plan->groups[g].experiment == last)
            continue;
        last = plan->groups[g].experiment;
        wt_release(meaning);
        WT_TRY(wt_cell_meaning(context, last, &meaning));
        WT_TRY(take(context, store, meaning));
    }
done:
    wt_release(meaning);
    return status;
}

static wt_status compare_group(wt_context *context, wt_plan *plan, const wt_plan_group *group,
                               wt_store *store, wt_cell_form *form, wt_plan_count *out) {
    for (size_t i = 0; i < group->trial.count; i++) {
        wt_plan_cell *cell = &plan->cells[group->first + i];
        wt_cell_state state;
        WT_PASS(wt_context_check_cancelled(context));
        WT_PASS(wt_cell_form_fill(context, form, group->experiment, &group->trial,
                                  plan->sizes[group->first + i]));
        WT_PASS(wt_store_find(context, store, cell->hash, form->out, &state));
        out->done += state == WT_CELL_DONE;
        out->failed += state == WT_CELL_FAILED;
        cell->wanted = state == WT_CELL_MISSING;
    }
    return WT_OK;
}

static wt_status compare(wt_context *context, wt_plan *plan, wt_store *store, wt_plan_count *out) {
    wt_cell_form form = {0};
    wt_status status;
    WT_TRY(wt_plan_meanings(context, plan, store, wt_store_agree));
    WT_TRY(wt_store_hold(context, store));
    for (size_t g = 0; status == WT_OK && g < plan->group_count; g++)
        status = compare_group(context, plan, &plan->groups[g], store, &form, out);
    wt_store_let_go(store);
done:
    wt_cell_form_free(&form);
    return status;
}

wt_status wt_plan_compare(wt_context *context, wt_plan *plan, wt_store *store, wt_plan_count *out) {
    wt_plan_count count = {.cells = plan->cell_count, .groups = plan->group_count};
    WT_PASS(wt_sized_check(context, "wt_plan_count", out, sizeof count));
    if (store != NULL)
        WT_PASS(compare(context, plan, store, &count));
    for (size_t i = 0; i < plan->cell_count; i++)
        count.wanted += plan->cells[i].wanted;
    wt_sized_write(out, &count, sizeof count);
    return WT_OK;
}
