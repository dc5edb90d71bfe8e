/* A warp a row of a network: numbers i, i + 32, .. of it lie with lane i. */
#ifndef WATTLE_CUDA_FLEET_ROWS_H
#define WATTLE_CUDA_FLEET_ROWS_H

#include "fleet.h"
#include "fleet_random.h"

/* kernel<S><<<..>>>(arguments), four rows a block. */
#define FLEET_BY_STRIDE(kernel, call, rows, arguments)                                             \
    do {                                                                                           \
        dim3 grid = fleet_row_grid(call, rows);                                                    \
        if ((call).shape.stride == 32)                                                             \
            kernel<32><<<grid, FLEET_ROW_THREADS, 0, (call).stream>>> arguments;                   \
        else if ((call).shape.stride == 64)                                                        \
            kernel<64><<<grid, FLEET_ROW_THREADS, 0, (call).stream>>> arguments;                   \
        else                                                                                       \
            kernel<128><<<grid, FLEET_ROW_THREADS, 0, (call).stream>>> arguments;                  \
    } while (0)

struct fleet_row {
    int network, sample, lane;
    int64_t place; /* of the row in the buffers */
    fleet_one one;
    const float *parameters;
};

/* False for warps past the last row. */
static __device__ __forceinline__ bool fleet_row_begin(const fleet_shape &shape,
                                                       const fleet_work &work, int rows, bool fixed,
                                                       fleet_row *at) {
    at->network = blockIdx.y;
    at->sample = blockIdx.x * (FLEET_ROW_THREADS / 32) + threadIdx.x / 32;
    at->lane = threadIdx.x % 32;
    at->one = work.ones[at->network];
    at->place = (int64_t)at->network * shape.rows + at->sample;
    at->parameters = work.parameters + at->one.slot * shape.size;
    return at->sample < (fixed ? rows : at->one.samples);
}

static __device__ __forceinline__ float fleet_warp_sum(float x) {
    for (int step = 16; step > 0; step /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

template <int S>
static __device__ __forceinline__ void fleet_load(const fleet_shape &shape, const float *from,
                                                  float x[S / 32]) {
    for (int k = 0; k < S / 32; k++) {
        int i = 32 * k + threadIdx.x % 32;
        x[k] = i < shape.dim ? from[i] : 0;
    }
}

template <int S> static __device__ __forceinline__ void fleet_store(float *to, const float *x) {
    for (int k = 0; k < S / 32; k++)
        to[32 * k + threadIdx.x % 32] = x[k];
}

template <int S>
static __device__ __forceinline__ void fleet_add_bias(const fleet_shape &shape, const float *bias,
                                                      float x[S / 32]) {
    for (int k = 0; k < S / 32; k++) {
        int i = 32 * k + threadIdx.x % 32;
        x[k] += i < shape.dim ? bias[i] : 0;
    }
}

/* Dropout of what a block adds: half 0 of the draws for line 4, 1 for line 5. */
template <int S>
static __device__ __forceinline__ void fleet_drop(const fleet_shape &shape, const fleet_row &at,
                                                  int half, float x[S / 32]) {
    uint32_t keep = shape.keep[DROP_BLOCKS];
    if (keep == FLEET_KEEP_ALL)
        return;
    for (int k = 0; k < S / 32; k++) {
        uint32_t draw = drop_draw(at.one.key, (uint32_t)at.sample, DROP_BLOCKS,
                                  (uint32_t)(half * S / 2), (uint32_t)(32 * k + at.lane));
        x[k] = draw < keep ? x[k] * shape.scale[DROP_BLOCKS] : 0;
    }
}

/* x becomes (x - mean) / sqrt(variance + epsilon); returns what it was divided by, as a factor. */
template <int S>
static __device__ __forceinline__ float fleet_norm(const fleet_shape &shape, float x[S / 32]) {
    float sum = 0, square = 0;
    for (int k = 0; k < S / 32; k++)
        sum += x[k];
    float mean = fleet_warp_sum(sum) / (float)shape.dim;
    for (int k = 0; k < S / 32; k++) {
        x[k] = 32 * k + (int)(threadIdx.x % 32) < shape.dim ? x[k] - mean : 0;
        square += x[k] * x[k];
    }
    float variance = fleet_warp_sum(square) / (float)shape.dim + 1e-5f;
    float scale = variance <= 3.4e38f ? 1 / sqrtf(variance) : NAN;
    for (int k = 0; k < S / 32; k++)
        x[k] *= scale;
    return scale;
}

template <int S>
static __device__ __forceinline__ void fleet_gain(const fleet_shape &shape, const float *gain,
                                                  const float *bias, float x[S / 32]) {
    for (int k = 0; k < S / 32; k++) {
        int i = 32 * k + threadIdx.x % 32;
        x[k] = i < shape.dim ? x[k] * gain[i] + bias[i] : 0;
    }
}

/* d by the output of the norm becomes d by its input. */
template <int S>
static __device__ __forceinline__ void fleet_norm_back(const fleet_shape &shape,
                                                       const float hat[S / 32], float scale,
                                                       const float *gain, float d[S / 32]) {
    float sum = 0, product = 0;
    for (int k = 0; k < S / 32; k++) {
        int i = 32 * k + threadIdx.x % 32;
        d[k] *= i < shape.dim ? gain[i] : 0;
        sum += d[k];
        product += d[k] * hat[k];
    }
    float mean = fleet_warp_sum(sum) / (float)shape.dim;
    float along = fleet_warp_sum(product) / (float)shape.dim;
    for (int k = 0; k < S / 32; k++) {
        int i = 32 * k + threadIdx.x % 32;
        d[k] = i < shape.dim ? (d[k] - mean - hat[k] * along) * scale : 0;
    }
}

static __device__ __forceinline__ void fleet_gelu(float x, float *value, float *slope) {
    float below = normcdff(x);
    *value = x * below;
    *slope = below + x * 0.39894228f * expf(-0.5f * x * x);
}

/* Loss and verdict of a row with these logits; slope is that of the mean loss of the samples. The
 * label is that of the training set, or of the fresh sample. */
static __device__ __forceinline__ void fleet_judge_logits(const fleet_work &work, int64_t place,
                                                          int label, int samples,
                                                          const float logits[2], bool training,
                                                          bool writes, float slope[2]) {
    double z = (double)logits[1 - label] - (double)logits[label], small = exp(-fabs(z));
    double other = z > 0 ? 1 / (1 + small) : small / (1 + small);
    slope[label] = (float)(-other / samples);
    slope[1 - label] = (float)(other / samples);
    if (writes) {
        work.right[place] = (logits[1] > logits[0]) == (label == 1);
        if (training) {
            work.loss[place] = (z > 0 ? z : 0) + log1p(small);
            work.d_logits[2 * place] = slope[0];
            work.d_logits[2 * place + 1] = slope[1];
        }
    }
}

static __device__ __forceinline__ int fleet_label(const fleet_shape &shape, const fleet_work &work,
                                                  const fleet_one &one, int64_t place, int sample,
                                                  bool training) {
    return training ? work.label[(int64_t)one.slot * shape.samples + sample]
                    : work.drawn_label[place];
}

#endif
