/* The table of experiments: a new one is a row here and a file beside this one (experiment.h). */
#include <string.h>

#include "lab/experiment.h"
#include "wattle/random.h"

static const wt_experiment *const experiments[] = {
    &wt_experiment_curve,     &wt_experiment_recover,   &wt_experiment_train,
    &wt_experiment_threshold, &wt_experiment_construct,
};

const wt_experiment *wt_experiment_at(size_t index) {
    return index < sizeof experiments / sizeof *experiments ? experiments[index] : NULL;
}

const wt_experiment *wt_experiment_find(const char *name) {
    const wt_experiment *one;
    for (size_t i = 0; (one = wt_experiment_at(i)) != NULL; i++)
        if (strcmp(one->name, name) == 0)
            return one;
    return NULL;
}

size_t wt_experiment_parameter(const wt_experiment *experiment, const char *name) {
    size_t i = 0;
    while (i < experiment->parameter_count && strcmp(experiment->parameters[i].name, name) != 0)
        i++;
    return i;
}

uint64_t wt_trial_seed(const wt_trial *trial) {
    return wt_seed_for(trial->seed, "rep", trial->rep);
}

const char *wt_experiment_name(const wt_experiment *experiment) {
    return experiment->name;
}

const char *wt_experiment_summary(const wt_experiment *experiment) {
    return experiment->summary;
}

int64_t wt_experiment_result_version(const wt_experiment *experiment) {
    return experiment->result_version;
}

const char *wt_experiment_group(const wt_experiment *experiment) {
    return experiment->group;
}

size_t wt_experiment_reps(const wt_experiment *experiment) {
    return experiment->reps;
}

const wt_field *wt_experiment_field_at(const wt_experiment *experiment, size_t index) {
    return index < experiment->parameter_count ? &experiment->parameters[index] : NULL;
}

const char *wt_experiment_metric_at(const wt_experiment *experiment, size_t index) {
    return index < experiment->metric_count ? experiment->metrics[index] : NULL;
}
