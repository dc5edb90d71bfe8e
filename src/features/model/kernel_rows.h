/* The innermost loops of the kernels, in one version a kind of processor.
 *
 * For a row of keys x_i of one sample against columns of keys x_j' of other samples, with unit
 * vectors along [x; 1]: t the cosine of the two keys, rho the cosine of the two queries,
 * r = rho t. Zero-mean heads give J(r) / (2 pi) = E relu(X) relu(Y) for standard normals of
 * correlation r, J(r) = sqrt(1 - r^2) + r (pi - arccos r). */
#ifndef WT_FEATURES_MODEL_KERNEL_ROWS_H
#define WT_FEATURES_MODEL_KERNEL_ROWS_H

#include <stddef.h>

/* Rows i of one sample, columns j of any number of samples. */
typedef struct wt_kernel_rows {
    size_t rows, columns;
    const double *t; /* (rows, columns), `stride` apart */
    size_t stride;
    const double *rho;    /* (columns) */
    const double *weight; /* (rows) w_i */
    double *sum;          /* (columns), added to */
    /* For heads with a bias: the series of model/normal_law.h. */
    const double *row_series;    /* (terms, rows) a_n(i), `row_stride` apart */
    const double *column_series; /* (terms, columns) a_n(j), `column_stride` apart */
    size_t row_stride, column_stride;
    size_t terms; /* a multiple of 8 */
    double limit; /* pairs of |r| above it are left out of the sum */
} wt_kernel_rows;

/* By how far the queries of two samples are from each other, so that both see r in one range. */
enum {
    WT_ROWS_LOW,  /* rho^2 <= 1/4 */
    WT_ROWS_MID,  /* rho^2 <= 1/2 */
    WT_ROWS_HIGH, /* any rho */
    WT_ROWS_RANGES
};

typedef struct wt_kernel_loops {
    const char *processor;
    /* sum_j += sum_i w_i t_ij J(rho_j t_ij) */
    void (*zero_mean[WT_ROWS_RANGES])(const wt_kernel_rows *work);
    /* sum_j += sum_i w_i t_ij sum_n a_n(i) a_n(j) (rho_j t_ij)^n over pairs within the limit */
    void (*series)(const wt_kernel_rows *work);
    /* out = J(r), |r| <= 1 but for rounding; in place is fine */
    void (*arc)(size_t count, const double *r, double *out);
} wt_kernel_loops;

/* The best version this processor can run. */
const wt_kernel_loops *wt_kernel_loops_best(void);
/* All it can run, best first; NULL past the end. */
const wt_kernel_loops *wt_kernel_loops_list(size_t index);

#endif
