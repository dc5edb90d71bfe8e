/* Fills a store with the cells of a sweep, quickly: true names and parameters, metrics drawn from
 * the name. For tests of what reads large stores, and for scripts/store-growth. */
#ifndef TESTS_LAB_FILL_H
#define TESTS_LAB_FILL_H

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/plan.h"
#include "lab/store.h"

/* Shares are 0 or 1, all else lies in (0, 1): a number of the cell's name and the metric's place.
 */
static inline double fill_metric(const char *name, const char *hash, size_t place) {
    char digits[9] = "";
    memcpy(digits, hash + 3 * place % 48, 8);
    double share = (double)(strtoul(digits, NULL, 16) + 1) / 4294967297.0;
    bool rate =
        strcmp(name, "success") == 0 || strcmp(name, "recovered") == 0 || strcmp(name, "kept") == 0;
    return rate ? share > 0.3 : share;
}

static inline wt_status fill_cell(wt_context *context, const wt_plan_group *group, size_t i,
                                  wt_cell_form *form, wt_store *store) {
    char hash[WT_HASH_TEXT], *text = NULL;
    double metrics[64];
    const wt_experiment *experiment = group->experiment;
    wt_status status;
    WT_TRY(wt_plan_name(context, group, i, form, hash));
    for (size_t k = 0; k < experiment->metric_count; k++)
        metrics[k] = fill_metric(experiment->metrics[k], hash, k);
    WT_TRY(wt_cell_metrics(context, experiment, metrics, &text));
    wt_record record = {.size = sizeof record,
                        .hash = hash,
                        .experiment = experiment->name,
                        .parameters = form->out,
                        .seed = (int64_t)group->trial.seed,
                        .result_version = experiment->result_version,
                        .message = "",
                        .metrics = text,
                        .wall_seconds = 0.25,
                        .version = "0.1.0",
                        .machine = "a machine, 2 processors",
                        .finished_date = "2026-01-31T12:00:00Z"};
    WT_TRY(wt_store_put(context, store, &record));
done:
    wt_release(text);
    return status;
}

/* The sweep as words, "experiment=curve", "n=16:1024:x2" and so on. */
static inline wt_status fill_store(wt_context *context, const char *path, char *const *words,
                                   size_t count) {
    wt_sweep_spec *sweep = NULL;
    wt_plan *plan = NULL;
    wt_store *store = NULL;
    wt_cell_form form = {0};
    char *meaning = NULL, *line = NULL;
    wt_status status;
    WT_TRY(wt_sweep_spec_parse(context, "", &sweep));
    for (size_t i = 0; i < count; i++)
        WT_TRY(wt_sweep_spec_set(context, sweep, words[i]));
    WT_TRY(wt_plan_new(context, sweep, (wt_shard){0, 1}, &plan));
    WT_TRY(wt_store_open(context, path, WT_STORE_MODE_CREATE, &store));
    WT_TRY(wt_cell_meaning(context, plan->axes.experiment, &meaning));
    WT_TRY(wt_store_declare(context, store, meaning));
    WT_TRY(wt_sweep_spec_line(context, sweep, &line));
    WT_TRY(wt_store_note(context, store, "sweep", line));
    for (size_t g = 0; g < plan->group_count; g++) {
        const wt_plan_group group = wt_plan_at(plan, g);
        for (size_t i = 0; i < group.trial.count; i++)
            WT_TRY(fill_cell(context, &group, i, &form, store));
    }
    WT_TRY(wt_store_commit(context, store));
done:
    wt_cell_form_free(&form);
    wt_release(meaning);
    wt_release(line);
    wt_store_free(store);
    wt_plan_free(plan);
    wt_sweep_spec_free(sweep);
    return status;
}

#endif
