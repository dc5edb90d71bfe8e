#include "lab/search_cell.h"

#include <string.h>

#include "base/memory.h"
#include "network/task/boolean.h"
#include "wattle/random.h"

/* Whether the value changes with bit j anywhere. */
static bool matters(const wt_boolean *function, size_t j) {
    size_t bit = (size_t)1 << (function->bits - 1 - j);
    for (size_t row = 0; row < (size_t)1 << function->bits; row++)
        if (function->value[row] != function->value[row ^ bit])
            return true;
    return false;
}

static bool is_parity(const wt_boolean *function) {
    for (size_t row = 1; row < (size_t)1 << function->bits; row++)
        if (function->value[row] == function->value[row & (row - 1)])
            return false;
    return function->value[0] == 0;
}

static wt_status check_function(wt_context *context, const wt_search_setting *setting,
                                const wt_boolean *function) {
    for (size_t j = 0; j < function->bits; j++)
        if (!matters(function, j))
            return wt_fail(context, WT_USAGE,
                           "bit %zu of %s makes no difference: no samples can tell where it is",
                           j + 1, setting->function);
    if (setting->elimination && !is_parity(function))
        return wt_fail(context, WT_USAGE, "elimination finds parities, not %s", setting->function);
    if (setting->elimination && setting->noise > 0)
        return wt_fail(context, WT_USAGE,
                       "elimination needs labels without noise, not with %g of them flipped",
                       setting->noise);
    return WT_OK;
}

static wt_status open_task(wt_context *context, const wt_search_setting *setting,
                           wt_sparse_task **out) {
    wt_sparse_spec spec = {.size = sizeof spec,
                           .function = setting->function,
                           .length = setting->length,
                           .probability = setting->probability,
                           .noise = setting->noise,
                           .seed = wt_seed_for(setting->seed, "search", setting->trial)};
    return wt_sparse_task_new(context, &spec, out);
}

wt_status wt_search_setting_check(wt_context *context, const wt_search_setting *setting) {
    wt_sparse_task *task = NULL;
    wt_status status;
    WT_TRY(open_task(context, setting, &task));
    WT_TRY(check_function(context, setting, task->function));
    for (size_t i = 0; i < setting->size_count; i++)
        if (setting->sizes[i] == 0 || (i > 0 && setting->sizes[i] <= setting->sizes[i - 1])) {
            status = wt_fail(context, WT_USAGE,
                             "numbers of samples must increase from 1 or more; number %zu is %zu",
                             i + 1, setting->sizes[i]);
            goto done;
        }
done:
    wt_sparse_task_free(task);
    return status;
}

static wt_status eliminate(wt_context *context, const wt_sparse_task *task, const wt_bits *bits,
                           wt_search_point *out) {
    wt_parity_result found = WT_SIZED(wt_parity_result);
    wt_status status = wt_bits_solve_parity(context, bits, &found);
    if (status != WT_OK)
        return status;
    out->unique = found.consistent && found.dimension == 0;
    size_t agree = 0;
    for (size_t j = 0; j < task->function->bits; j++)
        agree += found.member[task->relevant[j]];
    out->success = out->unique && agree == task->function->bits && found.least == agree;
    wt_parity_result_free(&found);
    return WT_OK;
}

static wt_status search(wt_context *context, const wt_sparse_task *task, const wt_bits *bits,
                        wt_search_point *out) {
    wt_search_result found = WT_SIZED(wt_search_result);
    size_t s = task->function->bits;
    wt_status status = task->noise > 0
                           ? wt_bits_search_best(context, bits, task->function, 1, &found)
                           : wt_bits_search(context, bits, task->function, 1, &found);
    if (status != WT_OK)
        return status;
    out->unique = found.found == 1 && found.complete;
    out->success =
        out->unique && memcmp(found.position, task->relevant, s * sizeof *found.position) == 0;
    out->errors = found.errors;
    out->looked = found.looked;
    wt_search_result_free(&found);
    return WT_OK;
}

wt_status wt_search_cell(wt_context *context, const wt_search_setting *setting,
                         wt_search_point *points) {
    wt_sparse_task *task = NULL;
    wt_bits *bits = NULL;
    size_t count = setting->size_count;
    wt_status status;
    WT_TRY(wt_search_setting_check(context, setting));
    WT_TRY(open_task(context, setting, &task));
    WT_TRY(wt_bits_new(context, count > 0 ? setting->sizes[count - 1] : 0, setting->length, &bits));
    WT_TRY(wt_sparse_task_draw(context, task, "train", 0, true, bits));
    for (size_t i = 0; i < count; i++) {
        wt_bits first = {setting->sizes[i], bits->length, bits->bit, bits->label};
        points[i] = (wt_search_point){.samples = setting->sizes[i]};
        WT_TRY(setting->elimination ? eliminate(context, task, &first, &points[i])
                                    : search(context, task, &first, &points[i]));
    }
done:
    wt_bits_free(bits);
    wt_sparse_task_free(task);
    return status;
}
