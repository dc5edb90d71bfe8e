/* Points of a learning curve: all n of one model, target and repetition from one matrix.
 * Models and targets of the same seed and repetition see the same draws (curve_cell.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/text.h"
#include "lab/curve_cell.h"
#include "lab/curve_fields.h"
#include "lab/experiment.h"
#include "wattle/text.h"

/* A cell: problem and model, and how the model is fitted. */
typedef struct {
    wt_problem_spec problem;
    wt_model_spec model; /* its dim and keys are the problem's */
    size_t n, test_samples;
    wt_ridge_spec ridge;
    const char *ball;
} cell;

/* clang-format off */
#define OF_CELL(member)    offsetof(cell, member)
#define OF_PROBLEM(member) offsetof(cell, problem.member)
#define OF_MODEL(member)   offsetof(cell, model.member)
#define OF_RIDGE(member)   offsetof(cell, ridge.member)
static const wt_field fields[] = {
    WT_MODEL_FIELDS(OF_MODEL, WT_FIELD_ONE, "rfa"),
    WT_PROBLEM_FIELDS(OF_PROBLEM, WT_FIELD_ONE, NULL),
    WT_CURVE_FIELDS(OF_CELL, WT_FIELD_ONE),
    WT_LAMBDA_FIELDS(OF_RIDGE),
    {"ball", WT_FIELD_KIND_TEXT, "none", .offset = offsetof(cell, ball), .none = "none",
     .since = 3,
     .help = "K1,K2: least squares in norm balls, as wattle fit --ball, in place of a ridge."},
};
/* clang-format on */
enum { FIELDS = sizeof fields / sizeof *fields };

enum { TEST_ERROR, TRAIN_ERROR, LOO_ERROR, CHOSEN_LAMBDA, LAMBDA_AT_END, METRICS };
static const char *const metrics[METRICS] = {[TEST_ERROR] = "test_error",
                                             [TRAIN_ERROR] = "train_error",
                                             [LOO_ERROR] = "loo_error",
                                             [CHOSEN_LAMBDA] = "chosen_lambda",
                                             [LAMBDA_AT_END] = "lambda_at_end"};

static bool searches(const wt_ridge_options *ridge) {
    return ridge->rule == WT_LAMBDA_LOO || ridge->rule == WT_LAMBDA_GCV ||
           ridge->rule == WT_LAMBDA_ORACLE;
}

/* Labels are far from the boundary when a gap of this much of the loss of 0 is left: errors that
 * claims are about are above it a hundred times. */
#define BALL_TOLERANCE 1e-4
static wt_status read_ball(wt_context *context, const char *text, wt_ball_options *out) {
    char first[64];
    size_t length = strcspn(text, ",");
    WT_INIT(wt_ball_options, out);
    out->tolerance = BALL_TOLERANCE;
    snprintf(first, sizeof first, "%.*s", (int)length, text);
    if (length >= sizeof first || text[length] == '\0' || !wt_real_parse(first, &out->k1) ||
        !wt_real_parse(text + length + 1, &out->k2) || !(out->k1 > 0 && out->k2 > 0))
        return wt_fail(context, WT_USAGE,
                       "ball: '%s' is neither none nor two numbers above 0: 4,16", text);
    return WT_OK;
}

/* The model as it is fitted: heads that are not read are checked all the same. */
static wt_model_spec model_of(const cell *one) {
    wt_model_spec out = one->model;
    out.size = sizeof out;
    out.heads = out.heads == 0 ? 1 : out.heads;
    out.dim = one->problem.dim;
    out.keys = one->problem.keys;
    return out;
}

/* Sizes that mean nothing for a model become 0, so that it is computed once over a grid of them. */
static void settle_sizes(cell *one) {
    wt_model_spec *model = &one->model;
    wt_model_kind kind = model->kind;
    bool infinite = wt_model_kind_infinite(kind);
    bool neurons = kind == WT_MODEL_KIND_RFMLP || kind == WT_MODEL_KIND_RFMLP_INF;
    if (infinite || (neurons && model->width > 0))
        model->heads = 0;
    if (kind != WT_MODEL_KIND_RFMLP)
        model->width = 0;
    else if (model->width == 0)
        model->width = model->heads * (one->problem.dim + 1);
    if (kind != WT_MODEL_KIND_BRFA && kind != WT_MODEL_KIND_BRFA_INF)
        model->bias = 0;
    if (neurons)
        model->activation = WT_ACTIVATION_RELU;
}

static wt_status settle(wt_context *context, wt_value *values) {
    cell one = {.problem = {.size = sizeof one.problem}, .ridge = {.size = sizeof one.ridge}};
    wt_ridge_options ridge;
    wt_grid path = {0};
    wt_ball_options ball;
    wt_problem *problem = NULL;
    wt_status status;
    WT_TRY(wt_fields_read(context, fields, FIELDS, values, &one));
    wt_model_spec model = model_of(&one);
    if (one.problem.token_scale == 0)
        one.problem.token_scale = wt_law_set_scale(one.problem.law, one.problem.dim);
    WT_TRY(wt_problem_new(context, &one.problem, &problem)); /* judges the target and the numbers */
    WT_TRY(wt_model_spec_check(context, &model));
    if (one.ball != NULL) {
        WT_TRY(read_ball(context, one.ball, &ball));
        if (wt_model_kind_infinite(model.kind))
            WT_TRY(wt_fail(context, WT_USAGE, "ball: '%s' has no value vectors to hold in balls",
                           wt_model_kind_name(model.kind)));
        one.ridge.lambda = (wt_value){.number = 0}; /* a ridge means nothing there */
    }
    WT_TRY(wt_ridge_spec_read(context, &one.ridge, &ridge, &path));
    if (!searches(&ridge))
        one.ridge.path = NULL;
    settle_sizes(&one);
    wt_fields_get(fields, FIELDS, &one, values);
done:
    wt_problem_free(problem);
    wt_grid_free(&path);
    return status;
}

/* A trial as a cell, all but its sizes. */
typedef struct {
    wt_curve_setting setting; /* points into what follows */
    cell one;
    wt_ridge_options ridge;
    wt_grid path; /* to be freed in any case */
    wt_ball_options ball;
} reading;

static wt_status read_trial(wt_context *context, const wt_trial *trial, reading *out) {
    *out = (reading){0};
    wt_fields_set(fields, FIELDS, trial->values, &out->one);
    out->one.problem.size = sizeof out->one.problem;
    out->one.ridge.size = sizeof out->one.ridge;
    out->setting = (wt_curve_setting){.model = model_of(&out->one),
                                      .problem = out->one.problem,
                                      .target = &out->one.problem.target,
                                      .targets = 1,
                                      .test_samples = out->one.test_samples,
                                      .ridge = &out->ridge,
                                      .ball = out->one.ball == NULL ? NULL : &out->ball,
                                      .seed = trial->seed,
                                      .rep = trial->rep};
    WT_PASS(wt_ridge_spec_read(context, &out->one.ridge, &out->ridge, &out->path));
    if (out->one.ball != NULL)
        WT_PASS(read_ball(context, out->one.ball, &out->ball));
    return WT_OK;
}

static wt_status estimate(wt_context *context, const wt_trial *trial, wt_cost *out) {
    wt_arena arena = wt_arena_start(context, "sizes");
    size_t *sizes = WT_TAKE(&arena, size_t, trial->count);
    reading read = {0};
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(read_trial(context, trial, &read));
    for (size_t i = 0; i < trial->count; i++)
        sizes[i] = (size_t)trial->sizes[i];
    read.setting.sizes = sizes;
    read.setting.size_count = trial->count;
    WT_TRY(wt_curve_cost(context, &read.setting, out));
done:
    wt_grid_free(&read.path);
    wt_arena_free(&arena);
    return status;
}

static void fill_metrics(const wt_curve_point *points, size_t count, double *out) {
    for (size_t i = 0; i < count; i++) {
        out[i * METRICS + TEST_ERROR] = points[i].test_error;
        out[i * METRICS + TRAIN_ERROR] = points[i].train_error;
        out[i * METRICS + LOO_ERROR] = points[i].loo_error;
        out[i * METRICS + CHOSEN_LAMBDA] = points[i].lambda;
        out[i * METRICS + LAMBDA_AT_END] = points[i].lambda_at_end;
    }
}

/* Targets are columns of one factorisation; balls have none to share. */
static wt_status run_together(wt_context *context, const wt_trial *trials, size_t count,
                              double *out) {
    size_t size_count = trials->count;
    wt_arena arena = wt_arena_start(context, "points");
    size_t *sizes = WT_TAKE(&arena, size_t, size_count);
    const char **targets = WT_TAKE(&arena, const char *, count);
    wt_curve_point *points = WT_TAKE(&arena, wt_curve_point, count, size_count);
    reading read = {0};
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(read_trial(context, trials, &read));
    for (size_t i = 0; i < size_count; i++)
        sizes[i] = (size_t)trials->sizes[i];
    for (size_t t = 0; t < count; t++) {
        cell one = {0};
        wt_fields_set(fields, FIELDS, trials[t].values, &one);
        targets[t] = one.problem.target;
    }
    read.setting.sizes = sizes;
    read.setting.size_count = size_count;
    size_t calls = read.setting.ball != NULL ? count : 1;
    read.setting.targets = count / calls;
    for (size_t c = 0; c < calls; c++) {
        read.setting.target = targets + c;
        WT_TRY(wt_curve_cell(context, &read.setting, points + c * size_count));
    }
    fill_metrics(points, count * size_count, out);
done:
    wt_grid_free(&read.path);
    wt_arena_free(&arena);
    return status;
}

static wt_status run(wt_context *context, const wt_trial *trial, double *out) {
    return run_together(context, trial, 1, out);
}

const wt_experiment wt_experiment_curve = {
    .name = "curve",
    .summary = "learning curves of random-feature models: test error after n samples",
    .result_version = 5, /* 5: more samples than features go by the normal matrix: last digits */
    .parameters = fields,
    .parameter_count = FIELDS,
    .group = "n",
    .together = "target",
    .reps = 5,
    .metrics = metrics,
    .metric_count = METRICS,
    .settle = settle,
    .estimate = estimate,
    .run = run,
    .run_together = run_together,
};
