/* `wattle bound head|transformer`. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bound.h"
#include "wattle/memory.h"

typedef struct {
    const cli_bound_values *values;
    bool deep;
    wt_model_norms *norms;
    wt_capacity_spec spec;
    wt_capacity bound;
    double *alpha; /* (layers) */
} report;

/* ---- numbers ---- */

static wt_status take_norms(cli_call *call, report *out) {
    const cli_bound_values *values = out->values;
    size_t heads = cli_given(call, "heads") ? values->heads : 0, few = heads == 0 ? 1 : heads;
    if (values->norms != NULL && values->model != NULL)
        return wt_fail(call->context, WT_USAGE, "--norms and --model exclude each other");
    if (values->norms == NULL && values->model == NULL)
        return wt_fail(call->context, WT_USAGE, "a bound of %s needs --norms or --model",
                       out->deep ? "transformers" : "heads");
    if (!out->deep && (cli_given(call, "depth") || values->capacity.residual))
        return wt_fail(call->context, WT_USAGE, "--depth and --residual are of transformers");
    if (values->norms != NULL)
        return out->deep
                   ? wt_model_norms_parse(call->context, values->norms, true, values->depth, few,
                                          &out->norms)
                   : wt_model_norms_parse(call->context, values->norms, false, few, 1, &out->norms);
    if (cli_given(call, "depth") || (!out->deep && heads > 0))
        return wt_fail(call->context, WT_USAGE, "--model says its heads and layers itself");
    return out->deep
               ? wt_model_norms_load_transformer(call->context, values->model, heads, &out->norms)
               : wt_model_norms_load_head(call->context, values->model, &out->norms);
}

static wt_status compute(cli_call *call, report *out) {
    const cli_bound_values *values = out->values;
    wt_capacity_spec *spec = &out->spec;
    WT_PASS(take_norms(call, out));
    *spec = values->capacity;
    spec->size = sizeof *spec;
    spec->norms = out->norms;
    spec->deep = out->deep;
    spec->dim = values->dim;
    spec->delta = values->delta;
    WT_PASS(cli_bound_take(call, "dim", "the model", wt_model_norms_dim(out->norms), &spec->dim));
    WT_PASS(cli_bound_take(call, "length", "the model", wt_model_norms_length(out->norms),
                           &spec->length));
    if (spec->length == 0)
        return wt_fail(call->context, WT_USAGE, "a bound from --norms needs --length");
    WT_PASS(
        WT_NEW(call->context, &out->alpha, wt_model_norms_layers(out->norms), "factors of layers"));
    return wt_capacity_compute(call->context, spec, out->alpha, &out->bound);
}

/* ---- words ---- */

static double norm_of(const report *of, wt_model_norm norm, size_t layer, size_t head) {
    return wt_model_norms_get(of->norms, norm, layer, head);
}

static double model_norm(const report *of, wt_model_norm norm) {
    return norm_of(of, norm, 0, 0);
}

static void print_head(const report *of, size_t layer, size_t head) {
    printf("|W_QK^T|_{2,1} %.5g, |W_V|_{2,1} %.5g, |W_V| %.5g",
           norm_of(of, WT_MODEL_NORM_QK21, layer, head),
           norm_of(of, WT_MODEL_NORM_V21, layer, head), norm_of(of, WT_MODEL_NORM_V, layer, head));
    if (of->deep)
        printf(", |W_C|_{2,1} %.5g, |W_C| %.5g", norm_of(of, WT_MODEL_NORM_C21, layer, head),
               norm_of(of, WT_MODEL_NORM_C, layer, head));
    if (wt_model_norms_layers(of->norms) > 1)
        printf(", |W_QK| %.5g", norm_of(of, WT_MODEL_NORM_QK, layer, head));
    putchar('\n');
}

static void print_norms(const report *of) {
    size_t layers = wt_model_norms_layers(of->norms), heads = wt_model_norms_heads(of->norms);
    double w = model_norm(of, WT_MODEL_NORM_W);
    for (size_t i = 0; i < layers; i++)
        for (size_t h = 0; h < heads; h++) {
            printf("norms     ");
            if (layers > 1)
                printf("layer %zu (alpha %.5g), ", i, of->alpha[i]);
            if (heads > 1)
                printf("head %zu: ", h);
            print_head(of, i, h);
        }
    printf("          tokens %.5g, positions added to them %.5g, [CLS] %.5g, ",
           model_norm(of, WT_MODEL_NORM_X), model_norm(of, WT_MODEL_NORM_P),
           model_norm(of, WT_MODEL_NORM_CLS));
    if (isnan(w))
        printf("no read-out, ");
    else
        printf("read-out %.5g, ", w);
    printf("Lipschitz constant of the activation %.5g\n", model_norm(of, WT_MODEL_NORM_SIGMA));
}

/* The formula, and what in it is not as published. */
static void print_capacity(const report *of) {
    static const char *const heads = "sum (s B v21)^2/3 + (2 s v B^2 cls qk21)^2/3",
                             *const proof = "; the factor 2 and B inside are its proof's: derived";
    printf("capacity  C_F = log(d m T) ");
    if (of->deep)
        printf("w^2 (1 + sum alpha^2/3 (c21^2/3 + (2 s c v qk21)^2/3 + (s c v21)^2/3))^3");
    else if (isnan(model_norm(of, WT_MODEL_NORM_W)))
        cli_print("(%s)^3", heads);
    else
        cli_print("w^2 ((sum s B v)^2/3 + %s)^3", heads);
    cli_print(" = %.5g, log(d m T) = %.5g [published%s%s]\n", of->bound.constant,
              of->bound.log_factor,
              of->deep ? "; alpha over the layers above, not below, and w^2 on every term: derived"
                       : proof,
              of->deep || isnan(model_norm(of, WT_MODEL_NORM_W)) ? "" : "; the read-out: derived");
}

static void print_report(const report *of, const char *kind) {
    const wt_capacity_spec *spec = &of->spec;
    const wt_capacity *bound = &of->bound;
    cli_print("%s: d = %zu, T = %zu, m = %zu, epsilon = %g, delta = %g\n\n", kind, spec->dim,
              spec->length, spec->samples, spec->epsilon, spec->delta);
    print_norms(of);
    print_capacity(of);
    printf("covering  log N(%g) <= C_F / epsilon^2 = %.5g, up to a constant\n", spec->epsilon,
           bound->covering);
    printf("gap       4 c L sqrt(C_F/m) (1 + log(A sqrt(m/C_F))) = %.5g with c = 1, A = %.5g, plus "
           "2 b sqrt(log(1/delta)/2m) = %.5g\n",
           bound->capacity_term, bound->range, bound->confidence_term);
    if (bound->constant == 0)
        printf("          (C_F is 0, and so is the limit of the first term)\n");
    if (bound->vacuous)
        printf("          (vacuous: C_F is above A^2 m, and the logarithm is taken as 0)\n");
    printf("below     without bounds on norms, heads of d = 3 have a pseudo-dimension of at least "
           "floor(log T) = %zu (%zu to base 2)\n",
           bound->pseudo_natural, bound->pseudo_binary);
    putchar('\n');
    cli_bound_list("not specified by the theory: ", bound->unspecified);
    cli_bound_list("not in the theorem's class: ", wt_model_norms_outside(of->norms));
    printf("A bound is a shape, not a prediction.\n");
}

/* ---- JSON ---- */

static json_t *json_layers(const report *of) {
    json_t *out = json_array();
    for (size_t i = 0; i < wt_model_norms_layers(of->norms); i++) {
        json_t *heads = json_array();
        for (size_t h = 0; h < wt_model_norms_heads(of->norms); h++) {
            json_t *head = json_object();
            for (wt_model_norm norm = WT_MODEL_NORM_QK21; norm <= WT_MODEL_NORM_C; norm++)
                cli_json_put(head, wt_model_norm_name(norm),
                             cli_json_real(norm_of(of, norm, i, h)));
            cli_json_add(heads, head);
        }
        cli_json_add(out, cli_json("alpha:r sigma:r heads:o", of->alpha[i],
                                   norm_of(of, WT_MODEL_NORM_SIGMA, i, 0), heads));
    }
    return out;
}

static wt_status emit(cli_call *call, const report *of, const char *kind) {
    const wt_capacity_spec *spec = &of->spec;
    const wt_capacity *bound = &of->bound;
    return cli_emit(
        call,
        "kind:s model:s dim:u length:u samples:u epsilon:r delta:r x:r p:r cls:r w:r layers:o "
        "log_factor:r capacity:r covering:r range:r gap:o pseudo_dimension:o unspecified:o "
        "outside:o",
        kind, of->values->model, spec->dim, spec->length, spec->samples, spec->epsilon, spec->delta,
        model_norm(of, WT_MODEL_NORM_X), model_norm(of, WT_MODEL_NORM_P),
        model_norm(of, WT_MODEL_NORM_CLS), model_norm(of, WT_MODEL_NORM_W), json_layers(of),
        bound->log_factor, bound->constant, bound->covering, bound->range,
        cli_json("capacity_term:r confidence_term:r sum:r vacuous:b", bound->capacity_term,
                 bound->confidence_term, bound->gap, bound->vacuous),
        cli_json("natural:u binary:u", bound->pseudo_natural, bound->pseudo_binary),
        cli_bound_words(bound->unspecified), cli_bound_words(wt_model_norms_outside(of->norms)));
}

wt_status cli_bound_capacity(cli_call *call, const char *kind) {
    report out = {.values = call->values,
                  .bound = WT_SIZED(wt_capacity),
                  .deep = strcmp(kind, "transformer") == 0};
    wt_status status;
    WT_TRY(cli_bound_refuse(call, kind, "target data keys n bias tokens token-scale measure"));
    WT_TRY(compute(call, &out));
    if (call->common.json)
        WT_TRY(emit(call, &out, kind));
    else
        print_report(&out, kind);
done:
    wt_release(out.alpha);
    wt_model_norms_free(out.norms);
    return status;
}
