/* A trial whose state is kept in a file as it goes. */
#define _DEFAULT_SOURCE /* access */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "network/learn/trainer.h"
#include "wattle/output.h"

/* The state after a stop. */
static wt_status keep(wt_context *context, const wt_trainer *trainer, const char *path) {
    wt_train_result result = WT_SIZED(wt_train_result);
    char why[32];
    WT_PASS(wt_trainer_result(context, trainer, &result));
    snprintf(why, sizeof why, "%s", wt_context_stop_name(context));
    if (path == NULL)
        return wt_fail(context, WT_INTERRUPTED, "%s at step %zu of run %zu", why, result.steps,
                       result.runs);
    wt_context_resume(context);
    WT_PASS(wt_trainer_save(context, trainer, path));
    return wt_fail(context, WT_INTERRUPTED, "%s at step %zu of run %zu; it can be resumed from %s",
                   why, result.steps, result.runs, path);
}

static wt_status go_on(wt_context *context, wt_trainer *trainer, const char *path, size_t every) {
    wt_status status = WT_OK;
    while (status == WT_OK && !wt_trainer_ended(trainer)) {
        status = wt_trainer_run(context, trainer, path == NULL ? SIZE_MAX : every);
        if (status == WT_OK && path != NULL)
            status = wt_trainer_save(context, trainer, path);
    }
    if (status == WT_INTERRUPTED && path == NULL && wt_context_out_of_time(context))
        return WT_OK;
    return status == WT_INTERRUPTED ? keep(context, trainer, path) : status;
}

wt_status wt_trainer_run_kept(wt_context *context, wt_trainer *trainer, const char *path,
                              size_t every, bool resume) {
    wt_lock *hold = NULL;
    wt_status status = WT_OK;
    if (path != NULL) {
        if (every == 0)
            return wt_fail(context, WT_USAGE, "a state is kept every 1 step or more, not 0");
        WT_TRY(wt_lock_open(context, path, &hold));
        if (!resume && access(path, F_OK) == 0)
            WT_TRY(wt_fail(context, WT_USAGE,
                           "%s exists: resume to go on from it, or give another name", path));
        if (resume)
            WT_TRY(wt_trainer_load(context, trainer, path));
    }
    WT_TRY(go_on(context, trainer, path, every));
done:
    wt_lock_free(hold);
    return status;
}

/* Where one label is the rarer, always to say the other is a rival that looks good. */
static void remark_task(wt_context *context, const wt_trainer *trainer) {
    const wt_sparse_task *task = trainer->task;
    double ones = wt_boolean_mean(wt_sparse_task_function(task), wt_sparse_task_probability(task));
    if (fabs(ones - 0.5) > 1e-6)
        wt_remark(context, "%sP(y = 1) is %.4g, not 1/2: to say %d always has accuracy %.4g",
                  isnan(trainer->setting.probability) ? "no probability balances the labels: " : "",
                  ones, ones > 0.5, fmax(ones, 1 - ones));
}

void wt_trainer_remark_balance(wt_context *context, const wt_trainer *trainer) {
    if (trainer->task != NULL) {
        remark_task(context, trainer);
        return;
    }
    size_t ones = 0, n = wt_bits_samples(trainer->held);
    for (size_t i = 0; i < n; i++)
        ones += wt_bits_labels(trainer->held)[i];
    size_t more = 2 * ones > n ? ones : n - ones;
    wt_remark(context,
              "%zu of the %zu samples that judge have y = %d: to say so always has accuracy %.4g",
              more, n, 2 * ones > n, (double)more / (double)n);
}
