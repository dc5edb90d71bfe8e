/* Norms of a model's matrices. */
#ifndef WT_NETWORK_MODEL_NORMS_H
#define WT_NETWORK_MODEL_NORMS_H

#include "base/context.h"
#include "wattle/capacity.h"

/* Of one head, as in wt_model_norm. */
typedef struct wt_head_norms {
    double qk21, qk, v21, v, c21, c;
} wt_head_norms;

struct wt_model_norms {
    size_t dim, length; /* d and T; 0 = not known */
    size_t layers, heads;
    wt_head_norms *head; /* (layers, heads), the lowest layer first */
    double *sigma;       /* (layers) */
    double x, p, cls, w;
    const char *const *outside; /* NULL = of no file */
};

double wt_length_of(size_t count, const double *values);

/* The (2,1) and the spectral norm of a matrix. */
wt_status wt_norms_pair(wt_context *context, size_t rows, size_t columns, const double *matrix,
                        size_t stride, double *columns21, double *spectral);
/* qk21 and qk of W_QK (dim, dim). */
wt_status wt_norms_square(wt_context *context, size_t dim, const double *w_qk, wt_head_norms *out);
/* The same of scale Q K^T, with Q and K (dim, rank). */
wt_status wt_norms_product(wt_context *context, size_t dim, size_t rank, const double *q,
                           size_t q_stride, const double *k, size_t k_stride, double scale,
                           wt_head_norms *out);

#endif
