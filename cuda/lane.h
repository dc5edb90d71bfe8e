/* A lane is what one call at a time works on: a stream, the libraries' handles with work space of
 * their own (so that results do not depend on other lanes), and memory. */
#ifndef WATTLE_CUDA_LANE_H
#define WATTLE_CUDA_LANE_H

#include <cublas_v2.h>
#include <cusolverDn.h>

#include "plugin.h"

typedef struct cuda_lane {
    wt_device *device;
    wt_context *context;        /* of the call in hand */
    cudaStream_t stream, aside; /* of high and of low priority; the first is in use */
    cudaEvent_t moved;
    cublasHandle_t blas;
    cusolverDnHandle_t solver;
    cusolverDnParams_t params;
    void *workspace;
    struct cuda_lane *next; /* among those at rest */
} cuda_lane;

/* A lane at rest, or a new one; to be given back. */
wt_status lane_take(wt_context *context, wt_device *device, cuda_lane **out);
void lane_give(cuda_lane *lane);
/* Enters the device for a call with a lane taken before. */
wt_status lane_enter(wt_context *context, cuda_lane *lane);
/* Waits until all is done; tells of what went wrong on the way. */
wt_status lane_finish(cuda_lane *lane, const char *what);

wt_status lane_check(cuda_lane *lane, cudaError_t error, const char *what);
wt_status lane_check(cuda_lane *lane, cublasStatus_t status, const char *what);
wt_status lane_check(cuda_lane *lane, cusolverStatus_t status, const char *what);
/* Changes the streams: what is called next follows what was called before, on the other one. */
wt_status lane_change(cuda_lane *lane);
/* As long as one is there, large products of the lane make way for the small work of others. */
struct lane_aside {
    cuda_lane *lane;
    wt_status status;
    explicit lane_aside(cuda_lane *of) : lane(of), status(lane_change(of)) {
    }
    ~lane_aside() {
        if (status == WT_OK)
            (void)lane_change(lane);
    }
};
/* In functions with a `lane`. */
#define LANE(call) CUDA_PASS(lane_check(lane, (call), #call))

/* Memory in the order of the lane's work, given back when it goes out of scope. */
wt_status lane_allocate(cuda_lane *lane, size_t bytes, const char *what, void **out);
void lane_release(cuda_lane *lane, void *data, size_t bytes);

template <typename T> struct buffer {
    cuda_lane *lane = NULL;
    T *data = NULL;
    size_t count = 0;
    buffer() {
    }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    ~buffer() {
        drop();
    }
    void drop() {
        if (data != NULL)
            lane_release(lane, data, count * sizeof(T));
        data = NULL;
    }
    wt_status take(cuda_lane *of, size_t wanted, const char *what) {
        drop();
        lane = of;
        count = wanted;
        return lane_allocate(of, wanted * sizeof(T), what, (void **)&data);
    }
    /* Room, filled from the host. */
    wt_status load(cuda_lane *of, const T *from, size_t wanted, const char *what) {
        CUDA_PASS(take(of, wanted, what));
        return lane_check(
            of, cudaMemcpyAsync(data, from, wanted * sizeof(T), cudaMemcpyHostToDevice, of->stream),
            "a copy to the GPU");
    }
    /* To the host, and waits for it. */
    wt_status store(T *to, size_t wanted) {
        CUDA_PASS(lane_check(
            lane,
            cudaMemcpyAsync(to, data, wanted * sizeof(T), cudaMemcpyDeviceToHost, lane->stream),
            "a copy from the GPU"));
        return lane_finish(lane, "its work");
    }
};

/* Blocks of `threads` for `items`, at most what a grid takes; kernels loop over the rest. */
static inline unsigned lane_blocks(size_t items, unsigned threads) {
    size_t blocks = (items + threads - 1) / threads;
    return (unsigned)(blocks == 0 ? 1 : blocks < 1u << 20 ? blocks : 1u << 20);
}

#endif
