/* The sweeps that the claims of the three papers ask for, as one job: what `wattle reproduce` runs
 * before it measures the claims (wattle/claims.h).
 *
 *     wt_reproduction *all;
 *     wt_reproduction_new(context, "quick", "rfa,recover,sparse", seed, &all);
 *     wt_reproduction_run(context, all, store, "results", &options, &report);
 *     wt_reproduction_free(all);
 */
#ifndef WATTLE_REPRODUCE_H
#define WATTLE_REPRODUCE_H

#include "wattle/sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wt_reproduction wt_reproduction;

/* `scale`: tiny, quick or paper. `lines`: of work, with commas between them: rfa, recover, sparse;
 * NULL = all. */
WT_API wt_status wt_reproduction_new(wt_context *context, const char *scale, const char *lines,
                                     uint64_t seed, wt_reproduction **out);
WT_API void wt_reproduction_free(wt_reproduction *reproduction);

/* One of its sweeps. */
typedef struct wt_reproduction_sweep {
    const char *line;  /* "rfa", "recover", "sparse" */
    const char *scale; /* "tiny", "quick", "paper" */
    const char *what;  /* "learning curves" */
    const char *sweep; /* "experiment=curve n=16:512:x2 .." */
} wt_reproduction_sweep;
/* NULL past the end. */
WT_API const wt_reproduction_sweep *wt_reproduction_at(const wt_reproduction *reproduction,
                                                       size_t index);
/* Its cells; belongs to the reproduction. */
WT_API const wt_plan *wt_reproduction_plan_at(const wt_reproduction *reproduction, size_t index);

typedef struct wt_reproduction_report {
    size_t size;
    size_t before; /* cells that were there, failed ones too */
    size_t done;   /* now */
    size_t failed; /* all */
    double seconds;
} wt_reproduction_report;

/* Runs what the store does not have, all sweeps as one job. A store holds one scale: WT_USAGE when
 * it has another, as claims would pool the two. `folder` is named in that sentence and in the
 * command that is noted; the options' own command is not read. */
WT_API wt_status wt_reproduction_run(wt_context *context, wt_reproduction *reproduction,
                                     wt_store *store, const char *folder,
                                     const wt_sweep_options *options,
                                     wt_reproduction_report *report);

#ifdef __cplusplus
}
#endif
#endif
