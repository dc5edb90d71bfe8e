/* Experiments: what a cell of a sweep can be, its parameters and metrics.
 *
 *     for (size_t i = 0; (experiment = wt_experiment_at(i)) != NULL; i++)
 *         printf("%s: %s\n", wt_experiment_name(experiment), wt_experiment_summary(experiment));
 */
#ifndef WATTLE_EXPERIMENT_H
#define WATTLE_EXPERIMENT_H

#include "wattle/field.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wt_experiment wt_experiment;

/* The table; NULL past its end. */
WT_API const wt_experiment *wt_experiment_at(size_t index);
/* NULL when there is none of that name. */
WT_API const wt_experiment *wt_experiment_find(const char *name);

WT_API const char *wt_experiment_name(const wt_experiment *experiment);
WT_API const char *wt_experiment_summary(const wt_experiment *experiment);
/* Counted up whenever the same parameters and seed would give other metrics than before. */
WT_API int64_t wt_experiment_result_version(const wt_experiment *experiment);
/* The parameter whose values are computed together; NULL = none. */
WT_API const char *wt_experiment_group(const wt_experiment *experiment);
/* Repetitions, unless a sweep says otherwise. */
WT_API size_t wt_experiment_reps(const wt_experiment *experiment);
/* Parameters, named like the long options of the command that does the same; NULL past the last. */
WT_API const wt_field *wt_experiment_field_at(const wt_experiment *experiment, size_t index);
/* Names of metrics; NULL past the last. */
WT_API const char *wt_experiment_metric_at(const wt_experiment *experiment, size_t index);

#ifdef __cplusplus
}
#endif
#endif
