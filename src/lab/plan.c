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

/* Which groups a plan has: those of a shard, or those dealt to a task. */
typedef struct {
    wt_shard shard;
    const wt_deal *deal; /* NULL = none */
    size_t task;
} selection;

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

/* The first draw of every setting, and which of them are computed together. */
static wt_status keep_settings(wt_context *context, const settings *all, wt_plan *plan) {
    const wt_experiment *experiment = all->axes->experiment;
    plan->draws = all->axes->seeds.count * all->axes->reps;
    plan->groups = WT_TAKE(&plan->arena, wt_plan_group, all->count);
    WT_PASS(plan->arena.status);
    for (size_t i = 0; i < all->count; i++)
        plan->groups[i] =
            (wt_plan_group){.experiment = experiment,
                            .trial = {.values = all->values + i * experiment->parameter_count,
                                      .sizes = all->sizes,
                                      .count = all->size_count}};
    return wt_plan_chain(context, plan->groups, all->count);
}

/* The groups of a part; those that are computed together are in one. */
static wt_status pick_groups(wt_context *context, const selection *of, wt_plan *plan) {
    wt_cell_form form = {.part = WT_CELL_TOGETHER};
    uint32_t *picked = WT_TAKE(&plan->arena, uint32_t, plan->group_count);
    size_t count = 0;
    wt_status status;
    WT_TRY(plan->arena.status);
    for (size_t i = 0; i < plan->group_count; i++) {
        const wt_plan_group group = wt_plan_at(plan, i);
        char hash[WT_HASH_TEXT];
        WT_TRY(wt_context_check_cancelled(context));
        WT_TRY(wt_plan_name(context, &group, 0, &form, hash));
        if (of->deal != NULL ? wt_deal_has(of->deal, hash, of->task) : in_shard(hash, of->shard))
            picked[count++] = (uint32_t)i;
    }
    plan->picked = picked;
    plan->group_count = count;
done:
    wt_cell_form_free(&form);
    return status;
}

static wt_status fill(wt_context *context, const wt_sweep_spec *spec, const selection *of,
                      wt_plan *out) {
    settings all = {.context = context, .spec = spec, .axes = &out->axes, .arena = &out->arena};
    WT_PASS(make_all(&all, &out->axes));
    WT_PASS(wt_sweep_spec_line(context, spec, &out->sweep));
    WT_PASS(keep_settings(context, &all, out));
    out->group_count = all.groups;
    if (of->shard.count > 1 || of->deal != NULL)
        WT_PASS(pick_groups(context, of, out));
    out->cell_count = out->group_count * all.size_count;
    out->wanted = WT_TAKE(&out->arena, bool, out->cell_count);
    WT_PASS(out->arena.status);
    for (size_t i = 0; i < out->cell_count; i++)
        out->wanted[i] = true;
    return WT_OK;
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

size_t wt_plan_setting(const wt_plan *plan, size_t group) {
    size_t number = plan->picked == NULL ? group : plan->picked[group];
    return plan->draws == 0 ? number : number / plan->draws;
}

static int by_number(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The place of group `number` of all. */
static size_t place_of(const wt_plan *plan, size_t number) {
    uint32_t wanted = (uint32_t)number;
    if (plan->picked == NULL)
        return number;
    const uint32_t *found =
        bsearch(&wanted, plan->picked, plan->group_count, sizeof wanted, by_number);
    return found == NULL ? 0 : (size_t)(found - plan->picked);
}

/* Settings, then seeds, then repetitions, which run fastest. */
wt_plan_group wt_plan_at(const wt_plan *plan, size_t index) {
    const wt_axes *axes = &plan->axes;
    wt_plan_group group = plan->groups[wt_plan_setting(plan, index)];
    if (plan->draws == 0)
        return group;
    size_t draw = (plan->picked == NULL ? index : plan->picked[index]) % plan->draws;
    group.trial.seed = (uint64_t)axes->seeds.values[draw / axes->reps].number;
    group.trial.rep = draw % axes->reps;
    group.first = index * group.trial.count;
    if (group.next != 0)
        group.next = place_of(plan, group.next * plan->draws + draw);
    return group;
}

wt_status wt_plan_name(wt_context *context, const wt_plan_group *group, size_t cell,
                       wt_cell_form *form, char out[WT_HASH_TEXT]) {
    const wt_trial *trial = &group->trial;
    WT_PASS(wt_cell_form_fill(context, form, group->experiment, trial, trial->sizes[cell]));
    return wt_cell_hash(context, group->experiment, form->out, trial->seed, out);
}

wt_status wt_plan_parameters(wt_context *context, const wt_plan_group *group, size_t cell,
                             char **out) {
    return wt_cell_parameters(context, group->experiment, &group->trial, group->trial.sizes[cell],
                              WT_CELL_WHOLE, out);
}

size_t wt_plan_wanted(const wt_plan *plan, const wt_plan_group *group, size_t begin, size_t end) {
    size_t count = 0;
    for (wt_plan_group at = *group; at.experiment != NULL; at = wt_plan_next(plan, &at))
        for (size_t i = begin; i < end; i++)
            count += plan->wanted[at.first + i];
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
    size_t count = plan->draws > 0 && plan->group_count > 0 ? 1 : plan->group_count;
    for (size_t g = 0; g < count; g++) {
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
        char hash[WT_HASH_TEXT];
        wt_cell_state state;
        WT_PASS(wt_context_check_cancelled(context));
        WT_PASS(wt_plan_name(context, group, i, form, hash));
        WT_PASS(wt_store_find(context, store, hash, form->out, &state));
        out->done += state == WT_CELL_DONE;
        out->failed += state == WT_CELL_FAILED;
        plan->wanted[group->first + i] = state == WT_CELL_MISSING;
    }
    return WT_OK;
}

static wt_status compare(wt_context *context, wt_plan *plan, wt_store *store, wt_plan_count *out) {
    wt_cell_form form = {0};
    wt_status status;
    WT_TRY(wt_plan_meanings(context, plan, store, wt_store_agree));
    WT_TRY(wt_store_hold(context, store));
    for (size_t g = 0; status == WT_OK && g < plan->group_count; g++) {
        const wt_plan_group group = wt_plan_at(plan, g);
        status = compare_group(context, plan, &group, store, &form, out);
    }
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
        count.wanted += plan->wanted[i];
    wt_sized_write(out, &count, sizeof count);
    return WT_OK;
}
