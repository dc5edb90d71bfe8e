/* How many samples m a network needs at each length T: trials at an adaptive choice of m.
 *
 * The m are those of a grid, low, low + resolution, .. up to high. An m meets the rate when `rate`
 * of its trials succeed. The critical m is the smallest m tried such that it and every larger m
 * tried meet the rate: one lucky m below does not count, and an unlucky one above moves it up. It
 * is found by halving; then `around` more m on both sides are run, so that the rate is seen to
 * rise, and halving begins again where one of them moves it. At last smaller m are run until the
 * fitted rate is below `rate`. All lengths are searched side by side, in rounds: what is run
 * depends on results and never on time or threads. A trial is a pure function of (seed, T, m, its
 * number); trials at other T or m draw tasks of their own.
 *
 * All trials are kept in a CSV file, and a search that finds some there goes on from them. */
#ifndef WT_LAB_THRESHOLD_H
#define WT_LAB_THRESHOLD_H

#include "lab/statistics_threshold.h"
#include "wattle/train.h"

typedef struct wt_threshold_setting {
    wt_train_setting train; /* its length, samples and seed are not read */
    const size_t *lengths;  /* (length_count), increasing */
    size_t length_count;
    size_t low, high, resolution;
    size_t trials;   /* at an m */
    double rate;     /* of success that counts, in (0, 1) */
    bool all_trials; /* run them all, though it is decided whether the rate is met */
    size_t around;
    uint64_t seed;
} wt_threshold_setting;

typedef struct wt_threshold_row {
    size_t length, samples, trial;
    wt_train_result result;
} wt_threshold_row;

typedef struct wt_threshold {
    wt_threshold_setting setting;
    uint64_t key; /* of what a trial depends on, beside T, m and its number */
    wt_threshold_row *rows;
    size_t count, room;
} wt_threshold;

/* Checks the setting; it and the texts in it are borrowed until wt_threshold_free. */
wt_status wt_threshold_open(wt_context *context, const wt_threshold_setting *setting,
                            wt_threshold *out);
void wt_threshold_free(wt_threshold *threshold);

/* Runs what is missing. With a path, the finished trials are written there now and then and at the
 * end, also when it ends with WT_INTERRUPTED or a failure. */
wt_status wt_threshold_run(wt_context *context, wt_threshold *threshold, const char *path);

/* What one m gave. */
typedef struct wt_threshold_cell {
    size_t length, samples, successes, trials;
    wt_interval rate; /* Clopper and Pearson */
} wt_threshold_cell;

typedef enum wt_censoring { WT_FOUND, WT_BELOW, WT_ABOVE } wt_censoring;

typedef struct wt_threshold_point {
    size_t length;
    wt_censoring censoring; /* WT_BELOW: low is critical already; WT_ABOVE: `largest` fails yet */
    size_t critical;        /* 0 for WT_ABOVE */
    size_t largest;         /* m tried */
    wt_interval fitted; /* by the isotonic fit of all trials, finite where the pooled rates cross
                           the rate; infinite ends where not seen */
    size_t first_cell, cells;
} wt_threshold_point;

/* One way to grow with T, m = a + b f(T), through the fitted m. */
typedef struct wt_threshold_fit_row {
    wt_growth growth;
    wt_affine_fit fit;
} wt_threshold_fit_row;
enum { WT_THRESHOLD_GROWTHS = 3 };

typedef struct wt_threshold_summary {
    wt_threshold_point *points; /* one a length */
    size_t point_count;
    wt_threshold_cell *cells; /* by length and m */
    size_t cell_count;
    size_t fitted_points;                            /* lengths with a fitted m */
    wt_threshold_fit_row fits[WT_THRESHOLD_GROWTHS]; /* set with three of them or more */
    wt_interval exponent;                            /* wt_critical_growth of all lengths */
} wt_threshold_summary;

wt_status wt_threshold_summarise(wt_context *context, const wt_threshold *threshold,
                                 wt_threshold_summary *out);
void wt_threshold_summary_free(wt_threshold_summary *summary);

/* ---- inside ----------------------------------------------------------------------------------
 */

/* The result of one trial into the table. */
wt_status wt_threshold_add(wt_context *context, wt_threshold *threshold,
                           const wt_threshold_row *row);
const wt_threshold_row *wt_threshold_find(const wt_threshold *threshold, size_t length,
                                          size_t samples, size_t trial);
/* Successes and trials at an m. */
void wt_threshold_count(const wt_threshold *threshold, size_t length, size_t samples,
                        size_t *successes, size_t *trials);

/* The smallest m of the grid above `after` that has trials; 0 = none. */
size_t wt_threshold_tried(const wt_threshold *threshold, size_t length, size_t after);

/* The next m to run at a length, or 0 when all is known; *critical is the critical m of those tried
 * so far, 0 = none. */
size_t wt_threshold_next(const wt_threshold *threshold, size_t length, size_t *critical);

/* The file. A row of another key, or one that makes no sense, is WT_DATA; no file is no rows. */
wt_status wt_threshold_read(wt_context *context, wt_threshold *threshold, const char *path);
wt_status wt_threshold_write(wt_context *context, const wt_threshold *threshold, const char *path);

#endif
