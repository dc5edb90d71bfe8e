/* Experiments: what a cell can be.
 *
 * To add one: write experiment_NAME.c with its parameters (an enum of their places, a table by
 * designated initialisers), its metrics and its functions, and end it with
 * `const wt_experiment wt_experiment_NAME`; declare that here and add its row in experiments.c.
 * The sweep, the store, the reports and docs need no change. */
#ifndef WT_LAB_EXPERIMENT_H
#define WT_LAB_EXPERIMENT_H

#include "base/context.h"
#include "base/field.h"
#include "wattle/experiment.h"

/* What one call computes: cells that differ in the grouped parameter alone. */
typedef struct wt_trial {
    const wt_value *values; /* in the order of the parameters; the grouped one is not to be read */
    uint64_t seed, rep;     /* wt_trial_seed mixes them */
    const double *sizes;    /* (count) values of the grouped parameter, increasing */
    size_t count;           /* 1 where no parameter is grouped, and sizes is not to be read */
} wt_trial;

/* What a trial takes, about: flops of a large product of matrices that last as long on one thread,
 * and memory. */
typedef struct wt_cost {
    double flops, bytes;
} wt_cost;

/* Told of a trial of a fleet: its metrics, NULL where it failed with a sentence on the context. */
typedef wt_status (*wt_trial_done_fn)(void *user, size_t trial, const double *metrics);

struct wt_experiment {
    const char *name;
    const char *summary;
    /* Counted up whenever the same parameters and seed would give other metrics than before. */
    int64_t result_version;
    const wt_field *parameters; /* named like the long options of the command that does the same */
    size_t parameter_count;
    const char *group; /* name of the grouped parameter; NULL = none */
    /* Name of a parameter whose values are computed together, by run_together, where all else is
     * equal; NULL = none. There is a grouped parameter then. */
    const char *together;
    size_t reps; /* unless the sweep says otherwise */
    const char *const *metrics;
    size_t metric_count;
    /* Checks the values and makes them canonical: what means nothing for the others is set to one
     * value, so that equal cells have equal names, and "0 = the usual" becomes the usual. May be
     * NULL. */
    wt_status (*settle)(wt_context *context, wt_value *values);
    /* May be NULL: not known. */
    wt_status (*estimate)(wt_context *context, const wt_trial *trial, wt_cost *out);
    /* metrics (count, metric_count); NaN = not computed. A pure function of the trial: no clock, no
     * files but those the parameters name. A goal that is missed is a metric, not a failure. */
    wt_status (*run)(wt_context *context, const wt_trial *trial, double *metrics);
    /* The same for `count` trials with the same sizes that differ in `together` alone; metrics
     * (count, sizes, metric_count). To rounding, what `run` gives for each. */
    wt_status (*run_together)(wt_context *context, const wt_trial *trials, size_t count,
                              double *metrics);
    /* Cells that are trained side by side where the context has a device: those that differ in this
     * parameter, seed and repetition alone; NULL = none. There is no grouped parameter then. */
    const char *fleet;
    /* Whether the trial can be in a fleet, and what `run` gives for so many of them, told one by
     * one. */
    bool (*fits_fleet)(const wt_trial *trial);
    wt_status (*run_fleet)(wt_context *context, const wt_trial *trials, size_t count,
                           wt_trial_done_fn done, void *user);
};

/* Metrics are listed once, as #define METRICS(METRIC) METRIC(test_error) METRIC(train_error), and
 * give METRIC_test_error, .. in enum { METRICS(WT_METRIC_PLACE) } and their names in
 * {METRICS(WT_METRIC_NAME)}. */
#define WT_METRIC_PLACE(metric) METRIC_##metric,
#define WT_METRIC_NAME(metric)  #metric,

extern const wt_experiment wt_experiment_train, wt_experiment_threshold;
extern const wt_experiment wt_experiment_curve, wt_experiment_recover, wt_experiment_construct;

/* The place of a parameter; parameter_count when there is none of that name. */
size_t wt_experiment_parameter(const wt_experiment *experiment, const char *name);

/* One seed for everything a repetition draws. */
uint64_t wt_trial_seed(const wt_trial *trial);

#endif
