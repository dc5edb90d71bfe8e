/* Random features on the GPU: Phi (n, f) with rows one after the other, f = units * width. */
#ifndef WATTLE_CUDA_FEATURES_H
#define WATTLE_CUDA_FEATURES_H

#include "device/ridge.h"
#include "lane.h"

/* A model's weights in the order that products want them in. */
struct gpu_model {
    wt_ridge_model about; /* its pointers are not to be followed after it was loaded */
    wt_model_spec spec;
    size_t f;
    buffer<double> weights; /* heads: (w, f) in block order; neurons: (units, inputs) */
    wt_status load(cuda_lane *lane, const wt_ridge_model *model);
};

/* Tokens. */
struct gpu_rows {
    size_t samples, keys, dim;
    buffer<double> query, key;
    buffer<uint8_t> mask; /* of no numbers where all are live */
    wt_status load(cuda_lane *lane, const wt_ridge_rows *rows);
};

/* Units first .. first+count-1, whole blocks, of samples begin .. end-1, into
 * out (end - begin, count * width). */
wt_status features_make(cuda_lane *lane, const gpu_model *model, const gpu_rows *rows, size_t begin,
                        size_t end, size_t first, size_t count, double *out);
/* Units of as many whole blocks as keep (samples, columns) within some gigabytes. */
size_t features_units(const gpu_model *model, size_t samples);

#endif
