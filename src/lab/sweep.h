/* Runs the wanted cells of a plan into a store.
 *
 * Groups run in parallel, each on one thread with a context of its own; one at a time puts its
 * cells into the store. Finished work is committed as soon as it has taken a tenth of a second of
 * computing, so that no more than that, and what is in hand, is lost to a kill. When a group
 * fails, its largest cell is kept with the sentence and the rest of it is computed without that
 * one. When the context is cancelled the groups in hand are finished and kept; when it is
 * cancelled twice they are left. */
#ifndef WT_LAB_SWEEP_H
#define WT_LAB_SWEEP_H

#include "lab/plan.h"

typedef struct wt_sweep_options {
    size_t workers;      /* 0 = the context's threads */
    const char *command; /* noted in the store; NULL = none */
    const char *version; /* of the program, for the cells */
    const char *machine;
} wt_sweep_options;

typedef struct wt_sweep_report {
    size_t done, failed; /* cells computed now */
    double seconds;
} wt_sweep_report;

/* WT_OK also when cells failed: the report counts them. WT_INTERRUPTED after a cancel; WT_DATA when
 * the store holds another meaning of the experiment; what the store fails with. The progress
 * callback is called by any of the workers, one at a time. */
wt_status wt_sweep_run(wt_context *context, wt_plan *plan, wt_store *store,
                       const wt_sweep_options *options, wt_sweep_report *report);

/* The same for several plans, one after the other in one job; a cell that several want is computed
 * once. */
wt_status wt_sweep_run_plans(wt_context *context, wt_plan *const *plans, size_t count,
                             wt_store *store, const wt_sweep_options *options,
                             wt_sweep_report *report);

/* WT_DATA where wt_sweep_run would find another meaning of an experiment; writes nothing. */
wt_status wt_sweep_check(wt_context *context, const wt_plan *plan, wt_store *store);

#endif
