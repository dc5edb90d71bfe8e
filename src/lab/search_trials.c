/* Trials of searches over lengths and numbers of samples. */
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "lab/search_cell.h"
#include "lab/table.h"
#include "network/task/task_fields.h"

static const char *const methods[] = {
    [WT_SEARCH_METHOD_SEARCH] = "search", [WT_SEARCH_METHOD_ELIMINATION] = "elimination", NULL};

/* clang-format off */
#define AT(member) offsetof(wt_search_options, member)
static const wt_field fields[] = {
    WT_TASK_FIELDS(AT, WT_FIELD_LIST, NULL, "100", "10:60:5", "m"),
    {"trials", WT_FIELD_KIND_COUNT, "40", .offset = AT(trials), .value = "N",
     .help = "Draws of positions and samples at each length."},
    {"rate", WT_FIELD_KIND_REAL, "0.8", .offset = AT(rate), .value = "P", .range = "(0,1]",
     .help = "Part of the trials that must succeed for a number of samples to be enough."},
    {"method", WT_FIELD_KIND_WORD, "search", .offset = AT(method), .words = methods,
     .value = "search|elimination",
     .help = "search knows how many bits are relevant; elimination over GF(2) finds parities of "
             "any number of them."},
};
/* clang-format on */
enum { FIELDS = sizeof fields / sizeof *fields };

const wt_field *wt_search_fields(size_t *count) {
    *count = FIELDS;
    return fields;
}

const char *wt_search_method_name(wt_search_method method) {
    return (size_t)method <= WT_SEARCH_METHOD_ELIMINATION ? methods[method] : "?";
}

void wt_search_options_init(wt_search_options *options, size_t size) {
    wt_search_options full = {.probability = NAN};
    wt_fields_init(fields, FIELDS, &full);
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
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

static wt_status run_trial(const void *user, wt_context *context, size_t length, size_t trial,
                           void *points) {
    return wt_search_cell(context, user, length, trial, points);
}

static void print_trial(const void *user, wt_output *out, size_t length, size_t trial) {
    const wt_search_trials *table = user;
    const wt_search_options *options = &table->options;
    wt_output_print(out, "%s,%s,%.17g,%llu,%zu,%zu,", options->task, methods[options->method],
                    options->noise, (unsigned long long)options->seed, table->length[length],
                    trial);
}

static wt_status run_table(wt_context *context, const wt_search_trials *trials) {
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
                      .output = trials->options.output,
                      .costs = trials->costs,
                      .key = &key,
                      .run = run_trial,
                      .print = print_trial,
                      .user = trials};
    wt_script_add(&key, "search %llu", (unsigned long long)trials->options.seed);
    wt_table_describe(fields, FIELDS, &trials->options, &key);
    wt_status status = wt_table_run(&table);
    wt_script_free(&key);
    return status;
}

static void sum_up(const wt_search_trials *table) {
    for (size_t i = 0; i < table->lengths * table->sizes; i++) {
        size_t length = i / table->sizes, size = i % table->sizes;
        wt_search_row *row = &table->rows[i];
        *row = (wt_search_row){.length = table->length[length],
                               .samples = table->samples[size],
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

/* The whole numbers of a list, in the arena. */
static wt_status take_counts(wt_search_trials *table, const char *name, size_t **out,
                             size_t *count) {
    const wt_field *field = wt_field_find(fields, FIELDS, name);
    wt_list list;
    WT_PASS(wt_field_list(&table->arena, field, wt_field_get(field, &table->options).text, &list));
    *count = list.count;
    *out = WT_TAKE(&table->arena, size_t, list.count);
    for (size_t i = 0; table->arena.status == WT_OK && i < list.count; i++)
        (*out)[i] = (size_t)list.values[i].number;
    return table->arena.status;
}

static wt_status make_table(wt_context *context, wt_search_trials *table) {
    WT_PASS(take_counts(table, "length", &table->length, &table->lengths));
    WT_PASS(take_counts(table, "samples", &table->samples, &table->sizes));
    table->trials = table->options.trials;
    WT_PASS(wt_search_check(context, table));
    table->points =
        WT_TAKE_ZERO(&table->arena, wt_search_point, table->lengths, table->trials, table->sizes);
    table->rows = WT_TAKE(&table->arena, wt_search_row, table->lengths, table->sizes);
    table->costs = WT_TAKE(&table->arena, double, table->lengths);
    WT_PASS(table->arena.status);
    for (size_t i = 0; i < table->lengths; i++) /* a trial takes about T^2 */
        table->costs[i] = (double)table->length[i] * (double)table->length[i];
    return WT_OK;
}

wt_status wt_search_trials_run(wt_context *context, const wt_search_options *given,
                               wt_search_trials **out) {
    wt_search_trials *table = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(WT_NEW_ZERO(context, &table, 1, "a search"));
    table->arena = wt_arena_start(context, "trials");
    wt_search_options *options = &table->options;
    WT_INIT(wt_search_options, options);
    WT_TRY(wt_sized_read(context, "wt_search_options", given, options, sizeof *options));
    if (options->task == NULL)
        WT_TRY(wt_fail(context, WT_USAGE, "a search needs a task"));
    WT_TRY(wt_fields_check(context, fields, FIELDS, options));
    WT_TRY(wt_output_check(context, options->output)); /* before the room for all trials */
    WT_TRY(make_table(context, table));
    WT_TRY(run_table(context, table));
    sum_up(table);
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
        if (row->rate.value < table->options.rate)
            break;
        found = row->samples;
    }
    return found;
}
