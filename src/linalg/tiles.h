/* How matrices are cut into tiles: by their shapes alone, never by the number of threads. */
#ifndef WT_LINALG_TILES_H
#define WT_LINALG_TILES_H

#include "base/context.h"
#include "linalg/linalg.h"

/* Tiles of `size` that cover `length`; the last may be shorter. */
static inline size_t wt_tile_count(size_t length, size_t size) {
    return length / size + (length % size != 0);
}

/* Length of tile `index` of 0 .. length-1 cut by `size`. */
static inline size_t wt_tile_length(size_t length, size_t size, size_t index) {
    size_t left = length - index * size;
    return left < size ? left : size;
}

/* The tile of a product along a side of `length`: 384 runs OpenBLAS's kernels at 9/10 of their best
 * rate, 192 at 8/10 and leaves a small matrix enough tiles to share. Both are multiples of the 192
 * rows that its AVX-512 kernels pack at a time. */
static inline size_t wt_product_tile(size_t length) {
    return length < 1536 ? 192 : 384;
}

/* Tiles on and below the diagonal of `tiles` tile rows; the t-th, by rows, is (*row, *column). */
size_t wt_triangle_count(size_t tiles);
void wt_triangle_at(size_t t, size_t *row, size_t *column);

/* WT_USAGE for what is neither plain nor transposed. */
wt_status wt_check_trans(wt_context *context, wt_trans trans);
/* WT_USAGE unless stride >= columns and all is below 2^31, the BLAS limit, and addressable. */
wt_status wt_check_shape(wt_context *context, const char *what, size_t rows, size_t columns,
                         size_t stride);

typedef enum wt_part { WT_WHOLE, WT_LOWER } wt_part;
/* WT_DATA with the row and column of the first NaN or Inf by rows, if any, in the whole matrix or
 * its lower triangle. */
wt_status wt_check_matrix(wt_context *context, const char *what, wt_part part, size_t rows,
                          size_t columns, const double *a, size_t stride);
wt_status wt_check_matrix_float(wt_context *context, const char *what, wt_part part, size_t rows,
                                size_t columns, const float *a, size_t stride);

#endif
