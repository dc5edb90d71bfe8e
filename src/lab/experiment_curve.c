/* Points of a learning curve: all n of one model, target and repetition from one factorisation.
 * Models and targets of the same seed and repetition see the same draws (curve_cell.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/grid.h"
#include "base/text.h"
#include "lab/curve_cell.h"
#include "lab/experiment.h"

enum {
    MODEL,
    TARGET,
    TOKENS,
    TOKEN_SCALE,
    NOISE,
    DIM,
    KEYS,
    HEADS,
    WIDTH,
    BIAS,
    ACTIVATION,
    SIZE,
    TEST_N,
    LAMBDA,
    LAMBDA_PATH,
    BALL,
    PARAMETERS
};

static const wt_field parameters[PARAMETERS] = {
    [MODEL] = {"model", WT_FIELD_KIND_WORD, "rfa",
               .help = "rfa, brfa, rfmlp, rfa-inf, brfa-inf or rfmlp-inf"},
    [TARGET] = {"target", WT_FIELD_KIND_WORD, NULL,
                .help = "mean-power:2 and so on, as for wattle draw"},
    [TOKENS] = {"tokens", WT_FIELD_KIND_WORD, "sphere", .help = "sphere, gaussian or boolean"},
    [TOKEN_SCALE] =
        {"token-scale", WT_FIELD_KIND_REAL, "0",
         .help = "tokens are multiplied by this; 0 = 1 for the sphere, 1/sqrt(d) otherwise"},
    [NOISE] = {"noise", WT_FIELD_KIND_REAL, "0", .help = "standard deviation of the label noise"},
    [DIM] = {"dim", WT_FIELD_KIND_COUNT, "16", .help = "dimension of the tokens"},
    [KEYS] = {"keys", WT_FIELD_KIND_COUNT, "16", .help = "keys a sample"},
    [HEADS] = {"heads", WT_FIELD_KIND_COUNT, "1000", .help = "heads with frozen weights"},
    [WIDTH] = {"width", WT_FIELD_KIND_NATURAL, "0",
               .help = "neurons of rfmlp; 0 = heads (dim + 1)"},
    [BIAS] = {"bias", WT_FIELD_KIND_REAL, "4", .help = "multiple of the identity of brfa"},
    [ACTIVATION] = {"activation", WT_FIELD_KIND_WORD, "relu", .help = "relu or softmax"},
    [SIZE] = {"n", WT_FIELD_KIND_COUNT, "16:1024:x2", .help = "training samples"},
    [TEST_N] = {"test-n", WT_FIELD_KIND_COUNT, "1000", .help = "test samples"},
    [LAMBDA] = {"lambda", WT_FIELD_KIND_CHOICE, "1e-3",
                .help = "ridge penalty: a number, loo, gcv, min-norm or oracle"},
    [LAMBDA_PATH] = {"lambda-path", WT_FIELD_KIND_TEXT, "1e-8:10:x10",
                     .help = "lambdas tried by loo, gcv and oracle; widened where an end is best"},
    [BALL] = {"ball", WT_FIELD_KIND_TEXT, "none",
              .help =
                  "K1,K2: least squares in norm balls, as wattle fit --ball, in place of a ridge",
              .since = 3},
};

enum { TEST_ERROR, TRAIN_ERROR, LOO_ERROR, CHOSEN_LAMBDA, LAMBDA_AT_END, METRICS };
static const char *const metrics[METRICS] = {[TEST_ERROR] = "test_error",
                                             [TRAIN_ERROR] = "train_error",
                                             [LOO_ERROR] = "loo_error",
                                             [CHOSEN_LAMBDA] = "chosen_lambda",
                                             [LAMBDA_AT_END] = "lambda_at_end"};

static bool searches(const wt_ridge *ridge) {
    return ridge->rule == WT_LAMBDA_LOO || ridge->rule == WT_LAMBDA_GCV ||
           ridge->rule == WT_LAMBDA_ORACLE;
}

/* false without one. Labels are far from the boundary when a gap of this much of the loss of 0 is
 * left: errors that claims are about are above it a hundred times. */
#define BALL_TOLERANCE 1e-4
static wt_status read_ball(wt_context *context, const wt_value *values, wt_ball_options *out,
                           bool *given) {
    const char *text = values[BALL].text;
    char first[64];
    *given = strcmp(text, "none") != 0;
    WT_INIT(wt_ball_options, out);
    out->tolerance = BALL_TOLERANCE;
    if (!*given)
        return WT_OK;
    size_t length = strcspn(text, ",");
    snprintf(first, sizeof first, "%.*s", (int)length, text);
    if (length >= sizeof first || text[length] == '\0' || !wt_parse_real(first, &out->k1) ||
        !wt_parse_real(text + length + 1, &out->k2) || !(out->k1 > 0 && out->k2 > 0))
        return wt_fail(context, WT_USAGE,
                       "ball: '%s' is neither none nor two numbers above 0: 4,16", text);
    return WT_OK;
}

/* The path is parsed into *path, to be freed, where the rule has one. */
static wt_status read_ridge(wt_context *context, const wt_value *values, wt_ridge *out,
                            wt_grid *path) {
    wt_status status = WT_OK;
    *out = (wt_ridge){
        .size = sizeof(wt_ridge), .rule = WT_LAMBDA_FIXED, .lambda = values[LAMBDA].number};
    if (values[LAMBDA].text != NULL)
        WT_TRY(wt_ridge_set_lambda(context, out, values[LAMBDA].text));
    if (out->rule == WT_LAMBDA_FIXED && out->lambda < 0) {
        status = wt_fail(context, WT_USAGE, "lambda must be 0 or more, not %g", out->lambda);
        goto done;
    }
    if (searches(out)) {
        WT_TRY(wt_grid_parse(context, values[LAMBDA_PATH].text, path));
        out->path = path->values;
        out->path_count = path->count;
    }
done:
    return status;
}

static wt_status read_model(wt_context *context, const wt_value *values, wt_model_spec *out) {
    *out = (wt_model_spec){.size = sizeof(wt_model_spec),
                           .activation = strcmp(values[ACTIVATION].text, "softmax") == 0
                                             ? WT_ACTIVATION_SOFTMAX
                                             : WT_ACTIVATION_RELU,
                           .heads = (size_t)values[HEADS].number,
                           .width = (size_t)values[WIDTH].number,
                           .bias = values[BIAS].number,
                           .dim = (size_t)values[DIM].number,
                           .keys = (size_t)values[KEYS].number};
    if (out->heads == 0)
        out->heads = 1; /* not read, yet checked */
    return wt_model_kind_parse(context, values[MODEL].text, &out->kind);
}

/* Sizes that mean nothing for a model become 0, so that it is computed once over a grid of them. */
static void settle_sizes(wt_model_kind kind, wt_value *values) {
    bool infinite = wt_model_kind_infinite(kind);
    bool neurons = kind == WT_MODEL_KIND_RFMLP || kind == WT_MODEL_KIND_RFMLP_INF;
    if (infinite || (neurons && values[WIDTH].number > 0))
        values[HEADS].number = 0;
    if (kind != WT_MODEL_KIND_RFMLP)
        values[WIDTH].number = 0;
    else if (values[WIDTH].number == 0)
        values[WIDTH].number = values[HEADS].number * (values[DIM].number + 1);
    if (kind != WT_MODEL_KIND_BRFA && kind != WT_MODEL_KIND_BRFA_INF)
        values[BIAS].number = 0;
    if (neurons)
        values[ACTIVATION].text = "relu";
}

static wt_status settle(wt_context *context, wt_value *values) {
    wt_model_spec model;
    wt_ridge ridge;
    wt_grid path = {0};
    wt_ball_options ball;
    bool in_ball;
    wt_problem *problem = NULL;
    wt_problem_spec spec = {.size = sizeof(wt_problem_spec),
                            .target = values[TARGET].text,
                            .noise = values[NOISE].number,
                            .dim = (size_t)values[DIM].number,
                            .keys = (size_t)values[KEYS].number};
    const char *activation = values[ACTIVATION].text;
    wt_status status;
    if (strcmp(activation, "relu") != 0 && strcmp(activation, "softmax") != 0) {
        status =
            wt_fail(context, WT_USAGE, "activation '%s' is neither relu nor softmax", activation);
        goto done;
    }
    WT_TRY(wt_law_parse(context, values[TOKENS].text, &spec.law));
    if (values[TOKEN_SCALE].number == 0)
        values[TOKEN_SCALE].number = wt_law_set_scale(spec.law, spec.dim);
    spec.token_scale = values[TOKEN_SCALE].number;
    WT_TRY(wt_problem_new(context, &spec, &problem)); /* judges the target and the numbers */
    WT_TRY(read_model(context, values, &model));
    WT_TRY(wt_model_spec_check(context, &model));
    WT_TRY(read_ball(context, values, &ball, &in_ball));
    if (in_ball && wt_model_kind_infinite(model.kind)) {
        status = wt_fail(context, WT_USAGE, "ball: '%s' has no value vectors to hold in balls",
                         values[MODEL].text);
        goto done;
    }
    if (in_ball) /* a ridge means nothing there */
        values[LAMBDA] = (wt_value){.number = 0};
    WT_TRY(read_ridge(context, values, &ridge, &path));
    if (!searches(&ridge))
        values[LAMBDA_PATH].text = "";
    settle_sizes(model.kind, values);
done:
    wt_problem_free(problem);
    wt_grid_free(&path);
    return status;
}

/* A trial as a cell, all but its sizes. */
typedef struct {
    wt_curve_setting setting; /* points into what follows */
    wt_ridge ridge;
    wt_grid path; /* to be freed in any case */
    wt_ball_options ball;
} reading;

static wt_status read_trial(wt_context *context, const wt_trial *trial, reading *out) {
    const wt_value *values = trial->values;
    bool in_ball;
    wt_status status;
    *out = (reading){.setting = {.problem = {.size = sizeof(wt_problem_spec),
                                             .token_scale = values[TOKEN_SCALE].number,
                                             .noise = values[NOISE].number,
                                             .dim = (size_t)values[DIM].number,
                                             .keys = (size_t)values[KEYS].number},
                                 .target = &values[TARGET].text,
                                 .targets = 1,
                                 .test_n = (size_t)values[TEST_N].number,
                                 .seed = trial->seed,
                                 .rep = trial->rep}};
    WT_TRY(read_model(context, values, &out->setting.model));
    WT_TRY(read_ridge(context, values, &out->ridge, &out->path));
    WT_TRY(read_ball(context, values, &out->ball, &in_ball));
    WT_TRY(wt_law_parse(context, values[TOKENS].text, &out->setting.problem.law));
    out->setting.ridge = &out->ridge;
    out->setting.ball = in_ball ? &out->ball : NULL;
done:
    return status;
}

static wt_status estimate(wt_context *context, const wt_trial *trial, wt_cost *out) {
    size_t largest = (size_t)trial->sizes[trial->count - 1];
    reading cell;
    wt_status status;
    WT_TRY(read_trial(context, trial, &cell));
    cell.setting.sizes = &largest;
    cell.setting.size_count = 1;
    WT_TRY(wt_curve_cost(context, &cell.setting, out));
done:
    wt_grid_free(&cell.path);
    return status;
}

static wt_status run(wt_context *context, const wt_trial *trial, double *out) {
    wt_arena arena = wt_arena_on(context, "points");
    size_t *sizes = WT_TAKE(&arena, size_t, trial->count);
    wt_curve_point *points = WT_TAKE(&arena, wt_curve_point, trial->count);
    reading cell = {0};
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(read_trial(context, trial, &cell));
    for (size_t i = 0; i < trial->count; i++)
        sizes[i] = (size_t)trial->sizes[i];
    cell.setting.sizes = sizes;
    cell.setting.size_count = trial->count;
    WT_TRY(wt_curve_cell(context, &cell.setting, points));
    for (size_t i = 0; i < trial->count; i++) {
        out[i * METRICS + TEST_ERROR] = points[i].test_error;
        out[i * METRICS + TRAIN_ERROR] = points[i].train_error;
        out[i * METRICS + LOO_ERROR] = points[i].loo_error;
        out[i * METRICS + CHOSEN_LAMBDA] = points[i].lambda;
        out[i * METRICS + LAMBDA_AT_END] = points[i].lambda_at_end;
    }
done:
    wt_grid_free(&cell.path);
    wt_arena_free(&arena);
    return status;
}

const wt_experiment wt_experiment_curve = {
    .name = "curve",
    .summary = "learning curves of random-feature models: test error after n samples",
    .result_version = 3,
    .parameters = parameters,
    .parameter_count = PARAMETERS,
    .group = "n",
    .reps = 5,
    .metrics = metrics,
    .metric_count = METRICS,
    .settle = settle,
    .estimate = estimate,
    .run = run,
};
