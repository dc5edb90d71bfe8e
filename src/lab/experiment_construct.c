/* Whether a construction keeps its promise: build the heads, run every input through them. A
 * repetition redraws the relevant positions, and the vectors where they are random. The strength
 * is solved from the promise, which is then kept by design; what it needs at least is searched, and
 * with a fixed length the promise can be missed. */
#include <math.h>
#include <string.h>

#include "lab/experiment.h"
#include "network/model/construction.h"

enum { FUNCTION, LENGTH, POSITIONS, POSITION_DIM, HEADS, TOKENS, DRAWS, FIXED_LENGTH, PARAMETERS };

static const wt_field parameters[PARAMETERS] = {
    [FUNCTION] = {"function", WT_FIELD_KIND_WORD, "and:3",
                  .help =
                      "symmetric:0001, table:01101001, and:3 and so on, as for wattle construct"},
    [LENGTH] = {"length", WT_FIELD_KIND_COUNT, "1024", .help = "bits of an input"},
    [POSITIONS] = {"positions", WT_FIELD_KIND_WORD, "basis", .help = "basis, random or trained"},
    [POSITION_DIM] = {"position-dim", WT_FIELD_KIND_NATURAL, "0",
                      .help = "dimension of random positions; 0 = max(64, 8 (s + 1) log T)"},
    [HEADS] = {"heads", WT_FIELD_KIND_WORD, "auto",
               .help = "one, s, or auto: one where it will do"},
    [TOKENS] = {"tokens", WT_FIELD_KIND_WORD, "sum", .help = "sum or bag"},
    [DRAWS] = {"draws", WT_FIELD_KIND_COUNT, "100", .help = "random values of the irrelevant bits"},
    [FIXED_LENGTH] =
        {"fixed-length", WT_FIELD_KIND_NATURAL, "0",
         .help = "hold the strength at the least that keeps the promise at this length; 0 = "
                 "the strength solved from the promise",
         .since = 1},
};

enum {
    M_RATIO,
    M_HEAD_ERROR,
    M_PROMISE,
    M_DRAWN_ERROR,
    M_FUNCTION_ERROR,
    M_KEPT,
    M_STRENGTH,
    M_OVERLAP,
    M_TOKEN_DIM,
    M_QK21,
    M_V21,
    M_LEAST_STRENGTH,
    M_LEAST_LINEAR,
    METRICS
};
static const char *const metrics[METRICS] = {[M_RATIO] = "error_over_promise",
                                             [M_HEAD_ERROR] = "head_error",
                                             [M_PROMISE] = "promise",
                                             [M_DRAWN_ERROR] = "drawn_error",
                                             [M_FUNCTION_ERROR] = "function_error",
                                             [M_KEPT] = "kept",
                                             [M_STRENGTH] = "strength",
                                             [M_OVERLAP] = "overlap",
                                             [M_TOKEN_DIM] = "token_dim",
                                             [M_QK21] = "qk21",
                                             [M_V21] = "v21",
                                             [M_LEAST_STRENGTH] = "least_strength",
                                             [M_LEAST_LINEAR] = "least_linear"};

/* Words a parameter may be; in the order of wt_positions where these are positions. */
static const char *const positions[] = {"basis", "random", "trained"},
                         *const heads[] = {"one", "s"}, *const tokens[] = {"sum", "bag"};

static wt_status choose(wt_context *context, const wt_value *values, size_t parameter,
                        const char *const *words, size_t count, size_t *out) {
    for (*out = 0; *out < count; ++*out)
        if (strcmp(values[parameter].text, words[*out]) == 0)
            return WT_OK;
    return wt_fail(context, WT_USAGE, "%s: '%s' is none of %s", parameters[parameter].name,
                   values[parameter].text, parameters[parameter].help);
}

/* The specification without its seed. */
static wt_status read_spec(wt_context *context, const wt_value *values, wt_construction_spec *out) {
    size_t position = 0, head = 0, token = 0;
    wt_status status;
    WT_TRY(choose(context, values, POSITIONS, positions, 3, &position));
    WT_TRY(choose(context, values, HEADS, heads, 2, &head));
    WT_TRY(choose(context, values, TOKENS, tokens, 2, &token));
    *out = (wt_construction_spec){.size = sizeof *out,
                                  .function = values[FUNCTION].text,
                                  .length = (size_t)values[LENGTH].number,
                                  .positions = (wt_positions)position,
                                  .position_dim = (size_t)values[POSITION_DIM].number,
                                  .one_head = head == 0,
                                  .bag = token == 1};
done:
    return status;
}

static wt_status settle(wt_context *context, wt_value *values) {
    wt_construction_spec spec;
    wt_boolean *function = NULL;
    wt_status status;
    WT_TRY(wt_boolean_open(context, values[FUNCTION].text, &function));
    if (strcmp(values[HEADS].text, "auto") == 0)
        values[HEADS].text = heads[function->symmetric ? 0 : 1];
    WT_TRY(read_spec(context, values, &spec));
    if (spec.positions != WT_POSITIONS_RANDOM)
        values[POSITION_DIM].number = 0;
    else if (spec.position_dim == 0)
        values[POSITION_DIM].number =
            (double)wt_construction_random_dim(function->bits, (size_t)values[LENGTH].number);
    WT_TRY(wt_construction_spec_check(context, &spec));
    if (values[FIXED_LENGTH].number > 0) {
        spec.length = (size_t)values[FIXED_LENGTH].number;
        WT_TRY(wt_construction_spec_check(context, &spec));
    }
done:
    wt_boolean_free(function);
    return status;
}

static double bits_of(wt_context *context, const wt_value *values) {
    wt_boolean *function = NULL;
    double bits = wt_boolean_open(context, values[FUNCTION].text, &function) == WT_OK
                      ? (double)function->bits
                      : 0;
    wt_boolean_free(function);
    return bits;
}

/* Vectors are drawn and multiplied once; every pattern looks at all positions about ten times. The
 * searches for the least strengths take some fifty steps, in which tokens that are alike are one. A
 * fixed length is a second construction. */
static wt_status estimate(wt_context *context, const wt_trial *trial, wt_cost *out) {
    const wt_value *values = trial->values;
    double s = bits_of(context, values), dim;
    double length = values[LENGTH].number + values[FIXED_LENGTH].number;
    double many = strcmp(values[HEADS].text, "one") == 0 ? 1 : s, patterns = exp2(s);
    bool random = strcmp(values[POSITIONS].text, "random") == 0;
    dim = random ? values[POSITION_DIM].number : s + 3;
    *out = (wt_cost){.flops = length * dim * (40 + 6 * many) +
                              many * patterns * (10 * length + s * values[DRAWS].number) +
                              many * values[DRAWS].number * length * 20 +
                              (random ? many * length * 50 * (40 + 8 * s) : 0),
                     .bytes = 8 * (length * (dim + 4 * many + 11) + 3 * many * patterns)};
    return WT_OK;
}

/* Holds the strength at the least of the same kind of head at the fixed length. */
static wt_status hold_strength(wt_context *context, const wt_trial *trial,
                               wt_construction_spec spec, wt_construction *built) {
    wt_construction *fixed = NULL;
    wt_construction_least least = WT_SIZED(wt_construction_least);
    wt_status status;
    spec.length = (size_t)trial->values[FIXED_LENGTH].number;
    WT_TRY(wt_construction_build(context, &spec, &fixed));
    WT_TRY(wt_construction_find_least(context, fixed, &least));
    wt_construction_set_strength(built, least.strength);
done:
    wt_construction_free(fixed);
    return status;
}

static wt_status run(wt_context *context, const wt_trial *trial, double *out) {
    const wt_value *values = trial->values;
    wt_construction_spec spec;
    wt_construction *built = NULL;
    wt_construction_report report = WT_SIZED(wt_construction_report);
    wt_construction_summary about = WT_SIZED(wt_construction_summary);
    wt_construction_least least = WT_SIZED(wt_construction_least);
    wt_status status;
    WT_TRY(read_spec(context, values, &spec));
    spec.seed = wt_trial_seed(trial);
    WT_TRY(wt_construction_build(context, &spec, &built));
    if (values[FIXED_LENGTH].number > 0)
        WT_TRY(hold_strength(context, trial, spec, built));
    WT_TRY(wt_construction_check(context, built, (size_t)values[DRAWS].number, spec.seed, &report));
    WT_TRY(wt_construction_find_least(context, built, &least));
    WT_TRY(wt_construction_summarise(context, built, &about));
    out[M_RATIO] = report.head_error / report.promise;
    out[M_HEAD_ERROR] = report.head_error;
    out[M_PROMISE] = report.promise;
    out[M_DRAWN_ERROR] = report.drawn_error;
    out[M_FUNCTION_ERROR] = report.function_error;
    out[M_KEPT] = report.kept;
    out[M_STRENGTH] = about.strength;
    out[M_OVERLAP] = about.overlap;
    out[M_TOKEN_DIM] = (double)about.dim;
    out[M_QK21] = about.qk21;
    out[M_V21] = about.v21;
    out[M_LEAST_STRENGTH] = least.strength;
    out[M_LEAST_LINEAR] = least.linear;
done:
    wt_construction_free(built);
    return status;
}

const wt_experiment wt_experiment_construct = {
    .name = "construct",
    .summary = "whether heads with explicit weights keep their promise",
    .result_version = 1,
    .parameters = parameters,
    .parameter_count = PARAMETERS,
    .reps = 5,
    .metrics = metrics,
    .metric_count = METRICS,
    .settle = settle,
    .estimate = estimate,
    .run = run,
};
