/* A symmetric matrix A of order n, and the factor of A + shift I in its lower triangle; A stays in
 * the upper one. Entry (i, j) is at j * n + i. */
#ifndef WATTLE_CUDA_SYSTEM_H
#define WATTLE_CUDA_SYSTEM_H

#include "features.h"
#include "kernels.h"

struct wt_ridge_system {
    cuda_lane *lane = NULL;
    size_t n = 0;
    buffer<double> a;        /* (n, n) */
    buffer<double> diagonal; /* (n) of A */
    size_t eigen_order = 0;
    buffer<double> u; /* (eigen_order, eigen_order): column k is u_k */
    /* Of normal matrices alone: */
    gpu_model model;
    size_t columns = 0;
    bool ended = false;    /* A is whole and scaled */
    buffer<double> moment; /* (f, columns) */
};

/* Makes A whole from its lower triangle, times `scale`, and keeps its diagonal. */
wt_status system_keep(wt_ridge_system *system, double scale);
/* A + shift I of the leading block into the lower triangle. */
wt_status system_restore(wt_ridge_system *system, double shift, size_t order);
/* The factor of the leading block of the lower triangle as it is, or of A + shift I. */
wt_status system_factor_lower(wt_ridge_system *system, size_t order, size_t *failed_at);
wt_status system_factor(wt_ridge_system *system, double shift, size_t order, size_t *failed_at);
/* X (order, columns), rows one after the other, to L^-1 X or L^-T X of a leading block. */
wt_status system_forward(wt_ridge_system *system, size_t order, size_t columns, double *x);
wt_status system_backward(wt_ridge_system *system, size_t order, size_t columns, double *x);
wt_status system_inverse_diagonals(wt_ridge_system *system, const size_t *orders, size_t count,
                                   double *out);
wt_status system_condition(wt_ridge_system *system, double shift, double *out);
/* The leading block of A, whole, into out (order, order) on the GPU. */
wt_status system_copy(wt_ridge_system *system, size_t order, double *out);
wt_status system_eigen(wt_ridge_system *system, size_t order, double *e);
/* out_i = sum_k weight_k u_ki^2, on the GPU. */
wt_status system_eigen_squares(wt_ridge_system *system, const double *weight, double *out);
/* Squared norms of `columns` columns of f numbers, one after the other, times scale. */
wt_status column_squares(cuda_lane *lane, size_t f, size_t columns, const double *x, double scale,
                         double *out);

#endif
