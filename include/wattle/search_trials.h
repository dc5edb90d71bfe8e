/* How many samples determine which bits explain the labels, whatever the learner: trials over
 * lengths T and numbers of samples m, what `wattle search` does without a file.
 *
 *     wt_search_options options;
 *     wt_search_trials *table;
 *     WT_INIT(wt_search_options, &options);
 *     options.task = "and:3";
 *     wt_search_trials_run(context, &options, &table);
 *     printf("%zu samples are enough\n", wt_search_trials_enough(table, 0));
 *     wt_search_trials_free(table);
 *
 * A trial draws positions and samples from (seed, trial); the samples of a smaller m are the first
 * of a larger one. It succeeds when one choice of positions is right on all samples, or with label
 * noise on the most, and it is that of the task. */
#ifndef WATTLE_SEARCH_TRIALS_H
#define WATTLE_SEARCH_TRIALS_H

#include "wattle/field.h"
#include "wattle/search.h"
#include "wattle/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wt_search_method {
    WT_SEARCH_METHOD_SEARCH,     /* knows how many bits are relevant */
    WT_SEARCH_METHOD_ELIMINATION /* a parity of unknown size, by elimination over GF(2) */
} wt_search_method;
/* "search", "elimination"; "?" for no method. */
WT_API const char *wt_search_method_name(wt_search_method method);

typedef struct wt_search_options {
    size_t size;
    const char *task; /* as wt_boolean_new reads it; every bit must make a difference */
    wt_search_method method;
    double probability;  /* of a one; NaN = the one that makes half the labels 1 */
    double noise;        /* chance of a flipped label, below 1/2 */
    const char *length;  /* list of T: "100,300" */
    const char *samples; /* list of m, increasing: "10:60:5" */
    size_t trials;       /* at each length */
    double rate;         /* of success that counts, above 0 and at most 1 */
    const char *output;  /* CSV file of all trials (docs/formats.md), also of a run that was
                            interrupted, which leaves what is needed to go on beside it, in
                            OUTPUT.part; NULL = none */
    uint64_t seed;
} wt_search_options;

/* T = 100, m from 10 to 60 by 5, 40 trials at a rate of 0.8. No task: it is to be set. */
WT_API void wt_search_options_init(wt_search_options *options, size_t size);
/* Its members by name: options of `wattle search`. */
WT_API const wt_field *wt_search_fields(size_t *count);

typedef struct wt_search_trials wt_search_trials;

/* Trials run side by side, one per thread. When the context is cancelled those begun are finished,
 * unless it is cancelled twice; *out is then NULL and the finished ones are in the output. The
 * same call goes on from them, also after a kill. */
WT_API wt_status wt_search_trials_run(wt_context *context, const wt_search_options *options,
                                      wt_search_trials **out);
WT_API void wt_search_trials_free(wt_search_trials *table);

/* What one trial gave at one m. */
typedef struct wt_search_point {
    size_t samples; /* m */
    bool unique;    /* one choice is best (or right) */
    bool success;   /* and it is that of the task */
    size_t errors;
    uint64_t looked; /* as in wt_search_result; 0 for elimination */
} wt_search_point;

/* All trials at one (T, m). */
typedef struct wt_search_row {
    size_t length, samples, successes, trials;
    wt_interval rate; /* Clopper and Pearson */
    double looked;    /* mean */
} wt_search_row;

/* By the places of T, trial and m in the options; NULL past the end. The table owns them. */
WT_API const wt_search_point *wt_search_trials_point_at(const wt_search_trials *table,
                                                        size_t length, size_t trial, size_t size);
WT_API const wt_search_row *wt_search_trials_row_at(const wt_search_trials *table, size_t length,
                                                    size_t size);
/* The smallest m whose rate is reached there and at every larger m; 0 = none. */
WT_API size_t wt_search_trials_enough(const wt_search_trials *table, size_t length);

#ifdef __cplusplus
}
#endif
#endif
