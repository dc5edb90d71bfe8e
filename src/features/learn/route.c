#include "features/learn/route.h"

#include <math.h>

#include "base/sized.h"
#include "base/text.h"
#include "device/device.h"
#include "features/learn/primal_curve.h"
#include "features/learn/primal_scores.h"
#include "features/model/kernel.h"
#include "linalg/linalg.h"

/* A pair of keys in an infinite-head kernel costs about as much as this many products. */
#define PAIR_FLOPS 40.0

/* What both ways need to know. Memory is counted in doubles, and in double: it cannot wrap. */
typedef struct {
    const wt_context *context;
    const wt_model_spec *spec;
    const wt_features *shape; /* of random features */
    bool infinite, drawn;
    const wt_ridge_options *ridge;
    double n, q, f, workers;
    double ranks;   /* that share the matrices; 1 = none but this process */
    double ones;    /* 1 where labels are centred: one more right-hand side, of ones */
    double tokens;  /* of all samples, labels too */
    double weights; /* of the model */
} question;

/* Lambdas that are factored, unless the path is widened. */
static double factors(const wt_ridge_options *ridge) {
    const double *path;
    size_t count;
    wt_ridge_path(ridge, &path, &count);
    return ridge->rule == WT_LAMBDA_FIXED || ridge->rule == WT_LAMBDA_MIN_NORM ? 1 : (double)count;
}

static bool by_eigenvalues(const wt_ridge_options *ridge) {
    return ridge->rule == WT_LAMBDA_MIN_NORM ||
           (ridge->rule == WT_LAMBDA_FIXED && ridge->lambda == 0);
}

/* Eigenvectors of a matrix of the order, and the work space of finding them: ranks have a copy of
 * the matrix too. */
static double eigen_numbers(const question *ask, double order) {
    return (ask->ranks > 1 ? 4 : 3) * order * order / ask->ranks + 12 * order;
}

/* Scratch of making one block of features. */
static double block_scratch(const question *ask) {
    size_t units = wt_features_block_units(ask->shape);
    if (units > ask->shape->units)
        units = ask->shape->units;
    return wt_features_scratch_bytes(ask->context, ask->shape, ask->spec->keys, units) /
           sizeof(double);
}

/* Beside the kernel matrix while it is made. */
static double gram_scratch(const question *ask) {
    if (ask->infinite)
        return (double)wt_kernel_scratch_bytes(ask->context, ask->spec, (size_t)ask->n, 0) /
               sizeof(double);
    return ask->n * (double)wt_features_block_columns(ask->shape) / ask->ranks + block_scratch(ask);
}

static void cost_of_dual(const question *ask, wt_fit_cost *out) {
    double n = ask->n, q = ask->q, f = ask->f, keys = (double)ask->spec->keys;
    double gram = ask->infinite ? n * n / 2 * keys * keys * PAIR_FLOPS : n * n * f;
    bool eigen = by_eigenvalues(ask->ridge);
    /* A factor and a triangular inverse a lambda, or one eigenvalue decomposition. */
    out->flops = gram + factors(ask->ridge) * (eigen ? 9 * n * n * n : n * n * n * 2 / 3);
    /* The kernel matrix, its diagonal and that of its inverse, labels and weights stay; then K is
     * made, solved with, and v is made with its residuals. */
    double held = n * n / ask->ranks + n * (3 * q + 2 + 2 * ask->ones) + f * q,
           making = gram_scratch(ask);
    double solving =
        eigen ? eigen_numbers(ask, n) + 6 * n * (q + ask->ones) : ask->workers * n * WT_TILE;
    double finishing = ask->infinite ? 0 : making + 2 * n * q;
    double most = held + fmax(making, fmax(solving, finishing));
    if (ask->infinite) /* a kernel keeps its tokens when all else is gone */
        most = fmax(most, ask->tokens + n * q);
    out->bytes = sizeof(double) * (ask->tokens + ask->weights + most);
    out->route = "dual";
}

static void cost_of_primal(const question *ask, wt_fit_cost *out) {
    double n = ask->n, q = ask->q + ask->ones, f = ask->f, slab = WT_PRIMAL_SLAB;
    bool left_out = !ask->drawn || ask->ridge->rule == WT_LAMBDA_LOO;
    bool eigen = by_eigenvalues(ask->ridge);
    double judged = left_out ? factors(ask->ridge) + 1 : 0; /* passes that solve for leverages */
    out->flops = (1 + judged) * n * f * f + factors(ask->ridge) * (eigen ? 9 : 1) * f * f * f;
    /* The normal matrix, moments, v and slabs stay; then samples are read and solved with. */
    double held =
        f * f / ask->ranks + f + 2 * f * q + slab * ((left_out ? 2 : 1) * f / ask->ranks + q);
    double reading = block_scratch(ask) + slab * q;
    double solving = ask->workers * f * WT_TILE + f;
    if (eigen) /* whose eigenvectors are there when samples are judged */
        solving = fmax(eigen_numbers(ask, f) + 2 * f * q,
                       f * f / ask->ranks + f + 2 * f * q + reading + (left_out ? slab * f : 0));
    double samples = ask->drawn && n > slab ? slab * ask->tokens / n : ask->tokens;
    out->bytes = sizeof(double) * (samples + ask->weights + held + fmax(reading, solving));
    out->route = ask->drawn ? "streamed" : "primal";
}

/* Bytes beyond those in use: samples from a file are there already. */
static double more_needed(const wt_model_spec *spec, const wt_fit_cost *cost, size_t outputs,
                          bool drawn) {
    double numbers = (double)spec->dim * ((double)spec->keys + 1) + (double)outputs;
    return cost->bytes - (drawn ? 0 : sizeof(double) * (double)cost->samples * numbers);
}

static bool fits(const wt_context *context, double more) {
    double budget = (double)wt_context_memory(context);
    return budget == 0 || more + (double)wt_context_memory_used(context) <= budget;
}

static wt_status refuse_primal(wt_context *context, const wt_model_spec *spec) {
    return wt_fail(context, WT_USAGE, "%s is a kernel: it has no primal",
                   wt_model_kind_name(spec->kind));
}

static question question_of(const wt_context *context, const wt_model_spec *spec,
                            const wt_features *shape, const wt_ridge_options *ridge, size_t samples,
                            size_t outputs) {
    const wt_device *device = wt_context_get_device(context);
    bool infinite = wt_model_kind_infinite(spec->kind);
    question ask = {.context = context,
                    .ranks = device != NULL && device->ranks > 1 ? (double)device->ranks : 1,
                    .spec = spec,
                    .shape = shape,
                    .infinite = infinite,
                    .ridge = ridge,
                    .n = (double)samples,
                    .q = (double)outputs,
                    .ones = ridge->standardize,
                    .f = infinite ? 0 : (double)wt_features_count(shape),
                    .workers = (double)wt_context_threads(context)};
    ask.tokens = ask.n * ((double)spec->dim * ((double)spec->keys + 1) + ask.q);
    ask.weights = infinite ? 0 : (double)shape->units * (double)shape->inputs;
    return ask;
}

wt_status wt_route_choose(wt_context *context, const wt_model_spec *spec, const wt_features *shape,
                          size_t samples, size_t outputs, bool drawn, const wt_ridge_options *ridge,
                          wt_fit_cost *out, bool *primal) {
    bool infinite = wt_model_kind_infinite(spec->kind), open = ridge->solver == WT_SOLVER_AUTO;
    size_t features = infinite ? 0 : wt_features_count(shape);
    wt_fit_cost dual = {.samples = samples, .features = features}, other = dual;
    question ask = question_of(context, spec, shape, ridge, samples, outputs);
    ask.drawn = drawn && !ridge->standardize; /* which needs all labels beforehand */
    cost_of_dual(&ask, &dual);
    if (infinite && ridge->solver == WT_SOLVER_PRIMAL)
        return refuse_primal(context, spec);
    if (!infinite)
        cost_of_primal(&ask, &other);
    *primal = !infinite && (open ? samples > features : ridge->solver == WT_SOLVER_PRIMAL);
    if (open && !infinite) {
        bool dual_fits = fits(context, more_needed(spec, &dual, outputs, drawn));
        bool other_fits = fits(context, more_needed(spec, &other, outputs, drawn));
        if (dual_fits != other_fits)
            *primal = other_fits;
    }
    *out = *primal ? other : dual;
    return WT_OK;
}

static wt_status refuse(wt_context *context, const char *what, const wt_model_spec *spec,
                        size_t samples, const char *route, double more) {
    char needed[WT_BYTES_TEXT], have[WT_BYTES_TEXT], limit[WT_BYTES_TEXT];
    return wt_fail(context, WT_MEMORY,
                   "the %s of %s on %zu samples (%s) needs about %s more, with %s in use and a "
                   "memory budget of %s",
                   what, wt_model_kind_name(spec->kind), samples, route,
                   wt_bytes_format(more < 0x1p63 ? (size_t)more : SIZE_MAX, needed),
                   wt_bytes_format(wt_context_memory_used(context), have),
                   wt_bytes_format(wt_context_memory(context), limit));
}

wt_status wt_route_refuse(wt_context *context, const wt_model_spec *spec, const wt_fit_cost *cost,
                          size_t outputs, bool drawn) {
    double more = more_needed(spec, cost, outputs, drawn);
    return fits(context, more) ? WT_OK
                               : refuse(context, "fit", spec, cost->samples, cost->route, more);
}

/* ---- curves ---------------------------------------------------------------------------------- */

static bool searches(const wt_ridge_options *ridge) {
    return ridge->rule != WT_LAMBDA_FIXED && ridge->rule != WT_LAMBDA_MIN_NORM;
}

/* The kernel matrix of the largest size; with a fixed lambda in float where that will do. */
static void add_dual_sizes(question *ask, size_t count, wt_curve_plan *out) {
    wt_fit_cost cost = {0};
    double n = ask->n, all = ask->q * (double)count;
    bool quick = !ask->infinite && ask->ridge->rule == WT_LAMBDA_FIXED && ask->ridge->lambda > 0;
    ask->q = all;
    cost_of_dual(ask, &cost);
    double held = cost.bytes / sizeof(double) - ask->tokens + n * (double)count;
    if (quick)
        held = ask->weights + n * n / 2 / ask->ranks + n * 4 * all + ask->f * all +
               gram_scratch(ask) / 2;
    out->flops += cost.flops;
    out->bytes = fmax(out->bytes, sizeof(double) * held);
}

/* One size by the normal matrix, of which `added` samples are new. */
static void add_primal_size(const question *ask, double added, double all, bool by_spectrum,
                            wt_curve_plan *out) {
    const wt_ridge_options *ridge = ask->ridge;
    double n = ask->n, f = ask->f, q = ask->q, slab = WT_PRIMAL_SLAB, lines = factors(ridge);
    bool left_out = ridge->rule == WT_LAMBDA_LOO, eigen = by_eigenvalues(ridge);
    by_spectrum = by_spectrum && left_out && wt_primal_spectrum_pays(n, f, lines);
    double passes = by_spectrum ? 2 : left_out ? lines : eigen ? 2 : searches(ridge) ? 1 : 0;
    double cubes = eigen || by_spectrum ? 9 : searches(ridge) ? lines : 1.0 / 3;
    out->flops += (added + passes * n) * f * f + cubes * f * f * f;
    double matrix = f * f / ask->ranks + f;
    double slabs =
        slab * (f * (searches(ridge) ? 2 : 1) / ask->ranks + 2 * q) + 3 * f * q + f * all;
    /* Predictions make features of their own. */
    double reading =
        block_scratch(ask) + slab * (all + (double)wt_features_block_columns(ask->shape));
    double solving = ask->workers * f * WT_TILE + f;
    if (searches(ridge) && !left_out)
        reading += lines * q * (f + slab);
    if (by_spectrum || eigen) { /* found first, then there while samples are judged */
        double more = lines + 2 * WT_PRIMAL_BEYOND;
        double along = f * f / ask->ranks + slab * f + 2 * f * q +
                       (by_spectrum ? more * (q + 1) * (f + slab) : 0);
        solving = fmax(eigen_numbers(ask, f) + 2 * f * q, along + block_scratch(ask));
    }
    out->bytes =
        fmax(out->bytes, sizeof(double) * (ask->weights + matrix + slabs + fmax(reading, solving)));
}

static wt_status plan_sizes(wt_context *context, const wt_ridge_options *ridge,
                            const wt_model_spec *spec, const wt_features *shape,
                            const size_t *sizes, size_t count, size_t columns, wt_curve_plan *out) {
    bool infinite = wt_model_kind_infinite(spec->kind), open = ridge->solver == WT_SOLVER_AUTO;
    wt_ridge_options plain = *ridge;
    plain.standardize = false; /* which a curve does not heed */
    if (infinite && ridge->solver == WT_SOLVER_PRIMAL)
        return refuse_primal(context, spec);
    out->by_dual = ridge->solver == WT_SOLVER_PRIMAL ? 0 : count;
    out->samples = sizes[count - 1];
    while (open && !infinite && out->by_dual > 0 &&
           sizes[out->by_dual - 1] > wt_features_count(shape))
        out->by_dual--;
    if (out->by_dual > 0) {
        question ask = question_of(context, spec, shape, &plain, sizes[out->by_dual - 1], columns);
        add_dual_sizes(&ask, out->by_dual, out);
    }
    double all = (double)columns * (double)(count - out->by_dual);
    for (size_t s = out->by_dual; s < count; s++) {
        question ask = question_of(context, spec, shape, &plain, sizes[s], columns);
        size_t before = s > out->by_dual ? sizes[s - 1] : 0;
        add_primal_size(&ask, (double)(sizes[s] - before), all, out->by_spectrum, out);
    }
    return WT_OK;
}

wt_status wt_curve_plan_of(wt_context *context, const wt_ridge_options *ridge,
                           const wt_model_spec *spec, const size_t *sizes, size_t count,
                           size_t columns, wt_curve_plan *out) {
    wt_features shape = {0};
    if (!wt_model_kind_infinite(spec->kind))
        WT_PASS(wt_features_shape(context, spec, &shape));
    *out = (wt_curve_plan){.by_spectrum = true};
    WT_PASS(plan_sizes(context, ridge, spec, &shape, sizes, count, columns, out));
    if (fits(context, out->bytes))
        return WT_OK;
    *out = (wt_curve_plan){0};
    return plan_sizes(context, ridge, spec, &shape, sizes, count, columns, out);
}

wt_status wt_curve_plan_refuse(wt_context *context, const wt_model_spec *spec,
                               const wt_curve_plan *plan) {
    const char *route = plan->by_dual > 0 ? "dual" : "primal";
    /* A device has an account of its own, and refuses what it cannot hold. */
    if (wt_context_get_device(context) != NULL || fits(context, plan->bytes))
        return WT_OK;
    return refuse(context, "curve", spec, plan->samples, route, plan->bytes);
}

/* ---- plans ----------------------------------------------------------------------------------- */

wt_status wt_ridge_cost(wt_context *context, const wt_ridge_options *ridge,
                        const wt_model_spec *spec, size_t samples, size_t outputs, bool drawn,
                        wt_fit_cost *out) {
    wt_features shape = {0};
    wt_model_spec model;
    wt_ridge_options settings;
    wt_fit_cost cost;
    bool primal;
    WT_PASS(wt_sized_check(context, "wt_fit_cost", out, sizeof *out));
    WT_PASS(wt_model_spec_read(context, spec, &model));
    WT_PASS(wt_ridge_read(context, ridge, true, &settings));
    if (!wt_model_kind_infinite(model.kind))
        WT_PASS(wt_features_shape(context, &model, &shape));
    WT_PASS(wt_route_choose(context, &model, &shape, samples, outputs, drawn, &settings, &cost,
                            &primal));
    wt_sized_write(out, &cost, sizeof cost);
    return WT_OK;
}
