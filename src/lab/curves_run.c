/* Learning curves: cells by the engine, kept in a file beside the table until it is complete. */
#include <string.h>

#include "base/sized.h"
#include "features/task/sets.h"
#include "io/output.h"
#include "lab/curves.h"
#include "lab/experiment.h"
#include "lab/sha256.h"

enum { NUMBERS = 6 }; /* of a point */

static wt_curve_point *point_of(const wt_curves_job *work, size_t unit, size_t i) {
    const wt_curves *curves = work->curves;
    size_t line = unit / curves->reps * curves->targets.count + i / curves->size_count;
    return wt_curves_at(curves, line, unit % curves->reps, i % curves->size_count);
}

static void give_points(void *user, size_t unit, double *values) {
    const wt_curves_job *work = user;
    for (size_t i = 0; i < work->kept.width / NUMBERS; i++, values += NUMBERS) {
        const wt_curve_point *point = point_of(work, unit, i);
        const double row[NUMBERS] = {(double)point->n,   point->lambda,    point->test_error,
                                     point->train_error, point->loo_error, point->lambda_at_end};
        memcpy(values, row, sizeof row);
    }
}

static void take_points(void *user, size_t unit, double *values) {
    const wt_curves_job *work = user;
    for (size_t i = 0; i < work->kept.width / NUMBERS; i++, values += NUMBERS)
        *point_of(work, unit, i) = (wt_curve_point){.n = (size_t)values[0],
                                                    .lambda = values[1],
                                                    .test_error = values[2],
                                                    .train_error = values[3],
                                                    .loo_error = values[4],
                                                    .lambda_at_end = values[5] != 0};
}

static void add_numbers(wt_script *out, const double *values, size_t count) {
    char hash[WT_HASH_TEXT];
    wt_script_add(out, " %s", wt_sha256(values, count * sizeof *values, hash));
}

/* All that the points of a cell depend on. */
static void describe(const wt_curves_job *work, wt_script *out) {
    const wt_curve_options *options = work->options;
    const wt_curve_setting *base = &work->base;
    const wt_ridge_options *ridge = &work->ridge;
    const wt_sets *data = options->data;
    char hash[WT_HASH_TEXT];
    wt_script_add(out, "curve %lld %llu %zu", (long long)wt_experiment_curve.result_version,
                  (unsigned long long)options->seed, work->curves->reps);
    for (size_t i = 0; i < work->variant_count; i++) {
        const wt_curve_variant *one = &work->variants[i];
        wt_script_add(out, "\n%d %d %zu %zu %.17g %zu %zu", (int)one->model.kind,
                      (int)one->model.activation, one->model.width, one->model.heads,
                      one->model.bias, one->dim, one->keys);
    }
    for (size_t i = 0; i < base->targets; i++)
        wt_script_add(out, "\n%s", base->target[i]);
    wt_script_add(out, "\n%d %.17g %.17g %.17g %zu %d %.17g", (int)base->problem.law,
                  base->problem.token_scale, base->problem.noise, base->holdout, base->test_samples,
                  (int)ridge->rule, ridge->lambda);
    for (size_t i = 0; i < base->size_count; i++)
        wt_script_add(out, " %zu", base->sizes[i]);
    add_numbers(out, ridge->path, ridge->path_count);
    if (data == NULL)
        return;
    wt_script_add(out, "\n%zu %zu %zu %zu", data->samples, data->keys, data->dim, data->outputs);
    add_numbers(out, data->query, data->samples * data->dim);
    add_numbers(out, data->key, data->samples * data->keys * data->dim);
    add_numbers(out, data->y, data->samples * data->outputs);
    if (data->mask != NULL)
        wt_script_add(out, " %s", wt_sha256(data->mask, data->samples * data->keys, hash));
}

/* What is there already is not to be done. */
static wt_status open_kept(wt_context *context, wt_curves_job *work) {
    wt_script setting = {.context = context};
    work->kept = (wt_kept){.context = context,
                           .give = give_points,
                           .take = take_points,
                           .user = work,
                           .units = work->variant_count * work->curves->reps,
                           .width = NUMBERS * work->base.targets * work->base.size_count};
    describe(work, &setting);
    wt_status status = wt_kept_open(&work->kept, work->options->output, &setting);
    work->engine.total = (double)(work->kept.units - work->kept.count);
    for (size_t i = 0; i < work->kept.units; i++)
        work->engine.cost -= wt_kept_has(&work->kept, i) ? work->costs[i / work->curves->reps] : 0;
    wt_script_free(&setting);
    return status;
}

typedef struct {
    wt_curves_job *work;
    size_t unit;
    const wt_curve_point *points; /* (targets, sizes) */
} outcome;

static wt_status keep(void *user) {
    const outcome *found = user;
    size_t count = found->work->base.targets * found->work->base.size_count;
    for (size_t i = 0; i < count; i++)
        *point_of(found->work, found->unit, i) = found->points[i];
    return wt_kept_add(&found->work->kept, found->unit);
}

static wt_status run_cell(void *user, wt_context *context, size_t unit) {
    wt_curves_job *work = user;
    wt_curve_setting setting = wt_curves_setting(work, unit);
    wt_curve_point *points = NULL;
    wt_status status;
    if (wt_kept_has(&work->kept, unit))
        return WT_OK;
    WT_TRY(WT_NEW2(context, &points, setting.targets, setting.size_count, "points"));
    WT_TRY(wt_curve_cell(context, &setting, points));
    outcome found = {work, unit, points};
    WT_TRY(wt_engine_keep(&work->engine, keep, &found, 1, work->costs[unit / work->curves->reps]));
done:
    wt_release(points);
    return status;
}

static wt_status save(void *user) {
    wt_curves_job *work = user;
    if (work->kept.path == NULL || work->kept.count == 0)
        return WT_OK;
    WT_PASS(wt_curves_write(work->engine.context, work->curves, work->options->output));
    return work->kept.count < work->kept.units ? wt_kept_save(&work->kept) : WT_OK;
}

static wt_status interrupted(const wt_curves_job *work) {
    wt_context *context = work->engine.context;
    if (work->kept.count == 0)
        return wt_fail(context, WT_INTERRUPTED, "interrupted after %.0f cells", work->engine.done);
    return wt_fail(context, WT_INTERRUPTED,
                   "interrupted; the %zu cells that were finished are in %s, and the same command "
                   "goes on from them",
                   work->kept.count, work->options->output);
}

wt_status wt_curves_run(wt_context *context, const wt_curve_options *given, wt_curves **out) {
    wt_curve_options options;
    wt_curves *curves = NULL;
    wt_curves_job work = {.options = &options,
                          .engine = {.context = context, .what = "cells", .workers = 1}};
    wt_status status;
    *out = NULL;
    WT_INIT(wt_curve_options, &options);
    WT_TRY(wt_sized_read(context, "wt_curve_options", given, &options, sizeof options));
    WT_TRY(WT_NEW_ZERO(context, &curves, 1, "curves"));
    curves->arena = wt_arena_start(context, "curves");
    curves->seed = options.seed;
    curves->reps = options.reps;
    curves->size_count = options.size_count;
    work.curves = curves;
    WT_TRY(wt_curves_prepare(context, &work));
    WT_TRY(wt_output_check(context, options.output));
    WT_TRY(open_kept(context, &work));
    WT_TRY(wt_engine_open(&work.engine));
    status = wt_engine_run(&work.engine, work.variant_count * curves->reps, run_cell, &work);
    if (status == WT_OK || status == WT_INTERRUPTED)
        status = wt_engine_finish(&work.engine, status, save, &work);
    WT_TRY(status == WT_INTERRUPTED ? interrupted(&work) : status);
    WT_TRY(wt_curves_summarise(context, curves));
    wt_kept_drop(&work.kept);
    *out = curves;
    curves = NULL;
done:
    wt_kept_close(&work.kept);
    wt_engine_close(&work.engine);
    wt_curves_free(curves);
    return status;
}
