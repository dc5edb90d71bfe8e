/* The ridge engine of the host: features, kernels and factors by blocks of BLAS. */
#ifndef WT_FEATURES_LEARN_HOST_H
#define WT_FEATURES_LEARN_HOST_H

#include "device/device.h"
#include "features/model/operators.h"
#include "features/model/set_rows.h"
#include "linalg/shifted.h"

extern const wt_ridge_engine wt_ridge_host;
/* That of the context's device; WT_UNAVAILABLE where it has none. */
wt_status wt_ridge_engine_of(wt_context *context, const wt_ridge_engine **out);

struct wt_ridge_system {
    wt_shifted k;
    size_t eigen_order;
    double *u; /* (eigen_order, eigen_order): eigenvectors as rows; NULL = none */
    /* Of normal matrices alone: */
    wt_arena arena; /* holds the arrays */
    wt_features features;
    double norm;
    size_t most, columns;
    bool begun, ended; /* rows were added; A is whole and scaled */
    double *moment;    /* (f, columns) */
    double *slab;      /* (most, f) features */
    double *other;     /* as many numbers, for leave-one-out; NULL when it is not asked for */
};

/* host_factor.c */
wt_status wt_host_inverse_diagonals(wt_context *context, wt_ridge_system *system,
                                    const size_t *orders, size_t count, double *out);
wt_status wt_host_condition(wt_context *context, wt_ridge_system *system, double shift,
                            double *out);
wt_status wt_host_copy(wt_context *context, wt_ridge_system *system, size_t order, double *out);
/* host_rows.c */
wt_status wt_host_open_normal(wt_context *context, wt_device *device, const wt_ridge_model *model,
                              size_t most, size_t columns, bool leave_one_out,
                              wt_ridge_system **out);
wt_status wt_host_add_rows(wt_context *context, wt_ridge_system *system, const wt_ridge_rows *rows,
                           const double *y);
wt_status wt_host_end_rows(wt_context *context, wt_ridge_system *system, double *moment,
                           double *diagonal);
wt_status wt_host_judge_rows(wt_context *context, wt_ridge_system *system,
                             const wt_ridge_rows *rows, const double *v, double *fitted,
                             double *leverages, double *along);

/* What the views were made of. */
wt_sets wt_host_sets(const wt_ridge_rows *rows);
wt_features wt_host_features(const wt_ridge_model *model);

#endif
