/* What the sources of cuda/ need of CUDA, on processors: so that their kernels are tested where
 * there is no GPU. A thread is a fiber; those of a block take turns, in an order that may be drawn
 * (emulator.cpp). rewrite.sed brings the sources into this form. */
#ifndef EMULATOR_CUDA_RUNTIME_H
#define EMULATOR_CUDA_RUNTIME_H

#include <functional>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define __global__
#define __device__
#define __constant__
#define __forceinline__ inline
#define __noinline__    __attribute__((noinline))
#define __align__(n)    __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __shared__ static /* one block at a time */

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {
    }
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};
static inline float2 make_float2(float x, float y) {
    return float2{x, y};
}
static inline float4 make_float4(float x, float y, float z, float w) {
    return float4{x, y, z, w};
}
static inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
    return uint4{x, y, z, w};
}
static inline double2 make_double2(double x, double y) {
    return double2{x, y};
}

/* ---- the runtime ---- */

enum cudaError_t {
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaErrorInvalidConfiguration
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaStreamNonBlocking, cudaEventDisableTiming };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum { cudaMemPoolAttrReleaseThreshold, cudaMemPoolReuseAllowInternalDependencies };
typedef struct emulated_stream *cudaStream_t;
typedef struct emulated_event *cudaEvent_t;
typedef struct emulated_pool *cudaMemPool_t;
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
};

const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *about, int index);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaSetDevice(int index);
cudaError_t cudaMalloc(void **out, size_t bytes);
template <typename T> static inline cudaError_t cudaMalloc(T **out, size_t bytes) {
    return cudaMalloc((void **)out, bytes);
}
cudaError_t cudaFree(void *data);
cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *data, cudaStream_t stream);
cudaError_t cudaMemGetInfo(size_t *left, size_t *all);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *most);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int index);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int attribute, void *value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);

/* ---- inside a kernel ---- */

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace emulator {

/* Waits for all threads of the block, or of the warp, that have not ended. */
void wait_block();
void wait_warp();
void *dynamic_shared();
/* Places of each lane of the warp for what it shows the others. It shows, waits, and looks; two
 * rounds take turns, so that nobody need wait again before the next. */
enum { SHOWN = 32 };
int next_round();
char *shown_by(int lane, int round);
int lane_now();
/* mma.m16n8k8 of TF32: c (16, 8) += a (16, 8) b (8, 8), parts as fleet_tensor.h tells. */
void multiply_tile(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1);
/* A copy that is there after wait_copies alone. */
void copy_later(void *to, const void *from, size_t bytes);
void wait_copies();

void run_grid(dim3 grid, dim3 block, size_t shared, const std::function<void()> &body);
cudaError_t allow_shared(const void *kernel, int bytes);
bool fits(const void *kernel, dim3 grid, dim3 block, size_t shared);

template <typename... P> struct launch {
    void (*kernel)(P...);
    dim3 grid, block;
    size_t shared;
    void operator()(P... p) const {
        if (fits((const void *)kernel, grid, block, shared))
            run_grid(grid, block, shared, [&] { kernel(p...); });
    }
};

template <typename... P> struct launchable {
    void (*kernel)(P...);
    launch<P...> on(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t = NULL) const {
        return launch<P...>{kernel, grid, block, shared};
    }
};

template <typename T> T exchange(T value, int from) {
    static_assert(sizeof value <= SHOWN, "too large for a lane's place");
    int round = next_round();
    memcpy(shown_by(lane_now(), round), &value, sizeof value);
    wait_warp();
    memcpy(&value, shown_by(from, round), sizeof value);
    return value;
}

} // namespace emulator

template <typename... P> emulator::launchable<P...> emulate(void (*kernel)(P...)) {
    return emulator::launchable<P...>{kernel};
}
template <typename... P> cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), int, int bytes) {
    return emulator::allow_shared((const void *)kernel, bytes);
}

/* Blocks of a launch run one after the other. */
template <typename T> T atomicMax(T *at, T value) {
    T before = *at;
    *at = before > value ? before : value;
    return before;
}
static inline void __syncthreads() {
    emulator::wait_block();
}
static inline void __syncwarp() {
    emulator::wait_warp();
}
template <typename T> T __shfl_xor_sync(unsigned, T value, int step) {
    return emulator::exchange(value, emulator::lane_now() ^ step);
}
static inline unsigned __reduce_add_sync(unsigned, unsigned value) {
    for (int step = 1; step < 32; step *= 2)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

template <typename To, typename From> static inline To emulated_bits(From x) {
    To y;
    static_assert(sizeof x == sizeof y, "other sizes");
    memcpy(&y, &x, sizeof y);
    return y;
}
static inline uint32_t __float_as_uint(float x) {
    return emulated_bits<uint32_t>(x);
}
static inline float __uint_as_float(uint32_t x) {
    return emulated_bits<float>(x);
}
static inline long long __double_as_longlong(double x) {
    return emulated_bits<long long>(x);
}
static inline double __longlong_as_double(long long x) {
    return emulated_bits<double>(x);
}
static inline uint32_t __umulhi(uint32_t a, uint32_t b) {
    return (uint32_t)((uint64_t)a * b >> 32);
}
static inline uint64_t __umul64hi(uint64_t a, uint64_t b) {
    return (uint64_t)((unsigned __int128)a * b >> 64);
}
static inline float normcdff(float x) {
    return 0.5f * erfcf(-x * 0.70710678f);
}

#endif
