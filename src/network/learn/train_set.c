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
static wt_status is_ambiguous(wt_context *context, const wt_bits *set, const wt_boolean *function,
                              bool *out) {
    wt_search_result found = WT_SIZED(wt_search_result);
    WT_PASS(wt_bits_search(context, set, function, 2, &found));
    *out = found.found > 1;
    wt_search_result_free(&found);
    return WT_OK;
}

wt_status wt_train_set_take(wt_context *context, wt_trainer *trainer, const wt_bits *train,
                            const wt_bits *held) {
    wt_train_spec *setting = &trainer->setting;
    if (setting->online > 0)
        return wt_fail(context, WT_USAGE, "samples that are given are none to be drawn online");
    if (train->length != held->length)
        return wt_fail(context, WT_USAGE, "samples of %zu bits cannot be judged by those of %zu",
                       train->length, held->length);
    if (train->samples == 0 || held->samples < 2)
        return wt_fail(context, WT_USAGE,
                       "%zu samples to learn from and %zu to judge by: 1 and 2 are the least",
                       train->samples, held->samples);
    setting->length = train->length;
    setting->samples = train->samples;
    setting->validation_samples = held->samples;
    WT_PASS(wt_bits_copy(context, train, &trainer->batch));
    return wt_bits_copy(context, held, &trainer->held);
}

wt_status wt_train_draw(wt_context *context, const wt_trainer *trainer, const char *purpose,
                        uint64_t first, bool noisy, wt_bits *bits) {
    if (trainer->held == NULL)
        return wt_sparse_task_draw(context, trainer->task, purpose, first, noisy, bits);
    for (size_t i = 0; i < bits->samples; i++)
        wt_bits_take(trainer->held, (size_t)((first + i) % trainer->held->samples), bits, i);
    return WT_OK;
}

/* FNV-1a, 64 bits. */
static uint64_t mark_bytes(uint64_t mark, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        mark = (mark ^ bytes[i]) * 1099511628211U;
    return mark;
}

uint64_t wt_train_set_mark(const wt_trainer *trainer) {
    const wt_bits *sets[] = {trainer->batch, trainer->held};
    uint64_t mark = 14695981039346656037U;
    for (size_t i = 0; i < 2; i++) {
        mark = mark_bytes(mark, sets[i]->bit, sets[i]->samples * sets[i]->length);
        mark = mark_bytes(mark, sets[i]->label, sets[i]->samples);
    }
    return mark;
}

wt_status wt_train_set_open(wt_context *context, const wt_train_spec *setting,
                            const wt_sparse_task *task, wt_bits **out, size_t *redrawn) {
    size_t samples = setting->online > 0 ? setting->online : setting->samples;
    bool ambiguous = true;
    WT_PASS(wt_bits_new(context, samples, task->length, out));
    if (setting->online > 0)
        return WT_OK; /* every step draws its own */
    bool check = !setting->keep_ambiguous && setting->noise == 0 && is_and(task->function);
    for (*redrawn = 0; ambiguous && *redrawn < REDRAWS; *redrawn += ambiguous) {
        WT_PASS(
            wt_sparse_task_draw(context, task, "train", (uint64_t)*redrawn * samples, true, *out));
        ambiguous = false;
        if (check)
            WT_PASS(is_ambiguous(context, *out, task->function, &ambiguous));
    }
    if (ambiguous)
        return wt_fail(context, WT_MISSED,
                       "each of %d training sets of %zu samples of %zu bits fits a second and "
                       "(take more samples, or keep ambiguous sets)",
                       REDRAWS, samples, task->length);
    return WT_OK;
}
