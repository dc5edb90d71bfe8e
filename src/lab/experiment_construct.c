/* Whether a construction keeps its promise: build the heads, run every input through them. A
 * repetition redraws the relevant positions, and the vectors where they are random. The strength
 * is solved from the promise, which is then kept by design; what it needs at least is searched, and
 * with a fixed length the promise can be missed. */
#include <math.h>
#include <string.h>

#include "lab/experiment.h"
#include "network/model/construction.h"
#include "network/theory/construct_fields.h"

/* A cell: what is built, and how it is tried. */
typedef struct {
    wt_construction_spec spec; /* first, as its fields have it */
    size_t draws, fixed_length;
} cell;

static const wt_field fields[] = {
    WT_CONSTRUCT_FIELDS,
    {"draws", WT_FIELD_KIND_COUNT, "100", .offset = offsetof(cell, draws),
     .help = "Random values of the irrelevant bits every pattern is run with."},
    {"fixed-length", WT_FIELD_KIND_NATURAL, "0", .offset = offsetof(cell, fixed_length), .since = 1,
     .help = "Hold the strength at the least that keeps the promise at this length; 0 = the "
             "strength solved from the promise."},
};
enum { FIELDS = sizeof fields / sizeof *fields };

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

static cell cell_of(const wt_value *values) {
    cell out = {.spec = {.size = sizeof out.spec}};
    wt_fields_set(fields, FIELDS, values, &out);
    return out;
}

static wt_status settle(wt_context *context, wt_value *values) {
    cell one = {.spec = {.size = sizeof one.spec}};
    wt_construction_spec *spec = &one.spec;
    wt_boolean *function = NULL;
    wt_status status;
    WT_TRY(wt_fields_read(context, fields, FIELDS, values, &one));
    WT_TRY(wt_boolean_new(context, spec->function, &function));
    if (spec->heads == WT_CONSTRUCTION_HEADS_AUTO)
        spec->heads = function->symmetric ? WT_CONSTRUCTION_HEADS_ONE : WT_CONSTRUCTION_HEADS_EACH;
    WT_TRY(wt_construction_spec_check(context, spec));
    if (spec->positions != WT_POSITIONS_RANDOM)
        spec->position_dim = 0;
    else if (spec->position_dim == 0)
        spec->position_dim = wt_construction_random_dim(function->bits, spec->length);
    wt_fields_get(fields, FIELDS, &one, values);
    if (one.fixed_length > 0) {
        spec->length = one.fixed_length;
        WT_TRY(wt_construction_spec_check(context, spec));
    }
done:
    wt_boolean_free(function);
    return status;
}

static double bits_of(wt_context *context, const char *name) {
    wt_boolean *function = NULL;
    double bits = wt_boolean_new(context, name, &function) == WT_OK ? (double)function->bits : 0;
    wt_boolean_free(function);
    return bits;
}

/* Vectors are drawn and multiplied once; every pattern looks at all positions about ten times. The
 * searches for the least strengths take some fifty steps, in which tokens that are alike are one. A
 * fixed length is a second construction. */
static wt_status estimate(wt_context *context, const wt_trial *trial, wt_cost *out) {
    const cell one = cell_of(trial->values);
    double s = bits_of(context, one.spec.function), draws = (double)one.draws;
    double length = (double)one.spec.length + (double)one.fixed_length;
    double many = one.spec.heads == WT_CONSTRUCTION_HEADS_ONE ? 1 : s, patterns = exp2(s);
    bool random = one.spec.positions == WT_POSITIONS_RANDOM;
    double dim = random ? (double)one.spec.position_dim : s + 3;
    *out = (wt_cost){
        .flops = length * dim * (40 + 6 * many) + many * patterns * (10 * length + s * draws) +
                 many * draws * length * 20 + (random ? many * length * 50 * (40 + 8 * s) : 0),
        .bytes = 8 * (length * (dim + 4 * many + 11) + 3 * many * patterns)};
    return WT_OK;
}

/* Holds the strength at the least of the same kind of head at the fixed length. */
static wt_status hold_strength(wt_context *context, const cell *one, wt_construction *built) {
    wt_construction *fixed = NULL;
    wt_construction_least least = WT_SIZED(wt_construction_least);
    wt_status status;
    wt_construction_spec spec = one->spec;
    spec.length = one->fixed_length;
    WT_TRY(wt_construction_new(context, &spec, &fixed));
    WT_TRY(wt_construction_find_least(context, fixed, &least));
    wt_construction_set_strength(built, least.strength);
done:
    wt_construction_free(fixed);
    return status;
}

static wt_status run(wt_context *context, const wt_trial *trial, double *out) {
    cell one = cell_of(trial->values);
    wt_construction *built = NULL;
    wt_construction_report report = WT_SIZED(wt_construction_report);
    wt_construction_summary about = WT_SIZED(wt_construction_summary);
    wt_construction_least least = WT_SIZED(wt_construction_least);
    wt_status status;
    one.spec.seed = wt_trial_seed(trial);
    WT_TRY(wt_construction_new(context, &one.spec, &built));
    if (one.fixed_length > 0)
        WT_TRY(hold_strength(context, &one, built));
    WT_TRY(wt_construction_check(context, built, one.draws, one.spec.seed, &report));
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
    .parameters = fields,
    .parameter_count = FIELDS,
    .reps = 5,
    .metrics = metrics,
    .metric_count = METRICS,
    .settle = settle,
    .estimate = estimate,
    .run = run,
};
