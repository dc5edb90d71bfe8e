/* cuBLAS and cuSOLVER by the host's BLAS and LAPACK: matrices lie the same way, column by column.
 */
#include <stdlib.h>
#include <vector>

#include "cusolverDn.h"

extern "C" {
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *,
            const double *, const int *, const double *, const int *, const double *, double *,
            const int *);
void dsyrk_(const char *, const char *, const int *, const int *, const double *, const double *,
            const int *, const double *, double *, const int *);
void dtrsm_(const char *, const char *, const char *, const char *, const int *, const int *,
            const double *, const double *, const int *, double *, const int *);
void dtrsv_(const char *, const char *, const char *, const int *, const double *, const int *,
            double *, const int *);
void dsymv_(const char *, const int *, const double *, const double *, const int *, const double *,
            const int *, const double *, double *, const int *);
void dgemv_(const char *, const int *, const int *, const double *, const double *, const int *,
            const double *, const int *, const double *, double *, const int *);
void dpotrf_(const char *, const int *, double *, const int *, int *);
void dsyevd_(const char *, const char *, const int *, double *, const int *, double *, double *,
             const int *, int *, const int *, int *);
}

static const char *of(cublasOperation_t turn) {
    return turn == CUBLAS_OP_N ? "N" : "T";
}
static const char *of(cublasFillMode_t fill) {
    return fill == CUBLAS_FILL_MODE_LOWER ? "L" : "U";
}

const char *cublasGetStatusString(cublasStatus_t) {
    return "an emulated failure";
}
cublasStatus_t cublasCreate(cublasHandle_t *out) {
    *out = (cublasHandle_t)malloc(1);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *, size_t) {
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDgemm_64(cublasHandle_t, cublasOperation_t turn_a, cublasOperation_t turn_b,
                              int64_t m, int64_t n, int64_t k, const double *alpha, const double *a,
                              int64_t lda, const double *b, int64_t ldb, const double *beta,
                              double *c, int64_t ldc) {
    int rows = (int)m, columns = (int)n, inner = (int)k;
    int a_apart = (int)lda, b_apart = (int)ldb, c_apart = (int)ldc;
    dgemm_(of(turn_a), of(turn_b), &rows, &columns, &inner, alpha, a, &a_apart, b, &b_apart, beta,
           c, &c_apart);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t turn_a,
                                            cublasOperation_t turn_b, int64_t m, int64_t n,
                                            int64_t k, const double *alpha, const double *a,
                                            int64_t lda, int64_t a_apart, const double *b,
                                            int64_t ldb, int64_t b_apart, const double *beta,
                                            double *c, int64_t ldc, int64_t c_apart,
                                            int64_t count) {
    for (int64_t i = 0; i < count; i++)
        (void)cublasDgemm_64(handle, turn_a, turn_b, m, n, k, alpha, a + i * a_apart, lda,
                             b + i * b_apart, ldb, beta, c + i * c_apart, ldc);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDsyrk_64(cublasHandle_t, cublasFillMode_t fill, cublasOperation_t turn,
                              int64_t n, int64_t k, const double *alpha, const double *a,
                              int64_t lda, const double *beta, double *c, int64_t ldc) {
    int order = (int)n, inner = (int)k, a_apart = (int)lda, c_apart = (int)ldc;
    dsyrk_(of(fill), of(turn), &order, &inner, alpha, a, &a_apart, beta, c, &c_apart);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDtrsm_64(cublasHandle_t, cublasSideMode_t side, cublasFillMode_t fill,
                              cublasOperation_t turn, cublasDiagType_t, int64_t m, int64_t n,
                              const double *alpha, const double *a, int64_t lda, double *b,
                              int64_t ldb) {
    int rows = (int)m, columns = (int)n, a_apart = (int)lda, b_apart = (int)ldb;
    dtrsm_(side == CUBLAS_SIDE_LEFT ? "L" : "R", of(fill), of(turn), "N", &rows, &columns, alpha, a,
           &a_apart, b, &b_apart);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDtrsv_64(cublasHandle_t, cublasFillMode_t fill, cublasOperation_t turn,
                              cublasDiagType_t, int64_t n, const double *a, int64_t lda, double *x,
                              int64_t step) {
    int order = (int)n, a_apart = (int)lda, apart = (int)step;
    dtrsv_(of(fill), of(turn), "N", &order, a, &a_apart, x, &apart);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDsymv_64(cublasHandle_t, cublasFillMode_t fill, int64_t n, const double *alpha,
                              const double *a, int64_t lda, const double *x, int64_t x_step,
                              const double *beta, double *y, int64_t y_step) {
    int order = (int)n, a_apart = (int)lda, x_apart = (int)x_step, y_apart = (int)y_step;
    dsymv_(of(fill), &order, alpha, a, &a_apart, x, &x_apart, beta, y, &y_apart);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDgemv_64(cublasHandle_t, cublasOperation_t turn, int64_t m, int64_t n,
                              const double *alpha, const double *a, int64_t lda, const double *x,
                              int64_t x_step, const double *beta, double *y, int64_t y_step) {
    int rows = (int)m, columns = (int)n, a_apart = (int)lda;
    int x_apart = (int)x_step, y_apart = (int)y_step;
    dgemv_(of(turn), &rows, &columns, alpha, a, &a_apart, x, &x_apart, beta, y, &y_apart);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDdot_64(cublasHandle_t, int64_t n, const double *x, int64_t x_step,
                             const double *y, int64_t y_step, double *out) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i * x_step] * y[i * y_step];
    *out = sum;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDnrm2_64(cublasHandle_t handle, int64_t n, const double *x, int64_t step,
                              double *out) {
    (void)cublasDdot_64(handle, n, x, step, x, step, out);
    *out = sqrt(*out);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDaxpy_64(cublasHandle_t, int64_t n, const double *alpha, const double *x,
                              int64_t x_step, double *y, int64_t y_step) {
    for (int64_t i = 0; i < n; i++)
        y[i * y_step] += *alpha * x[i * x_step];
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDscal_64(cublasHandle_t, int64_t n, const double *alpha, double *x,
                              int64_t step) {
    for (int64_t i = 0; i < n; i++)
        x[i * step] *= *alpha;
    return CUBLAS_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *out) {
    *out = (cusolverDnHandle_t)malloc(1);
    return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
    free(handle);
    return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t, cudaStream_t) {
    return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetDeterministicMode(cusolverDnHandle_t, int) {
    return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *out) {
    *out = (cusolverDnParams_t)malloc(1);
    return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params) {
    free(params);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t,
                                             cublasFillMode_t, int64_t, cudaDataType, const void *,
                                             int64_t, cudaDataType, size_t *there, size_t *here) {
    *there = *here = 0;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t fill,
                                  int64_t n, cudaDataType, void *a, int64_t lda, cudaDataType,
                                  void *, size_t, void *, size_t, int *info) {
    int order = (int)n, apart = (int)lda;
    dpotrf_(of(fill), &order, (double *)a, &apart, info);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t,
                                             cusolverEigMode_t, cublasFillMode_t, int64_t,
                                             cudaDataType, const void *, int64_t, cudaDataType,
                                             const void *, cudaDataType, size_t *there,
                                             size_t *here) {
    *there = *here = 0;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                  cublasFillMode_t fill, int64_t n, cudaDataType, void *a,
                                  int64_t lda, cudaDataType, void *w, cudaDataType, void *, size_t,
                                  void *, size_t, int *info) {
    int order = (int)n, apart = (int)lda, numbers = -1, integers = -1, most_integers;
    double most;
    dsyevd_("V", of(fill), &order, (double *)a, &apart, (double *)w, &most, &numbers,
            &most_integers, &integers, info);
    numbers = (int)most;
    integers = most_integers;
    std::vector<double> space((size_t)numbers);
    std::vector<int> more((size_t)integers);
    dsyevd_("V", of(fill), &order, (double *)a, &apart, (double *)w, space.data(), &numbers,
            more.data(), &integers, info);
    return CUSOLVER_STATUS_SUCCESS;
}
