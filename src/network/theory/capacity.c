#include <math.h>

#include "base/sized.h"
#include "network/model/norms.h"

static double two_thirds(double value) {
    return cbrt(value * value);
}

/* ---- what makes no sense ---- */

static wt_status check_norm(wt_context *context, const char *name, double value) {
    if (isnan(value))
        return wt_fail(context, WT_USAGE, "the bound needs the norm %s", name);
    if (!(value >= 0) || isinf(value))
        return wt_fail(context, WT_USAGE, "the norm %s must be 0 or more, not %g", name, value);
    return WT_OK;
}

/* No (2,1) norm is below the spectral one; 1e-9 leaves room for rounding. */
static wt_status check_pair(wt_context *context, const char *name, double columns,
                            double spectral) {
    if (spectral > columns * (1 + 1e-9))
        return wt_fail(context, WT_USAGE,
                       "the norm %s = %g is above %s21 = %g, which no matrix has", name, spectral,
                       name, columns);
    return WT_OK;
}

static wt_status check_head(wt_context *context, const wt_capacity_spec *spec,
                            const wt_head_norms *head) {
    bool deep = spec->deep, stacked = spec->norms->layers > 1;
    const struct {
        const char *name;
        double value;
        bool needed;
    } norms[] = {{"qk21", head->qk21, true}, {"v21", head->v21, true}, {"v", head->v, true},
                 {"c21", head->c21, deep},   {"c", head->c, deep},     {"qk", head->qk, stacked}};
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++)
        if (norms[i].needed)
            WT_PASS(check_norm(context, norms[i].name, norms[i].value));
    WT_PASS(check_pair(context, "v", head->v21, head->v));
    if (deep)
        WT_PASS(check_pair(context, "c", head->c21, head->c));
    if (stacked)
        WT_PASS(check_pair(context, "qk", head->qk21, head->qk));
    return WT_OK;
}

static wt_status check(wt_context *context, const wt_capacity_spec *spec) {
    const wt_model_norms *norms = spec->norms;
    if (norms == NULL)
        return wt_fail(context, WT_USAGE, "a bound needs norms");
    if (spec->dim == 0 || spec->length == 0 || spec->samples == 0)
        return wt_fail(context, WT_USAGE,
                       "a bound needs dimension, length and samples of 1 or more, not %zu, %zu and "
                       "%zu",
                       spec->dim, spec->length, spec->samples);
    if (!(spec->delta > 0 && spec->delta < 1))
        return wt_fail(context, WT_USAGE, "delta must be above 0 and below 1, not %g", spec->delta);
    if (!(spec->epsilon > 0 && spec->lipschitz > 0 && spec->loss_max > 0))
        return wt_fail(context, WT_USAGE,
                       "epsilon and the loss's Lipschitz constant and bound must be above 0, not "
                       "%g, %g and %g",
                       spec->epsilon, spec->lipschitz, spec->loss_max);
    if (!spec->deep && norms->layers != 1)
        return wt_fail(context, WT_USAGE, "a head has one layer, not %zu", norms->layers);
    WT_PASS(check_norm(context, "x", norms->x));
    WT_PASS(check_norm(context, "p", norms->p));
    WT_PASS(check_norm(context, "cls", norms->cls));
    if (spec->deep || !isnan(norms->w)) /* a head may answer y itself */
        WT_PASS(check_norm(context, "w", norms->w));
    for (size_t i = 0; i < norms->layers; i++) {
        WT_PASS(check_norm(context, "sigma", norms->sigma[i]));
        for (size_t h = 0; h < norms->heads; h++)
            WT_PASS(check_head(context, spec, &norms->head[i * norms->heads + h]));
    }
    return WT_OK;
}

/* ---- the formula ---- */

/* The largest token that asks: with layers above the first every one does, else [CLS] alone. */
static double largest_query(const wt_model_norms *norms) {
    return norms->layers > 1 ? fmax(norms->x + norms->p, norms->cls) : norms->cls;
}

/* A head with tokens in the unit ball: the first layer takes the tokens' size into its weights. */
static wt_head_norms scaled(const wt_capacity_spec *spec, size_t layer, size_t head) {
    const wt_model_norms *norms = spec->norms;
    wt_head_norms out = norms->head[layer * norms->heads + head];
    double ball = layer == 0 ? norms->x + norms->p : 1,
           query = layer == 0 ? largest_query(norms) : 1;
    out.v *= ball;
    out.v21 *= ball;
    out.qk *= ball * query;
    out.qk21 *= ball * query;
    out.c = spec->deep ? out.c : 1;
    out.c21 = spec->deep ? out.c21 : 0;
    return out;
}

static double layer_sum(const wt_capacity_spec *spec, size_t layer) {
    double sigma = spec->norms->sigma[layer], sum = 0;
    for (size_t h = 0; h < spec->norms->heads; h++) {
        wt_head_norms head = scaled(spec, layer, h);
        sum += two_thirds(head.c21) + two_thirds(2 * sigma * head.c * head.v * head.qk21) +
               two_thirds(sigma * head.c * head.v21);
    }
    return sum;
}

/* How much larger an error in a layer's input can come out of it. */
static double layer_lipschitz(const wt_capacity_spec *spec, size_t layer) {
    double sum = spec->residual ? 1 : 0;
    for (size_t h = 0; h < spec->norms->heads; h++) {
        wt_head_norms head = scaled(spec, layer, h);
        sum += spec->norms->sigma[layer] * head.c * head.v * (1 + 4 * head.qk);
    }
    return sum;
}

/* What is read: tokens are projected to the unit ball above a layer; a lone head answers sigma v B
 * at most. */
static double largest_answer(const wt_capacity_spec *spec) {
    double sum = 0;
    if (spec->deep)
        return 1;
    for (size_t h = 0; h < spec->norms->heads; h++)
        sum += spec->norms->sigma[0] * scaled(spec, 0, h).v;
    return sum;
}

static void add_gap(const wt_capacity_spec *spec, wt_capacity *out) {
    double m = (double)spec->samples, ratio = out->range * sqrt(m / out->constant);
    bool none = out->constant == 0; /* the limit of the term is 0, whatever A is */
    out->vacuous = !none && !(ratio >= 1);
    out->capacity_term = none ? 0
                              : 4 * spec->lipschitz * sqrt(out->constant / m) *
                                    (1 + (out->vacuous ? 0 : log(ratio)));
    out->confidence_term = 2 * spec->loss_max * sqrt(-log(spec->delta) / (2 * m));
    out->gap = out->capacity_term + out->confidence_term;
}

void wt_capacity_spec_init(wt_capacity_spec *spec, size_t size) {
    const wt_capacity_spec full = {.epsilon = 0.1, .delta = 0.05, .lipschitz = 1, .loss_max = 1};
    spec->size = size;
    wt_sized_write(spec, &full, sizeof full);
}

static wt_capacity compute(const wt_capacity_spec *spec, double *alpha) {
    wt_capacity out = {0};
    bool reads = !isnan(spec->norms->w);
    double w = reads ? spec->norms->w : 1, answer = largest_answer(spec);
    double above = 1, sum = reads ? two_thirds(answer) : 0;
    for (size_t i = spec->norms->layers; i-- > 0;) {
        if (alpha != NULL)
            alpha[i] = above;
        sum += two_thirds(above) * layer_sum(spec, i);
        if (i > 0)
            above *= layer_lipschitz(spec, i);
    }
    out.log_factor =
        log((double)spec->dim) + log((double)spec->samples) + log((double)spec->length);
    out.constant = out.log_factor * w * w * sum * sum * sum;
    out.covering = out.constant / (spec->epsilon * spec->epsilon);
    out.range = w * answer;
    add_gap(spec, &out);
    out.pseudo_natural = (size_t)floor(log((double)spec->length));
    for (size_t left = spec->length; left > 1; left /= 2)
        out.pseudo_binary++;
    return out;
}

static const char *const unspecified[] = {
    "the constant in front of the covering number",
    "c in front of the generalisation gap, here 1",
    "the base of the logarithm in the lower bound",
    NULL,
};

wt_status wt_capacity_compute(wt_context *context, const wt_capacity_spec *given, double *alpha,
                              wt_capacity *out) {
    wt_capacity_spec spec;
    WT_INIT(wt_capacity_spec, &spec);
    WT_PASS(wt_sized_read(context, "wt_capacity_spec", given, &spec, sizeof spec));
    WT_PASS(wt_sized_check(context, "wt_capacity", out, sizeof *out));
    WT_PASS(check(context, &spec));
    wt_capacity full = compute(&spec, alpha);
    full.unspecified = unspecified;
    wt_sized_write(out, &full, sizeof full);
    return WT_OK;
}
