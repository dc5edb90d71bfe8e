/* Kernels of infinitely many heads on the GPU; formulas and names as in src/features/model. */
#ifndef WATTLE_CUDA_KERNELS_H
#define WATTLE_CUDA_KERNELS_H

#include "device/ridge.h"
#include "lane.h"

/* One side of a kernel. */
struct gpu_side {
    size_t samples, query_width, key_width;
    size_t most; /* keys of a sample */
    buffer<double> query, query_length, key, weight, mean;
    buffer<size_t> start;
    buffer<double> series; /* (keys, SERIES_TERMS), with a bias alone */
    wt_status load(cuda_lane *lane, const wt_model_spec *spec, const wt_ridge_rows *rows);
};

/* K(a_i, b_j) of rows i = begin .. end-1 of a and all of b, into out[(i - begin) * b->samples + j].
 */
wt_status kernel_rows(cuda_lane *lane, const wt_model_spec *spec, const gpu_side *a, size_t begin,
                      size_t end, const gpu_side *b, double *out);
/* K(a_i, a_j) whole, symmetric to the last bit. */
wt_status kernel_gram(cuda_lane *lane, const wt_model_spec *spec, const gpu_side *a, double *out);

#endif
