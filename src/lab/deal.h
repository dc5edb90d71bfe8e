/* Who computes what: groups of cells, by their names, dealt out to tasks so that each has about the
 * same work.
 *
 * As a file: a line "TASK NAME" for every group, or groups that are computed together, where NAME
 * is that of wt_plan_name with WT_CELL_TOGETHER. Groups are named and not numbered, so that a
 * task has the same whatever the order of the grids. */
#ifndef WT_LAB_DEAL_H
#define WT_LAB_DEAL_H

#include "lab/plan.h"

typedef struct wt_dealt {
    unsigned char name[(WT_HASH_TEXT - 1) / 2]; /* a byte for two digits */
    uint32_t task;
} wt_dealt;

typedef struct wt_deal {
    wt_dealt *groups;
    size_t count, room;
    wt_slots slots;
} wt_deal;

/* Adds what the file deals. WT_DATA when it is none. To be freed in any case. */
wt_status wt_deal_read(wt_context *context, const char *path, wt_deal *deal);
wt_status wt_deal_add(wt_context *context, wt_deal *deal, const char *name, size_t task);
bool wt_deal_has(const wt_deal *deal, const char *name, size_t task);
/* The last task that the group was dealt to; 0 = none. */
size_t wt_deal_task(const wt_deal *deal, const char *name);
/* Whether no later task has the group number `index`. */
bool wt_deal_is_last(const wt_deal *deal, size_t index);
wt_status wt_deal_write(wt_context *context, const wt_deal *deal, const char *path);
void wt_deal_free(wt_deal *deal);

/* So many units of work over `tasks`: the largest first, each to the task with the least so far.
 * task[i] counts from 0; loads (tasks) are what each has then. Costs that are not all known count
 * as 1. */
wt_status wt_deal_balance(wt_context *context, const double *costs, size_t units, size_t tasks,
                          uint32_t *task, double *loads);

#endif
