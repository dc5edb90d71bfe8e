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

static wt_status check_function(wt_context *context, const wt_search_options *options,
                                const wt_boolean *function) {
    bool elimination = options->method == WT_SEARCH_METHOD_ELIMINATION;
    for (size_t j = 0; j < function->bits; j++)
        if (!matters(function, j))
            return wt_fail(context, WT_USAGE,
                           "bit %zu of %s makes no difference: no samples can tell where it is",
                           j + 1, options->task);
    if (elimination && !is_parity(function))
        return wt_fail(context, WT_USAGE, "elimination finds parities, not %s", options->task);
    if (elimination && options->noise > 0)
        return wt_fail(context, WT_USAGE,
                       "elimination needs labels without noise, not with %g of them flipped",
                       options->noise);
    return WT_OK;
}

static wt_status open_task(wt_context *context, const wt_search_trials *table, size_t length,
                           size_t trial, wt_sparse_task **out) {
    const wt_search_options *options = &table->options;
    wt_sparse_spec spec = {.size = sizeof spec,
                           .function = options->task,
                           .length = table->length[length],
                           .probability = options->probability,
                           .noise = options->noise,
                           .seed = wt_seed_for(options->seed, "search", trial)};
    return wt_sparse_task_new(context, &spec, out);
}

wt_status wt_search_check(wt_context *context, const wt_search_trials *table) {
    const size_t *samples = table->samples;
    for (size_t i = 0; i < table->lengths; i++) {
        wt_sparse_task *task = NULL;
        wt_status status = open_task(context, table, i, 0, &task);
        if (status == WT_OK)
            status = check_function(context, &table->options, task->function);
        wt_sparse_task_free(task);
        WT_PASS(status);
    }
    for (size_t i = 0; i < table->sizes; i++)
        if (samples[i] == 0 || (i > 0 && samples[i] <= samples[i - 1]))
            return wt_fail(context, WT_USAGE,
                           "numbers of samples must increase from 1 or more; number %zu is %zu",
                           i + 1, samples[i]);
    return WT_OK;
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

wt_status wt_search_cell(wt_context *context, const wt_search_trials *table, size_t length,
                         size_t trial, wt_search_point *points) {
    const size_t *samples = table->samples;
    wt_sparse_task *task = NULL;
    wt_bits *bits = NULL;
    wt_status status;
    WT_TRY(open_task(context, table, length, trial, &task));
    WT_TRY(wt_bits_new(context, samples[table->sizes - 1], table->length[length], &bits));
    WT_TRY(wt_sparse_task_draw(context, task, "train", 0, true, bits));
    for (size_t i = 0; i < table->sizes; i++) {
        wt_bits first = {samples[i], bits->length, bits->bit, bits->label};
        points[i] = (wt_search_point){.samples = samples[i]};
        WT_TRY(table->options.method == WT_SEARCH_METHOD_ELIMINATION
                   ? eliminate(context, task, &first, &points[i])
                   : search(context, task, &first, &points[i]));
    }
done:
    wt_bits_free(bits);
    wt_sparse_task_free(task);
    return status;
}
