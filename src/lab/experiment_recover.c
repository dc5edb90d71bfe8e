/* Recovering a random teacher: draw the layer, draw examples, run a method, compare. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "lab/experiment.h"
#include "lab/recover_cell.h"
#include "layer/learn/recover_fields.h"
#include "layer/task/teacher_fields.h"
#include "wattle/query.h"
#include "wattle/text.h"

/* Fresh sequences are those from here on: never among the examples. */
#define FIRST_TEST ((uint64_t)1 << 40)

/* A cell: the options of the recovery, and teacher and data that it is tried on. */
typedef struct {
    wt_recover_options options; /* first, as its fields have it */
    wt_teacher_options teacher;
    size_t dim_ratio, length, test_samples;
    double token_scale, noise, samples_ratio, success;
    const char *tokens, *degenerate;
    bool known_heads;
} cell;

/* clang-format off */
#define ROW(row_name, row_kind, row_fallback, member)                                              \
    .name = (row_name), .kind = WT_FIELD_KIND_##row_kind, .fallback = (row_fallback),              \
    .offset = offsetof(cell, member)

#define OF_TEACHER(member) offsetof(cell, teacher.member)
static const wt_field fields[] = {
    WT_TEACHER_FIELDS(OF_TEACHER, "0", "; 0 = 8, or by dim-ratio"),
    {ROW("dim-ratio", NATURAL, "0", dim_ratio),
     .help = "dim is one more than so many times the bits of parity; 0 = as dim says"},
    {ROW("tokens", WORD, "boolean", tokens), .value = "sphere|gaussian|boolean",
     .help = "sphere, gaussian or boolean"},
    {ROW("token-scale", REAL, "1", token_scale), .range = "(0,inf)",
     .help = "tokens are multiplied by this"},
    {ROW("length", COUNT, "4", length), .range = "[2,inf)",
     .help = "tokens a sequence, 2 or more: one token shows no attention"},
    {ROW("noise", REAL, "0", noise), .range = "[0,inf)",
     .help = "standard deviation of the noise on outputs"},
    {ROW("samples-ratio", REAL, "5", samples_ratio), .range = "(0,inf)",
     .help = "sequences over N_min, the information limit"},
    WT_RECOVER_FIELDS("refine"),
    {ROW("known-heads", FLAG, "yes", known_heads),
     .help = "whether the method is told the number of heads"},
    {ROW("success-error", REAL, "1e-7", success), .range = "(0,inf)",
     .help = "largest error of the parameters that counts as success"},
    {ROW("test-n", COUNT, "200", test_samples), .help = "fresh sequences for the test error"},
    {ROW("degenerate", WORD, "no", degenerate), .value = "no|parallel|equal-w|zero-sum",
     .since = 2,
     .help = "no, parallel (Theta that differ by a tenth), equal-w (all W equal) or zero-sum (W "
             "that sum to 0)"},
};
/* clang-format on */
enum { FIELDS = sizeof fields / sizeof *fields };

/* clang-format off */
#define METRICS(METRIC)                                                                            \
    METRIC(success) METRIC(recovered) METRIC(found_heads) METRIC(theta_error) METRIC(w_error)      \
    METRIC(test_error) METRIC(holdout_error) METRIC(train_error) METRIC(starts)                    \
    METRIC(all_steps) METRIC(samples) METRIC(least_samples) METRIC(flops) METRIC(sculpted)         \
    METRIC(span_found) METRIC(span_error) METRIC(span_gap) METRIC(accepted_rows)
/* clang-format on */
enum { METRICS(WT_METRIC_PLACE) METRIC_COUNT };
static const char *const metrics[] = {METRICS(WT_METRIC_NAME)};

static cell cell_of(const wt_value *values) {
    cell out = {0};
    WT_INIT(wt_recover_options, &out.options);
    wt_fields_set(fields, FIELDS, values, &out);
    return out;
}

/* A dim that follows the bits stays 0 among the values, so that bits alone tell the cells apart. */
static size_t dim_of(const cell *one) {
    return one->dim_ratio > 0 ? 1 + one->dim_ratio * one->teacher.parity : one->teacher.dim;
}

static const wt_recover_method *method_of(const cell *one) {
    return wt_recover_method_find(one->options.method);
}

/* Numbers over numbers: an answer to a question has out-dim of them. */
static double least_samples(const cell *one) {
    if (method_of(one)->asks) {
        double m = (double)one->teacher.heads, d = (double)dim_of(one),
               p = (double)one->teacher.outputs;
        return m * d * (d + p) / p;
    }
    return wt_recover_least_examples(one->teacher.heads, dim_of(one), one->teacher.outputs,
                                     one->length, one->options.rank, one->options.groups);
}

static wt_status settle_dim(wt_context *context, cell *one) {
    if (one->dim_ratio > 0 && one->teacher.parity == 0)
        return wt_fail(context, WT_USAGE, "dim-ratio is of hard instances: it needs parity");
    if (one->dim_ratio > 0 && one->teacher.dim > 0)
        return wt_fail(context, WT_USAGE, "dim and dim-ratio cannot both be given");
    if (one->dim_ratio == 0 && one->teacher.dim == 0)
        one->teacher.dim = 8;
    if (one->teacher.parity > 0 && dim_of(one) <= one->teacher.parity)
        return wt_fail(context, WT_USAGE, "parity of %zu bits needs dim %zu or more, not %zu",
                       one->teacher.parity, one->teacher.parity + 1, one->teacher.dim);
    return WT_OK;
}

/* Who asks has no examples. */
static wt_status settle_asking(wt_context *context, cell *one) {
    if (one->teacher.heads > WT_QUERY_MAX_HEADS || dim_of(one) > WT_QUERY_MAX_DIM)
        return wt_fail(context, WT_USAGE,
                       "query takes up to %d heads in %d dimensions, not %zu in %zu",
                       WT_QUERY_MAX_HEADS, WT_QUERY_MAX_DIM, one->teacher.heads, dim_of(one));
    one->samples_ratio = 1;
    one->options.holdout = 0;
    return WT_OK;
}

static wt_status settle_teacher(wt_context *context, cell *one) {
    if (one->teacher.parity > 0) {
        one->teacher.heads = one->teacher.parity;
        one->teacher.outputs = 1;
        one->teacher.scale = 0;
        one->teacher.rank = 0;
        one->teacher.groups = 0;
        one->degenerate = "no";
    }
    if (one->teacher.outputs == 0)
        one->teacher.outputs = one->teacher.dim;
    if (one->teacher.heads == 1 && strcmp(one->degenerate, "no") != 0)
        return wt_fail(context, WT_USAGE, "a teacher of one head cannot be %s", one->degenerate);
    return WT_OK;
}

static wt_status settle(wt_context *context, wt_value *values) {
    cell one = cell_of(values);
    WT_PASS(wt_fields_check(context, fields, FIELDS, &one));
    WT_PASS(settle_dim(context, &one));
    WT_PASS(settle_teacher(context, &one));
    if (one.options.max_steps == 0 || method_of(&one)->steps == 0)
        one.options.max_steps = method_of(&one)->steps;
    double samples = one.samples_ratio * least_samples(&one);
    if (method_of(&one)->asks)
        WT_PASS(settle_asking(context, &one));
    else if (!(samples < (double)WT_GRID_WHOLE))
        WT_PASS(wt_fail(context, WT_USAGE, "samples-ratio %g asks for %g sequences: too many",
                        one.samples_ratio, samples));
    wt_fields_get(fields, FIELDS, &one, values);
    return WT_OK;
}

static size_t samples_of(const cell *one) {
    return (size_t)ceil(one->samples_ratio * least_samples(one));
}

/* Measured on teachers of 8 and 16 dimensions: part of the rate of a large product; products with
 * the Jacobian, each as much as three passes through the layer, where one of the first starts wins,
 * and those of a start that fails; examples over N_min below which most do; starts that Adam's
 * method takes, with one and a half passes a step. Parities of m bits take some 2^m starts, none of
 * them quick from two bits on. Sculpt looks at all rows and solves for the sum of W, from 4096 rows
 * at most, some twenty times. The polish of query takes some ten steps. */
#define PART_OF_GEMM    0.5
#define QUICK_PRODUCTS  300
#define FAILED_PRODUCTS 20000
#define SCARCE          2
#define ADAM_STARTS     5
#define SCULPT_PASSES   20
#define SCULPT_ROWS     4096
#define QUERY_STEPS     10

static wt_status estimate(wt_context *context, const wt_trial *trial, wt_cost *out) {
    (void)context;
    const cell one = cell_of(trial->values);
    double m = (double)one.teacher.heads, d = (double)dim_of(&one), k = (double)one.length;
    double p = (double)one.teacher.outputs, unknowns = m * d * d,
           tokens = (double)samples_of(&one) * k;
    double pass = 2 * tokens * m * (d * d + 2 * k * d + d * p);
    bool adam = strcmp(one.options.method, "adam") == 0;
    bool quick = one.samples_ratio >= SCARCE && one.teacher.parity <= 1;
    double starts = (double)one.options.restarts;
    if (one.teacher.parity > 0)
        starts = fmin(starts, exp2((double)one.teacher.parity));
    double passes = adam    ? 1.5 * ADAM_STARTS * (double)one.options.max_steps
                    : quick ? 3 * QUICK_PRODUCTS
                            : 3 * FAILED_PRODUCTS * starts;
    double flops = passes * pass;
    if (strcmp(one.options.method, "sculpt") == 0)
        flops += SCULPT_PASSES *
                 (tokens * 2 * p * (d + k * k) + 2 * fmin(tokens, SCULPT_ROWS) * d * d * p * p);
    if (method_of(&one)->asks) {
        double rows = 2 * m * d * d + least_samples(&one);
        flops = QUERY_STEPS * rows * p * unknowns * (unknowns + 4 * m * d);
        tokens = rows;
    }
    *out = (wt_cost){.flops = flops / PART_OF_GEMM,
                     .bytes = 8 * (2 * unknowns * unknowns + 10 * tokens * m * (d + k))};
    return WT_OK;
}

static wt_status draw_teacher(wt_context *context, const cell *one, uint64_t seed, wt_layer **out) {
    wt_teacher_options options = one->teacher;
    options.size = sizeof options;
    options.dim = dim_of(one);
    options.bias = one->options.bias;
    options.residual = one->options.residual;
    options.mask = one->options.mask;
    options.norm = one->options.norm;
    options.epsilon = one->options.epsilon;
    options.seed = seed;
    wt_status status = wt_layer_teacher(context, &options, out);
    if (status == WT_OK && options.parity == 0)
        wt_teacher_degenerate(one->degenerate, *out);
    return status;
}

/* |y - F(x)| / |y| on fresh sequences, y the teacher's outputs without noise. */
static wt_status test_error(wt_context *context, const cell *one, wt_law law, uint64_t seed,
                            const wt_layer *teacher, const wt_layer *layer, double *out) {
    wt_sequences *fresh = NULL;
    double *y = NULL, wrong = 0, norm = 0;
    wt_status status;
    WT_TRY(wt_sequences_new(context, one->test_samples, one->length, teacher->dim, teacher->outputs,
                            &fresh));
    WT_TRY(wt_layer_draw(context, teacher, law, one->token_scale, 0, seed, FIRST_TEST, fresh));
    size_t count = fresh->samples * fresh->length * fresh->outputs;
    WT_TRY(WT_NEW(context, &y, count, "outputs"));
    WT_TRY(wt_layer_forward(context, layer, fresh->samples, fresh->length, fresh->x, y));
    for (size_t i = 0; i < count; i++) {
        wrong += (y[i] - fresh->y[i]) * (y[i] - fresh->y[i]);
        norm += fresh->y[i] * fresh->y[i];
    }
    *out = sqrt(wrong / norm);
done:
    wt_sequences_free(fresh);
    wt_release(y);
    return status;
}

/* What was found, beside the teacher. */
static wt_status judge(wt_context *context, const cell *one, wt_law law, uint64_t seed,
                       const wt_layer *teacher, const wt_layer *layer, double *out) {
    wt_comparison compared = WT_SIZED(wt_comparison);
    wt_compare_options options;
    wt_status status;
    WT_INIT(wt_compare_options, &options);
    options.token_scale = one->token_scale;
    options.seed = seed;
    WT_TRY(wt_layer_compare(context, teacher, layer, &options, &compared));
    WT_TRY(test_error(context, one, law, seed, teacher, layer, &out[METRIC_test_error]));
    double worst = fmax(compared.theta_error, compared.w_error);
    out[METRIC_success] = worst <= one->success;
    out[METRIC_theta_error] = compared.theta_error;
    out[METRIC_w_error] = compared.w_error;
done:
    wt_comparison_free(&compared);
    return status;
}

/* What a method spent, whether or not it came to an end. */
static void count_costs(const wt_recovered *found, double *out) {
    out[METRIC_starts] = found->starts;
    out[METRIC_all_steps] = found->steps;
    out[METRIC_flops] = found->flops;
    out[METRIC_samples] = found->sequences;
}

static void tell_stages(const wt_recovered *found, double *out) {
    const wt_sculpt_report *stages = &found->stages;
    out[METRIC_sculpted] = found->sculpted;
    out[METRIC_span_found] = stages->stage >= WT_SCULPT_STAGE_SPAN;
    out[METRIC_span_error] = stages->hull_error;
    out[METRIC_span_gap] = stages->gap;
    out[METRIC_accepted_rows] = (double)stages->accepted;
}

static wt_status draw_data(wt_context *context, const cell *one, wt_law law, uint64_t seed,
                           const wt_layer *teacher, wt_sequences **out) {
    WT_PASS(wt_sequences_new(context, samples_of(one), one->length, teacher->dim, teacher->outputs,
                             out));
    return wt_layer_draw(context, teacher, law, one->token_scale, one->noise, seed, 0, *out);
}

static wt_status run(wt_context *context, const wt_trial *trial, double *out) {
    cell one = cell_of(trial->values);
    uint64_t seed = wt_trial_seed(trial);
    wt_recovered found = {
        .train_error = NAN, .holdout_error = NAN, .stages = WT_SIZED(wt_sculpt_report)};
    wt_layer *teacher = NULL;
    wt_sequences *data = NULL;
    wt_law law;
    wt_status status;
    for (size_t i = 0; i < METRIC_COUNT; i++)
        out[i] = NAN;
    out[METRIC_least_samples] = least_samples(&one);
    WT_TRY(wt_law_parse(context, one.tokens, &law));
    WT_TRY(draw_teacher(context, &one, seed, &teacher));
    if (!method_of(&one)->asks)
        WT_TRY(draw_data(context, &one, law, seed, teacher, &data));
    one.options.heads = one.known_heads ? one.teacher.heads : 0;
    one.options.seed = seed;
    one.options.teacher = teacher; /* for the report alone */
    found.sequences = data == NULL ? 0 : (double)data->samples;
    const wt_recovery job = {
        .teacher = teacher, .data = data, .noise = one.noise, .options = one.options};
    status = wt_recovery_run(context, &job, &found);
    bool missed = status == WT_MISSED; /* it says that it cannot: that is no success */
    WT_TRY(missed ? WT_OK : status);
    count_costs(&found, out);
    if (strcmp(one.options.method, "sculpt") == 0)
        tell_stages(&found, out);
    out[METRIC_success] = 0;
    out[METRIC_recovered] = found.recovered;
    if (missed)
        goto done;
    out[METRIC_found_heads] = (double)found.heads;
    out[METRIC_holdout_error] = found.holdout_error;
    out[METRIC_train_error] = found.train_error;
    WT_TRY(judge(context, &one, law, seed, teacher, found.layer, out));
done:
    wt_layer_free(teacher);
    wt_layer_free(found.layer);
    wt_sequences_free(data);
    return status;
}

const wt_experiment wt_experiment_recover = {
    .name = "recover",
    .summary = "whether a random attention layer is recovered from examples",
    /* 6: a preconditioner and other damping where a rank is given; forms that are to be found are
     * told by questions, or looked for with few heads first
     * 7: after a step that took more products than its matrix would, the matrix is formed; a head
     * of no use is no sign of another class */
    .result_version = 7,
    .parameters = fields,
    .parameter_count = FIELDS,
    .reps = 20,
    .metrics = metrics,
    .metric_count = METRIC_COUNT,
    .settle = settle,
    .estimate = estimate,
    .run = run,
};
