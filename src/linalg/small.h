/* Products so small that a call of BLAS costs more than they do: it packs both matrices, and takes
 * a lock that all threads share. */
#ifndef WT_LINALG_SMALL_H
#define WT_LINALG_SMALL_H

#include "linalg/backend.h"

/* Whether a product is one of them; by its shape alone. One column is left to GEMV. */
bool wt_small_fits(size_t m, size_t n, size_t k);

/* GEMM as in wt_routines, for shapes that fit. Every sum runs over its terms in order, whatever the
 * shape. */
typedef struct wt_small_routines {
    const char *name;
    void (*real64)(wt_trans trans_a, wt_trans trans_b, size_t m, size_t n, size_t k, double alpha,
                   const void *a, size_t a_stride, const void *b, size_t b_stride, double beta,
                   void *c, size_t c_stride);
    void (*real32)(wt_trans trans_a, wt_trans trans_b, size_t m, size_t n, size_t k, double alpha,
                   const void *a, size_t a_stride, const void *b, size_t b_stride, double beta,
                   void *c, size_t c_stride);
} wt_small_routines;

/* Those this processor can run, the best last; NULL past the last. */
const wt_small_routines *wt_small_at(size_t index);
/* The best. */
const wt_small_routines *wt_small(void);

#endif
