/* The inside of searches, and one trial of what the samples of a task allow: a pure function of the
 * options, T and the trial.
 *
 * A trial draws the relevant positions and the samples from (seed, trial); the samples of a smaller
 * m are the first of a larger one. */
#ifndef WT_LAB_SEARCH_CELL_H
#define WT_LAB_SEARCH_CELL_H

#include "base/memory.h"
#include "wattle/search_trials.h"

struct wt_search_trials {
    wt_arena arena;
    wt_search_options options;
    size_t *length, *samples; /* (lengths), (sizes) */
    size_t lengths, trials, sizes;
    wt_search_point *points; /* (lengths, trials, sizes) */
    wt_search_row *rows;     /* (lengths, sizes) */
    double *costs;           /* (lengths) of a trial */
};

/* What can be told before any trial runs: WT_USAGE for a task or samples that make no sense. */
wt_status wt_search_check(wt_context *context, const wt_search_trials *table);

/* points (sizes), at the length of that place */
wt_status wt_search_cell(wt_context *context, const wt_search_trials *table, size_t length,
                         size_t trial, wt_search_point *points);

#endif
