/* The part of cuSOLVER that cuda/ calls, by the host's LAPACK (libraries.cpp). */
#ifndef EMULATOR_CUSOLVER_H
#define EMULATOR_CUSOLVER_H

#include "cublas_v2.h"

typedef struct emulated_solver *cusolverDnHandle_t;
typedef struct emulated_params *cusolverDnParams_t;
enum cusolverStatus_t { CUSOLVER_STATUS_SUCCESS };
enum cusolverEigMode_t { CUSOLVER_EIG_MODE_VECTOR };
enum cudaDataType { CUDA_R_64F };
enum { CUSOLVER_DETERMINISTIC_RESULTS };

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *out);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
cusolverStatus_t cusolverDnSetDeterministicMode(cusolverDnHandle_t handle, int mode);
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *out);
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params);
cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cublasFillMode_t fill, int64_t n, cudaDataType type_a,
                                             const void *a, int64_t lda, cudaDataType type,
                                             size_t *there, size_t *here);
cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                  cublasFillMode_t fill, int64_t n, cudaDataType type_a, void *a,
                                  int64_t lda, cudaDataType type, void *there, size_t bytes_there,
                                  void *here, size_t bytes_here, int *info);
cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cusolverEigMode_t mode, cublasFillMode_t fill,
                                             int64_t n, cudaDataType type_a, const void *a,
                                             int64_t lda, cudaDataType type_w, const void *w,
                                             cudaDataType type, size_t *there, size_t *here);
cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                  cusolverEigMode_t mode, cublasFillMode_t fill, int64_t n,
                                  cudaDataType type_a, void *a, int64_t lda, cudaDataType type_w,
                                  void *w, cudaDataType type, void *there, size_t bytes_there,
                                  void *here, size_t bytes_here, int *info);

#endif
