/* The engine of fits and learning curves: kernel matrices, normal matrices, their factors and
 * eigenvectors, and features, which all stay on the device. Which lambda is taken, and what the
 * numbers mean, is decided by the code over it (features/learn).
 *
 * Matrices that cross the border are row-major, in the host's memory. */
#ifndef WT_DEVICE_RIDGE_H
#define WT_DEVICE_RIDGE_H

#include "wattle/fit.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wt_device;

/* Random features as features/model/features.h has them, weights NULL for infinitely many heads:
 * column of feature j of unit u, in a block of `count` units from `first` on, is
 * first * width + j * count + (u - first). */
typedef struct wt_ridge_model {
    const wt_model_spec *spec;
    size_t units, width, inputs;
    size_t block;          /* units a block, the last may have fewer */
    double norm;           /* K = Phi Phi^T / norm */
    const double *weights; /* (units, inputs) */
} wt_ridge_model;

/* One side of a kernel: unit vectors along [x; 1] with their lengths, as in kernel_side.h. */
typedef struct wt_ridge_side {
    size_t query_width, key_width; /* key_width = 0: no keys */
    const double *query;           /* (n, query_width) */
    const double *query_length;    /* (n) */
    const size_t *start;           /* (n + 1): keys of sample s are start[s] .. start[s+1]-1 */
    const double *key;             /* (start[n], key_width) */
    const double *weight;          /* (start[n]) */
    const double *mean;            /* (start[n]); NULL without a bias */
} wt_ridge_side;

/* Samples: tokens for features, a side for kernels. */
typedef struct wt_ridge_rows {
    size_t samples, keys, dim;
    const double *query;       /* (n, dim) */
    const double *key;         /* (n, keys, dim) */
    const uint8_t *mask;       /* (n, keys), non-zero = live; NULL = all live */
    const wt_ridge_side *side; /* NULL for features */
} wt_ridge_rows;

/* What the host makes for engines that run on processors (features/learn/maker.c). */
typedef struct wt_ridge_maker {
    /* Features of units first .. first+count-1 of the rows, into out (n, count * width), rows
     * `stride` apart. */
    wt_status (*features)(wt_context *context, const wt_ridge_model *model,
                          const wt_ridge_rows *rows, size_t first, size_t count, double *out,
                          size_t stride);
    /* K(a_i, b_j) of rows with sides, into out (a's, b's), rows `stride` apart. */
    wt_status (*kernel)(wt_context *context, const wt_model_spec *spec, const wt_ridge_rows *a,
                        const wt_ridge_rows *b, double *out, size_t stride);
} wt_ridge_maker;
extern const wt_ridge_maker wt_ridge_maker_host;

/* A symmetric matrix A and the factor of A + shift I in the room of one matrix. */
typedef struct wt_ridge_system wt_ridge_system;

/* f: features, n: the order of the system. Calls on one system come one at a time. */
typedef struct wt_ridge_engine {
    /* K of the rows. diagonal (n) is that of K. */
    wt_status (*open_kernel)(wt_context *context, struct wt_device *device,
                             const wt_ridge_model *model, const wt_ridge_rows *rows,
                             double *diagonal, wt_ridge_system **out);
    /* Phi^T Phi / norm over rows that come in parts of at most `most`, for labels of `columns`
     * columns; `leave_one_out` = leverages will be asked for. */
    wt_status (*open_normal)(wt_context *context, struct wt_device *device,
                             const wt_ridge_model *model, size_t most, size_t columns,
                             bool leave_one_out, wt_ridge_system **out);
    wt_status (*add_rows)(wt_context *context, wt_ridge_system *system, const wt_ridge_rows *rows,
                          const double *y);
    /* Of all rows so far: moment (f, columns) = Phi^T y / norm, diagonal (f). More rows may follow,
     * to which they are added; factor and eigenvectors are spent then. */
    wt_status (*end_rows)(wt_context *context, wt_ridge_system *system, double *moment,
                          double *diagonal);
    /* Accepts NULL. */
    void (*close)(wt_ridge_system *system);

    /* The leading block of A, symmetric and whole, into out (order, order). */
    wt_status (*copy)(wt_context *context, wt_ridge_system *system, size_t order, double *out);
    /* The factor of the leading block of A + shift I of the order. *failed_at is 0, or the order of
     * the first minor that is not positive; the block's factor is spoilt then. */
    wt_status (*factor)(wt_context *context, wt_ridge_system *system, double shift, size_t order,
                        size_t *failed_at);
    /* B (order, columns), rows `stride` apart, in place, to the inverse of a leading block that is
     * factored times B. */
    wt_status (*solve)(wt_context *context, wt_ridge_system *system, size_t order, size_t columns,
                       double *b, size_t stride);
    /* Diagonals of the inverses of `count` increasing leading blocks that are factored, into
     * out (count, n), zero from the order on. */
    wt_status (*inverse_diagonals)(wt_context *context, wt_ridge_system *system,
                                   const size_t *orders, size_t count, double *out);
    /* Largest over smallest eigenvalue of A + shift I, which is factored whole, by 40 steps of
     * power iteration on either side. */
    wt_status (*condition)(wt_context *context, wt_ridge_system *system, double shift, double *out);

    /* A = sum_k e_k u_k u_k^T of a leading block, e increasing; the vectors stay until the next
     * call, or `drop_eigen`. */
    wt_status (*eigen)(wt_context *context, wt_ridge_system *system, size_t order, double *e);
    /* along (order, columns) = <u_k, y>; combined (order, columns) = sum_k u_k scaled_k. */
    wt_status (*eigen_along)(wt_context *context, wt_ridge_system *system, size_t columns,
                             const double *y, double *along);
    wt_status (*eigen_combine)(wt_context *context, wt_ridge_system *system, size_t columns,
                               const double *scaled, double *combined);
    /* out_i = sum_k weight_k u_ki^2 */
    wt_status (*eigen_squares)(wt_context *context, wt_ridge_system *system, const double *weight,
                               double *out);
    void (*drop_eigen)(wt_ridge_system *system);

    /* For rows of a normal system: fitted (rows, columns) = Phi v; where they are asked for,
     * leverages (rows) = |L^-1 phi_i|^2 / norm by the factor, and along (rows, f) = <u_k, phi_i> by
     * the eigenvectors. Either may be NULL. */
    wt_status (*judge_rows)(wt_context *context, wt_ridge_system *system, const wt_ridge_rows *rows,
                            const double *v, double *fitted, double *leverages, double *along);

    /* The quick way to a curve at one shift: for each of `count` increasing orders s and the
     * `columns` right-hand sides y (n, columns), column s * columns + c of alpha
     * (n, count * columns) is (K_s + shift I)^-1 y_c, zero from row s on, and v (f, count *
     * columns) = Phi^T alpha / norm. *solved is false where its precision is not enough for
     * residuals of 1e-8 of the labels. */
    wt_status (*curve)(wt_context *context, struct wt_device *device, const wt_ridge_model *model,
                       const wt_ridge_rows *rows, double shift, const size_t *orders, size_t count,
                       size_t columns, const double *y, double *alpha, double *v, bool *solved);
    /* v (f, columns) = Phi^T a / norm, and fitted (n, columns) = Phi v. */
    wt_status (*project)(wt_context *context, struct wt_device *device, const wt_ridge_model *model,
                         const wt_ridge_rows *rows, size_t columns, const double *a, double *v,
                         double *fitted);
    /* fitted (n, columns): Phi v from weights (f, columns), or K(rows, train) alpha from weights
     * (train samples, columns). */
    wt_status (*predict)(wt_context *context, struct wt_device *device, const wt_ridge_model *model,
                         const wt_ridge_rows *train, size_t columns, const double *weights,
                         const wt_ridge_rows *rows, double *fitted);
} wt_ridge_engine;

#ifdef __cplusplus
}
#endif
#endif
