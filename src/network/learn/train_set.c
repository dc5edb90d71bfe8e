/* The training set of a trial. */
#include "network/learn/trainer.h"
#include "wattle/search.h"

enum { REDRAWS = 1000 };

/* 1 where all bits are, and nowhere else. */
static bool is_and(const wt_boolean *function) {
    size_t rows = (size_t)1 << function->bits;
    for (size_t row = 0; row < rows; row++)
        if (function->value[row] != (row == rows - 1))
            return false;
    return true;
}

/* Whether a second choice of positions explains the labels as well. */
static wt_status is_ambiguous(wt_context *context, const wt_trainer *trainer, bool *out) {
    wt_search_result found = WT_SIZED(wt_search_result);
    WT_PASS(wt_bits_search(context, trainer->batch, trainer->task->function, 2, &found));
    *out = found.found > 1;
    wt_search_result_free(&found);
    return WT_OK;
}

wt_status wt_train_set_open(wt_context *context, wt_trainer *trainer) {
    const wt_train_spec *setting = &trainer->setting;
    size_t samples = setting->online > 0 ? setting->online : setting->samples;
    bool ambiguous = true;
    WT_PASS(wt_bits_new(context, samples, trainer->task->length, &trainer->batch));
    if (setting->online > 0)
        return WT_OK; /* every step draws its own */
    bool check = !setting->keep_ambiguous && setting->noise == 0 && is_and(trainer->task->function);
    for (; ambiguous && trainer->redrawn < REDRAWS; trainer->redrawn += ambiguous) {
        WT_PASS(wt_sparse_task_draw(context, trainer->task, "train",
                                    (uint64_t)trainer->redrawn * samples, true, trainer->batch));
        ambiguous = false;
        if (check)
            WT_PASS(is_ambiguous(context, trainer, &ambiguous));
    }
    if (ambiguous)
        return wt_fail(context, WT_MISSED,
                       "each of %d training sets of %zu samples of %zu bits fits a second and "
                       "(take more samples, or keep ambiguous sets)",
                       REDRAWS, samples, trainer->task->length);
    return WT_OK;
}
