/* Learning curves: which cells there are. */
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "features/task/sets.h"
#include "lab/curves.h"

void wt_curve_options_init(wt_curve_options *options, size_t size) {
    static const size_t sixteen = 16, heads = 1000, sizes[] = {16, 32, 64, 128, 256, 512, 1024};
    static const double bias = 4, path[] = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10};
    wt_curve_options full = {.size = size,
                             .models = "rfa,brfa,rfmlp",
                             .activations = "relu",
                             .targets = "mean-power:2,mean-power:4,corr-power:3",
                             .tokens = "sphere",
                             .dims = &sixteen,
                             .dim_count = 1,
                             .keys = &sixteen,
                             .key_count = 1,
                             .heads = &heads,
                             .head_count = 1,
                             .biases = &bias,
                             .bias_count = 1,
                             .sizes = sizes,
                             .size_count = sizeof sizes / sizeof *sizes,
                             .reps = 5,
                             .test_samples = 1000,
                             .holdout = 0.2,
                             .lambda = "1e-3",
                             .path = path,
                             .path_count = sizeof path / sizeof *path};
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

static const char *keep_text(wt_arena *arena, const char *text) {
    char *copy = WT_TAKE(arena, char, strlen(text) + 1);
    if (copy != NULL)
        memcpy(copy, text, strlen(text) + 1);
    return copy;
}

static wt_status split_words(wt_arena *arena, const char *text, wt_words *out) {
    size_t most = 1;
    for (const char *at = text; *at != '\0'; at++)
        most += *at == ',';
    char *copy = (char *)keep_text(arena, text);
    out->words = WT_TAKE(arena, const char *, most);
    for (char *at = arena->status == WT_OK ? copy : NULL; at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma++ = '\0';
        out->words[out->count++] = at;
        at = comma;
    }
    return arena->status;
}

static wt_status check_counts(wt_context *context, const char *what, const size_t *counts,
                              size_t count) {
    for (size_t i = 0; i < count; i++)
        if (counts[i] == 0)
            return wt_fail(context, WT_USAGE, "%s must be 1 or more, not 0", what);
    return count > 0 ? WT_OK : wt_fail(context, WT_USAGE, "there are no %s", what);
}

static wt_status check_options(wt_context *context, const wt_curve_options *options) {
    WT_PASS(check_counts(context, "n", options->sizes, options->size_count));
    WT_PASS(check_counts(context, "heads", options->heads, options->head_count));
    WT_PASS(check_counts(context, "dim", options->dims, options->dim_count));
    WT_PASS(check_counts(context, "keys", options->keys, options->key_count));
    WT_PASS(check_counts(context, "repetitions", &options->reps, 1));
    if (options->bias_count == 0)
        return wt_fail(context, WT_USAGE, "there are no biases");
    return WT_OK;
}

static wt_status check_data(wt_context *context, const wt_curve_options *options) {
    size_t largest = options->sizes[options->size_count - 1], training;
    if (options->data->y == NULL)
        return wt_fail(context, WT_DATA, "the data have no labels y");
    wt_status status = wt_curve_split(context, options->data->samples, options->holdout, &training);
    if (status == WT_OK && largest > training)
        status = wt_fail(context, WT_USAGE,
                         "n goes to %zu, but the hold-out leaves %zu samples to train on", largest,
                         training);
    return status;
}

/* Combinations that mean something for a model: the others stay at their first value. */
typedef struct {
    wt_model_kind kind;
    bool biased, attends, infinite;
    size_t heads, biases, activations;
} extent;

static wt_status extent_of(wt_context *context, const wt_curves_job *work, const char *word,
                           extent *out) {
    wt_model_kind kind;
    wt_status status = wt_model_kind_parse(context, word, &kind);
    if (status != WT_OK)
        return status;
    *out = (extent){.kind = kind,
                    .biased = kind == WT_MODEL_KIND_BRFA || kind == WT_MODEL_KIND_BRFA_INF,
                    .attends = kind != WT_MODEL_KIND_RFMLP && kind != WT_MODEL_KIND_RFMLP_INF,
                    .infinite = wt_model_kind_infinite(kind)};
    out->heads = out->infinite ? 1 : work->options->head_count;
    out->biases = out->biased ? work->options->bias_count : 1;
    out->activations = out->attends ? work->curves->activations.count : 1;
    return WT_OK;
}

/* One combination at one (dim, keys), and its line for each target. */
static wt_status add_setting(wt_context *context, wt_curves_job *work, const wt_curve_setting *base,
                             const extent *many, size_t i) {
    wt_curves *curves = work->curves;
    const char *activation = curves->activations.words[i % many->activations];
    wt_curve_setting *next = &work->settings[work->setting_count++];
    *next = *base;
    next->model =
        (wt_model_spec){.size = sizeof(wt_model_spec),
                        .kind = many->kind,
                        .width = work->options->width,
                        .bias = work->options->biases[i / many->activations % many->biases],
                        .heads = work->options->heads[i / many->activations / many->biases]};
    wt_status status = wt_activation_parse(context, activation, &next->model.activation);
    if (curves->activations.count > 1 && many->activations == 1)
        next->model.activation = WT_ACTIVATION_RELU;
    for (size_t t = 0; t < curves->targets.count; t++)
        curves->lines[curves->count++] =
            (wt_curve_line){.model = wt_model_kind_name(many->kind),
                            .target = curves->targets.words[t],
                            .activation = many->attends ? activation : "",
                            .dim = base->problem.dim,
                            .keys = base->problem.keys,
                            .heads = many->infinite ? 0 : next->model.heads,
                            .bias = many->biased ? next->model.bias : NAN};
    return status;
}

static wt_status list_settings(wt_context *context, wt_curves_job *work, wt_curve_setting base) {
    const wt_curve_options *options = work->options;
    wt_curves *curves = work->curves;
    bool drawn = options->data == NULL;
    size_t grid = drawn ? wt_product(options->dim_count, options->key_count) : 1, settings = 0;
    wt_activation any;
    extent many;
    for (size_t i = 0; i < curves->activations.count; i++)
        WT_PASS(wt_activation_parse(context, curves->activations.words[i], &any));
    for (size_t m = 0; m < curves->models.count; m++) {
        WT_PASS(extent_of(context, work, curves->models.words[m], &many));
        settings += many.heads * many.biases * many.activations;
    }
    work->settings = WT_TAKE(&curves->arena, wt_curve_setting, grid, settings);
    work->costs = WT_TAKE(&curves->arena, double, grid, settings);
    curves->lines = WT_TAKE(&curves->arena, wt_curve_line, grid, settings, curves->targets.count);
    WT_PASS(curves->arena.status);
    for (size_t g = 0; g < grid; g++)
        for (size_t m = 0; m < curves->models.count; m++) {
            WT_PASS(extent_of(context, work, curves->models.words[m], &many));
            base.problem.dim = drawn ? options->dims[g / options->key_count] : options->data->dim;
            base.problem.keys = drawn ? options->keys[g % options->key_count] : options->data->keys;
            for (size_t i = 0; i < many.heads * many.biases * many.activations; i++)
                WT_PASS(add_setting(context, work, &base, &many, i));
        }
    return WT_OK;
}

wt_status wt_curves_prepare(wt_context *context, wt_curves_job *work) {
    const wt_curve_options *options = work->options;
    wt_curves *curves = work->curves;
    wt_arena *arena = &curves->arena;
    wt_cost cost;
    WT_PASS(check_options(context, options));
    if (options->data != NULL)
        WT_PASS(check_data(context, options));
    WT_PASS(split_words(arena, options->models, &curves->models));
    WT_PASS(split_words(arena, options->activations, &curves->activations));
    WT_PASS(
        split_words(arena, options->data != NULL ? "data" : options->targets, &curves->targets));
    curves->tokens = keep_text(arena, options->data != NULL ? "" : options->tokens);
    WT_INIT(wt_ridge_options, &work->ridge);
    work->ridge.path = options->path;
    work->ridge.path_count = options->path_count;
    WT_PASS(wt_ridge_options_set_lambda(context, &work->ridge, options->lambda));
    wt_curve_setting base = {.problem = {.size = sizeof(wt_problem_spec),
                                         .token_scale = options->token_scale,
                                         .noise = options->noise},
                             .target = curves->targets.words,
                             .targets = curves->targets.count,
                             .data = options->data,
                             .holdout = options->holdout,
                             .test_samples = options->test_samples,
                             .sizes = options->sizes,
                             .size_count = options->size_count,
                             .ridge = &work->ridge,
                             .seed = options->seed};
    WT_PASS(wt_law_parse(context, options->tokens, &base.problem.law));
    WT_PASS(list_settings(context, work, base));
    curves->points =
        WT_TAKE_ZERO(arena, wt_curve_point, curves->count, curves->reps, curves->size_count);
    curves->summaries = WT_TAKE(arena, wt_curve_summary, curves->count, curves->size_count);
    WT_PASS(arena->status);
    for (size_t i = 0; i < work->setting_count; i++) {
        WT_PASS(wt_curve_cost(context, &work->settings[i], &cost));
        work->costs[i] = cost.flops;
    }
    return WT_OK;
}
