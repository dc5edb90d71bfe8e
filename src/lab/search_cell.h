/* One trial of what the samples of a task allow: a pure function of its setting.
 *
 * A trial draws the relevant positions and the samples from (seed, trial); the samples of a smaller
 * m are the first of a larger one. */
#ifndef WT_LAB_SEARCH_CELL_H
#define WT_LAB_SEARCH_CELL_H

#include "base/context.h"
#include "wattle/search_trials.h"

typedef struct wt_search_setting {
    const char *function; /* as wt_boolean_new reads it; every bit must make a difference */
    size_t length;        /* T */
    double probability;   /* of a one; NaN = balanced */
    double noise;         /* above 0 the fewest errors are looked for, else none */
    bool elimination;     /* a parity of unknown size, by elimination over GF(2) */
    const size_t *sizes;  /* (size_count) increasing */
    size_t size_count;
    uint64_t seed, trial;
} wt_search_setting;

/* What can be told before any trial runs: WT_USAGE for a setting that makes no sense. */
wt_status wt_search_setting_check(wt_context *context, const wt_search_setting *setting);

/* points (size_count) */
wt_status wt_search_cell(wt_context *context, const wt_search_setting *setting,
                         wt_search_point *points);

#endif
