/* The hot operations, behind one table: whoever fills it decides where they run.
 *
 * Matrices are row-major with a stride in elements, as in wattle/linalg.h; `n` and the like are
 * below 2^31. Every function runs on the calling thread, may be called from several threads at a
 * time, and gives bits that depend on its arguments alone. */
#ifndef WT_LINALG_BACKEND_H
#define WT_LINALG_BACKEND_H

#include "base/context.h"
#include "linalg/linalg.h"

/* Tile operations for one element type: the table says which, the pointers are of that type. */
typedef struct wt_routines {
    size_t bytes; /* of an element */

    /* C = alpha op(A) op(B) + beta C; op(A) m x k, op(B) k x n, C m x n. */
    void (*gemm)(wt_trans trans_a, wt_trans trans_b, size_t m, size_t n, size_t k, double alpha,
                 const void *a, size_t a_stride, const void *b, size_t b_stride, double beta,
                 void *c, size_t c_stride);

    /* Lower triangle of C = alpha op(A) op(A)^T + beta C; op(A) n x k, C n x n. */
    void (*syrk)(wt_trans trans, size_t n, size_t k, double alpha, const void *a, size_t a_stride,
                 double beta, void *c, size_t c_stride);

    /* A = L L^T in the lower triangle of A, n x n. Returns 0, or the order of the first leading
     * minor that is not positive. */
    size_t (*potrf)(size_t n, void *a, size_t stride);

    /* B = op(L)^-1 B; L n x n lower, B n x columns. */
    void (*trsm_left)(wt_trans trans, size_t n, size_t columns, const void *l, size_t l_stride,
                      void *b, size_t b_stride);

    /* B = B L^-T; L n x n lower, B rows x n. */
    void (*trsm_right)(size_t rows, size_t n, const void *l, size_t l_stride, void *b,
                       size_t b_stride);
} wt_routines;

typedef struct wt_backend {
    const char *name;
    wt_routines real64; /* double */
    wt_routines real32; /* float */

    /* The dense decompositions, in double; WT_INTERNAL when an iteration does not converge. */

    /* A = V^T diag(values) V from the lower triangle of A, n x n; rows of V in place of A. */
    wt_status (*eigen)(wt_context *context, size_t n, double *a, size_t stride, bool vectors,
                       double *values);

    /* A = U diag(s) Vt, r = min(m, n); A m x n with rows close together and spoilt, u m x r,
     * vt r x n, or both NULL. */
    wt_status (*svd)(wt_context *context, size_t m, size_t n, double *a, double *u, double *s,
                     double *vt);

    /* X = A^+ B: A m x n and B m x columns by columns, both spoilt; B has max(m, n) rows of room
     * and its first n become X. *rank = singular values above cutoff times the largest. */
    wt_status (*least_squares)(wt_context *context, size_t m, size_t n, size_t columns, double *a,
                               double *b, double cutoff, size_t *rank);
} wt_backend;

/* The table in use. The first call opens the library beneath it, and fails as wt_blas_open does. */
wt_status wt_backend_open(wt_context *context, const wt_backend **out);

/* LAPACK's part of the table (lapack.c). */
wt_status wt_lapack_eigen(wt_context *context, size_t n, double *a, size_t stride, bool vectors,
                          double *values);
wt_status wt_lapack_svd(wt_context *context, size_t m, size_t n, double *a, double *u, double *s,
                        double *vt);
wt_status wt_lapack_least_squares(wt_context *context, size_t m, size_t n, size_t columns,
                                  double *a, double *b, double cutoff, size_t *rank);

#endif
