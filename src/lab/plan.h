/* The cells of a sweep from within: computed by groups, kept one by one. */
#ifndef WT_LAB_PLAN_H
#define WT_LAB_PLAN_H

#include "base/memory.h"
#include "lab/axes.h"
#include "lab/cell.h"
#include "lab/slots.h"
#include "lab/store.h"
#include "wattle/sweep.h"

#define WT_PLAN_MOST 1000000 /* cells */

/* One trial: cells first .. first + trial.count - 1 of the plan. */
typedef struct wt_plan_group {
    const wt_experiment *experiment;
    wt_trial trial;
    size_t first;
    size_t next;  /* number of the group that is computed together with this one; 0 = none */
    bool follows; /* such a one comes before it */
} wt_plan_group;

typedef struct wt_plan_cell {
    char hash[WT_HASH_TEXT];
    bool wanted;
} wt_plan_cell;

struct wt_plan {
    wt_arena arena; /* of groups, cells, sizes and values */
    wt_plan_group *groups;
    size_t group_count;
    wt_plan_cell *cells;
    double *sizes; /* one a cell */
    size_t cell_count;
    wt_axes axes;
    char *sweep;       /* the specification in one line; NULL = none */
    json_t *objects;   /* what the values of a plan from a store point into */
    wt_cell_form form; /* of the cell that was added last */
};

/* Calls `take` with the parameters of every setting that the specification describes, those of its
 * first repetition, and then *axes has its seeds and repetitions, to be freed in any case; a plan
 * is not made. */
wt_status wt_plan_walk(wt_context *context, const wt_sweep_spec *spec, wt_axes *axes,
                       wt_status (*take)(void *user, const wt_experiment *experiment,
                                         const char *parameters),
                       void *user);
/* The next of the groups that are computed together; NULL past the last. */
static inline const wt_plan_group *wt_plan_next(const wt_plan *plan, const wt_plan_group *group) {
    return group->next == 0 ? NULL : &plan->groups[group->next];
}
/* How many are wanted of cells begin .. end-1 of a group and of those that follow it. */
size_t wt_plan_wanted(const wt_plan *plan, const wt_plan_group *group, size_t begin, size_t end);

typedef wt_status (*wt_meaning_fn)(wt_context *context, wt_store *store, const char *meaning);
/* Calls `take` with the meaning of every experiment of the plan. */
wt_status wt_plan_meanings(wt_context *context, const wt_plan *plan, wt_store *store,
                           wt_meaning_fn take);

/* What the wanted cells take, about: flops of all, bytes of the largest group. Groups that are
 * computed together take what one of them does. */
wt_status wt_plan_total(wt_context *context, const wt_plan *plan, wt_cost *out);
/* The same of one group; NaN = not known. */
wt_status wt_plan_group_cost(wt_context *context, const wt_plan_group *group, wt_cost *out);

/* For those who make plans: room, and one group more, its sizes copied from the trial. */
wt_status wt_plan_reserve(wt_plan *plan, size_t groups, size_t cells);
wt_status wt_plan_add(wt_context *context, wt_plan *plan, const wt_experiment *experiment,
                      wt_trial trial);
/* Of settings, whatever their grouped parameter; with `together` whatever that parameter too. */
uint32_t wt_plan_setting_hash(const wt_experiment *experiment, const wt_value *values,
                              bool together);
bool wt_plan_setting_equal(const wt_experiment *experiment, const wt_value *a, const wt_value *b,
                           bool together);
/* At last: finds the groups that are computed together, as their experiment says. */
wt_status wt_plan_chain(wt_context *context, wt_plan *plan);
/* The name of all cells that differ from the trial's in the parameters alone that the part leaves
 * out. */
wt_status wt_plan_part_name(wt_context *context, const wt_experiment *experiment,
                            const wt_trial *trial, wt_cell_part part, char out[WT_HASH_TEXT]);

/* Parameters of a cell as the store keeps them; to be released. */
wt_status wt_plan_parameters(wt_context *context, const wt_plan *plan, const wt_plan_group *group,
                             size_t cell, char **out);

#endif
