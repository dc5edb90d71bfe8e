/* How many samples m a network needs at each length T: trials at an adaptive choice of m.
 *
 * The m are those of a grid, low, low + resolution, .. up to high. An m meets the rate when `rate`
 * of its trials succeed. The critical m is the smallest m tried such that it and every larger m
 * tried meet the rate: one lucky m below does not count, and an unlucky one above moves it up. It
 * is found by halving; then `around` more m on both sides are run, so that the rate is seen to
 * rise, and halving begins again where one of them moves it. At last smaller m are run until the
 * fitted rate is below `rate`. All lengths are searched side by side, in rounds: what is run
 * depends on results and never on time or threads. A trial is a pure function of (seed, T, m, its
 * number); trials at other T or m draw tasks of their own. Only a search that was stopped and goes
 * on may end with a few trials more or fewer at an m, with the same verdicts.
 *
 * All trials may be kept in a CSV file (docs/formats.md), and a search that finds some there goes
 * on from them. Of an m whole blocks count (8 trials, 64 on a device, or all that are asked for):
 * of those in hand when a run was stopped the ones are missing that take longest, which fail. Used
 * so (examples/threshold.c is the whole program):
 *
 *     wt_threshold_spec setting;
 *     WT_INIT(wt_threshold_spec, &setting);
 *     setting.lengths = (const size_t[]){8, 16, 32};
 *     setting.length_count = 3;
 *     wt_threshold *threshold;
 *     wt_threshold_summary summary = WT_SIZED(wt_threshold_summary);
 *     wt_threshold_open(context, &setting, "trials.csv", &threshold);
 *     wt_threshold_run(context, threshold);
 *     wt_threshold_summarise(context, threshold, &summary);
 */
#ifndef WATTLE_THRESHOLD_H
#define WATTLE_THRESHOLD_H

#include "wattle/statistics.h"
#include "wattle/train.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wt_threshold_spec {
    size_t size;
    const wt_train_spec *train; /* a trial: length, samples, seed and to_end are not read; no
                                      relevant positions and no online samples may be given. NULL =
                                      the published recipe with 5 restarts */
    const size_t *lengths;      /* (length_count), increasing */
    size_t length_count;
    size_t low, high, resolution; /* the grid of m */
    size_t trials;                /* at an m */
    double rate;                  /* of success that counts, in (0, 1) */
    bool all_trials;              /* run them all, though it is decided whether the rate is met */
    size_t around;                /* further m tried on each side of the critical one */
    uint64_t seed;
    bool as_made; /* the table is only read, on whatever device it was made */
} wt_threshold_spec;

/* What `wattle threshold` takes: m from 10 to 200 by 5, 40 trials at a rate of 0.8, 2 around. No
 * lengths: they are to be set. */
WT_API void wt_threshold_spec_init(wt_threshold_spec *setting, size_t size);

/* A search. One thread of calls at a time. */
typedef struct wt_threshold wt_threshold;

/* Checks the setting. With a path (NULL = none) the trials that are there already are read; a file
 * that is no table, or one of another setting or seed, is WT_DATA; one that another search has
 * open, in this process or another, WT_CANNOT_CREATE. */
WT_API wt_status wt_threshold_open(wt_context *context, const wt_threshold_spec *setting,
                                   const char *path, wt_threshold **out);
WT_API void wt_threshold_free(wt_threshold *threshold);

/* Runs what is missing; WT_USAGE where the table is only read. With a path, the finished trials are
 * written there now and then and at the end, also when it ends with WT_INTERRUPTED or a failure. */
WT_API wt_status wt_threshold_run(wt_context *context, wt_threshold *threshold);
/* Trials that are finished, those of the file too. */
WT_API size_t wt_threshold_trials(const wt_threshold *threshold);

/* What one m gave. */
typedef struct wt_threshold_cell {
    size_t length, samples, successes, trials;
    wt_interval rate; /* Clopper and Pearson */
} wt_threshold_cell;

typedef enum wt_censoring { WT_CENSORING_NO, WT_CENSORING_BELOW, WT_CENSORING_ABOVE } wt_censoring;

typedef struct wt_threshold_point {
    size_t length;
    wt_censoring censoring; /* WT_CENSORING_BELOW: low is critical already; WT_CENSORING_ABOVE:
                               `largest` fails yet */
    size_t critical;        /* 0 for WT_CENSORING_ABOVE */
    size_t largest;         /* m tried */
    wt_interval fitted;     /* the likeliest m by all trials, finite where the rates, pooled so that
                               they rise, cross the rate; infinite ends where not seen */
    size_t first_cell, cells;
} wt_threshold_point;

/* One way to grow with T, m = a + b f(T), through the fitted m. */
typedef struct wt_threshold_fit_row {
    wt_growth growth;
    wt_affine_fit fit;
} wt_threshold_fit_row;
enum { WT_THRESHOLD_GROWTHS = 3 };

typedef struct wt_threshold_summary {
    size_t size;
    wt_threshold_point *points; /* one per length */
    size_t point_count;
    wt_threshold_cell *cells; /* by length and m */
    size_t cell_count;
    size_t fitted_points;                            /* lengths with a fitted m */
    wt_threshold_fit_row fits[WT_THRESHOLD_GROWTHS]; /* through these; set with three or more */
    wt_interval
        exponent; /* the p of a + b T^p, b >= 0, that is likeliest by all lengths, -2 to 3, 0 = log;
                     lengths without a fitted m open its interval; NaN with fewer than three */
} wt_threshold_summary;

/* What the trials so far say. To be freed with wt_threshold_summary_free. */
WT_API wt_status wt_threshold_summarise(wt_context *context, const wt_threshold *threshold,
                                        wt_threshold_summary *out);
WT_API void wt_threshold_summary_free(wt_threshold_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
