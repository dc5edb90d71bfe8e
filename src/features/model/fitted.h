/* What a fitted model holds. */
#ifndef WT_FEATURES_MODEL_FITTED_H
#define WT_FEATURES_MODEL_FITTED_H

#include "features/model/operators.h"

struct wt_fitted {
    wt_model model;
    size_t outputs;        /* q */
    double *v;             /* (f, q) in block order: random features */
    wt_sets train;         /* tokens and mask: kernels */
    double *alpha;         /* (n, q): kernels */
    double *shift, *scale; /* (q): the model predicts (y - shift) / scale */
};

/* Mean and deviation of each output into shift and scale, or 0 and 1 when not asked to
 * standardise. Constant outputs are only shifted. */
wt_status wt_fitted_standardize(wt_context *context, const wt_sets *sets, bool standardize,
                                wt_fitted *fitted);
/* (y - shift) / scale of all labels into out (n, q). */
void wt_fitted_scale_labels(const wt_fitted *fitted, const wt_sets *sets, double *out);

/* The variance about each column's mean, averaged over `columns` columns at `stride`. */
double wt_variance(const double *y, size_t rows, size_t columns, size_t stride);
/* The quotient; NaN where labels do not vary. */
double wt_over_variance(double mean_square, double variance);

#endif
