/* The hot operations on OpenBLAS, held to one thread a call. */
#include "linalg/backend.h"

#include "linalg/openblas.h"
#include "linalg/small.h"

static CBLAS_TRANSPOSE blas_trans(wt_trans trans) {
    return trans == WT_TRANSPOSED ? CblasTrans : CblasNoTrans;
}

/* ---- double ------------------------------------------------------------------------------- */

/* C = alpha op(A) b + beta C for one column: bound by memory, where GEMM would pack A first.
 * A is stored m x k, or k x m when transposed. The column's elements are a stride apart. */
static void gemv(wt_trans trans, size_t m, size_t k, double alpha, const double *a, int a_stride,
                 const double *b, int b_step, double beta, double *c, int c_stride) {
    int rows = (int)(trans == WT_TRANSPOSED ? k : m),
        columns = (int)(trans == WT_TRANSPOSED ? m : k);
    wt_openblas.cblas_dgemv(CblasRowMajor, blas_trans(trans), rows, columns, alpha, a, a_stride, b,
                            b_step, beta, c, c_stride);
}

static void gemm(wt_trans trans_a, wt_trans trans_b, size_t m, size_t n, size_t k, double alpha,
                 const void *a, size_t a_stride, const void *b, size_t b_stride, double beta,
                 void *c, size_t c_stride) {
    if (n == 1)
        gemv(trans_a, m, k, alpha, a, (int)a_stride, b,
             trans_b == WT_TRANSPOSED ? 1 : (int)b_stride, beta, c, (int)c_stride);
    else if (wt_small_fits(m, n, k))
        wt_small()->real64(trans_a, trans_b, m, n, k, alpha, a, a_stride, b, b_stride, beta, c,
                           c_stride);
    else
        wt_openblas.cblas_dgemm(CblasRowMajor, blas_trans(trans_a), blas_trans(trans_b), (int)m,
                                (int)n, (int)k, alpha, a, (int)a_stride, b, (int)b_stride, beta, c,
                                (int)c_stride);
}

static void syrk(wt_trans trans, size_t n, size_t k, double alpha, const void *a, size_t a_stride,
                 double beta, void *c, size_t c_stride) {
    wt_openblas.cblas_dsyrk(CblasRowMajor, CblasLower, blas_trans(trans), (int)n, (int)k, alpha, a,
                            (int)a_stride, beta, c, (int)c_stride);
}

/* The lower triangle by rows is the upper one by columns. */
static size_t potrf(size_t n, void *a, size_t stride) {
    int order = (int)n, leading = (int)stride, info = 0;
    wt_openblas.dpotrf_("U", &order, a, &leading, &info, 1);
    return (size_t)info;
}

static void trsm_left(wt_trans trans, size_t n, size_t columns, const void *l, size_t l_stride,
                      void *b, size_t b_stride) {
    if (columns == 1)
        wt_openblas.cblas_dtrsv(CblasRowMajor, CblasLower, blas_trans(trans), CblasNonUnit, (int)n,
                                l, (int)l_stride, b, (int)b_stride);
    else
        wt_openblas.cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, blas_trans(trans),
                                CblasNonUnit, (int)n, (int)columns, 1, l, (int)l_stride, b,
                                (int)b_stride);
}

static void trsm_right(size_t rows, size_t n, const void *l, size_t l_stride, void *b,
                       size_t b_stride) {
    wt_openblas.cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                            (int)rows, (int)n, 1, l, (int)l_stride, b, (int)b_stride);
}

/* ---- float: the same, letter for letter ------------------------------------------------------ */

static void gemv_float(wt_trans trans, size_t m, size_t k, double alpha, const float *a,
                       int a_stride, const float *b, int b_step, double beta, float *c,
                       int c_stride) {
    int rows = (int)(trans == WT_TRANSPOSED ? k : m),
        columns = (int)(trans == WT_TRANSPOSED ? m : k);
    wt_openblas.cblas_sgemv(CblasRowMajor, blas_trans(trans), rows, columns, (float)alpha, a,
                            a_stride, b, b_step, (float)beta, c, c_stride);
}

static void gemm_float(wt_trans trans_a, wt_trans trans_b, size_t m, size_t n, size_t k,
                       double alpha, const void *a, size_t a_stride, const void *b, size_t b_stride,
                       double beta, void *c, size_t c_stride) {
    if (n == 1)
        gemv_float(trans_a, m, k, alpha, a, (int)a_stride, b,
                   trans_b == WT_TRANSPOSED ? 1 : (int)b_stride, beta, c, (int)c_stride);
    else if (wt_small_fits(m, n, k))
        wt_small()->real32(trans_a, trans_b, m, n, k, alpha, a, a_stride, b, b_stride, beta, c,
                           c_stride);
    else
        wt_openblas.cblas_sgemm(CblasRowMajor, blas_trans(trans_a), blas_trans(trans_b), (int)m,
                                (int)n, (int)k, (float)alpha, a, (int)a_stride, b, (int)b_stride,
                                (float)beta, c, (int)c_stride);
}

static void syrk_float(wt_trans trans, size_t n, size_t k, double alpha, const void *a,
                       size_t a_stride, double beta, void *c, size_t c_stride) {
    wt_openblas.cblas_ssyrk(CblasRowMajor, CblasLower, blas_trans(trans), (int)n, (int)k,
                            (float)alpha, a, (int)a_stride, (float)beta, c, (int)c_stride);
}

static size_t potrf_float(size_t n, void *a, size_t stride) {
    int order = (int)n, leading = (int)stride, info = 0;
    wt_openblas.spotrf_("U", &order, a, &leading, &info, 1);
    return (size_t)info;
}

static void trsm_left_float(wt_trans trans, size_t n, size_t columns, const void *l,
                            size_t l_stride, void *b, size_t b_stride) {
    if (columns == 1)
        wt_openblas.cblas_strsv(CblasRowMajor, CblasLower, blas_trans(trans), CblasNonUnit, (int)n,
                                l, (int)l_stride, b, (int)b_stride);
    else
        wt_openblas.cblas_strsm(CblasRowMajor, CblasLeft, CblasLower, blas_trans(trans),
                                CblasNonUnit, (int)n, (int)columns, 1, l, (int)l_stride, b,
                                (int)b_stride);
}

static void trsm_right_float(size_t rows, size_t n, const void *l, size_t l_stride, void *b,
                             size_t b_stride) {
    wt_openblas.cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                            (int)rows, (int)n, 1, l, (int)l_stride, b, (int)b_stride);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const wt_backend openblas = {
    .name = "OpenBLAS",
    .real64 = {sizeof(double), gemm, syrk, potrf, trsm_left, trsm_right},
    .real32 = {sizeof(float), gemm_float, syrk_float, potrf_float, trsm_left_float,
               trsm_right_float},
    .eigen = wt_lapack_eigen,
    .svd = wt_lapack_svd,
    .least_squares = wt_lapack_least_squares,
};

wt_status wt_backend_open(wt_context *context, const wt_backend **out) {
    *out = &openblas;
    return wt_openblas_open(context);
}
