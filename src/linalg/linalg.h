/* Dense linear algebra: products, Gram matrices, Cholesky, solves, eigen, least squares, norms.
 *
 * Matrices are row-major. An m x n matrix is given by a pointer to its first element and a stride,
 * the distance in elements from a row to the next; element (i, j) is a[i * stride + j]. The stride
 * is at least n; a leading block or a slab of columns of a larger matrix is the same pointer (plus
 * an offset) with the larger matrix's stride. Rows, columns and strides are below 2^31. Outputs
 * never overlap inputs.
 *
 * Every call spreads its work over the context's threads on tiles that are cut by the shapes
 * alone, so that the result is the same bits for every number of threads. Between tiles it looks
 * at the cancel flag; a cancelled or failed call leaves its outputs half-written. NaN and Inf in
 * an input are WT_DATA with the position of the first one, except in wt_gemm, which carries them
 * through as arithmetic does.
 *
 * The first call opens OpenBLAS, as wt_blas_open does, and holds it to one thread for the whole
 * process. */
#ifndef WT_LINALG_LINALG_H
#define WT_LINALG_LINALG_H

#include "wattle/blas.h"

/* Rows and columns of a tile of a Cholesky factor. */
#define WT_TILE 256
/* How many terms of its sums a Gram matrix takes at a time. */
#define WT_GRAM_DEPTH 768

/* How a matrix enters a formula: op(A) is A, or A transposed. */
typedef enum wt_trans { WT_PLAIN, WT_TRANSPOSED } wt_trans;

/* C = alpha op(A) op(B) + beta C, with op(A) m x k, op(B) k x n, C m x n. With beta = 0, C is
 * written without being read. */
wt_status wt_gemm(wt_context *context, wt_trans trans_a, wt_trans trans_b, size_t m, size_t n,
                  size_t k, double alpha, const double *a, size_t a_stride, const double *b,
                  size_t b_stride, double beta, double *c, size_t c_stride);
wt_status wt_gemm_float(wt_context *context, wt_trans trans_a, wt_trans trans_b, size_t m, size_t n,
                        size_t k, float alpha, const float *a, size_t a_stride, const float *b,
                        size_t b_stride, float beta, float *c, size_t c_stride);

/* The lower triangle (diagonal included) of
 *     WT_PLAIN:   K = A A^T + beta K, K rows x rows        (the dual: one entry a pair of samples)
 *     WT_TRANSPOSED:  K = A^T A + beta K, K columns x columns  (the primal: a pair of features)
 * for A rows x columns. The strict upper triangle is not touched; wt_mirror_lower fills it. With
 * beta = 0, K is written without being read; beta = 1 adds a block of a stream. The sum runs in
 * pieces of WT_GRAM_DEPTH terms in order: a stream whose blocks (the last apart) hold multiples of
 * WT_GRAM_DEPTH terms gives the bits of the whole at once. */
wt_status wt_gram(wt_context *context, wt_trans trans, size_t rows, size_t columns, const double *a,
                  size_t a_stride, double beta, double *k, size_t k_stride);
/* The same from float input: every piece of WT_GRAM_DEPTH terms is a float product, the pieces
 * are summed in double. */
wt_status wt_gram_float(wt_context *context, wt_trans trans, size_t rows, size_t columns,
                        const float *a, size_t a_stride, double beta, double *k, size_t k_stride);
/* The lower triangle of K = alpha A A^T + beta K, rows x rows, summed in float too: the fastest of
 * the three, off by about 1e-6 of the diagonal, for use where a refinement in double follows. Not
 * checked for NaN and Inf, which it carries through. */
wt_status wt_gram_single(wt_context *context, size_t rows, size_t columns, float alpha,
                         const float *a, size_t a_stride, float beta, float *k, size_t k_stride);
/* Copies the lower triangle of an n x n matrix onto the upper one. */
wt_status wt_mirror_lower(wt_context *context, size_t n, double *a, size_t stride);

/* A = L L^T in place: reads the lower triangle of the n x n matrix A and writes L there; the strict
 * upper triangle is neither read nor written.
 *
 * *failed_at is 0 when all went well, else the order of the first leading minor that is not
 * positive to working precision; the call is WT_OK then too, and the lower triangle is spoilt.
 *
 * Leading blocks: the factor of the leading p x p block is the leading block of the factor, in
 * exact arithmetic for every p and bit for bit in all rows before the last multiple of WT_TILE up
 * to p (so in all rows when p is a multiple of WT_TILE). Rows past it were worked on in a tile of
 * another shape, and may differ in the last bits. */
wt_status wt_cholesky(wt_context *context, size_t n, double *a, size_t stride, size_t *failed_at);
wt_status wt_cholesky_float(wt_context *context, size_t n, float *a, size_t stride,
                            size_t *failed_at);

/* Solves op(L) X = B in place of B, n x columns, with L the lower triangle of an n x n matrix (its
 * strict upper triangle is not read). WT_PLAIN: L X = B. WT_TRANSPOSED: L^T X = B; the two in this
 * order solve L L^T X = B. With a factor of order N >= n and its stride, this solves with the
 * leading n x n block. A zero on the diagonal is WT_DATA. */
wt_status wt_solve_lower(wt_context *context, wt_trans trans, size_t n, size_t columns,
                         const double *l, size_t l_stride, double *b, size_t b_stride);
wt_status wt_solve_lower_float(wt_context *context, wt_trans trans, size_t n, size_t columns,
                               const float *l, size_t l_stride, float *b, size_t b_stride);

/* The eigenvalues of the symmetric n x n matrix A in increasing order, from its lower triangle. A
 * is spoilt; with vectors, row i of A becomes the unit eigenvector of values[i]. */
wt_status wt_eigen_symmetric(wt_context *context, size_t n, double *a, size_t stride, bool vectors,
                             double *values);

/* A = U diag(s) Vt with r = min(m, n) singular values in decreasing order: u m x r, s r, vt r x n,
 * rows close together (strides r and n). u and vt may both be NULL: values only. */
wt_status wt_svd(wt_context *context, size_t m, size_t n, const double *a, size_t stride, double *u,
                 double *s, double *vt);

/* The X of least norm among those of least |A X - B|, column by column: A m x n, B m x columns,
 * X n x columns. Singular values of A up to `cutoff` times the largest count as zero (cutoff < 0:
 * max(m, n) times the machine's epsilon); *rank is how many are left. */
wt_status wt_least_squares(wt_context *context, size_t m, size_t n, size_t columns, const double *a,
                           size_t a_stride, const double *b, size_t b_stride, double cutoff,
                           double *x, size_t x_stride, size_t *rank);

typedef enum wt_norm_kind {
    WT_SPECTRAL,  /* the largest singular value */
    WT_FROBENIUS, /* the root of the sum of squares */
    WT_COLUMNS,   /* (2,1): the sum of the 2-norms of the columns */
    WT_NUCLEAR    /* the sum of the singular values */
} wt_norm_kind;
enum { WT_NORM_KINDS = 4 };

/* The norm of the m x n matrix A; 0 when it is empty. */
wt_status wt_norm(wt_context *context, wt_norm_kind kind, size_t m, size_t n, const double *a,
                  size_t stride, double *out);
/* Replaces A by the nearest matrix, in the Frobenius norm, whose norm of the given kind is at most
 * `radius` >= 0. A matrix inside the ball is not changed by a bit. */
wt_status wt_project(wt_context *context, wt_norm_kind kind, double radius, size_t m, size_t n,
                     double *a, size_t stride);
/* Replaces x, of numbers that are not negative, by the nearest such vector with sum at most
 * `radius` >= 0: max(x_i - t, 0) with the one t >= 0 that makes the sum fit, found by sorting. */
wt_status wt_project_sum(wt_context *context, double radius, size_t n, double *x);

#endif
