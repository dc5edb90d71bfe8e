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

/* clang-format off */
#define METRICS(METRIC)                                                                            \
    METRIC(error_over_promise) METRIC(head_error) METRIC(promise) METRIC(drawn_error)              \
    METRIC(function_error) METRIC(kept) METRIC(strength) METRIC(overlap) METRIC(token_dim)         \
    METRIC(qk21) METRIC(v21) METRIC(least_strength) METRIC(least_linear)
/* clang-format on */
enum { METRICS(WT_METRIC_PLACE) METRIC_COUNT };
static const char *const metrics[] = {METRICS(WT_METRIC_NAME)};

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
    out[METRIC_error_over_promise] = report.head_error / report.promise;
    out[METRIC_head_error] = report.head_error;
    out[METRIC_promise] = report.promise;
    out[METRIC_drawn_error] = report.drawn_error;
    out[METRIC_function_error] = report.function_error;
    out[METRIC_kept] = report.kept;
    out[METRIC_strength] = about.strength;
    out[METRIC_overlap] = about.overlap;
    out[METRIC_token_dim] = (double)about.dim;
    out[METRIC_qk21] = about.qk21;
    out[METRIC_v21] = about.v21;
    out[METRIC_least_strength] = least.strength;
    out[METRIC_least_linear] = least.linear;
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
    .metric_count = METRIC_COUNT,
    .settle = settle,
    .estimate = estimate,
    .run = run,
};
