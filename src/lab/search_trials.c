/* Trials of searches over lengths and numbers of samples. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "io/output.h"
#include "lab/engine.h"
#include "lab/kept.h"
#include "lab/search_cell.h"

struct wt_search_trials {
    wt_arena arena;
    size_t lengths, trials, sizes;
    double rate;
    wt_search_point *points; /* (lengths, trials, sizes); samples 0 where it was not run */
    wt_search_row *rows;     /* (lengths, sizes) */
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

typedef struct {
    const wt_search_options *options;
    wt_search_trials *table;
    wt_engine engine;
    wt_kept kept;
} job;

static wt_search_setting setting_of(const wt_search_options *options, size_t length) {
    return (wt_search_setting){.function = options->task,
                               .length = options->lengths[length],
                               .probability = options->probability,
                               .noise = options->noise,
                               .elimination = options->elimination,
                               .sizes = options->samples,
                               .size_count = options->sample_count,
                               .seed = options->seed};
}

static wt_status check(wt_context *context, const wt_search_options *options) {
    if (options->task == NULL)
        return wt_fail(context, WT_USAGE, "a search needs a task");
    if (options->length_count == 0 || options->sample_count == 0 || options->trials == 0)
        return wt_fail(context, WT_USAGE, "a search needs lengths, samples and trials");
    for (size_t l = 0; l < options->length_count; l++) {
        wt_search_setting setting = setting_of(options, l);
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

/* A trial takes about T^2. */
static double cost_of(const wt_search_options *options, size_t length) {
    return (double)options->lengths[length] * (double)options->lengths[length];
}

enum { NUMBERS = 5 }; /* of a point */

static void give_points(void *user, size_t unit, double *values) {
    const wt_search_trials *table = ((const job *)user)->table;
    for (size_t i = 0; i < table->sizes; i++, values += NUMBERS) {
        const wt_search_point *point = &table->points[unit * table->sizes + i];
        const double row[NUMBERS] = {(double)point->samples, point->unique, point->success,
                                     (double)point->errors, (double)point->looked};
        memcpy(values, row, sizeof row);
    }
}

static void take_points(void *user, size_t unit, double *values) {
    const wt_search_trials *table = ((const job *)user)->table;
    for (size_t i = 0; i < table->sizes; i++, values += NUMBERS)
        table->points[unit * table->sizes + i] = (wt_search_point){.samples = (size_t)values[0],
                                                                   .unique = values[1] != 0,
                                                                   .success = values[2] != 0,
                                                                   .errors = (size_t)values[3],
                                                                   .looked = (uint64_t)values[4]};
}

/* What is there already is not to be done. */
static wt_status open_kept(wt_context *context, job *work) {
    const wt_search_options *options = work->options;
    const wt_search_trials *table = work->table;
    wt_script setting = {.context = context};
    wt_script_add(&setting, "search %llu %s %d %.17g %.17g %zu", (unsigned long long)options->seed,
                  options->task, options->elimination, options->probability, options->noise,
                  table->trials);
    for (size_t i = 0; i < table->lengths; i++)
        wt_script_add(&setting, " T%zu", options->lengths[i]);
    for (size_t i = 0; i < table->sizes; i++)
        wt_script_add(&setting, " m%zu", options->samples[i]);
    work->kept = (wt_kept){.context = context,
                           .give = give_points,
                           .take = take_points,
                           .user = work,
                           .units = table->lengths * table->trials,
                           .width = NUMBERS * table->sizes};
    wt_status status = wt_kept_open(&work->kept, options->output, &setting);
    work->engine.total = (double)(work->kept.units - work->kept.count);
    for (size_t i = 0; i < work->kept.units; i++)
        if (!wt_kept_has(&work->kept, i))
            work->engine.cost += cost_of(options, i / table->trials);
    wt_script_free(&setting);
    return status;
}

typedef struct {
    job *work;
    size_t unit;
    const wt_search_point *points;
} outcome;

static wt_status keep(void *user) {
    const outcome *found = user;
    const wt_search_trials *table = found->work->table;
    memcpy(&table->points[found->unit * table->sizes], found->points,
           table->sizes * sizeof *found->points);
    return wt_kept_add(&found->work->kept, found->unit);
}

static wt_status run_trial(void *user, wt_context *context, size_t unit) {
    job *work = user;
    size_t length = unit / work->table->trials;
    wt_search_setting setting = setting_of(work->options, length);
    wt_search_point *points = NULL;
    wt_status status;
    if (wt_kept_has(&work->kept, unit))
        return WT_OK;
    setting.trial = unit % work->table->trials;
    WT_TRY(WT_NEW(context, &points, setting.size_count, "points"));
    WT_TRY(wt_search_cell(context, &setting, points));
    outcome found = {work, unit, points};
    WT_TRY(wt_engine_keep(&work->engine, keep, &found, 1, cost_of(work->options, length)));
done:
    wt_release(points);
    return status;
}

static wt_status save(void *user) {
    job *work = user;
    const wt_search_options *options = work->options;
    const wt_search_trials *table = work->table;
    wt_output *out = NULL;
    wt_status status = WT_OK;
    if (work->kept.path == NULL || work->kept.count == 0)
        return status;
    WT_TRY(wt_output_open(work->engine.context, options->output, &out));
    wt_output_print(out,
                    "task,method,noise,seed,length,trial,samples,unique,success,errors,looked\n");
    for (size_t i = 0; i < table->lengths * table->trials * table->sizes; i++) {
        const wt_search_point *point = &table->points[i];
        size_t trial = i / table->sizes;
        if (point->samples > 0) /* an interrupted table has gaps */
            wt_output_print(out, "%s,%s,%.17g,%llu,%zu,%zu,%zu,%d,%d,%zu,%llu\n", options->task,
                            options->elimination ? "elimination" : "search", options->noise,
                            (unsigned long long)options->seed,
                            options->lengths[trial / table->trials], trial % table->trials,
                            point->samples, point->unique, point->success, point->errors,
                            (unsigned long long)point->looked);
    }
    WT_TRY(wt_output_commit(out));
    if (work->kept.count < work->kept.units)
        WT_TRY(wt_kept_save(&work->kept));
done:
    wt_output_free(out);
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
    return table->arena.status;
}

wt_status wt_search_trials_run(wt_context *context, const wt_search_options *given,
                               wt_search_trials **out) {
    wt_search_options options;
    wt_search_trials *table = NULL;
    job work = {.options = &options, .engine = {.context = context, .what = "trials"}};
    wt_status status;
    *out = NULL;
    WT_INIT(wt_search_options, &options);
    WT_TRY(wt_sized_read(context, "wt_search_options", given, &options, sizeof options));
    WT_TRY(check(context, &options));
    WT_TRY(wt_output_check(context, options.output));
    WT_TRY(make_table(context, &options, &table));
    work.table = table;
    WT_TRY(open_kept(context, &work));
    WT_TRY(wt_engine_open(&work.engine));
    status = wt_engine_run(&work.engine, table->lengths * table->trials, run_trial, &work);
    if (status == WT_OK || status == WT_INTERRUPTED)
        status = wt_engine_finish(&work.engine, status, save, &work);
    if (status == WT_INTERRUPTED && work.kept.count > 0)
        status = wt_fail(context, WT_INTERRUPTED,
                         "interrupted; the %zu trials that were finished are in %s, and the same "
                         "command goes on from them",
                         work.kept.count, options.output);
    WT_TRY(status);
    sum_up(&options, table);
    wt_kept_drop(&work.kept);
    *out = table;
    table = NULL;
done:
    wt_kept_close(&work.kept);
    wt_engine_close(&work.engine);
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
