/* `wattle bound rfa|brfa|rfmlp`. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bound.h"
#include "wattle/bounds.h"

enum { SIZES = 3 }; /* n/4, n/2, n */

/* What is told about one bound. */
typedef struct {
    wt_model_kind kind;
    const cli_bound_values *values;
    wt_bound bound; /* when there is a target */
    wt_model_spec kernel;
    size_t count; /* sizes measured; 0 = not measured */
    size_t sizes[SIZES];
    double measured[SIZES];
    wt_complexity about;
} report;

/* ---- numbers --------------------------------------------------------------------------------- */

/* --dim and --keys must not contradict the file; --n takes its first samples. */
static wt_status fit_to_data(cli_call *call, const wt_sets *sets, cli_bound_values *values) {
    WT_PASS(cli_bound_take(call, "dim", values->data, wt_sets_dim(sets), &values->dim));
    WT_PASS(cli_bound_take(call, "keys", values->data, wt_sets_keys(sets), &values->keys));
    if (wt_sets_y(sets) == NULL)
        return wt_fail(call->context, WT_DATA,
                       "%s has no labels to measure: y (n) or (n,q) is expected", values->data);
    if (!cli_given(call, "n"))
        values->samples = wt_sets_samples(sets);
    if (values->samples > wt_sets_samples(sets))
        return wt_fail(call->context, WT_USAGE, "--n is %zu, but %s has %zu samples",
                       values->samples, values->data, wt_sets_samples(sets));
    return WT_OK;
}

/* Labels without noise of the target's own law. */
static wt_status draw(cli_call *call, const cli_bound_values *values, size_t samples,
                      wt_sets **out) {
    wt_problem *problem = NULL;
    wt_problem_spec spec = {.size = sizeof(wt_problem_spec),
                            .target = values->target,
                            .token_scale = values->token_scale,
                            .dim = values->dim,
                            .keys = values->keys,
                            .seed = call->common.seed};
    wt_status status;
    WT_TRY(wt_law_parse(call->context, values->tokens, &spec.law));
    WT_TRY(wt_problem_new(call->context, &spec, &problem));
    WT_TRY(wt_sets_new(call->context, samples, values->keys, values->dim, 1, false, out));
    WT_TRY(wt_problem_draw(call->context, problem, 0, *out));
done:
    wt_problem_free(problem);
    return status;
}

static wt_status measure(cli_call *call, wt_sets **sets, report *out) {
    const cli_bound_values *values = out->values;
    size_t n = values->samples < values->measure ? values->samples : (size_t)values->measure;
    for (size_t part = 4; part > 0; part /= 2)
        if (n / part > 0 && (out->count == 0 || n / part > out->sizes[out->count - 1]))
            out->sizes[out->count++] = n / part;
    if (values->data == NULL)
        WT_PASS(draw(call, values, n, sets));
    return wt_complexity_measure(call->context, &out->kernel, *sets, out->sizes, out->count,
                                 out->measured, &out->about);
}

static wt_status compute(cli_call *call, report *out) {
    const cli_bound_values *values = out->values;
    wt_bound_spec spec = {.size = sizeof(wt_bound_spec),
                          .kind = out->kind,
                          .target = values->target,
                          .dim = values->dim,
                          .keys = values->keys,
                          .heads = values->heads,
                          .samples = values->samples,
                          .delta = values->delta};
    return wt_bound_compute(call->context, &spec, &out->bound);
}

static wt_status choose_kernel(cli_call *call, const char *kind, report *out) {
    char own[32];
    snprintf(own, sizeof own, "%s-inf", kind);
    const cli_bound_values *values = out->values;
    out->kernel = (wt_model_spec){.size = sizeof(wt_model_spec),
                                  .bias = values->bias,
                                  .dim = values->dim,
                                  .keys = values->keys};
    wt_status status = wt_model_kind_parse(
        call->context, values->model != NULL ? values->model : own, &out->kernel.kind);
    if (status != WT_OK || !wt_model_kind_infinite(out->kernel.kind))
        return wt_fail(call->context, WT_USAGE,
                       "--model: '%s' is none of rfa-inf, brfa-inf and rfmlp-inf", values->model);
    return wt_model_spec_check(call->context, &out->kernel);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* 10^x as a number where a double holds it. */
static const char *spell(double log10_value, char out[32]) {
    if (isinf(log10_value))
        return "0";
    snprintf(out, 32, fabs(log10_value) < 300 ? "%.5g" : "10^%.2f",
             fabs(log10_value) < 300 ? pow(10, log10_value) : log10_value);
    return out;
}

static void print_risk(const report *of) {
    char samples[32], heads[32], risk[32];
    const wt_bound *bound = &of->bound;
    cli_print("samples   sqrt(B log(dM) / n) = %s [published: sqrt(B/n); log: reconstructed]\n"
              "heads     sqrt(B (d^2 + log(1/delta)) / M) = %s [reconstructed]\n"
              "risk      %s in all, up to a constant\n"
              "needed    M ~ d^2 n = %.0f heads [reconstructed]; at M = %.0f the term of the heads "
              "falls to that of the samples\n",
              spell(bound->log10_sample_term, samples), spell(bound->log10_head_term, heads),
              spell(bound->log10_risk, risk), bound->heads_suffice, bound->heads_balanced);
}

static void print_bound(const report *of) {
    char b[32], ratio[32];
    if (!of->bound.complexity_known) {
        printf("B(f*)     the formula for brfa is not at hand; it has no factor d^q on "
               "corr-power:q [reconstructed]\n");
        return;
    }
    if (of->kind == WT_MODEL_KIND_RFA) {
        cli_print("B(f*)     %s = %s, C_k = max(k^4.5 4^k, 1) [reconstructed; derived for the "
                  "target]\n",
                  spell(of->bound.log10_complexity, b), of->bound.formula);
        print_risk(of);
        return;
    }
    cli_print("B(f*)     %s = %s, C_k = max(k^4.5 (N+2)^k, 1) [reconstructed: (N+2)^p, over N for "
              "averages; the rest derived]\n"
              "risk      its terms are not at hand for rfmlp; by the shape sqrt(B/n) it needs %s "
              "times the samples of rfa\n",
              spell(of->bound.log10_complexity, b), of->bound.formula,
              spell(of->bound.log10_over_rfa, ratio));
}

static void print_measured(const report *of) {
    if (of->count == 0)
        return;
    bool drawn = of->values->data == NULL;
    cli_print("measured  y^T K^-1 y of %s", wt_model_kind_name(of->kernel.kind));
    if (of->kernel.kind == WT_MODEL_KIND_BRFA_INF)
        printf(" (c = %g)", of->kernel.bias);
    cli_print(", %s [derived]:", drawn ? "labels without noise" : of->values->data);
    for (size_t i = 0; i < of->count; i++)
        cli_print("%s n = %zu: %.5g", i > 0 ? "," : "", of->sizes[i], of->measured[i]);
    putchar('\n');
    if (of->about.jitter > 0)
        printf("          with a jitter of %g times the mean of K's diagonal, for K is singular\n",
               of->about.jitter);
    if (!drawn)
        printf("          (noise in y makes it grow with n without end)\n");
    size_t last = of->sizes[of->count - 1];
    printf("          times the mean of K's diagonal, %.4g, to compare kernels: %.5g at n = %zu\n",
           of->about.diagonal, of->about.diagonal * of->measured[of->count - 1], last);
    if (last < of->values->samples)
        printf("          (of the first %zu of %zu samples: --measure sets how many)\n", last,
               of->values->samples);
}

static void print_report(const report *of) {
    const cli_bound_values *values = of->values;
    cli_print("%s", wt_model_kind_name(of->kind));
    if (values->target != NULL)
        cli_print(", target %s", values->target);
    printf(": d = %zu, N = %zu, M = %zu, n = %zu, delta = %g\n\n", values->dim, values->keys,
           values->heads, values->samples, values->delta);
    if (values->target != NULL)
        print_bound(of);
    print_measured(of);
    if (of->bound.risk_known) {
        putchar('\n');
        cli_bound_list("not specified by the theory: ", of->bound.unspecified);
    }
    if (of->bound.complexity_known)
        printf("A bound is a shape, not a prediction.\n");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* The number and its logarithm: the first is null where no double holds it. */
static json_t *json_power(double log10_value) {
    return cli_json("value:r log10:r", pow(10, log10_value), log10_value);
}

static json_t *json_bound(const report *of) {
    const wt_bound *bound = &of->bound;
    if (!bound->complexity_known)
        return cli_json("complexity:o note:s", json_null(), bound->source);
    json_t *out = cli_json("complexity:o formula:s source:s", json_power(bound->log10_complexity),
                           bound->formula, bound->source);
    if (of->kind == WT_MODEL_KIND_RFMLP)
        cli_json_put(out, "complexity_over_rfa", json_power(bound->log10_over_rfa));
    if (bound->risk_known)
        json_object_update_new(
            out, cli_json("sample_term:o head_term:o risk:o heads_suffice:r heads_balanced:r "
                          "unspecified:o",
                          json_power(bound->log10_sample_term), json_power(bound->log10_head_term),
                          json_power(bound->log10_risk), bound->heads_suffice,
                          bound->heads_balanced, cli_bound_words(bound->unspecified)));
    return out;
}

static json_t *json_measured(const report *of) {
    json_t *points = json_array();
    for (size_t i = 0; i < of->count; i++)
        cli_json_add(points, cli_json("n:u value:r", of->sizes[i], of->measured[i]));
    return cli_json("model:s labels:s bias:r diagonal:r jitter:r points:o",
                    wt_model_kind_name(of->kernel.kind),
                    of->values->data != NULL ? of->values->data : "drawn",
                    of->kernel.kind == WT_MODEL_KIND_BRFA_INF ? of->kernel.bias : NAN,
                    of->about.diagonal, of->about.jitter, points);
}

static wt_status emit(cli_call *call, const report *of) {
    const cli_bound_values *values = of->values;
    json_t *out = cli_json("kind:s target:s dim:u keys:u heads:u n:u delta:r",
                           wt_model_kind_name(of->kind), values->target, values->dim, values->keys,
                           values->heads, values->samples, values->delta);
    if (values->target != NULL)
        cli_json_put(out, "bound", json_bound(of));
    if (of->count > 0)
        cli_json_put(out, "measured", json_measured(of));
    return cli_emit_json(call, out);
}

/* ---- the command ----------------------------------------------------------------------------- */

wt_status cli_bound_features(cli_call *call, const char *kind) {
    cli_bound_values *values = call->values;
    report all = {.values = values, .bound.size = sizeof all.bound, .about.size = sizeof all.about};
    wt_sets *sets = NULL;
    wt_status status;
    WT_TRY(cli_bound_refuse(call, kind,
                            "norms length samples depth residual epsilon lipschitz loss-most"));
    if (values->target == NULL && values->data == NULL)
        return wt_fail(call->context, WT_USAGE, "wattle bound %s needs --target or --data", kind);
    WT_TRY(wt_model_kind_parse(call->context, kind, &all.kind));
    if (values->data != NULL) {
        WT_TRY(wt_sets_load(call->context, values->data, &sets));
        WT_TRY(fit_to_data(call, sets, values));
    }
    if (values->target != NULL)
        WT_TRY(compute(call, &all));
    WT_TRY(choose_kernel(call, kind, &all));
    if (values->measure > 0)
        WT_TRY(measure(call, &sets, &all));
    if (call->common.json)
        WT_TRY(emit(call, &all));
    else
        print_report(&all);
done:
    wt_sets_free(sets);
    return status;
}
