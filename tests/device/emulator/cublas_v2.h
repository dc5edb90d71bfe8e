/* The part of cuBLAS that cuda/ calls, by the host's BLAS (libraries.cpp). */
#ifndef EMULATOR_CUBLAS_H
#define EMULATOR_CUBLAS_H

#include "cuda_runtime.h"

typedef struct emulated_blas *cublasHandle_t;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_INVALID_VALUE };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT };

const char *cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasCreate(cublasHandle_t *out);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *data, size_t bytes);
cublasStatus_t cublasDgemm_64(cublasHandle_t handle, cublasOperation_t turn_a,
                              cublasOperation_t turn_b, int64_t m, int64_t n, int64_t k,
                              const double *alpha, const double *a, int64_t lda, const double *b,
                              int64_t ldb, const double *beta, double *c, int64_t ldc);
cublasStatus_t cublasDgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t turn_a,
                                            cublasOperation_t turn_b, int64_t m, int64_t n,
                                            int64_t k, const double *alpha, const double *a,
                                            int64_t lda, int64_t a_apart, const double *b,
                                            int64_t ldb, int64_t b_apart, const double *beta,
                                            double *c, int64_t ldc, int64_t c_apart, int64_t count);
cublasStatus_t cublasDsyrk_64(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t turn,
                              int64_t n, int64_t k, const double *alpha, const double *a,
                              int64_t lda, const double *beta, double *c, int64_t ldc);
cublasStatus_t cublasDtrsm_64(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                              cublasOperation_t turn, cublasDiagType_t diagonal, int64_t m,
                              int64_t n, const double *alpha, const double *a, int64_t lda,
                              double *b, int64_t ldb);
cublasStatus_t cublasDtrsv_64(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t turn,
                              cublasDiagType_t diagonal, int64_t n, const double *a, int64_t lda,
                              double *x, int64_t step);
cublasStatus_t cublasDsymv_64(cublasHandle_t handle, cublasFillMode_t fill, int64_t n,
                              const double *alpha, const double *a, int64_t lda, const double *x,
                              int64_t x_step, const double *beta, double *y, int64_t y_step);
cublasStatus_t cublasDgemv_64(cublasHandle_t handle, cublasOperation_t turn, int64_t m, int64_t n,
                              const double *alpha, const double *a, int64_t lda, const double *x,
                              int64_t x_step, const double *beta, double *y, int64_t y_step);
cublasStatus_t cublasDnrm2_64(cublasHandle_t handle, int64_t n, const double *x, int64_t step,
                              double *out);
cublasStatus_t cublasDdot_64(cublasHandle_t handle, int64_t n, const double *x, int64_t x_step,
                             const double *y, int64_t y_step, double *out);
cublasStatus_t cublasDaxpy_64(cublasHandle_t handle, int64_t n, const double *alpha,
                              const double *x, int64_t x_step, double *y, int64_t y_step);
cublasStatus_t cublasDscal_64(cublasHandle_t handle, int64_t n, const double *alpha, double *x,
                              int64_t step);

#endif
