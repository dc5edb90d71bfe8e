/* The bound on random-feature attention, term by term. */
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "features/task/target.h"
#include "wattle/bounds.h"

#define SERIES_MOST 100000

/* One tensor f_rs of the target: <f_rs, x0^r (x) xi^s>, with the logarithm of |f_rs|_F^2. */
typedef struct {
    double r, s, log_norm;
} tensor;

/* The index-th tensor of a target; false past the last. The series of corr-cos never ends. */
typedef bool (*tensor_fn)(const double *parameters, double log_dim, size_t index, tensor *out);

static bool query_power(const double *parameters, double log_dim, size_t index, tensor *out) {
    (void)log_dim;
    *out = (tensor){.r = parameters[0]};
    return index == 0;
}

static bool mean_power(const double *parameters, double log_dim, size_t index, tensor *out) {
    (void)log_dim;
    *out = (tensor){.s = parameters[0]};
    return index == 0;
}

/* <x0,xi>^q is the tensor of q identities, of squared norm d^q. */
static bool corr_power(const double *parameters, double log_dim, size_t index, tensor *out) {
    double q = parameters[0];
    *out = (tensor){.r = q, .s = q + 1, .log_norm = q * log_dim};
    return index == 0;
}

static bool corr(const double *parameters, double log_dim, size_t index, tensor *out) {
    double p = parameters[0];
    *out = (tensor){.r = p, .s = p, .log_norm = p * log_dim};
    return index == 0;
}

/* cos(t) = sum_j (-1)^j t^(2j) / (2j)! */
static bool corr_cos(const double *parameters, double log_dim, size_t index, tensor *out) {
    double twice = 2 * (double)index;
    *out = (tensor){.r = twice,
                    .s = twice + parameters[0],
                    .log_norm = twice * log_dim - 2 * lgamma(twice + 1)};
    return true;
}

static bool mix(const double *parameters, double log_dim, size_t index, tensor *out) {
    double g = parameters[0], p = parameters[1], q = parameters[2];
    if (p == 1 && q == 0) /* both parts are (1/N) sum <beta,xi>: one tensor, not two */
        return mean_power(&p, log_dim, index, out);
    if (index > 0)
        corr_power(&q, log_dim, 0, out);
    else
        mean_power(&p, log_dim, 0, out);
    out->log_norm += 2 * log(index > 0 ? g : 1 - g);
    return index < 2;
}

static const struct {
    const char *family;
    tensor_fn next;
    const char *rfa, *rfmlp; /* what B comes to */
} families[] = {
    {"query-power", query_power, "C_p", "C_p"},
    {"mean-power", mean_power, "C_p", "C_p / N"},
    {"corr-power", corr_power, "C_(q+1) d^q", "C_(2q+1) d^q / N"},
    {"corr", corr, "C_p d^p", "C_2p d^p / N"},
    {"corr-cos", corr_cos, "sum_j C_(2j+p) d^2j / (2j)!^2", "sum_j C_(4j+p) d^2j / (2j)!^2 / N"},
    {"mix", mix, "(1-g)^2 C_p + g^2 C_(q+1) d^q", "((1-g)^2 C_p + g^2 C_(2q+1) d^q) / N"},
};
enum { FAMILIES = sizeof families / sizeof *families };

/* log of max(k^4.5 base^k, 1) */
static double log_constant(double k, double base) {
    return k == 0 ? 0 : fmax(4.5 * log(k) + k * log(base), 0);
}

/* log(exp(a) + exp(b)), where both may be -inf */
static double log_add(double a, double b) {
    double high = fmax(a, b), low = fmin(a, b);
    return isinf(low) ? high : high + log1p(exp(low - high));
}

static double log_part(const wt_bound_spec *spec, const tensor *part) {
    if (spec->kind == WT_MODEL_KIND_RFA)
        return log_constant(fmax(part->r, part->s), 4) + part->log_norm;
    double averaged = part->s > 0 ? log((double)spec->keys) : 0;
    return log_constant(part->r + part->s, (double)spec->keys + 2) + part->log_norm - averaged;
}

/* log B(f*). A series rises to one top and falls faster than any power after it: it ends where a
 * falling part no longer changes the sum. */
static wt_status log_complexity(wt_context *context, const wt_bound_spec *spec, size_t family,
                                const double *parameters, double *out) {
    double sum = -INFINITY, before = -INFINITY;
    tensor part;
    for (size_t i = 0; families[family].next(parameters, log((double)spec->dim), i, &part); i++) {
        double log_term = log_part(spec, &part);
        sum = log_add(sum, log_term);
        if (i > 2 && log_term < before && log_term < sum - 40)
            break;
        if (i == SERIES_MOST)
            return wt_fail(context, WT_USAGE, "the series of B does not end for d = %zu, N = %zu",
                           spec->dim, spec->keys);
        before = log_term;
    }
    *out = sum;
    return WT_OK;
}

/* The M of M log(d M) = n (d^2 + log(1/delta)), by halving an interval of log M. */
static double balance_heads(const wt_bound_spec *spec) {
    double d = (double)spec->dim;
    double wanted = (double)spec->samples * (d * d - log(spec->delta));
    double low = -log(d), high = log(wanted) + 1;
    high = fmax(high, 1);
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (exp(middle) * (log(d) + middle) < wanted)
            low = middle;
        else
            high = middle;
    }
    return ceil(exp(high) * (1 - 1e-12));
}

static void add_risk(const wt_bound_spec *spec, wt_bound *out) {
    double d = (double)spec->dim, n = (double)spec->samples, heads = (double)spec->heads;
    double half = out->log10_complexity / 2;
    out->risk_known = true;
    out->log10_sample_term = half + log10(log(d * heads) / n) / 2;
    out->log10_head_term = half + log10((d * d - log(spec->delta)) / heads) / 2;
    double ten = log(10);
    out->log10_risk = log_add(ten * out->log10_sample_term, ten * out->log10_head_term) / ten;
    out->heads_suffice = d * d * n;
    out->heads_balanced = balance_heads(spec);
}

static wt_status check(wt_context *context, const wt_bound_spec *spec) {
    WT_PASS(wt_check_choice(context, "model", (int)spec->kind, WT_MODEL_KIND_RFMLP_INF + 1));
    if (wt_model_kind_infinite(spec->kind))
        return wt_fail(context, WT_USAGE, "there is no bound of its own for %s",
                       wt_model_kind_name(spec->kind));
    if (spec->dim == 0 || spec->keys == 0 || spec->heads == 0 || spec->samples == 0)
        return wt_fail(context, WT_USAGE,
                       "a bound needs dim, keys, heads and samples of 1 or more, not %zu, %zu, "
                       "%zu and %zu",
                       spec->dim, spec->keys, spec->heads, spec->samples);
    if (spec->target == NULL)
        return wt_fail(context, WT_USAGE, "a bound needs a target");
    if (!(spec->delta > 0 && spec->delta < 1))
        return wt_fail(context, WT_USAGE, "delta must be above 0 and below 1, not %g", spec->delta);
    return WT_OK;
}

void wt_bound_spec_init(wt_bound_spec *spec, size_t size) {
    wt_bound_spec all = {.kind = WT_MODEL_KIND_RFA, .heads = 1000, .delta = 0.05};
    spec->size = size;
    wt_sized_write(spec, &all, sizeof all);
}

static const char *const unspecified[] = {
    "the constant in front of the excess risk",
    "the constant in front of d^2 n, the heads that suffice",
    "powers of logarithms beyond those printed",
    NULL,
};

static wt_status compute(wt_context *context, const wt_bound_spec *spec, wt_bound *out) {
    wt_target target;
    WT_PASS(check(context, spec));
    WT_PASS(wt_target_parse(context, spec->target, &target));
    out->source = "the formula for brfa is not at hand";
    if (spec->kind == WT_MODEL_KIND_BRFA)
        return WT_OK;
    size_t family = 0;
    while (family < FAMILIES && strcmp(families[family].family, target.family) != 0)
        family++;
    if (family == FAMILIES)
        return wt_fail(context, WT_USAGE, "no formula of B is at hand for target '%s'",
                       spec->target);
    wt_bound_spec of_rfa = *spec;
    double log_b = 0, log_rfa = 0;
    of_rfa.kind = WT_MODEL_KIND_RFA;
    WT_PASS(log_complexity(context, spec, family, target.parameters, &log_b));
    WT_PASS(log_complexity(context, &of_rfa, family, target.parameters, &log_rfa));
    out->complexity_known = true;
    out->log10_complexity = log_b / log(10);
    out->log10_over_rfa = out->log10_complexity - log_rfa / log(10);
    out->source = spec->kind == WT_MODEL_KIND_RFA ? "reconstructed, derived for the target"
                                                  : "reconstructed for powers, else derived";
    out->formula = spec->kind == WT_MODEL_KIND_RFA ? families[family].rfa : families[family].rfmlp;
    if (spec->kind == WT_MODEL_KIND_RFA)
        add_risk(spec, out);
    return WT_OK;
}

wt_status wt_bound_compute(wt_context *context, const wt_bound_spec *spec, wt_bound *out) {
    wt_bound_spec all;
    wt_bound found = {.formula = "", .unspecified = unspecified};
    WT_PASS(wt_sized_check(context, "wt_bound", out, sizeof *out));
    WT_INIT(wt_bound_spec, &all);
    WT_PASS(wt_sized_read(context, "wt_bound_spec", spec, &all, sizeof all));
    WT_PASS(compute(context, &all, &found));
    wt_sized_write(out, &found, sizeof found);
    return WT_OK;
}
