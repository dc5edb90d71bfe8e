/* Learning curves: a table of cells. */
#include <math.h>

#include "base/sized.h"
#include "device/device.h"
#include "features/task/sets.h"
#include "lab/curves.h"
#include "lab/experiment.h"
#include "lab/sha256.h"

static const wt_field columns[] = {
    {"n", WT_FIELD_KIND_NATURAL, .offset = offsetof(wt_curve_point, n)},
    {"lambda", WT_FIELD_KIND_REAL, .offset = offsetof(wt_curve_point, lambda)},
    {"train_error", WT_FIELD_KIND_REAL, .offset = offsetof(wt_curve_point, train_error)},
    {"loo_error", WT_FIELD_KIND_REAL, .offset = offsetof(wt_curve_point, loo_error)},
    {"test_error", WT_FIELD_KIND_REAL, .offset = offsetof(wt_curve_point, test_error)},
    {"lambda_at_end", WT_FIELD_KIND_FLAG, .offset = offsetof(wt_curve_point, lambda_at_end)},
};

static void add_numbers(wt_script *out, const double *values, size_t count) {
    char hash[WT_HASH_TEXT];
    wt_script_add(out, " %s", wt_sha256(values, count * sizeof *values, hash));
}

/* All that the points of a cell depend on. */
static void describe(const wt_context *context, const wt_curve_options *options, wt_script *out) {
    const wt_device *device = wt_context_get_device(context);
    const wt_sets *data = options->data;
    char hash[WT_HASH_TEXT];
    size_t count;
    const wt_field *fields = wt_curve_fields(&count);
    wt_script_add(out, "curve %lld %llu", (long long)wt_experiment_curve.result_version,
                  (unsigned long long)options->seed);
    wt_table_describe(fields, count, options, out);
    if (device != NULL) /* whose numbers are not the host's to the last bit */
        wt_script_add(out, "\non %s", device->product);
    if (data == NULL)
        return;
    wt_script_add(out, "\n%zu %zu %zu %zu", data->samples, data->keys, data->dim, data->outputs);
    add_numbers(out, data->query, data->samples * data->dim);
    add_numbers(out, data->key, data->samples * data->keys * data->dim);
    add_numbers(out, data->y, data->samples * data->outputs);
    if (data->mask != NULL)
        wt_script_add(out, " %s", wt_sha256(data->mask, data->samples * data->keys, hash));
}

static wt_status run_cell(const void *user, wt_context *context, size_t index, size_t rep,
                          void *points) {
    const wt_curves_job *work = user;
    wt_curve_setting setting = work->settings[index];
    setting.rep = rep;
    setting.turn = work->turn;
    return wt_curve_cell(context, &setting, points);
}

static void print_line(const void *user, wt_output *out, size_t line, size_t rep) {
    const wt_curves *curves = ((const wt_curves_job *)user)->curves;
    const wt_curve_line *one = &curves->lines[line];
    wt_output_print(out, "%s,%s,%s,%s,%zu,%zu,%zu,", one->model, one->target, curves->tokens,
                    one->activation, one->dim, one->keys, one->heads);
    if (!isnan(one->bias))
        wt_output_print(out, "%.17g", one->bias);
    wt_output_print(out, ",%llu,%zu,", (unsigned long long)curves->seed, rep);
}

/* Repetitions at a time on a device, which computes one while the next is drawn, where they take no
 * more than half of its memory. */
#define ON_DEVICE     4
#define FEATURE_BYTES 4.5e9 /* of features that a device makes at a time, at the most */

/* Bytes of a matrix of the largest n, and of features. */
static double device_bytes(const wt_curves_job *work) {
    double n = (double)work->sizes[work->curves->size_count - 1], most = 0;
    for (size_t i = 0; i < work->setting_count; i++) {
        const wt_curve_setting *setting = &work->settings[i];
        double width = (double)setting->problem.dim + 1;
        most = fmax(most, sizeof(double) * n * (double)setting->model.heads * width);
    }
    return sizeof(double) * n * n + fmin(most, FEATURE_BYTES);
}

static wt_engine engine_for(wt_context *context, const wt_curves_job *work) {
    wt_engine engine = {.context = context, .what = "cells", .workers = 1};
    const wt_device *device = wt_context_get_device(context);
    if (device == NULL || work->setting_count * work->curves->reps == 1 ||
        wt_context_memory(context) > 0)
        return engine;
    double most = (double)device->memory / 2 / device_bytes(work);
    size_t threads = (size_t)wt_context_threads(context);
    engine.apart = true;
    engine.workers = threads < ON_DEVICE ? threads : ON_DEVICE;
    engine.workers = most < 1 ? 1 : most < (double)engine.workers ? (size_t)most : engine.workers;
    engine.threads = threads;
    return engine;
}

static wt_status run_table(wt_context *context, wt_curves_job *work) {
    const wt_curves *curves = work->curves;
    pthread_mutex_t turn;
    wt_script key = {.context = context};
    wt_table table = {.engine = engine_for(context, work),
                      .settings = work->setting_count,
                      .parts = curves->target_count,
                      .reps = curves->reps,
                      .sizes = curves->size_count,
                      .points = curves->points,
                      .point_bytes = sizeof *curves->points,
                      .columns = columns,
                      .column_count = sizeof columns / sizeof *columns,
                      .heading = "model,target,tokens,activation,dim,keys,heads,bias,seed,rep,",
                      .output = work->options->output,
                      .costs = work->costs,
                      .key = &key,
                      .run = run_cell,
                      .print = print_line,
                      .user = work};
    if (pthread_mutex_init(&turn, NULL) != 0)
        return wt_fail(context, WT_INTERNAL, "no lock for drawing");
    work->turn = table.engine.apart ? &turn : NULL;
    describe(context, work->options, &key);
    wt_status status = wt_table_run(&table);
    pthread_mutex_destroy(&turn);
    wt_script_free(&key);
    return status;
}

wt_status wt_curves_run(wt_context *context, const wt_curve_options *given, wt_curves **out) {
    wt_curve_options options;
    wt_curves *curves = NULL;
    wt_curves_job work = {.options = &options};
    wt_status status;
    *out = NULL;
    WT_INIT(wt_curve_options, &options);
    WT_TRY(wt_sized_read(context, "wt_curve_options", given, &options, sizeof options));
    WT_TRY(WT_NEW_ZERO(context, &curves, 1, "curves"));
    curves->arena = wt_arena_start(context, "curves");
    curves->seed = options.seed;
    work.curves = curves;
    WT_TRY(wt_curves_prepare(context, &work));
    WT_TRY(run_table(context, &work));
    WT_TRY(wt_curves_summarise(context, curves));
    *out = curves;
    curves = NULL;
done:
    wt_grid_free(&work.path);
    wt_curves_free(curves);
    return status;
}
