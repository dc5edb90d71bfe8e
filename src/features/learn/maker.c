/* What the host makes for engines of others. */
#include "features/learn/host.h"
#include "features/model/kernel.h"

static wt_status make_features(wt_context *context, const wt_ridge_model *model,
                               const wt_ridge_rows *rows, size_t first, size_t count, double *out,
                               size_t stride) {
    wt_features features = wt_host_features(model);
    wt_sets sets = wt_host_sets(rows);
    return wt_features_block(context, &features, &sets, first, count, out, stride);
}

/* Sides are read here, never written. */
static wt_kernel_side side_of(const wt_ridge_rows *rows) {
    const wt_ridge_side *view = rows->side;
    return (wt_kernel_side){.samples = rows->samples,
                            .query_width = view->query_width,
                            .query = (double *)view->query,
                            .query_length = (double *)view->query_length,
                            .key_width = view->key_width,
                            .start = (size_t *)view->start,
                            .key = (double *)view->key,
                            .weight = (double *)view->weight,
                            .mean = (double *)view->mean};
}

static wt_status make_kernel(wt_context *context, const wt_model_spec *spec, const wt_ridge_rows *a,
                             const wt_ridge_rows *b, double *out, size_t stride) {
    wt_kernel_side left = side_of(a), right = side_of(b);
    return wt_kernel_sides(context, spec, &left, a->keys, &right, b->keys, out, stride);
}

const wt_ridge_maker wt_ridge_maker_host = {.features = make_features, .kernel = make_kernel};
