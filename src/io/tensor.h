/* What the three writers share. */
#ifndef WT_IO_TENSOR_H
#define WT_IO_TENSOR_H

#include "io/output.h"
#include "io/types.h"

/* The npy head of a tensor, padded so that the values start at a multiple of 64. */
#define WT_NPY_HEAD_BYTES 320 /* the longest: 8 dimensions of 20 digits */
size_t wt_npy_head(const wt_tensor *tensor, char out[WT_NPY_HEAD_BYTES]);

/* Type, rank and sizes; fills the array's shape, count and bytes. */
wt_status wt_tensor_measure(wt_context *context, const wt_tensor *tensor, wt_array *out);
/* The same, and that the type can hold every value. */
wt_status wt_tensor_check(wt_context *context, const wt_tensor *tensor, wt_array *out);
/* The same for all, and names: there, UTF-8, each once. */
wt_status wt_tensors_check(wt_context *context, const wt_tensor *tensors, size_t count);

/* "(3,16,16)" into out[WT_SHAPE_TEXT], for sentences; returns out. */
#define WT_SHAPE_TEXT 200
const char *wt_shape_format(size_t rank, const size_t *shape, char *out);

#endif
