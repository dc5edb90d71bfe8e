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
    const wt_experiment *experiment; /* NULL = no group */
    wt_trial trial;
    size_t first;
    size_t next;  /* number of the group that is computed together with this one; 0 = none */
    bool follows; /* such a one comes before it */
} wt_plan_group;

/* Groups are made of their number when they are asked for, and cells named, so that a plan holds
 * its settings and a byte a cell. */
struct wt_plan {
    wt_arena arena; /* of what is pointed to and not const */
    size_t group_count, cell_count;
    bool *wanted; /* (cells) */
    /* Of a specification: settings x draws, and the first draw of every setting stands here. Of a
     * store: every group. */
    wt_plan_group *groups;
    size_t draws;     /* seeds x repetitions; 0 = of a store */
    uint32_t *picked; /* (groups): their numbers among all, rising; NULL = these are all */
    wt_axes axes;
    char *sweep;     /* the specification in one line; NULL = none */
    json_t *objects; /* what the values of a plan from a store point into */
};

/* By its number. */
wt_plan_group wt_plan_at(const wt_plan *plan, size_t index);
/* The next of the groups that are computed together; none past the last. */
static inline wt_plan_group wt_plan_next(const wt_plan *plan, const wt_plan_group *group) {
    const wt_plan_group none = {0};
    return group->next == 0 ? none : wt_plan_at(plan, group->next);
}
/* The place of a group's setting, or of the group itself where the plan is of a store. */
size_t wt_plan_setting(const wt_plan *plan, size_t group);

/* Calls `take` with the parameters of every setting that the specification describes, those of its
 * first repetition, and then *axes has its seeds and repetitions, to be freed in any case; a plan
 * is not made. */
wt_status wt_plan_walk(wt_context *context, const wt_sweep_spec *spec, wt_axes *axes,
                       wt_status (*take)(void *user, const wt_experiment *experiment,
                                         const char *parameters),
                       void *user);
/* How many are wanted of cells begin .. end-1 of a group and of those that follow it. */
size_t wt_plan_wanted(const wt_plan *plan, const wt_plan_group *group, size_t begin, size_t end);

typedef wt_status (*wt_meaning_fn)(wt_context *context, wt_store *store, const char *meaning);
/* Calls `take` with the meaning of every experiment of the plan. */
wt_status wt_plan_meanings(wt_context *context, const wt_plan *plan, wt_store *store,
                           wt_meaning_fn take);

/* What the wanted cells take, about: flops of all, bytes of the largest group. Groups that are
 * computed together take what one of them does. */
wt_status wt_plan_total(wt_context *context, const wt_plan *plan, wt_cost *out);
/* The same of one group; NaN = not known. Groups that come one after the other and have their
 * values in common take the same: *known, which starts as zeros, remembers. */
typedef struct wt_known_cost {
    const wt_value *values;
    wt_cost cost;
} wt_known_cost;
wt_status wt_plan_group_cost(wt_context *context, const wt_plan_group *group, wt_known_cost *known,
                             wt_cost *out);

/* Of settings, whatever their grouped parameter; with `together` whatever that parameter too. */
uint32_t wt_plan_setting_hash(const wt_experiment *experiment, const wt_value *values,
                              bool together);
bool wt_plan_setting_equal(const wt_experiment *experiment, const wt_value *a, const wt_value *b,
                           bool together);
/* Finds which of these groups are computed together, as their experiment says. */
wt_status wt_plan_chain(wt_context *context, wt_plan_group *groups, size_t count);

/* The name of a cell of a group; the form is for one call after the other, and has its parameters
 * then. With form->part another than WT_CELL_WHOLE it is that of all cells that differ in the
 * parameters alone that the part leaves out. */
wt_status wt_plan_name(wt_context *context, const wt_plan_group *group, size_t cell,
                       wt_cell_form *form, char out[WT_HASH_TEXT]);
/* Parameters of a cell as the store keeps them; to be released. */
wt_status wt_plan_parameters(wt_context *context, const wt_plan_group *group, size_t cell,
                             char **out);

#endif
