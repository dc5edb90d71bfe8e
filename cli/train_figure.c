/* A trial as a picture: loss and accuracies against steps, a series a run; the weights of the [CLS]
 * row by position. */
#include <math.h>
#include <stdio.h>

#include "plot.h"
#include "train.h"
#include "wattle/memory.h"

enum { KINDS = 3, NAME = 32 }; /* loss, train accuracy, validation accuracy */
/* Looks. Peaks of the attention are a position wide: its line is one of the solid ones. */
enum { AMBER = 4, GREY = 7, GREEN = 18 };

typedef struct {
    double *step, *value; /* (points), (KINDS, points) */
    double *position;
    wt_series *attention; /* (lines) */
    size_t lines;
    char (*names)[NAME];
    wt_series *series; /* (KINDS, runs) */
    size_t points, runs;
} sheet;

static wt_status fill_history(wt_context *context, const wt_train_point *history, sheet *out) {
    size_t n = out->points;
    WT_PASS(WT_NEW(context, &out->step, n, "a figure"));
    WT_PASS(WT_NEW(context, &out->value, KINDS * n, "a figure"));
    WT_PASS(WT_NEW(context, &out->names, out->runs, "a figure"));
    WT_PASS(WT_NEW_ZERO(context, &out->series, KINDS * out->runs, "a figure"));
    for (size_t i = 0; i < n; i++) {
        out->step[i] = (double)history[i].step;
        out->value[i] = history[i].loss;
        out->value[n + i] = history[i].train_accuracy;
        out->value[2 * n + i] = history[i].validation_accuracy;
    }
    for (size_t run = 0, first = 0; run < out->runs; run++) {
        size_t end = first;
        while (end < n && history[end].run == run)
            end++;
        snprintf(out->names[run], NAME, "run %zu", run + 1);
        for (size_t k = 0; k < KINDS; k++)
            out->series[k * out->runs + run] = (wt_series){.name = out->names[run],
                                                           .mark = WT_MARK_LINE,
                                                           .look = run % WT_LOOKS,
                                                           .count = end - first,
                                                           .x = out->step + first,
                                                           .y = out->value + k * n + first};
        first = end;
    }
    return WT_OK;
}

/* All positions as lines, each relevant one as a point of its own on that of the best head. */
static wt_status fill_attention(wt_context *context, const cli_trial *trial, sheet *out) {
    const wt_train_measure *measure = &trial->measure;
    const wt_sparse_task *task = wt_trainer_task(trial->trainer);
    const double *best = measure->attention + measure->positions;
    const size_t *relevant = wt_sparse_task_relevant(task);
    size_t s = wt_boolean_bits(wt_sparse_task_function(task)), positions = measure->positions;
    WT_PASS(WT_NEW(context, &out->position, positions, "a figure"));
    WT_PASS(WT_NEW_ZERO(context, &out->attention, s + 2, "a figure"));
    for (size_t t = 0; t < positions; t++)
        out->position[t] = (double)t;
    if (measure->heads > 1)
        out->attention[out->lines++] = (wt_series){.name = "all heads",
                                                   .mark = WT_MARK_LINE,
                                                   .look = GREY,
                                                   .count = positions,
                                                   .x = out->position,
                                                   .y = measure->attention};
    out->attention[out->lines++] = (wt_series){.name = measure->heads > 1 ? "best head" : "head",
                                               .mark = WT_MARK_LINE,
                                               .look = GREEN,
                                               .count = positions,
                                               .x = out->position,
                                               .y = best};
    for (size_t i = 0; i < s; i++)
        out->attention[out->lines++] = (wt_series){.name = "relevant bits",
                                                   .mark = WT_MARK_DOTS,
                                                   .look = AMBER,
                                                   .count = 1,
                                                   .x = out->position + relevant[i],
                                                   .y = best + relevant[i]};
    return WT_OK;
}

wt_status cli_train_draw(cli_call *call, const cli_trial *trial, const char *path) {
    wt_context *context = call->context;
    sheet out = {.runs = trial->result.runs};
    const wt_train_point *history = wt_trainer_history(trial->trainer, &out.points);
    bool attends = trial->measure.heads > 0;
    wt_status status;
    WT_TRY(fill_history(context, history, &out));
    if (attends)
        WT_TRY(fill_attention(context, trial, &out));
    wt_axis steps = {.label = "step"}, accuracy = {.label = "accuracy", .low = 0, .high = 1.02};
    const wt_panel panels[] = {
        {.title = "training loss",
         .x = steps,
         .y = {.label = "cross-entropy"},
         .series = out.series,
         .series_count = out.runs},
        {.title = "training accuracy",
         .x = steps,
         .y = accuracy,
         .series = out.series + out.runs,
         .series_count = out.runs},
        {.title = "validation accuracy",
         .x = steps,
         .y = accuracy,
         .series = out.series + 2 * out.runs,
         .series_count = out.runs},
        {.title = "attention of the [CLS] row",
         .x = {.label = "position"},
         .y = {.label = "mean weight"},
         .series = out.attention,
         .series_count = out.lines},
    };
    wt_figure figure = {WT_FIGURE_SIZES, .title = trial->setting->task, .panels = panels,
                        .panel_count = attends ? 4 : 3, .columns = 2};
    WT_TRY(cli_plot(call, &figure, path));
done:
    wt_release(out.step);
    wt_release(out.value);
    wt_release(out.names);
    wt_release(out.series);
    wt_release(out.position);
    wt_release(out.attention);
    return status;
}
