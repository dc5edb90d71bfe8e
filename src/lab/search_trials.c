/* Trials of searches over lengths and numbers of samples. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "lab/search_cell.h"
#include "lab/table.h"

struct wt_search_trials {
    wt_arena arena;
    size_t lengths, trials, sizes;
    double rate;
    wt_search_point *points; /* (lengths, trials, sizes) */
    wt_search_row *rows;     /* (lengths, sizes) */
    double *costs;           /* (lengths) of a trial */
};

void wt_search_options_init(wt_search_options *options, size_t size) {
    static const size_t length = 100, samples[] = {10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60};
    wt_search_options full = {.size = size,
                              .probability = NAN,
                              .lengths = &length,
                              .length_count = 1,
                              .samples = samples,
                              .sample_count = sizeof samples / sizeof *samples,
                              .trials = 40,
                              .rate = 0.8};
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

static wt_search_setting setting_of(const wt_search_options *options, size_t length, size_t trial) {
    return (wt_search_setting){.function = options->task,
                               .length = options->lengths[length],
                               .probability = options->probability,
                               .noise = options->noise,
                               .elimination = options->elimination,
                               .sizes = options->samples,
                               .size_count = options->sample_count,
                               .seed = options->seed,
                               .trial = trial};
}

static wt_status check(wt_context *context, const wt_search_options *options) {
    if (options->task == NULL)
        return wt_fail(context, WT_USAGE, "a search needs a task");
    if (options->length_count == 0 || options->sample_count == 0 || options->trials == 0)
        return wt_fail(context, WT_USAGE, "a search needs lengths, samples and trials");
    for (size_t l = 0; l < options->length_count; l++) {
        wt_search_setting setting = setting_of(options, l, 0);
        WT_PASS(wt_search_setting_check(context, &setting));
    }
    if (!(options->rate > 0 && options->rate <= 1))
        return wt_fail(context, WT_USAGE, "the rate must be above 0 and at most 1, not %g",
                       options->rate);
    return WT_OK;
}

static wt_search_point *point_at(const wt_search_trials *table, size_t length, size_t trial,
                                 size_t size) {
    return &table->points[(length * table->trials + trial) * table->sizes + size];
}

static const wt_field columns[] = {
    {"samples", WT_FIELD_KIND_NATURAL, .offset = offsetof(wt_search_point, samples)},
    {"unique", WT_FIELD_KIND_FLAG, .offset = offsetof(wt_search_point, unique)},
    {"success", WT_FIELD_KIND_FLAG, .offset = offsetof(wt_search_point, success)},
    {"errors", WT_FIELD_KIND_NATURAL, .offset = offsetof(wt_search_point, errors)},
    {"looked", WT_FIELD_KIND_NATURAL, .offset = offsetof(wt_search_point, looked)},
};
_Static_assert(sizeof(uint64_t) == sizeof(size_t), "looked is read as a size_t");

static void describe(const wt_search_options *options, wt_script *out) {
    wt_script_add(out, "search %llu %s %d %.17g %.17g %zu", (unsigned long long)options->seed,
                  options->task, options->elimination, options->probability, options->noise,
                  options->trials);
    for (size_t i = 0; i < options->length_count; i++)
        wt_script_add(out, " T%zu", options->lengths[i]);
    for (size_t i = 0; i < options->sample_count; i++)
        wt_script_add(out, " m%zu", options->samples[i]);
}

static wt_status run_trial(const void *user, wt_context *context, size_t length, size_t trial,
                           void *points) {
    wt_search_setting setting = setting_of(user, length, trial);
    return wt_search_cell(context, &setting, points);
}

static void print_trial(const void *user, wt_output *out, size_t length, size_t trial) {
    const wt_search_options *options = user;
    wt_output_print(out, "%s,%s,%.17g,%llu,%zu,%zu,", options->task,
                    options->elimination ? "elimination" : "search", options->noise,
                    (unsigned long long)options->seed, options->lengths[length], trial);
}

static wt_status run_table(wt_context *context, const wt_search_options *options,
                           const wt_search_trials *trials) {
    wt_script key = {.context = context};
    wt_table table = {.engine = {.context = context, .what = "trials"},
                      .settings = trials->lengths,
                      .parts = 1,
                      .reps = trials->trials,
                      .sizes = trials->sizes,
                      .points = trials->points,
                      .point_bytes = sizeof *trials->points,
                      .columns = columns,
                      .column_count = sizeof columns / sizeof *columns,
                      .heading = "task,method,noise,seed,length,trial,",
                      .output = options->output,
                      .costs = trials->costs,
                      .key = &key,
                      .run = run_trial,
                      .print = print_trial,
                      .user = options};
    describe(options, &key);
    wt_status status = wt_table_run(&table);
    wt_script_free(&key);
    return status;
}

static void sum_up(const wt_search_options *options, const wt_search_trials *table) {
    for (size_t i = 0; i < table->lengths * table->sizes; i++) {
        size_t length = i / table->sizes, size = i % table->sizes;
        wt_search_row *row = &table->rows[i];
        *row = (wt_search_row){.length = options->lengths[length],
                               .samples = options->samples[size],
                               .trials = table->trials};
        for (size_t t = 0; t < table->trials; t++) {
            const wt_search_point *point = point_at(table, length, t, size);
            row->successes += point->success;
            row->looked += (double)point->looked;
        }
        row->rate = wt_rate_interval(row->successes, row->trials);
        row->looked /= (double)row->trials;
    }
}

static wt_status make_table(wt_context *context, const wt_search_options *options,
                            wt_search_trials **out) {
    wt_status status = WT_NEW_ZERO(context, out, 1, "a search");
    if (status != WT_OK)
        return status;
    wt_search_trials *table = *out;
    *table = (wt_search_trials){.arena = wt_arena_start(context, "trials"),
                                .lengths = options->length_count,
                                .trials = options->trials,
                                .sizes = options->sample_count,
                                .rate = options->rate};
    table->points =
        WT_TAKE_ZERO(&table->arena, wt_search_point, table->lengths, table->trials, table->sizes);
    table->rows = WT_TAKE(&table->arena, wt_search_row, table->lengths, table->sizes);
    table->costs = WT_TAKE(&table->arena, double, table->lengths);
    WT_PASS(table->arena.status);
    for (size_t i = 0; i < table->lengths; i++) /* a trial takes about T^2 */
        table->costs[i] = (double)options->lengths[i] * (double)options->lengths[i];
    return WT_OK;
}

wt_status wt_search_trials_run(wt_context *context, const wt_search_options *given,
                               wt_search_trials **out) {
    wt_search_options options;
    wt_search_trials *table = NULL;
    wt_status status;
    *out = NULL;
    WT_INIT(wt_search_options, &options);
    WT_TRY(wt_sized_read(context, "wt_search_options", given, &options, sizeof options));
    WT_TRY(check(context, &options));
    WT_TRY(make_table(context, &options, &table));
    WT_TRY(run_table(context, &options, table));
    sum_up(&options, table);
    *out = table;
    table = NULL;
done:
    wt_search_trials_free(table);
    return status;
}

void wt_search_trials_free(wt_search_trials *table) {
    if (table == NULL)
        return;
    wt_arena_free(&table->arena);
    wt_release(table);
}

const wt_search_point *wt_search_trials_point_at(const wt_search_trials *table, size_t length,
                                                 size_t trial, size_t size) {
    return length < table->lengths && trial < table->trials && size < table->sizes
               ? point_at(table, length, trial, size)
               : NULL;
}

const wt_search_row *wt_search_trials_row_at(const wt_search_trials *table, size_t length,
                                             size_t size) {
    return length < table->lengths && size < table->sizes
               ? &table->rows[length * table->sizes + size]
               : NULL;
}

size_t wt_search_trials_enough(const wt_search_trials *table, size_t length) {
    size_t found = 0;
    for (size_t s = length < table->lengths ? table->sizes : 0; s-- > 0;) {
        const wt_search_row *row = wt_search_trials_row_at(table, length, s);
        if (row->rate.value < table->rate)
            break;
        found = row->samples;
    }
    return found;
}
