/* Sweeps: an experiment over grids of its parameters, into a store. Cells that the store has are
 * not computed again, so that a sweep may be stopped at any moment, widened, or spread over
 * machines.
 *
 *     wt_sweep_spec *spec;
 *     wt_plan *plan;
 *     wt_store *store;
 *     wt_plan_count count = WT_SIZED(wt_plan_count);
 *     wt_sweep_options options;
 *     wt_sweep_report report = WT_SIZED(wt_sweep_report);
 *     WT_INIT(wt_sweep_options, &options);
 *     wt_sweep_spec_parse(context, "experiment=curve target=mean-power:2 n=16:512:x2 reps=10",
 * &spec); wt_plan_new(context, spec, (wt_shard){0, 1}, &plan); wt_store_open(context, "results.db",
 * WT_STORE_MODE_CREATE, &store); wt_plan_compare(context, plan, store, &count);
 *     wt_sweep_run(context, plan, store, &options, &report);
 *
 * docs/sweeps.md describes experiments and grids. */
#ifndef WATTLE_SWEEP_H
#define WATTLE_SWEEP_H

#include "wattle/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a sweep is to do: keys and grids. Keys are `experiment`, the parameters of that experiment,
 * `seed` (a grid) and `reps` (a number). */
typedef struct wt_sweep_spec wt_sweep_spec;

/* A file with a section [sweep] and a line "key = grid" each. WT_CONFIG with file, line and reason
 * when it makes no sense. */
WT_API wt_status wt_sweep_spec_load(wt_context *context, const char *path, wt_sweep_spec **out);
/* "key=grid" words with blanks between them; "" gives an empty one, to be set. */
WT_API wt_status wt_sweep_spec_parse(wt_context *context, const char *text, wt_sweep_spec **out);
/* "key=grid" in place of what was there, or beside it. WT_USAGE when it is not of that form. */
WT_API wt_status wt_sweep_spec_set(wt_context *context, wt_sweep_spec *spec,
                                   const char *assignment);
WT_API void wt_sweep_spec_free(wt_sweep_spec *spec);

/* The cells of a sweep, and which of them are wanted. A cell is computed together with others that
 * it shares work with, its group. */
typedef struct wt_plan wt_plan;

/* Part `index` of `count`, from 0: groups are dealt out by their names, so that a widened sweep
 * deals those it had before to the same part. */
typedef struct wt_shard {
    size_t index, count;
} wt_shard;

/* All cells that the specification describes, every one wanted. */
WT_API wt_status wt_plan_new(wt_context *context, const wt_sweep_spec *spec, wt_shard shard,
                             wt_plan **out);
/* The groups alone that a file, as wt_sweep_submit writes it, deals to a task. */
WT_API wt_status wt_plan_new_task(wt_context *context, const wt_sweep_spec *spec, const char *path,
                                  size_t task, wt_plan **out);
/* The cells of the store that failed. */
WT_API wt_status wt_plan_new_failed(wt_context *context, wt_store *store, wt_plan **out);
WT_API void wt_plan_free(wt_plan *plan);
WT_API size_t wt_plan_cells(const wt_plan *plan);

typedef struct wt_plan_count {
    size_t size;
    size_t cells, groups;
    size_t done, failed; /* in the store already */
    size_t wanted;
} wt_plan_count;
/* Cells that the store has are not wanted any more; NULL = no store. WT_DATA when the store holds
 * another meaning of an experiment. */
WT_API wt_status wt_plan_compare(wt_context *context, wt_plan *plan, wt_store *store,
                                 wt_plan_count *out);

/* An estimate of what the wanted cells take; NaN = not known. */
typedef struct wt_plan_cost {
    size_t size;
    double seconds;
    double bytes; /* held at a time */
} wt_plan_cost;
/* `rate`: as wt_sweep_rate measures it. 0 workers are as many as the context has threads. */
WT_API wt_status wt_plan_estimate(wt_context *context, const wt_plan *plan, size_t workers,
                                  double rate, wt_plan_cost *out);
/* Flops per second of one thread of this machine, on a large product of matrices. */
WT_API wt_status wt_sweep_rate(wt_context *context, double *out);

/* The texts are noted in the store with the cells; NULL = none. */
typedef struct wt_sweep_options {
    size_t size;
    size_t workers;      /* groups at a time, each on one thread; 0 = the context's threads */
    const char *command; /* that does the same again */
    const char *version; /* of the program */
    const char *machine;
} wt_sweep_options;
WT_API void wt_sweep_options_init(wt_sweep_options *options, size_t size);

typedef struct wt_sweep_report {
    size_t size;
    size_t done, failed; /* cells computed now */
    double seconds;
} wt_sweep_report;

/* Computes the wanted cells. WT_OK also when cells failed: the report counts them. WT_INTERRUPTED
 * after a cancel, when the groups that were begun are finished and kept; when the context is
 * cancelled twice they are dropped. The report is filled then too. The progress callback is called
 * by any of the workers, one at a time. */
WT_API wt_status wt_sweep_run(wt_context *context, wt_plan *plan, wt_store *store,
                              const wt_sweep_options *options, wt_sweep_report *report);

#ifdef __cplusplus
}
#endif
#endif
