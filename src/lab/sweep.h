/* Runs the wanted cells of plans into a store.
 *
 * Groups run in parallel, each on one thread with a context of its own; one at a time puts its
 * cells into the store. Finished work is committed as soon as it has taken a tenth of a second of
 * computing, so that no more than that, and what is in hand, is lost to a kill. When a group
 * fails, its largest cell is kept with the sentence and the rest of it is computed without that
 * one. */
#ifndef WT_LAB_SWEEP_H
#define WT_LAB_SWEEP_H

#include "lab/plan.h"

/* wt_sweep_run for several plans, one after the other in one job; a cell that several want is
 * computed once. */
wt_status wt_sweep_run_plans(wt_context *context, wt_plan *const *plans, size_t count,
                             wt_store *store, const wt_sweep_options *options,
                             wt_sweep_report *report);

#endif
