/* Charts of what a sweep of the user's own varied: the main result of an experiment against any
 * number of its parameters. The table in chart_specs.c has those that papers ask for. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/experiment.h"
#include "report/chart.h"

enum { LOG_FROM = 8 }; /* ratio of the largest x to the least at which an axis has logs */

static const wt_chart_spec results_of[] = {
    {.experiment = "curve",
     .title = "Test error",
     .caption = "Mean squared test error over the variance of the labels. " WT_CHART_GEOMETRIC,
     .y = "test_error",
     .panel = "target",
     .name = "model",
     .y_label = "test error / variance",
     .rule = WT_TABLE_RULE_GEOMETRIC,
     .log_y = true},
    {.experiment = "recover",
     .title = "Layers found",
     .caption = "Share of layers whose every Theta and W is found. " WT_CHART_RATE,
     .y = "success",
     .panel = "tokens",
     .name = "method",
     .y_label = "share found",
     .rule = WT_TABLE_RULE_RATE},
    {.experiment = "train",
     .title = "Test accuracy",
     .caption = "Share of fresh samples that the trained network labels right. " WT_CHART_MEAN,
     .y = "test_accuracy",
     .panel = "task",
     .name = "model",
     .y_label = "test accuracy"},
    {.experiment = "threshold",
     .title = "Trials that succeed",
     .caption = "A trial succeeds when validation accuracy passes the goal in one of its "
                "runs. " WT_CHART_RATE,
     .y = "success",
     .panel = "task",
     .name = "model",
     .y_label = "share of trials",
     .rule = WT_TABLE_RULE_RATE},
    {.experiment = "construct",
     .title = "Constructed heads against their promise",
     .caption = "Worst error over all inputs, as a part of the promised one. " WT_CHART_MEAN,
     .y = "error_over_promise",
     .panel = "function",
     .name = "positions",
     .y_label = "worst error / promise"},
};
enum { RESULTS = sizeof results_of / sizeof *results_of };

static bool is_number(const wt_field *field) {
    return field->kind == WT_FIELD_KIND_COUNT || field->kind == WT_FIELD_KIND_NATURAL ||
           field->kind == WT_FIELD_KIND_REAL || field->kind == WT_FIELD_KIND_CHOICE;
}

bool wt_chart_own_at(size_t index, wt_chart_own *out) {
    const wt_field *field;
    for (size_t i = 0; i < RESULTS; i++) {
        const wt_experiment *experiment = wt_experiment_find(results_of[i].experiment);
        for (size_t k = 0; (field = wt_experiment_field_at(experiment, k)) != NULL; k++) {
            if (!is_number(field) || index-- > 0)
                continue;
            out->spec = results_of[i];
            snprintf(out->id, sizeof out->id, "%s-by-%s", out->spec.experiment, field->name);
            snprintf(out->title, sizeof out->title, "%s against %s", results_of[i].title,
                     field->name);
            out->spec.id = out->id;
            out->spec.title = out->title;
            out->spec.build = wt_chart_lines;
            out->spec.x = out->spec.x_label = field->name;
            return true;
        }
    }
    return false;
}

bool wt_chart_own_varies(const wt_results *results, wt_chart_own *own) {
    uint32_t experiment = wt_results_experiment(results, own->spec.experiment);
    uint32_t name = wt_results_name(results, own->spec.x);
    double least = INFINITY, most = -INFINITY;
    for (uint32_t i = 0; i < results->setting_count && name != WT_NO_TEXT; i++) {
        uint32_t value = results->settings[i].experiment == experiment
                             ? wt_setting_value(results, i, name)
                             : WT_NO_TEXT;
        double number = value == WT_NO_TEXT ? NAN : results->texts[value].number;
        least = fmin(least, number);
        most = fmax(most, number);
    }
    own->spec.log_x = least > 0 && most >= LOG_FROM * least;
    return least < most;
}
