/* Products of a large matrix with a few columns, which are bound by reading the matrix: BLAS packs
 * it first and takes three times as long. */
#ifndef WT_LINALG_THIN_H
#define WT_LINALG_THIN_H

#include "base/context.h"

/* V (width, columns) = scale P^T A and, where F is not NULL, F (rows, columns) = P V + F, in one
 * walk over P (rows, width) and while it is in the cache. A is (rows, columns). Same bits for every
 * number of threads.
 *
 * Where `orders` (columns) is not NULL, column c of A and F has orders[c] rows, ascending and at
 * most `rows`: what is below them is neither read nor written. */
wt_status wt_thin_project(wt_context *context, size_t rows, size_t width, size_t columns,
                          double scale, const double *p, size_t p_stride, const size_t *orders,
                          const double *a, double *v, double *f);

#endif
