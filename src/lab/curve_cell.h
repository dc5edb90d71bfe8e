/* One repetition of a learning curve: a pure function of its setting.
 *
 * A repetition redraws beta, the data, the test set and the frozen weights from (seed, rep). Tokens
 * are keyed by (seed, rep, sample) and beta and noise by the target too, never by the model or the
 * largest n: models are paired, samples nested, and targets share the tokens, so that all of them
 * are right-hand sides of one factorisation. */
#ifndef WT_LAB_CURVE_CELL_H
#define WT_LAB_CURVE_CELL_H

#include <pthread.h>

#include "lab/experiment.h"
#include "wattle/fit.h"

typedef struct wt_curve_setting {
    wt_model_spec model;       /* dim, keys and seed are set from what follows */
    wt_problem_spec problem;   /* target and seed are not read; nor is any of it with data */
    const char *const *target; /* (targets) */
    size_t targets;
    const wt_sets *data; /* the user's own; NULL = drawn. `targets` is 1 then */
    double holdout;      /* part of the data held out as test set, drawn anew each repetition */
    size_t test_samples; /* test samples of a drawn problem */
    const size_t *sizes; /* increasing */
    size_t size_count;
    const wt_ridge_options *ridge;
    const wt_ball_options
        *ball; /* least squares in norm balls instead; NULL = a ridge. One target */
    uint64_t seed, rep;
    pthread_mutex_t *turn; /* held while samples are drawn: cells side by side draw one after the
                              other, each by all threads. NULL = none are */
} wt_curve_setting;

/* Training samples that `samples` of the user's data leave after the hold-out; WT_USAGE when there
 * are none on one side. */
wt_status wt_curve_split(wt_context *context, size_t samples, double holdout, size_t *training);

/* WT_MEMORY with the bytes where the cell cannot fit the memory budget. */
wt_status wt_curve_fits(wt_context *context, const wt_curve_setting *setting);
/* What the cell takes, about. */
wt_status wt_curve_cost(wt_context *context, const wt_curve_setting *setting, wt_cost *out);

/* points (targets, sizes) */
wt_status wt_curve_cell(wt_context *context, const wt_curve_setting *setting,
                        wt_curve_point *points);

#endif
