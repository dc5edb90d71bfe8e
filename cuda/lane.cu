#include "lane.h"

#include <mutex>
#include <stdio.h>

/* Work space of cuBLAS, as large as it takes by itself on Hopper. */
#define WORKSPACE ((size_t)32 << 20)
/* Larger blocks do not stay in the pool: a matrix of that size is made once. */
#define LARGE        ((size_t)4 << 30)
#define MOST_DEVICES 64

static std::mutex busy;
static cuda_lane *at_rest[MOST_DEVICES];

static int index_of(const wt_device *device) {
    return (int)(size_t)device->state;
}

wt_status lane_check(cuda_lane *lane, cudaError_t error, const char *what) {
    return cuda_check(lane->context, lane->device, error, what);
}

wt_status lane_check(cuda_lane *lane, cublasStatus_t status, const char *what) {
    return status == CUBLAS_STATUS_SUCCESS
               ? WT_OK
               : cuda_fail(lane->context, lane->device, what, cublasGetStatusString(status));
}

wt_status lane_check(cuda_lane *lane, cusolverStatus_t status, const char *what) {
    char words[48];
    snprintf(words, sizeof words, "cuSOLVER's status %d", (int)status);
    return status == CUSOLVER_STATUS_SUCCESS ? WT_OK
                                             : cuda_fail(lane->context, lane->device, what, words);
}

static wt_status make(cuda_lane *lane) {
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    int least, most, waits = 0;
    LANE(cudaDeviceGetStreamPriorityRange(&least, &most));
    LANE(cudaStreamCreateWithPriority(&lane->stream, cudaStreamNonBlocking, most));
    LANE(cudaStreamCreateWithPriority(&lane->aside, cudaStreamNonBlocking, least));
    LANE(cudaEventCreateWithFlags(&lane->moved, cudaEventDisableTiming));
    LANE(cublasCreate(&lane->blas));
    LANE(cublasSetStream(lane->blas, lane->stream));
    LANE(cuda_malloc(lane->device, WORKSPACE, &lane->workspace));
    LANE(cublasSetWorkspace(lane->blas, lane->workspace, WORKSPACE));
    LANE(cusolverDnCreate(&lane->solver));
    LANE(cusolverDnSetStream(lane->solver, lane->stream));
    LANE(cusolverDnSetDeterministicMode(lane->solver, CUSOLVER_DETERMINISTIC_RESULTS));
    LANE(cusolverDnCreateParams(&lane->params));
    LANE(cudaDeviceGetDefaultMemPool(&pool, index_of(lane->device)));
    LANE(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    /* no lane waits for another one to take its memory */
    LANE(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowInternalDependencies, &waits));
    return WT_OK;
}

static void unmake(cuda_lane *lane) {
    if (lane->params != NULL)
        (void)cusolverDnDestroyParams(lane->params);
    if (lane->solver != NULL)
        (void)cusolverDnDestroy(lane->solver);
    if (lane->blas != NULL)
        (void)cublasDestroy(lane->blas);
    (void)cudaFree(lane->workspace);
    if (lane->moved != NULL)
        (void)cudaEventDestroy(lane->moved);
    if (lane->aside != NULL)
        (void)cudaStreamDestroy(lane->aside);
    if (lane->stream != NULL)
        (void)cudaStreamDestroy(lane->stream);
    delete lane;
}

wt_status lane_enter(wt_context *context, cuda_lane *lane) {
    lane->context = context;
    CUDA_PASS(lane->device->services->check_cancelled(context));
    return cuda_enter(context, lane->device);
}

wt_status lane_take(wt_context *context, wt_device *device, cuda_lane **out) {
    cuda_lane **rest = &at_rest[index_of(device)], *lane;
    *out = NULL;
    busy.lock();
    lane = *rest;
    if (lane != NULL)
        *rest = lane->next;
    busy.unlock();
    bool fresh = lane == NULL;
    if (fresh) {
        lane = new cuda_lane();
        lane->device = device;
    }
    wt_status status = lane_enter(context, lane);
    if (status == WT_OK && fresh)
        status = make(lane);
    if (status == WT_OK)
        *out = lane;
    else if (fresh)
        unmake(lane);
    else
        lane_give(lane);
    return status;
}

void lane_give(cuda_lane *lane) {
    if (lane == NULL)
        return;
    (void)cudaStreamSynchronize(lane->stream); /* after a failure copies may be on their way */
    cuda_lane **rest = &at_rest[index_of(lane->device)];
    busy.lock();
    lane->next = *rest;
    *rest = lane;
    busy.unlock();
}

wt_status lane_change(cuda_lane *lane) {
    cudaStream_t swap = lane->stream;
    LANE(cudaEventRecord(lane->moved, lane->stream));
    LANE(cudaStreamWaitEvent(lane->aside, lane->moved, 0));
    lane->stream = lane->aside;
    lane->aside = swap;
    LANE(cublasSetStream(lane->blas, lane->stream));
    LANE(cublasSetWorkspace(lane->blas, lane->workspace, WORKSPACE)); /* a new stream drops it */
    LANE(cusolverDnSetStream(lane->solver, lane->stream));
    return WT_OK;
}

wt_status lane_finish(cuda_lane *lane, const char *what) {
    CUDA_PASS(lane_check(lane, cudaGetLastError(), what));
    return lane_check(lane, cudaStreamSynchronize(lane->stream), what);
}

static cudaError_t allocate(cuda_lane *lane, size_t bytes, void **out) {
    if (bytes > LARGE)
        return cudaMalloc(out, bytes);
    return cudaMallocAsync(out, bytes == 0 ? 1 : bytes, lane->stream);
}

wt_status lane_allocate(cuda_lane *lane, size_t bytes, const char *what, void **out) {
    wt_device *device = lane->device;
    *out = NULL;
    CUDA_PASS(device->services->hold(lane->context, device, bytes, what));
    cudaError_t error = allocate(lane, bytes, out);
    if (error == cudaErrorMemoryAllocation) {
        cuda_trim(device);
        error = allocate(lane, bytes, out);
    }
    if (error == cudaSuccess)
        return WT_OK;
    *out = NULL;
    device->services->release(device, bytes);
    return cuda_refuse(lane->context, device, error, bytes, what);
}

void lane_release(cuda_lane *lane, void *data, size_t bytes) {
    if (bytes > LARGE) {
        (void)cudaStreamSynchronize(lane->stream);
        (void)cudaFree(data);
    } else {
        (void)cudaFreeAsync(data, lane->stream);
    }
    lane->device->services->release(lane->device, bytes);
}
