/* A trial as a picture: loss and accuracies against steps, a series a run; the weights of the [CLS]
 * row by position. */
#include <stdio.h>

#include "plot.h"
#include "train.h"
#include "wattle/memory.h"

enum { KINDS = 3, NAME = 32 }; /* loss, train accuracy, validation accuracy */
/* Looks. Peaks of the attention are a position wide: its line is one of the solid ones. */
enum { AMBER = 4, GREY = 7, GREEN = 18 };

/* (KINDS, runs) series; NULL where the arena has failed. */
static wt_series *take_history(wt_arena *arena, const wt_trainer *trainer, size_t runs) {
    size_t n;
    const wt_train_point *history = wt_trainer_history(trainer, &n);
    double *step = WT_TAKE(arena, double, n), *value = WT_TAKE(arena, double, KINDS, n);
    char(*names)[NAME] = wt_arena_take(arena, NAME, false, WT_SIDES(runs));
    wt_series *series = WT_TAKE(arena, wt_series, KINDS, runs);
    for (size_t i = 0; arena->status == WT_OK && i < n; i++) {
        step[i] = (double)history[i].step;
        value[i] = history[i].loss;
        value[n + i] = history[i].train_accuracy;
        value[2 * n + i] = history[i].validation_accuracy;
    }
    for (size_t run = 0, first = 0, end; arena->status == WT_OK && run < runs; run++, first = end) {
        for (end = first; end < n && history[end].run == run;)
            end++;
        snprintf(names[run], NAME, "run %zu", run + 1);
        for (size_t k = 0; k < KINDS; k++)
            series[k * runs + run] = cli_series(names[run], WT_MARK_LINE, run % WT_LOOKS,
                                                end - first, step + first, value + k * n + first);
    }
    return series;
}

/* All positions as lines, each relevant one as a point of its own on that of the best head. */
static wt_series *take_attention(wt_arena *arena, const cli_trial *trial, size_t *lines) {
    const wt_train_measure *measure = &trial->measure;
    const wt_sparse_task *task = wt_trainer_task(trial->trainer);
    const double *best = measure->attention + measure->positions;
    const size_t *relevant = task == NULL ? NULL : wt_sparse_task_relevant(task);
    size_t s = task == NULL ? 0 : wt_boolean_bits(wt_sparse_task_function(task));
    size_t n = measure->positions, count = 0;
    double *at = WT_TAKE(arena, double, n);
    wt_series *out = WT_TAKE(arena, wt_series, s + 2);
    if (arena->status != WT_OK)
        return NULL;
    for (size_t t = 0; t < n; t++)
        at[t] = (double)t;
    if (measure->heads > 1)
        out[count++] = cli_series("all heads", WT_MARK_LINE, GREY, n, at, measure->attention);
    out[count++] =
        cli_series(measure->heads > 1 ? "best head" : "head", WT_MARK_LINE, GREEN, n, at, best);
    for (size_t i = 0; i < s; i++)
        out[count++] = cli_series("relevant bits", WT_MARK_DOTS, AMBER, 1, at + relevant[i],
                                  best + relevant[i]);
    *lines = count;
    return out;
}

wt_status cli_train_draw(cli_call *call, const cli_trial *trial, const char *path) {
    wt_arena arena = wt_arena_start(call->context, "a figure");
    size_t runs = trial->result.runs, lines = 0;
    bool attends = trial->measure.heads > 0;
    wt_series *series = take_history(&arena, trial->trainer, runs);
    wt_series *attention = attends ? take_attention(&arena, trial, &lines) : NULL;
    const wt_axis steps = {.label = "step"}, loss = {.label = "cross-entropy"},
                  accuracy = {.label = "accuracy", .low = 0, .high = 1.02},
                  position = {.label = "position"}, weight = {.label = "mean weight"};
    wt_status status;
    WT_TRY(arena.status);
    const wt_panel panels[] = {
        cli_panel("training loss", steps, loss, series, runs),
        cli_panel("training accuracy", steps, accuracy, series + runs, runs),
        cli_panel("validation accuracy", steps, accuracy, series + 2 * runs, runs),
        cli_panel("attention of the [CLS] row", position, weight, attention, lines),
    };
    wt_figure figure = {WT_FIGURE_SIZES,
                        .title = wt_trainer_task(trial->trainer) == NULL ? "own samples"
                                                                         : trial->setting->task,
                        .panels = panels, .panel_count = attends ? 4 : 3, .columns = 2};
    WT_TRY(cli_plot(call, &figure, path));
done:
    wt_arena_free(&arena);
    return status;
}
