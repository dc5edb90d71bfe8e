/* Learning curves: which cells there are. */
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "features/task/sets.h"
#include "lab/curve_fields.h"
#include "lab/curves.h"

/* clang-format off */
#define AT(member) offsetof(wt_curve_options, member)
static const wt_field fields[] = {
    WT_MODEL_FIELDS(AT, WT_FIELD_LIST, "rfa,brfa,rfmlp"),
    WT_PROBLEM_FIELDS(AT, WT_FIELD_LIST, "mean-power:2,mean-power:4,corr-power:3"),
    WT_CURVE_FIELDS(AT, WT_FIELD_LIST),
    WT_LAMBDA_FIELDS(AT),
    {"reps", WT_FIELD_KIND_COUNT, "5", .offset = AT(reps), .value = "R", .letter = "r",
     .help = "Repetitions."},
    {"holdout", WT_FIELD_KIND_REAL, "0.2", .offset = AT(holdout), .value = "PART", .range = "(0,1)",
     .help = "Part of DATA.npz held out as test set, chosen anew in each repetition."},
};
/* clang-format on */
enum { FIELDS = sizeof fields / sizeof *fields };

const wt_field *wt_curve_fields(size_t *count) {
    *count = FIELDS;
    return fields;
}

void wt_curve_options_init(wt_curve_options *options, size_t size) {
    wt_curve_options full = {0};
    wt_fields_init(fields, FIELDS, &full);
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

/* All lists, and of those that cells take as arrays the arrays. */
static wt_status read_lists(wt_context *context, wt_curves_job *work) {
    static const char *const names[WT_CURVE_LISTS] = {
        [WT_CURVE_KINDS] = "model",    [WT_CURVE_HEADS] = "heads",
        [WT_CURVE_BIASES] = "bias",    [WT_CURVE_ACTIVATIONS] = "activation",
        [WT_CURVE_TARGETS] = "target", [WT_CURVE_DIMS] = "dim",
        [WT_CURVE_KEYS] = "keys",      [WT_CURVE_SIZES] = "n"};
    wt_curves *curves = work->curves;
    WT_PASS(wt_fields_check(context, fields, FIELDS, work->options));
    for (size_t i = 0; i < WT_CURVE_LISTS; i++) {
        const wt_field *field = wt_field_find(fields, FIELDS, names[i]);
        WT_PASS(wt_field_list(&curves->arena, field, wt_field_get(field, work->options).text,
                              &curves->lists[i]));
    }
    const wt_list *targets = &curves->lists[WT_CURVE_TARGETS], *n = &curves->lists[WT_CURVE_SIZES];
    curves->reps = work->options->reps;
    curves->size_count = n->count;
    curves->target_count = work->options->data != NULL ? 1 : targets->count;
    curves->targets = WT_TAKE(&curves->arena, const char *, curves->target_count);
    work->sizes = WT_TAKE(&curves->arena, size_t, n->count);
    for (size_t i = 0; curves->arena.status == WT_OK && i < curves->target_count; i++)
        curves->targets[i] = work->options->data != NULL ? "data" : targets->values[i].text;
    for (size_t i = 0; curves->arena.status == WT_OK && i < n->count; i++)
        work->sizes[i] = (size_t)n->values[i].number;
    return curves->arena.status;
}

static wt_status check_data(wt_context *context, const wt_curves_job *work) {
    const wt_curve_options *options = work->options;
    size_t largest = work->sizes[work->curves->size_count - 1], training;
    if (options->data->y == NULL)
        return wt_fail(context, WT_DATA, "the data have no labels: y (n) or (n,q) is expected");
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
    out->heads = out->infinite ? 1 : work->curves->lists[WT_CURVE_HEADS].count;
    out->biases = out->biased ? work->curves->lists[WT_CURVE_BIASES].count : 1;
    out->activations = out->attends ? work->curves->lists[WT_CURVE_ACTIVATIONS].count : 1;
    return WT_OK;
}

/* One combination at one (dim, keys), and its line for each target. */
static wt_status add_setting(wt_context *context, wt_curves_job *work, const wt_curve_setting *base,
                             const extent *many, size_t i) {
    wt_curves *curves = work->curves;
    const wt_list *activations = &curves->lists[WT_CURVE_ACTIVATIONS];
    const wt_value *biases = curves->lists[WT_CURVE_BIASES].values;
    const wt_value *heads = curves->lists[WT_CURVE_HEADS].values;
    const char *activation = activations->values[i % many->activations].text;
    wt_curve_setting *next = &work->settings[work->setting_count++];
    *next = *base;
    next->model =
        (wt_model_spec){.size = sizeof(wt_model_spec),
                        .kind = many->kind,
                        .width = work->options->width,
                        .bias = biases[i / many->activations % many->biases].number,
                        .heads = (size_t)heads[i / many->activations / many->biases].number};
    wt_status status = wt_activation_parse(context, activation, &next->model.activation);
    if (activations->count > 1 && many->activations == 1)
        next->model.activation = WT_ACTIVATION_RELU;
    for (size_t t = 0; t < curves->target_count; t++)
        curves->lines[curves->count++] =
            (wt_curve_line){.model = wt_model_kind_name(many->kind),
                            .target = curves->targets[t],
                            .activation = many->attends ? activation : "",
                            .dim = base->problem.dim,
                            .keys = base->problem.keys,
                            .heads = many->infinite ? 0 : next->model.heads,
                            .bias = many->biased ? next->model.bias : NAN};
    return status;
}

static wt_status list_settings(wt_context *context, wt_curves_job *work, wt_curve_setting base) {
    const wt_sets *data = work->options->data;
    wt_curves *curves = work->curves;
    const wt_list *kinds = &curves->lists[WT_CURVE_KINDS], *dims = &curves->lists[WT_CURVE_DIMS];
    const wt_list *keys = &curves->lists[WT_CURVE_KEYS];
    size_t grid = data == NULL ? wt_product(dims->count, keys->count) : 1, settings = 0;
    extent many;
    for (size_t m = 0; m < kinds->count; m++) {
        WT_PASS(extent_of(context, work, kinds->values[m].text, &many));
        settings += many.heads * many.biases * many.activations;
    }
    work->settings = WT_TAKE(&curves->arena, wt_curve_setting, grid, settings);
    work->costs = WT_TAKE(&curves->arena, double, grid, settings);
    curves->lines = WT_TAKE(&curves->arena, wt_curve_line, grid, settings, curves->target_count);
    WT_PASS(curves->arena.status);
    for (size_t g = 0; g < grid; g++)
        for (size_t m = 0; m < kinds->count; m++) {
            WT_PASS(extent_of(context, work, kinds->values[m].text, &many));
            base.problem.dim =
                data == NULL ? (size_t)dims->values[g / keys->count].number : data->dim;
            base.problem.keys =
                data == NULL ? (size_t)keys->values[g % keys->count].number : data->keys;
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
    wt_ridge_spec ridge = {.size = sizeof ridge, .lambda = options->lambda, .path = options->path};
    WT_PASS(read_lists(context, work));
    if (options->data != NULL)
        WT_PASS(check_data(context, work));
    curves->tokens = options->data != NULL ? "" : wt_law_name(options->law);
    WT_PASS(wt_ridge_spec_read(context, &ridge, &work->ridge, &work->path));
    wt_curve_setting base = {.problem = {.size = sizeof(wt_problem_spec),
                                         .law = options->law,
                                         .token_scale = options->token_scale,
                                         .noise = options->noise},
                             .target = curves->targets,
                             .targets = curves->target_count,
                             .data = options->data,
                             .holdout = options->holdout,
                             .test_samples = options->test_samples,
                             .sizes = work->sizes,
                             .size_count = curves->size_count,
                             .ridge = &work->ridge,
                             .seed = options->seed};
    WT_PASS(list_settings(context, work, base));
    curves->points =
        WT_TAKE_ZERO(arena, wt_curve_point, curves->count, curves->reps, curves->size_count);
    curves->summaries = WT_TAKE(arena, wt_curve_summary, curves->count, curves->size_count);
    WT_PASS(arena->status);
    for (size_t i = 0; i < work->setting_count; i++) {
        WT_PASS(wt_curve_fits(context, &work->settings[i])); /* before any cell is computed */
        WT_PASS(wt_curve_cost(context, &work->settings[i], &cost));
        work->costs[i] = cost.flops;
    }
    return WT_OK;
}
