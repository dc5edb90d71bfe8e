#include "features/learn/host.h"

#include <string.h>

#include "base/memory.h"
#include "features/learn/mixed.h"
#include "linalg/linalg.h"

wt_status wt_ridge_engine_of(wt_context *context, const wt_ridge_engine **out) {
    const wt_device *device = wt_context_get_device(context);
    *out = device == NULL ? &wt_ridge_host : device->ridge;
    return *out != NULL ? WT_OK : wt_device_refuse(context, "ridge");
}

/* Sets are read here, never written. */
wt_sets wt_host_sets(const wt_ridge_rows *rows) {
    return (wt_sets){.samples = rows->samples,
                     .keys = rows->keys,
                     .dim = rows->dim,
                     .query = (double *)rows->query,
                     .key = (double *)rows->key,
                     .mask = (uint8_t *)rows->mask};
}

wt_features wt_host_features(const wt_ridge_model *model) {
    return (wt_features){.spec = *model->spec,
                         .units = model->units,
                         .width = model->width,
                         .inputs = model->inputs,
                         .weights = (double *)model->weights};
}

static wt_model model_of(const wt_ridge_model *model) {
    return (wt_model){.spec = *model->spec, .features = wt_host_features(model)};
}

/* ---- systems --------------------------------------------------------------------------------- */

static void close_system(wt_ridge_system *system) {
    if (system == NULL)
        return;
    wt_shifted_free(&system->k);
    wt_release(system->u);
    wt_arena_free(&system->arena);
    wt_release(system);
}

static wt_status open_kernel(wt_context *context, wt_device *device, const wt_ridge_model *model,
                             const wt_ridge_rows *rows, double *diagonal, wt_ridge_system **out) {
    (void)device;
    wt_model full = model_of(model);
    wt_sets sets = wt_host_sets(rows);
    wt_ridge_system *system = NULL;
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, &system, 1, "the kernel matrix"));
    WT_TRY(wt_shifted_new(context, rows->samples, "the kernel matrix", &system->k));
    WT_TRY(wt_model_gram(context, &full, &sets, system->k.values, rows->samples));
    WT_TRY(wt_shifted_keep(context, &system->k));
    memcpy(diagonal, system->k.diagonal, rows->samples * sizeof *diagonal);
done:
    if (status != WT_OK)
        close_system(system);
    *out = status == WT_OK ? system : NULL;
    return status;
}

static wt_status factor(wt_context *context, wt_ridge_system *system, double shift, size_t order,
                        size_t *failed_at) {
    return wt_shifted_factor(context, &system->k, shift, order, failed_at);
}

static wt_status solve(wt_context *context, wt_ridge_system *system, size_t order, size_t columns,
                       double *b, size_t stride) {
    return wt_shifted_solve(context, &system->k, order, columns, b, stride);
}

/* ---- eigenvectors ---------------------------------------------------------------------------- */

static void drop_eigen(wt_ridge_system *system) {
    wt_release(system->u);
    system->u = NULL;
}

static wt_status eigen(wt_context *context, wt_ridge_system *system, size_t order, double *e) {
    drop_eigen(system);
    WT_PASS(WT_NEW2(context, &system->u, order, order, "eigenvectors"));
    system->eigen_order = order;
    WT_PASS(wt_host_copy(context, system, order, system->u));
    return wt_eigen_symmetric(context, order, system->u, order, true, e);
}

static wt_status eigen_along(wt_context *context, wt_ridge_system *system, size_t columns,
                             const double *y, double *along) {
    size_t s = system->eigen_order;
    return wt_gemm(context, WT_PLAIN, WT_PLAIN, s, columns, s, 1, system->u, s, y, columns, 0,
                   along, columns);
}

static wt_status eigen_combine(wt_context *context, wt_ridge_system *system, size_t columns,
                               const double *scaled, double *combined) {
    size_t s = system->eigen_order;
    return wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, s, columns, s, 1, system->u, s, scaled,
                   columns, 0, combined, columns);
}

static wt_status eigen_squares(wt_context *context, wt_ridge_system *system, const double *weight,
                               double *out) {
    (void)context;
    size_t s = system->eigen_order;
    memset(out, 0, s * sizeof *out);
    for (size_t k = 0; k < s; k++) {
        const double *u = system->u + k * s;
        for (size_t i = 0; i < s; i++)
            out[i] += weight[k] * u[i] * u[i];
    }
    return WT_OK;
}

/* ---- features -------------------------------------------------------------------------------- */

static wt_status curve(wt_context *context, wt_device *device, const wt_ridge_model *model,
                       const wt_ridge_rows *rows, double shift, const size_t *orders, size_t count,
                       size_t columns, const double *y, double *alpha, double *v, bool *solved) {
    (void)device;
    wt_features features = wt_host_features(model);
    wt_sets sets = wt_host_sets(rows);
    wt_mixed_result result;
    WT_PASS(wt_mixed_solve(context, &features, &sets, shift, orders, count, columns, y, alpha, v,
                           &result));
    *solved = result.converged;
    return WT_OK;
}

static wt_status project(wt_context *context, wt_device *device, const wt_ridge_model *model,
                         const wt_ridge_rows *rows, size_t columns, const double *a, double *v,
                         double *fitted) {
    (void)device;
    wt_features features = wt_host_features(model);
    wt_sets sets = wt_host_sets(rows);
    return wt_features_project_host(context, &features, &sets, NULL, columns, NULL, a, v, fitted);
}

static wt_status predict(wt_context *context, wt_device *device, const wt_ridge_model *model,
                         const wt_ridge_rows *train, size_t columns, const double *weights,
                         const wt_ridge_rows *rows, double *fitted) {
    (void)device;
    wt_model full = model_of(model);
    wt_sets learned = train != NULL ? wt_host_sets(train) : (wt_sets){0};
    wt_sets sets = wt_host_sets(rows);
    return wt_model_predict_host(context, &full, &learned, columns, weights, &sets, fitted);
}

const wt_ridge_engine wt_ridge_host = {.open_kernel = open_kernel,
                                       .open_normal = wt_host_open_normal,
                                       .add_rows = wt_host_add_rows,
                                       .end_rows = wt_host_end_rows,
                                       .close = close_system,
                                       .copy = wt_host_copy,
                                       .factor = factor,
                                       .solve = solve,
                                       .inverse_diagonals = wt_host_inverse_diagonals,
                                       .condition = wt_host_condition,
                                       .eigen = eigen,
                                       .eigen_along = eigen_along,
                                       .eigen_combine = eigen_combine,
                                       .eigen_squares = eigen_squares,
                                       .drop_eigen = drop_eigen,
                                       .judge_rows = wt_host_judge_rows,
                                       .curve = curve,
                                       .project = project,
                                       .predict = predict};
