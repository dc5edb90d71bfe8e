#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "curve.h"
#include "lab/curve_cell.h"
#include "plot.h"
#include "set_options.h"
#include "wattle/memory.h"
#include "wattle/output.h"
#include "wattle/program.h"

typedef struct {
    const char *models, *activations, *output, *plot;
    wt_grid heads, dim, keys, bias, n;
    size_t width, reps, test_n;
    double holdout;
    cli_lambda lambda;
    cli_problem problem; /* target is a list here */
} values;

static const cli_option options[] = {
    {"model", 'm', CLI_TEXT, offsetof(values, models), "LIST", "rfa,brfa,rfmlp",
     "Models: rfa, brfa, rfmlp, rfa-inf, brfa-inf, rfmlp-inf, with commas between them."},
    CLI_PROBLEM_OPTIONS(values, problem),
    {"dim", 'd', CLI_INTEGERS, offsetof(values, dim), "GRID", "16", "Dimensions of the tokens."},
    {"keys", 'N', CLI_INTEGERS, offsetof(values, keys), "GRID", "16", "Keys a sample."},
    {"heads", 'M', CLI_INTEGERS, offsetof(values, heads), "GRID", "1000",
     "Heads with frozen weights."},
    {"width", 0, CLI_COUNT, offsetof(values, width), "P", NULL,
     "Neurons of rfmlp; by default M(d+1), as many parameters as rfa."},
    {"bias", 'c', CLI_GRID, offsetof(values, bias), "GRID", "4",
     "Multiples of the identity added to the weights of brfa."},
    {"activation", 0, CLI_TEXT, offsetof(values, activations), "LIST", "relu",
     "relu, softmax or relu,softmax."},
    {"n", 'n', CLI_INTEGERS, offsetof(values, n), "GRID", "16:1024:x2", "Training samples."},
    {"reps", 'r', CLI_COUNT, offsetof(values, reps), "R", "5", "Repetitions."},
    {"test-n", 0, CLI_COUNT, offsetof(values, test_n), "SAMPLES", "1000", "Test samples."},
    {"holdout", 0, CLI_REAL, offsetof(values, holdout), "PART", "0.2",
     "Part of DATA.npz held out as test set, chosen anew in each repetition."},
    CLI_LAMBDA_OPTIONS(values, lambda),
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE", NULL,
     "Where all points go (.csv), one row a model, target, repetition and n."},
    {"plot", 0, CLI_OUTPUT, offsetof(values, plot), "FILE", NULL,
     "Picture (.svg, .pdf, .png; - draws in the terminal)."},
};

/* Words between commas, in a copy of the text. */
typedef struct {
    char *text;
    const char **words;
    size_t count;
} list;

static wt_status list_parse(wt_context *context, const char *text, list *out) {
    wt_status status;
    size_t most = 1;
    for (const char *at = text; *at != '\0'; at++)
        most += *at == ',';
    WT_TRY(wt_copy_text(context, &out->text, text, "a list"));
    WT_TRY(WT_NEW(context, &out->words, most, "a list"));
    for (char *at = out->text; at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma++ = '\0';
        out->words[out->count++] = at;
        at = comma;
    }
done:
    return status;
}

static void list_free(list *words) {
    wt_release(words->text);
    wt_release(words->words);
}

/* All that a run needs beside the table it fills. */
typedef struct {
    cli_call *call;
    const values *given;
    list models, targets, activations;
    wt_curve_setting setting;
    wt_ridge ridge;
    wt_sets *data;
    size_t *sizes;
    curve_table table;
    size_t cells_done;
    wt_meter meter;
} job;

/* Which grids mean something for a model: the others stay at their first value. */
typedef struct {
    size_t heads, biases, activations;
} extent;

static wt_status extent_of(const job *work, const char *word, wt_model_kind *kind, extent *out) {
    wt_status status = wt_model_kind_parse(work->call->context, word, kind);
    bool attends =
        status == WT_OK && *kind != WT_MODEL_KIND_RFMLP && *kind != WT_MODEL_KIND_RFMLP_INF;
    bool biased =
        status == WT_OK && (*kind == WT_MODEL_KIND_BRFA || *kind == WT_MODEL_KIND_BRFA_INF);
    *out = (extent){
        .heads = status == WT_OK && wt_model_kind_infinite(*kind) ? 1 : work->given->heads.count,
        .biases = biased ? work->given->bias.count : 1,
        .activations = attends ? work->activations.count : 1};
    return status;
}

/* Runs every repetition of one model at one setting, for all targets at once. */
static wt_status run_model(job *work, const char *activation) {
    const wt_curve_setting *setting = &work->setting;
    curve_table *table = &work->table;
    wt_context *context = work->call->context;
    wt_model_kind kind = setting->model.kind;
    bool infinite = wt_model_kind_infinite(kind);
    bool biased = kind == WT_MODEL_KIND_BRFA || kind == WT_MODEL_KIND_BRFA_INF;
    bool attends = kind != WT_MODEL_KIND_RFMLP && kind != WT_MODEL_KIND_RFMLP_INF;
    size_t sizes = table->size_count, targets = setting->targets;
    wt_curve_point *points = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &points, targets * sizes, "points"));
    curve_line *lines = table->lines + table->line_count;
    for (size_t t = 0; t < targets; t++) {
        lines[t] = (curve_line){.model = wt_model_kind_name(kind),
                                .target = setting->target[t],
                                .activation = attends ? activation : "",
                                .dim = setting->problem.dim,
                                .keys = setting->problem.keys,
                                .heads = infinite ? 0 : setting->model.heads,
                                .bias = biased ? setting->model.bias : NAN};
        table->line_count++; /* so that its points are freed whatever happens */
        WT_TRY(WT_NEW_ZERO(context, &lines[t].points, table->reps * sizes, "points"));
    }
    for (work->setting.rep = 0; work->setting.rep < table->reps; work->setting.rep++) {
        WT_TRY(wt_check_cancelled(context));
        WT_TRY(wt_curve_cell(context, setting, points));
        for (size_t t = 0; t < targets; t++)
            memcpy(lines[t].points + setting->rep * sizes, points + t * sizes,
                   sizes * sizeof *points);
        wt_meter_set(&work->meter, (double)++work->cells_done);
    }
done:
    wt_release(points);
    return status;
}

/* One (dim, keys): every model with the heads, biases and activations that mean something to it. */
static wt_status run_models(job *work) {
    const values *given = work->given;
    wt_status status = WT_OK;
    for (size_t m = 0; m < work->models.count; m++) {
        extent many;
        WT_TRY(extent_of(work, work->models.words[m], &work->setting.model.kind, &many));
        for (size_t i = 0; i < many.heads * many.biases * many.activations; i++) {
            wt_model_spec *model = &work->setting.model;
            const char *activation = work->activations.words[i % many.activations];
            model->activation =
                strcmp(activation, "softmax") == 0 ? WT_ACTIVATION_SOFTMAX : WT_ACTIVATION_RELU;
            model->bias = given->bias.values[i / many.activations % many.biases];
            model->heads = (size_t)given->heads.values[i / many.activations / many.biases];
            if (work->activations.count > 1 && many.activations == 1)
                model->activation = WT_ACTIVATION_RELU;
            WT_TRY(run_model(work, activation));
        }
    }
done:
    return status;
}

static wt_status run_grid(job *work) {
    const values *given = work->given;
    wt_status status = WT_OK;
    for (size_t i = 0; i < given->dim.count * given->keys.count; i++) {
        if (work->setting.data == NULL) {
            work->setting.problem.dim = (size_t)given->dim.values[i / given->keys.count];
            work->setting.problem.keys = (size_t)given->keys.values[i % given->keys.count];
        }
        WT_TRY(run_models(work));
    }
done:
    return status;
}

/* Every value of the grid at least 1. */
static wt_status check_counts(cli_call *call, const char *name, const wt_grid *grid) {
    for (size_t i = 0; i < grid->count; i++)
        if (grid->values[i] < 1)
            return wt_fail(call->context, WT_USAGE, "--%s must be 1 or more, not %g", name,
                           grid->values[i]);
    return WT_OK;
}

static wt_status check_words(job *work) {
    wt_context *context = work->call->context;
    for (size_t i = 0; i < work->activations.count; i++) {
        const char *word = work->activations.words[i];
        if (strcmp(word, "relu") != 0 && strcmp(word, "softmax") != 0)
            return wt_fail(context, WT_USAGE, "--activation: '%s' is neither relu nor softmax",
                           word);
    }
    for (size_t i = 0; i < work->models.count; i++) {
        extent many;
        wt_model_kind kind;
        wt_status status = extent_of(work, work->models.words[i], &kind, &many);
        if (status != WT_OK)
            return status;
    }
    return WT_OK;
}

static wt_status open_data(job *work) {
    cli_call *call = work->call;
    const values *given = work->given;
    wt_curve_setting *setting = &work->setting;
    bool from_file = call->operand_count == 1;
    size_t largest = (size_t)given->n.values[given->n.count - 1], training;
    wt_status status;
    if (from_file && given->problem.target != NULL) {
        status = wt_fail(call->context, WT_USAGE, "a data file and --target exclude each other");
        goto done;
    }
    if (!from_file) {
        const char *targets = given->problem.target;
        WT_TRY(list_parse(call->context,
                          targets != NULL ? targets : "mean-power:2,mean-power:4,corr-power:3",
                          &work->targets));
        goto done;
    }
    WT_TRY(wt_sets_load(call->context, call->operands[0], &work->data));
    if (wt_sets_y(work->data) == NULL) {
        status = wt_fail(call->context, WT_DATA, "%s has no labels y", call->operands[0]);
        goto done;
    }
    WT_TRY(wt_curve_split(call->context, wt_sets_samples(work->data), given->holdout, &training));
    if (largest > training) {
        status = wt_fail(call->context, WT_USAGE,
                         "--n goes to %zu, but the hold-out leaves %zu samples to train on",
                         largest, training);
        goto done;
    }
    WT_TRY(list_parse(call->context, "data", &work->targets));
    setting->data = work->data;
    setting->problem.dim = wt_sets_dim(work->data);
    setting->problem.keys = wt_sets_keys(work->data);
done:
    return status;
}

static wt_status prepare(job *work) {
    cli_call *call = work->call;
    const values *given = work->given;
    wt_status status;
    WT_TRY(check_counts(call, "n", &given->n));
    WT_TRY(check_counts(call, "heads", &given->heads));
    WT_TRY(check_counts(call, "dim", &given->dim));
    WT_TRY(check_counts(call, "keys", &given->keys));
    WT_TRY(list_parse(call->context, given->models, &work->models));
    WT_TRY(list_parse(call->context, given->activations, &work->activations));
    WT_TRY(check_words(work));
    WT_TRY(cli_lambda_ridge(call, &given->lambda, &work->ridge));
    WT_TRY(WT_NEW(call->context, &work->sizes, given->n.count, "sizes"));
    for (size_t i = 0; i < given->n.count; i++)
        work->sizes[i] = (size_t)given->n.values[i];
    work->setting =
        (wt_curve_setting){.model = {.size = sizeof(wt_model_spec), .width = given->width},
                           .problem = {.size = sizeof(wt_problem_spec),
                                       .token_scale = given->problem.token_scale,
                                       .noise = given->problem.noise},
                           .holdout = given->holdout,
                           .test_n = given->test_n,
                           .sizes = work->sizes,
                           .size_count = given->n.count,
                           .ridge = &work->ridge,
                           .seed = call->common.seed};
    WT_TRY(wt_law_parse(call->context, given->problem.tokens, &work->setting.problem.law));
    WT_TRY(cli_plot_check(call, given->plot));
    WT_TRY(wt_output_try(call->context, given->output));
    WT_TRY(open_data(work));
    work->setting.target = work->targets.words;
    work->setting.targets = work->targets.count;
done:
    return status;
}

/* Room for every line, and the number of cells for the progress line. */
static wt_status open_table(job *work) {
    cli_call *call = work->call;
    const values *given = work->given;
    size_t settings = 0;
    for (size_t m = 0; m < work->models.count; m++) {
        extent many;
        wt_model_kind kind;
        extent_of(work, work->models.words[m], &kind, &many);
        settings += many.heads * many.biases * many.activations;
    }
    settings *= given->dim.count * given->keys.count;
    work->table = (curve_table){.reps = given->reps,
                                .size_count = given->n.count,
                                .sizes = work->sizes,
                                .tokens = work->setting.data != NULL ? "" : given->problem.tokens,
                                .lambda = given->lambda.lambda,
                                .seed = call->common.seed};
    work->meter = wt_meter_start(call->context, "cells", (double)(settings * given->reps));
    return WT_NEW_ZERO(call->context, &work->table.lines, settings * work->targets.count, "curves");
}

/* After Ctrl-C: what is finished goes to the file all the same. */
static wt_status keep_finished(job *work) {
    cli_call *call = work->call;
    const char *path = work->given->output;
    if (path == NULL || work->cells_done == 0)
        return wt_fail(call->context, WT_INTERRUPTED, "interrupted after %zu cells",
                       work->cells_done);
    wt_context_resume(call->context);
    wt_status status = curve_write_csv(call, &work->table, path);
    if (status != WT_OK)
        return status;
    return wt_fail(call->context, WT_INTERRUPTED,
                   "interrupted; the %zu cells that were finished are in %s", work->cells_done,
                   path);
}

/* Points whose lambda is an end of what could be tried. */
static void remark_ends(const job *work) {
    const curve_table *table = &work->table;
    size_t points = table->reps * table->size_count, ends = 0;
    for (size_t i = 0; i < table->line_count; i++)
        for (size_t p = 0; p < points; p++)
            ends += table->lines[i].points[p].lambda_at_end;
    if (ends > 0)
        wt_remark(work->call->context, CLI_LAMBDA_AT_END " (%zu of %zu points; lambda_at_end)",
                  ends, points * table->line_count);
}

static wt_status run(cli_call *call) {
    const values *given = call->values;
    job work = {.call = call, .given = given};
    wt_status status;
    WT_TRY(prepare(&work));
    WT_TRY(open_table(&work));
    status = run_grid(&work);
    WT_TRY(status == WT_INTERRUPTED ? keep_finished(&work) : status);
    remark_ends(&work);
    if (given->output != NULL)
        WT_TRY(curve_write_csv(call, &work.table, given->output));
    if (call->common.json)
        WT_TRY(curve_emit_json(call, &work.table));
    else
        WT_TRY(curve_print(call, &work.table));
    if (given->plot != NULL)
        WT_TRY(curve_draw(call, &work.table, given->plot));
done:
    for (size_t i = 0; work.table.lines != NULL && i < work.table.line_count; i++)
        wt_release(work.table.lines[i].points);
    wt_release(work.table.lines);
    wt_release(work.sizes);
    list_free(&work.models);
    list_free(&work.targets);
    list_free(&work.activations);
    wt_sets_free(work.data);
    return status;
}

const cli_command cli_curve = {
    .name = "curve",
    .summary = "learning curves of random-feature models",
    .operands = "[DATA.npz]",
    .least = 0,
    .most = 1,
    .description =
        "Test error against the number of samples, for every model and target, with repetitions: "
        "mean and 95% interval (Student's t), the error over that of the first model on the same "
        "draws "
        "(paired log ratios), and the exponent of a power law in n fitted to each repetition.\n\n"
        "A repetition redraws beta, data, test set and weights. Tokens are keyed by seed, "
        "repetition and sample, beta and noise by the target too: models are compared on the same "
        "draws, and the samples of a smaller n are the first of a larger one. A whole curve comes "
        "from one factorisation a lambda. Errors are mean squared errors over the variance of y on "
        "the same set.\n\n"
        "With DATA.npz the curve is of your own data, a part of it held out. Grids over --heads, "
        "--dim, --keys and --bias run every combination; with a single n the picture is drawn "
        "against the size that varies.",
    .examples = "wattle curve --model rfa,brfa,rfmlp --n 16:4096:x2 --lambda loo -o curve.csv "
                "--plot curve.svg\n"
                "wattle curve --target mean-power:2 --heads 10:1000:x10 --n 512 --plot -\n"
                "wattle curve data.npz --model rfa,rfa-inf --n 16:256:x2",
    CLI_OPTIONS(options, values),
    .run = run,
};
