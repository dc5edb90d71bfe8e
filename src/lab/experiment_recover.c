/* Recovering a random teacher: draw the layer, draw examples, run a method, compare. */
#include <math.h>
#include <string.h>

#include "base/grid.h"
#include "base/memory.h"
#include "lab/experiment.h"
#include "lab/recover_cell.h"
#include "wattle/query.h"

/* Fresh sequences are those from here on: never among the examples. */
#define FIRST_TEST ((uint64_t)1 << 40)

enum {
    HEADS,
    DIM,
    OUT_DIM,
    SCALE,
    RANK,
    PARITY,
    DIM_RATIO,
    TOKENS,
    TOKEN_SCALE,
    LENGTH,
    NOISE,
    SAMPLES_RATIO,
    METHOD,
    KNOWN_HEADS,
    RESTARTS,
    STEPS,
    HOLDOUT,
    GOAL,
    SUCCESS,
    TEST_N,
    DEGENERATE,
    PARAMETERS
};

static const wt_field parameters[PARAMETERS] = {
    [HEADS] = {"heads", WT_FIELD_KIND_COUNT, "2", .help = "heads of the teacher"},
    [DIM] = {"dim", WT_FIELD_KIND_NATURAL, "0",
             .help = "dimension of the tokens; 0 = 8, or by dim-ratio"},
    [OUT_DIM] = {"out-dim", WT_FIELD_KIND_NATURAL, "0", .help = "outputs a token; 0 = dim"},
    [SCALE] = {"scale", WT_FIELD_KIND_REAL, "2", .help = "Frobenius norm of every Theta"},
    [RANK] = {"rank", WT_FIELD_KIND_NATURAL, "0", .help = "rank of every Theta; 0 = full"},
    [PARITY] = {"parity", WT_FIELD_KIND_NATURAL, "0",
                .help = "the hard instance of so many bits instead; 0 = a random teacher"},
    [DIM_RATIO] = {"dim-ratio", WT_FIELD_KIND_NATURAL, "0",
                   .help =
                       "dim is one more than so many times the bits of parity; 0 = as dim says"},
    [TOKENS] = {"tokens", WT_FIELD_KIND_WORD, "boolean", .help = "sphere, gaussian or boolean"},
    [TOKEN_SCALE] = {"token-scale", WT_FIELD_KIND_REAL, "1",
                     .help = "tokens are multiplied by this"},
    [LENGTH] = {"length", WT_FIELD_KIND_COUNT, "4", .help = "tokens a sequence"},
    [NOISE] = {"noise", WT_FIELD_KIND_REAL, "0",
               .help = "standard deviation of the noise on outputs"},
    [SAMPLES_RATIO] = {"samples-ratio", WT_FIELD_KIND_REAL, "5",
                       .help = "sequences over N_min, the information limit"},
    [METHOD] =
        {"method", WT_FIELD_KIND_WORD, "refine",
         .help = "refine, sculpt or adam; or query: no examples, the inputs are its own to choose"},
    [KNOWN_HEADS] = {"known-heads", WT_FIELD_KIND_FLAG, "yes",
                     .help = "whether the method is told the number of heads"},
    [RESTARTS] = {"restarts", WT_FIELD_KIND_COUNT, "20", .help = "random starts at most"},
    [STEPS] = {"steps", WT_FIELD_KIND_NATURAL, "0",
               .help = "steps of a start at most; 0 = 200, and 20000 for adam"},
    [HOLDOUT] = {"holdout", WT_FIELD_KIND_REAL, "0.2",
                 .help = "part of the sequences kept for judging"},
    [GOAL] = {"goal", WT_FIELD_KIND_REAL, "1e-9", .help = "relative error that counts as exact"},
    [SUCCESS] = {"success-error", WT_FIELD_KIND_REAL, "1e-7",
                 .help = "largest error of the parameters that counts as success"},
    [TEST_N] = {"test-n", WT_FIELD_KIND_COUNT, "200", .help = "fresh sequences for the test error"},
    [DEGENERATE] = {"degenerate", WT_FIELD_KIND_WORD, "no",
                    .help = "no, parallel (Theta that differ by a tenth), equal-w (all W equal) or "
                            "zero-sum (W that sum to 0)",
                    .since = 2},
};

enum {
    M_SUCCESS,
    M_RECOVERED,
    M_HEADS,
    M_THETA_ERROR,
    M_W_ERROR,
    M_TEST_ERROR,
    M_HOLDOUT_ERROR,
    M_TRAIN_ERROR,
    M_STARTS,
    M_ALL_STEPS,
    M_SAMPLES,
    M_LEAST_SAMPLES,
    M_FLOPS,
    M_SCULPTED,
    M_SPAN_FOUND,
    M_SPAN_ERROR,
    M_SPAN_GAP,
    M_ACCEPTED_ROWS,
    METRICS
};
static const char *const metrics[METRICS] = {[M_SUCCESS] = "success",
                                             [M_RECOVERED] = "recovered",
                                             [M_HEADS] = "found_heads",
                                             [M_THETA_ERROR] = "theta_error",
                                             [M_W_ERROR] = "w_error",
                                             [M_TEST_ERROR] = "test_error",
                                             [M_HOLDOUT_ERROR] = "holdout_error",
                                             [M_TRAIN_ERROR] = "train_error",
                                             [M_STARTS] = "starts",
                                             [M_ALL_STEPS] = "all_steps",
                                             [M_SAMPLES] = "samples",
                                             [M_LEAST_SAMPLES] = "least_samples",
                                             [M_FLOPS] = "flops",
                                             [M_SCULPTED] = "sculpted",
                                             [M_SPAN_FOUND] = "span_found",
                                             [M_SPAN_ERROR] = "span_error",
                                             [M_SPAN_GAP] = "span_gap",
                                             [M_ACCEPTED_ROWS] = "accepted_rows"};

static size_t count_of(const wt_value *values, size_t parameter) {
    return (size_t)values[parameter].number;
}

/* A dim that follows the bits stays 0 among the values, so that bits alone tell the cells apart. */
static size_t dim_of(const wt_value *values) {
    size_t ratio = count_of(values, DIM_RATIO);
    return ratio > 0 ? 1 + ratio * count_of(values, PARITY) : count_of(values, DIM);
}

static const wt_recover_method *method_of(const wt_value *values) {
    return wt_recover_method_find(values[METHOD].text);
}

/* Numbers over numbers: an answer to a question has out-dim of them. */
static double least_samples(const wt_value *values) {
    if (method_of(values)->asks) {
        double m = values[HEADS].number, d = (double)dim_of(values), p = values[OUT_DIM].number;
        return m * d * (d + p) / p;
    }
    return wt_recover_least_examples(count_of(values, HEADS), dim_of(values),
                                     count_of(values, OUT_DIM), count_of(values, LENGTH));
}

static wt_status check(wt_context *context, const wt_value *values) {
    static const int above_zero[] = {TOKEN_SCALE, SAMPLES_RATIO, GOAL, SUCCESS};
    for (size_t i = 0; i < sizeof above_zero / sizeof *above_zero; i++)
        if (!(values[above_zero[i]].number > 0))
            return wt_fail(context, WT_USAGE, "%s must be above 0, not %g",
                           parameters[above_zero[i]].name, values[above_zero[i]].number);
    if (values[LENGTH].number < 2)
        return wt_fail(context, WT_USAGE, "length must be 2 or more: one token shows no attention");
    if (!(values[HOLDOUT].number >= 0 && values[HOLDOUT].number < 1))
        return wt_fail(context, WT_USAGE, "holdout must be from 0 to below 1, not %g",
                       values[HOLDOUT].number);
    if (values[NOISE].number < 0)
        return wt_fail(context, WT_USAGE, "noise must be 0 or more, not %g", values[NOISE].number);
    if (count_of(values, PARITY) > 0 && dim_of(values) <= count_of(values, PARITY))
        return wt_fail(context, WT_USAGE, "parity of %g bits needs dim %g or more, not %g",
                       values[PARITY].number, values[PARITY].number + 1, values[DIM].number);
    return WT_OK;
}

static wt_status settle_dim(wt_context *context, wt_value *values) {
    double ratio = values[DIM_RATIO].number;
    if (ratio > 0 && values[PARITY].number == 0)
        return wt_fail(context, WT_USAGE, "dim-ratio is of hard instances: it needs parity");
    if (ratio > 0 && values[DIM].number > 0)
        return wt_fail(context, WT_USAGE, "dim and dim-ratio cannot both be given");
    if (ratio == 0 && values[DIM].number == 0)
        values[DIM].number = 8;
    return WT_OK;
}

/* Who asks has no examples. */
static wt_status settle_asking(wt_context *context, wt_value *values) {
    if (values[HEADS].number > WT_QUERY_MOST_HEADS || dim_of(values) > WT_QUERY_MOST_DIM)
        return wt_fail(
            context, WT_USAGE, "query takes up to %d heads in %d dimensions, not %g in %zu",
            WT_QUERY_MOST_HEADS, WT_QUERY_MOST_DIM, values[HEADS].number, dim_of(values));
    values[SAMPLES_RATIO].number = 1;
    values[HOLDOUT].number = 0;
    return WT_OK;
}

static wt_status settle_teacher(wt_context *context, wt_value *values) {
    if (values[PARITY].number > 0) {
        values[HEADS].number = values[PARITY].number;
        values[OUT_DIM].number = 1;
        values[SCALE].number = values[RANK].number = 0;
        values[DEGENERATE].text = "no";
    }
    if (values[OUT_DIM].number == 0)
        values[OUT_DIM].number = values[DIM].number;
    if (!wt_teacher_is_way(values[DEGENERATE].text))
        return wt_fail(context, WT_USAGE,
                       "degenerate '%s' is none of no, parallel, equal-w and zero-sum",
                       values[DEGENERATE].text);
    if (values[HEADS].number == 1 && strcmp(values[DEGENERATE].text, "no") != 0)
        return wt_fail(context, WT_USAGE, "a teacher of one head cannot be %s",
                       values[DEGENERATE].text);
    return WT_OK;
}

static wt_status settle(wt_context *context, wt_value *values) {
    const wt_recover_method *method = method_of(values);
    wt_law law;
    wt_status status;
    WT_TRY(settle_dim(context, values));
    WT_TRY(wt_law_parse(context, values[TOKENS].text, &law));
    if (method == NULL) {
        status = wt_fail(context, WT_USAGE, "method '%s' is none of refine, sculpt, adam and query",
                         values[METHOD].text);
        goto done;
    }
    WT_TRY(check(context, values));
    WT_TRY(settle_teacher(context, values));
    if (values[STEPS].number == 0 || method->steps == 0)
        values[STEPS].number = method->steps;
    if (method->asks)
        WT_TRY(settle_asking(context, values));
    else if (!(values[SAMPLES_RATIO].number * least_samples(values) < (double)WT_GRID_WHOLE))
        status = wt_fail(context, WT_USAGE, "samples-ratio %g asks for %g sequences: too many",
                         values[SAMPLES_RATIO].number,
                         values[SAMPLES_RATIO].number * least_samples(values));
done:
    return status;
}

static size_t samples_of(const wt_value *values) {
    return (size_t)ceil(values[SAMPLES_RATIO].number * least_samples(values));
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
    const wt_value *values = trial->values;
    double m = values[HEADS].number, d = (double)dim_of(values), k = values[LENGTH].number;
    double tokens = (double)samples_of(values) * k;
    double pass = 2 * tokens * m * (d * d + 2 * k * d + d * values[OUT_DIM].number);
    bool adam = strcmp(values[METHOD].text, "adam") == 0;
    bool quick = values[SAMPLES_RATIO].number >= SCARCE && values[PARITY].number <= 1;
    double starts = values[RESTARTS].number;
    if (values[PARITY].number > 0)
        starts = fmin(starts, exp2(values[PARITY].number));
    double passes = adam    ? 1.5 * ADAM_STARTS * values[STEPS].number
                    : quick ? 3 * QUICK_PRODUCTS
                            : 3 * FAILED_PRODUCTS * starts;
    double unknowns = m * d * d, p = values[OUT_DIM].number, flops = passes * pass;
    if (strcmp(values[METHOD].text, "sculpt") == 0)
        flops += SCULPT_PASSES *
                 (tokens * 2 * p * (d + k * k) + 2 * fmin(tokens, SCULPT_ROWS) * d * d * p * p);
    if (method_of(values)->asks) {
        double rows = 2 * m * d * d + least_samples(values);
        flops = QUERY_STEPS * rows * p * unknowns * (unknowns + 4 * m * d);
        tokens = rows;
    }
    *out = (wt_cost){.flops = flops / PART_OF_GEMM,
                     .bytes = 8 * (2 * unknowns * unknowns + 10 * tokens * m * (d + k))};
    return WT_OK;
}

static wt_status draw_teacher(wt_context *context, const wt_value *values, uint64_t seed,
                              wt_layer **out) {
    const wt_teacher_options options = {.size = sizeof options,
                                        .heads = count_of(values, HEADS),
                                        .dim = dim_of(values),
                                        .outputs = count_of(values, OUT_DIM),
                                        .scale = values[SCALE].number,
                                        .rank = count_of(values, RANK),
                                        .seed = seed};
    if (values[PARITY].number > 0)
        return wt_layer_parity(context, count_of(values, PARITY), dim_of(values), out);
    wt_status status = wt_layer_teacher(context, &options, out);
    if (status == WT_OK)
        wt_teacher_degenerate(values[DEGENERATE].text, *out);
    return status;
}

/* |y - F(x)| / |y| on fresh sequences, y the teacher's outputs without noise. */
static wt_status test_error(wt_context *context, const wt_value *values, wt_law law, uint64_t seed,
                            const wt_layer *teacher, const wt_layer *layer, double *out) {
    wt_sequences *fresh = NULL;
    double *y = NULL, wrong = 0, norm = 0;
    wt_status status;
    WT_TRY(wt_sequences_new(context, count_of(values, TEST_N), count_of(values, LENGTH),
                            teacher->dim, teacher->outputs, &fresh));
    WT_TRY(wt_layer_draw(context, teacher, law, values[TOKEN_SCALE].number, 0, seed, FIRST_TEST,
                         fresh));
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
static wt_status judge(wt_context *context, const wt_value *values, wt_law law, uint64_t seed,
                       const wt_layer *teacher, const wt_layer *layer, double *out) {
    wt_comparison compared = WT_SIZED(wt_comparison);
    wt_status status;
    WT_TRY(wt_compare(context, teacher, layer, values[TOKEN_SCALE].number, seed, &compared));
    WT_TRY(test_error(context, values, law, seed, teacher, layer, &out[M_TEST_ERROR]));
    double worst = fmax(compared.theta_error, compared.w_error);
    out[M_SUCCESS] = worst <= values[SUCCESS].number;
    out[M_THETA_ERROR] = compared.theta_error;
    out[M_W_ERROR] = compared.w_error;
done:
    wt_comparison_free(&compared);
    return status;
}

/* What a method spent, whether or not it came to an end. */
static void count_costs(const wt_recovered *found, double *out) {
    out[M_STARTS] = found->starts;
    out[M_ALL_STEPS] = found->steps;
    out[M_FLOPS] = found->flops;
    out[M_SAMPLES] = found->sequences;
}

static void tell_stages(const wt_recovered *found, double *out) {
    const wt_sculpt_report *stages = &found->stages;
    out[M_SCULPTED] = found->sculpted;
    out[M_SPAN_FOUND] = stages->stage >= WT_SCULPT_STAGE_SPAN;
    out[M_SPAN_ERROR] = stages->hull_error;
    out[M_SPAN_GAP] = stages->gap;
    out[M_ACCEPTED_ROWS] = (double)stages->accepted;
}

static wt_status draw_data(wt_context *context, const wt_value *values, wt_law law, uint64_t seed,
                           const wt_layer *teacher, wt_sequences **out) {
    wt_status status;
    WT_TRY(wt_sequences_new(context, samples_of(values), count_of(values, LENGTH), teacher->dim,
                            teacher->outputs, out));
    WT_TRY(wt_layer_draw(context, teacher, law, values[TOKEN_SCALE].number, values[NOISE].number,
                         seed, 0, *out));
done:
    return status;
}

static wt_recover_options options_of(const wt_value *values, uint64_t seed) {
    wt_recover_options options;
    WT_INIT(wt_recover_options, &options);
    options.heads = values[KNOWN_HEADS].number != 0 ? count_of(values, HEADS) : 0;
    options.restarts = count_of(values, RESTARTS);
    options.holdout = values[HOLDOUT].number;
    options.goal = values[GOAL].number;
    options.most_steps = count_of(values, STEPS);
    options.seed = seed;
    return options;
}

static wt_status run(wt_context *context, const wt_trial *trial, double *out) {
    const wt_value *values = trial->values;
    const wt_recover_method *method = method_of(values);
    uint64_t seed = wt_trial_seed(trial);
    wt_recovered found = {
        .train_error = NAN, .holdout_error = NAN, .stages = WT_SIZED(wt_sculpt_report)};
    wt_layer *teacher = NULL;
    wt_sequences *data = NULL;
    wt_law law;
    wt_status status;
    for (size_t i = 0; i < METRICS; i++)
        out[i] = NAN;
    out[M_LEAST_SAMPLES] = least_samples(values);
    WT_TRY(wt_law_parse(context, values[TOKENS].text, &law));
    WT_TRY(draw_teacher(context, values, seed, &teacher));
    if (!method->asks)
        WT_TRY(draw_data(context, values, law, seed, teacher, &data));
    found.sequences = data == NULL ? 0 : (double)data->samples;
    const wt_recovery job = {.teacher = teacher,
                             .data = data,
                             .noise = values[NOISE].number,
                             .options = options_of(values, seed)};
    status = method->run(context, &job, &found);
    bool missed = status == WT_MISSED; /* it says that it cannot: that is no success */
    WT_TRY(missed ? WT_OK : status);
    count_costs(&found, out);
    if (strcmp(method->name, "sculpt") == 0)
        tell_stages(&found, out);
    out[M_SUCCESS] = 0;
    out[M_RECOVERED] = found.recovered;
    if (missed)
        goto done;
    out[M_HEADS] = (double)found.heads;
    out[M_HOLDOUT_ERROR] = found.holdout_error;
    out[M_TRAIN_ERROR] = found.train_error;
    WT_TRY(judge(context, values, law, seed, teacher, found.layer, out));
done:
    wt_layer_free(teacher);
    wt_layer_free(found.layer);
    wt_sequences_free(data);
    return status;
}

const wt_experiment wt_experiment_recover = {
    .name = "recover",
    .summary = "whether a random attention layer is recovered from examples",
    .result_version = 2,
    .parameters = parameters,
    .parameter_count = PARAMETERS,
    .reps = 20,
    .metrics = metrics,
    .metric_count = METRICS,
    .settle = settle,
    .estimate = estimate,
    .run = run,
};
