/* Which way a fit goes, and what it will take: decided before anything large is made. */
#ifndef WT_FEATURES_LEARN_ROUTE_H
#define WT_FEATURES_LEARN_ROUTE_H

#include "features/learn/dual.h"

/* *primal: by the normal matrix rather than the kernel matrix. With the solver left open, the
 * smaller of the two is taken, and the other one where only that fits the memory budget. */
wt_status wt_route_choose(wt_context *context, const wt_model_spec *spec, const wt_features *shape,
                          size_t samples, size_t outputs, bool drawn, const wt_ridge_options *ridge,
                          wt_fit_cost *out, bool *primal);

/* How a learning curve of nested sizes goes: its first `by_dual` sizes, those of no more samples
 * than features where the solver is left open, by the kernel matrix, the others by the normal
 * matrix. The samples themselves are the caller's and not in `bytes`. */
typedef struct wt_curve_plan {
    size_t by_dual, samples;
    bool by_spectrum; /* eigenvectors may be taken where they are quicker: they fit the budget */
    double flops, bytes;
} wt_curve_plan;
wt_status wt_curve_plan_of(wt_context *context, const wt_ridge_options *ridge,
                           const wt_model_spec *spec, const size_t *sizes, size_t count,
                           size_t columns, wt_curve_plan *out);
/* WT_MEMORY with the bytes needed when they do not fit what is left of the budget. */
wt_status wt_curve_plan_refuse(wt_context *context, const wt_model_spec *spec,
                               const wt_curve_plan *plan);

/* WT_MEMORY with the bytes needed when the cost does not fit what is left of the budget. */
wt_status wt_route_refuse(wt_context *context, const wt_model_spec *spec, const wt_fit_cost *cost,
                          size_t outputs, bool drawn);

#endif
