#include <math.h>

#include "learn/plan.h"

#include "learn/primal.h"
#include "wattle/linalg.h"

/* A pair of keys in an infinite-head kernel costs about as much as this many products. */
#define PAIR_FLOPS 40.0

static double block_bytes(const wt_features *shape, double samples) {
    return 8 * samples * (double)(wt_features_block_units(shape) * shape->width);
}

/* Lambdas that are factored. */
static double factors(const wt_ridge *ridge) {
    const double *path;
    size_t count;
    wt_ridge_path(ridge, &path, &count);
    return ridge->rule == WT_LAMBDA_FIXED || ridge->rule == WT_LAMBDA_MIN_NORM ? 1 : (double)count;
}

static void plan_dual(const wt_model_spec *spec, const wt_features *shape, double n, double q,
                      const wt_ridge *ridge, wt_fit_plan *out) {
    double f = (double)out->features, keys = (double)spec->keys;
    bool infinite = wt_model_kind_infinite(spec->kind);
    double gram = infinite ? n * n / 2 * keys * keys * PAIR_FLOPS : n * n * f;
    /* A factor and a triangular inverse a lambda, or one eigenvalue decomposition. */
    double solve = ridge->rule == WT_LAMBDA_MIN_NORM ? 9 * n * n * n : n * n * n * 2 / 3;
    out->flops = gram + factors(ridge) * solve;
    out->bytes = 8 * (n * n + 3 * n * q + f * q) + (infinite ? 0 : block_bytes(shape, n));
    if (ridge->rule == WT_LAMBDA_MIN_NORM)
        out->bytes += 8 * n * n * 3; /* eigenvectors and their work space */
    else
        out->bytes += 8 * n * 2 * WT_TILE;
    out->path = "dual";
}

static void plan_primal(double n, double q, bool drawn, const wt_ridge *ridge, wt_fit_plan *out) {
    double f = (double)out->features;
    double slabs = drawn && ridge->rule != WT_LAMBDA_LOO ? 1 : 2;
    double judged = slabs == 2 ? factors(ridge) + 1 : 0; /* passes that solve for leverages */
    out->flops = (1 + judged) * n * f * f + factors(ridge) * f * f * f;
    out->bytes = 8 * (f * f + slabs * WT_PRIMAL_SLAB * f + 3 * f * q);
    if (ridge->rule == WT_LAMBDA_MIN_NORM)
        out->bytes += 8 * f * f * 3;
    out->path = drawn ? "streamed" : "primal";
}

wt_status wt_plan_choose(wt_context *context, const wt_model_spec *spec, const wt_features *shape,
                         size_t samples, size_t outputs, bool drawn, const wt_ridge *ridge,
                         wt_fit_plan *out, bool *primal) {
    bool infinite = wt_model_kind_infinite(spec->kind);
    double n = (double)samples, q = (double)outputs, budget = (double)wt_context_memory(context);
    wt_fit_plan dual = {.samples = samples}, other;
    dual.features = infinite ? 0 : wt_features_count(shape);
    other = dual;
    plan_dual(spec, shape, n, q, ridge, &dual);
    plan_primal(n, q, drawn, ridge, &other);
    /* The dual holds all samples, drawn or not; a weight matrix is held by both. */
    double tokens = 8 * n * (double)(spec->dim * (spec->keys + 1));
    double weights = infinite ? 0 : 8 * (double)(shape->units * shape->inputs);
    dual.bytes += tokens + weights;
    other.bytes += (drawn ? 0 : tokens) + weights;
    if (infinite && ridge->solver == WT_SOLVER_PRIMAL)
        return wt_fail(context, WT_USAGE, "%s is a kernel: it has no primal",
                       wt_model_kind_name(spec->kind));
    *primal = !infinite && (ridge->solver == WT_SOLVER_AUTO ? samples > dual.features
                                                            : ridge->solver == WT_SOLVER_PRIMAL);
    if (ridge->solver == WT_SOLVER_AUTO && !infinite && budget > 0) {
        const wt_fit_plan *first = *primal ? &other : &dual, *second = *primal ? &dual : &other;
        if (first->bytes > budget && second->bytes <= budget)
            *primal = !*primal;
    }
    *out = *primal ? other : dual;
    return WT_OK;
}

wt_status wt_fit_plan_make(wt_context *context, const wt_model_spec *spec, size_t samples,
                           size_t outputs, bool drawn, const wt_ridge *ridge, wt_fit_plan *out) {
    wt_features shape = {0};
    bool primal;
    wt_status status;
    WT_TRY(wt_model_spec_check(context, spec));
    WT_TRY(wt_ridge_check(context, ridge, true));
    if (!wt_model_kind_infinite(spec->kind))
        WT_TRY(wt_features_shape(context, spec, &shape));
    WT_TRY(wt_plan_choose(context, spec, &shape, samples, outputs, drawn, ridge, out, &primal));
done:
    return status;
}
