/* What is inside query-key products. */
#ifndef WT_LAYER_MODEL_PRODUCTS_H
#define WT_LAYER_MODEL_PRODUCTS_H

#include "wattle/inspect.h"

struct wt_products {
    size_t heads;    /* m */
    size_t dim;      /* d */
    double *theta;   /* (m, d, d) */
    double rounding; /* of the stored numbers: 2^-52 for F64, 2^-23 for F32 */
    size_t outputs;  /* p */
    double *w;       /* (m, d, p), or NULL */
};

/* Writes spectral, effective_rank, rank and singular, from singular values of a matrix of d rows in
 * decreasing order. */
void wt_spectrum_judge(size_t d, double rounding, size_t count, const double *singular,
                       wt_head_summary *out);
/* The same of w: ov_singular, ov_effective_rank, ov_frobenius. */
void wt_spectrum_judge_ov(size_t count, const double *singular, wt_head_summary *out);
/* NaN for them. */
void wt_spectrum_no_ov(wt_head_summary *out);

#endif
