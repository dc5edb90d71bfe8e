#include "lab/curve_cell.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "features/learn/route.h"
#include "features/task/sets.h"
#include "wattle/random.h"

/* Tokens once, and the labels of every target as columns of y (n, targets). */
typedef struct {
    wt_sets sets;
    double *y;
} labelled;

static void labelled_free(labelled *part) {
    wt_sets_close(&part->sets);
    wt_release(part->y);
}

static wt_status draw(wt_context *context, const wt_curve_setting *setting,
                      wt_problem *const *problems, uint64_t first, size_t n, labelled *out) {
    const wt_problem_spec *spec = &setting->problem;
    WT_PASS(wt_sets_open(context, n, spec->keys, spec->dim, 1, false, &out->sets));
    WT_PASS(WT_NEW(context, &out->y, n * setting->targets, "labels"));
    for (size_t t = 0; t < setting->targets; t++) {
        WT_PASS(t == 0 ? wt_problem_draw(context, problems[t], first, &out->sets)
                       : wt_problem_label(context, problems[t], first, &out->sets));
        for (size_t i = 0; i < n; i++)
            out->y[i * setting->targets + t] = out->sets.y[i];
    }
    return WT_OK;
}

static wt_status draw_both(wt_context *context, const wt_curve_setting *setting, uint64_t seed,
                           labelled *train, labelled *test) {
    wt_problem **problems = NULL;
    wt_problem_spec spec = setting->problem;
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, &problems, setting->targets, "problems"));
    for (size_t t = 0; t < setting->targets; t++) {
        spec.target = setting->target[t];
        spec.seed = seed;
        WT_TRY(wt_problem_new(context, &spec, &problems[t]));
    }
    size_t largest = setting->sizes[setting->size_count - 1];
    WT_TRY(draw(context, setting, problems, 0, largest, train));
    WT_TRY(draw(context, setting, problems, WT_PROBLEM_FIRST_TEST, setting->test_samples, test));
done:
    for (size_t t = 0; problems != NULL && t < setting->targets; t++)
        wt_problem_free(problems[t]);
    wt_release(problems);
    return status;
}

static wt_status draw_in_turn(wt_context *context, const wt_curve_setting *setting, uint64_t seed,
                              labelled *train, labelled *test) {
    if (setting->turn != NULL)
        pthread_mutex_lock(setting->turn);
    wt_status status = draw_both(context, setting, seed, train, test);
    if (setting->turn != NULL)
        pthread_mutex_unlock(setting->turn);
    return status;
}

/* Samples chosen[0 .. count-1] of the data. */
static wt_status gather(wt_context *context, const wt_sets *data, const size_t *chosen,
                        size_t count, labelled *out) {
    size_t row = data->keys * data->dim, q = data->outputs;
    WT_PASS(wt_sets_open(context, count, data->keys, data->dim, q, data->mask != NULL, &out->sets));
    WT_PASS(WT_NEW(context, &out->y, count * q, "labels"));
    for (size_t i = 0; i < count; i++) {
        wt_sets from = wt_sets_part(data, chosen[i], chosen[i] + 1);
        memcpy(out->sets.query + i * data->dim, from.query, data->dim * sizeof *from.query);
        memcpy(out->sets.key + i * row, from.key, row * sizeof *from.key);
        if (data->mask != NULL)
            memcpy(out->sets.mask + i * data->keys, from.mask, data->keys);
        memcpy(out->sets.y + i * q, from.y, q * sizeof *from.y);
        memcpy(out->y + i * q, from.y, q * sizeof *from.y);
    }
    return WT_OK;
}

wt_status wt_curve_split(wt_context *context, size_t samples, double holdout, size_t *training) {
    if (!(holdout > 0 && holdout < 1))
        return wt_fail(context, WT_USAGE, "the hold-out must be between 0 and 1, not %g", holdout);
    size_t held = (size_t)ceil(holdout * (double)samples);
    if (held == 0 || held >= samples)
        return wt_fail(context, WT_USAGE,
                       "a hold-out of %g leaves nothing to train on of %zu samples", holdout,
                       samples);
    *training = samples - held;
    return WT_OK;
}

static wt_status split(wt_context *context, const wt_curve_setting *setting, uint64_t seed,
                       labelled *train, labelled *test) {
    size_t samples = setting->data->samples, training = 0, *order = NULL;
    wt_status status;
    WT_TRY(wt_curve_split(context, samples, setting->holdout, &training));
    WT_TRY(WT_NEW(context, &order, samples, "a split"));
    wt_random_permutation(wt_stream_for(seed, "split", 0), samples, order);
    WT_TRY(gather(context, setting->data, order, training, train));
    WT_TRY(gather(context, setting->data, order + training, samples - training, test));
done:
    wt_release(order);
    return status;
}

/* Every size is a fit of its own. One that ends without its gap is no result. */
static wt_status fit_in_ball(wt_context *context, const wt_curve_setting *setting,
                             const wt_model_spec *model, const labelled *train,
                             const labelled *test, wt_curve_point *points) {
    wt_status status = WT_OK;
    for (size_t i = 0; i < setting->size_count; i++) {
        wt_sets part = wt_sets_part(&train->sets, 0, setting->sizes[i]);
        wt_curve_point *point = &points[i];
        wt_fitted *fitted = NULL;
        wt_ball_report result = WT_SIZED(wt_ball_report);
        double square;
        *point = (wt_curve_point){.n = part.samples,
                                  .lambda = NAN,
                                  .test_error = NAN,
                                  .train_error = NAN,
                                  .loo_error = NAN};
        status = wt_ball_fit(context, setting->ball, model, &part, NULL, &fitted, &result);
        if (status == WT_OK && result.reached)
            status = wt_fitted_score(context, fitted, &part, &square, &point->train_error);
        if (status == WT_OK && result.reached)
            status = wt_fitted_score(context, fitted, &test->sets, &square, &point->test_error);
        wt_fitted_free(fitted);
        WT_TRY(status);
    }
done:
    return status;
}

wt_status wt_curve_cell(wt_context *context, const wt_curve_setting *setting,
                        wt_curve_point *points) {
    uint64_t seed = wt_seed_for(setting->seed, "rep", setting->rep);
    labelled train = {0}, test = {0};
    wt_model_spec model = setting->model;
    wt_status status;
    if (setting->data != NULL)
        WT_TRY(split(context, setting, seed, &train, &test));
    else
        WT_TRY(draw_in_turn(context, setting, seed, &train, &test));
    model.dim = train.sets.dim;
    model.keys = train.sets.keys;
    model.seed = seed;
    if (setting->ball != NULL) {
        WT_TRY(fit_in_ball(context, setting, &model, &train, &test, points));
        goto done;
    }
    size_t columns = setting->data != NULL ? setting->data->outputs : setting->targets;
    WT_TRY(wt_ridge_curve(context, setting->ridge, &model, &train.sets, train.y, &test.sets, test.y,
                          columns, setting->targets, setting->sizes, setting->size_count, points));
done:
    labelled_free(&train);
    labelled_free(&test);
    return status;
}

/* With the samples, which are the cell's own. */
static wt_status plan_of(wt_context *context, const wt_curve_setting *setting, wt_curve_plan *out) {
    const wt_sets *data = setting->data;
    double test =
        data == NULL ? (double)setting->test_samples : setting->holdout * (double)data->samples;
    size_t columns = data != NULL ? data->outputs : setting->targets;
    wt_model_spec model = setting->model;
    wt_ridge_options ridge = *setting->ridge;
    model.dim = setting->problem.dim;
    model.keys = setting->problem.keys;
    if (setting->ball != NULL)
        ridge.solver = WT_SOLVER_DUAL; /* about as balls are fitted */
    WT_PASS(wt_curve_plan_of(context, &ridge, &model, setting->sizes, setting->size_count, columns,
                             out));
    double numbers = (double)model.dim * ((double)model.keys + 1) + (double)columns;
    out->bytes += sizeof(double) * (test + (double)out->samples) * numbers;
    return WT_OK;
}

wt_status wt_curve_fits(wt_context *context, const wt_curve_setting *setting) {
    wt_curve_plan plan;
    if (setting->ball != NULL)
        return WT_OK; /* its fits look for themselves */
    WT_PASS(plan_of(context, setting, &plan));
    return wt_curve_plan_refuse(context, &setting->model, &plan);
}

/* Of the rate of a large product, as measured on curves of 16 to 2048 samples. */
#define PART_OF_GEMM 0.35

wt_status wt_curve_cost(wt_context *context, const wt_curve_setting *setting, wt_cost *out) {
    const wt_sets *data = setting->data;
    size_t largest = setting->sizes[setting->size_count - 1];
    double test =
        data == NULL ? (double)setting->test_samples : setting->holdout * (double)data->samples;
    wt_curve_plan plan;
    WT_PASS(plan_of(context, setting, &plan));
    double d = (double)setting->problem.dim + 1, N = (double)setting->problem.keys;
    bool infinite = wt_model_kind_infinite(setting->model.kind);
    double rows = infinite ? 0 : test * (double)setting->model.heads * d * (2 * d + 4 * N);
    double flops = plan.flops * (infinite ? 1 + 2 * test / (double)largest : 1) + rows;
    *out = (wt_cost){.flops = flops / PART_OF_GEMM, .bytes = plan.bytes};
    return WT_OK;
}
