/* The way back through fleet_attend.cu: from d_z to the slopes of places, symbols and u.
 *
 * A block has a tile of tokens and a segment of samples, one after the other; a warp has its 16
 * tokens throughout, so that slopes of places add up in registers. Tokens are formed anew, from the
 * masks, means and scales that were kept.
 *
 * A lane has of its two tokens the heads h(e, q) = (t + 2 e) % 4 + 4 e + 8 q for e, q < 2, at 2 q +
 * e: so rows of four lanes lie in different banks. */
#include <cuda_pipeline.h>
#include <math.h>

#include "fleet_tokens.h"

enum { SLOPES = 24 }; /* floats of a row of slopes: the tokens of a head */

/* Shared memory of a block. */
template <int S> struct room_back {
    float scratch[fleet_sizes<S>::warps][fleet_sizes<S>::scratch];
    float u[16 * fleet_sizes<S>::wide], d_z[16 * fleet_sizes<S>::wide];
    float slope[fleet_sizes<S>::warps][16 * SLOPES];
    float4 head[16]; /* largest score, 1 / sum, more, mean */
};

/* What was kept of a lane's two tokens. */
template <int S> struct kept_tokens {
    float4 norm; /* mean and scale of both */
    uint32_t mask[fleet_sizes<S>::masks];
    int bit[2];
};

static __device__ __forceinline__ int head_of(int e, int q) {
    return (threadIdx.x + 2 * e) % 4 + 4 * e + 8 * q;
}

template <int S>
static __device__ __forceinline__ kept_tokens<S>
load_kept(const fleet_shape &shape, const fleet_work &work, const fleet_one &one, int64_t row,
          int sample, int first) {
    int lane = threadIdx.x % 32, token = first + lane / 4 * 2;
    int64_t share = fleet_share_of(shape, row, first);
    const uint8_t *bits = work.bit + ((int64_t)one.slot * shape.samples + sample) * shape.length;
    kept_tokens<S> kept;
    kept.norm = *(const float4 *)(work.token + share * FLEET_SHARE + lane / 4 * 2);
#pragma unroll
    for (int k = 0; k < fleet_sizes<S>::masks; k++)
        kept.mask[k] = work.mask[(share * fleet_sizes<S>::masks + k) * 32 + lane];
#pragma unroll
    for (int next = 0; next < 2; next++)
        kept.bit[next] = token + next < shape.length ? bits[token + next] : 0;
    return kept;
}

template <int S>
static __device__ __forceinline__ bool is_kept(const kept_tokens<S> &kept, int next, int e) {
    int at = next * (S / 4) + e;
    return kept.mask[at / 32] >> at % 32 & 1;
}

/* The tokens from `first` on as form_tokens left them. */
template <int S, bool WHOLE>
static __device__ __forceinline__ void form_again(const fleet_shape &shape, const float *rows,
                                                  int first, const kept_tokens<S> &kept,
                                                  float hat[2][S / 4]) {
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int next = 0; next < 2; next++) {
        const float *from =
            rows + ((int64_t)2 * (first + 2 * g + next) + kept.bit[next]) * S + 4 * t;
        float mean = next == 0 ? kept.norm.x : kept.norm.z;
        float scale = next == 0 ? kept.norm.y : kept.norm.w;
#pragma unroll
        for (int k = 0; k < S / 16; k++) {
            float4 x = *(const float4 *)(from + 16 * k);
            const float four[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
                bool live = WHOLE || 16 * k + 4 * t + i < shape.dim;
                float value = is_kept<S>(kept, next, 4 * k + i) ? four[i] : 0;
                hat[next][4 * k + i] = live ? (value - mean) * scale : 0;
            }
        }
    }
}

/* p = <d_z, hat> of the lane's tokens and heads. */
template <int S>
static __device__ __forceinline__ void project(const float *d_z, const float hat[2][S / 4],
                                               float p[2][4]) {
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int head = (g / 2 + 2 * (g % 2)) % 4 + 4 * (g % 2);
    float sum[2][4] = {}, rest[2][4] = {};
#pragma unroll
    for (int k = 0; k < S / 16; k++) {
        tensor_left front(hat[0][4 * k], hat[1][4 * k], hat[0][4 * k + 1], hat[1][4 * k + 1]);
        tensor_left back(hat[0][4 * k + 2], hat[1][4 * k + 2], hat[0][4 * k + 3],
                         hat[1][4 * k + 3]);
#pragma unroll
        for (int q = 0; q < 2; q++) {
            float4 x =
                *(const float4 *)(d_z + (head + 8 * q) * fleet_sizes<S>::wide + 16 * k + 4 * t);
            tensor_multiply(sum[q], rest[q], front, tensor_right(x.x, x.y));
            tensor_multiply(sum[q], rest[q], back, tensor_right(x.z, x.w));
        }
    }
#pragma unroll
    for (int next = 0; next < 2; next++)
#pragma unroll
        for (int c = 0; c < 4; c++)
            p[next][c] = sum[c / 2][2 * next + c % 2] + rest[c / 2][2 * next + c % 2];
}

/* Words of the draws of the lane's heads and tokens: the lower half is of the first. Four lanes
 * share the draws of four heads and eight tokens. */
static __device__ __forceinline__ void weight_draws(const fleet_shape &shape, const fleet_one &one,
                                                    int sample, int first, uint32_t words[4]) {
    int g = threadIdx.x % 32 / 4, r = g % 4;
    uint4 x = make_uint4(0, 0, 0, 0);
    if (shape.keep[DROP_WEIGHTS] < FLEET_KEEP_ALL)
        x = philox_32(one.key, (uint32_t)((first / 8 + g / 4) * 16 + head_of(r % 2, r / 2)),
                      (uint32_t)sample, DROP_WEIGHTS);
    bool odd = r % 2 == 1, upper = r / 2 == 1;
    uint32_t a = __shfl_xor_sync(0xffffffffu, odd ? x.x : x.y, 4);
    uint32_t b = __shfl_xor_sync(0xffffffffu, odd ? x.z : x.w, 4);
    (odd ? x.x : x.y) = a;
    (odd ? x.z : x.w) = b;
    a = __shfl_xor_sync(0xffffffffu, upper ? x.x : x.z, 8);
    b = __shfl_xor_sync(0xffffffffu, upper ? x.y : x.w, 8);
    (upper ? x.x : x.z) = a;
    (upper ? x.y : x.w) = b;
    words[0] = x.x;
    words[1] = x.y;
    words[2] = x.z;
    words[3] = x.w;
}

/* Scores become slopes, and p the weights that are left; along[] is what the norm takes off along
 * hat. */
static __device__ __forceinline__ void soften_back(const fleet_shape &shape, const fleet_one &one,
                                                   const float4 *heads, int sample, int first,
                                                   float p[2][4], float score[2][4],
                                                   float along[2]) {
    int token = first + threadIdx.x % 32 / 4 * 2;
    float sum[2] = {0, 0};
    uint32_t words[4];
    weight_draws(shape, one, sample, first, words);
#pragma unroll
    for (int c = 0; c < 4; c++) {
        float4 head = heads[head_of(c % 2, c / 2)];
#pragma unroll
        for (int next = 0; next < 2; next++) {
            bool live = token + next < shape.n;
            bool kept = fleet_keeps(words[c], next == 1, shape.keep[DROP_WEIGHTS]);
            float a = live ? expf(score[next][c] - head.x) * head.y : 0;
            float left = kept ? a * shape.scale[DROP_WEIGHTS] : 0;
            float slope = left * (p[next][c] + head.z) - a * head.w;
            sum[next] += left * p[next][c] + slope * score[next][c];
            p[next][c] = left;
            score[next][c] = slope;
        }
    }
#pragma unroll
    for (int next = 0; next < 2; next++)
        along[next] = fleet_sum_4(sum[next]) / (float)shape.dim;
}

/* d_hat = left d_z + slope u, and what it adds to the slopes of places and of the symbol 1. */
template <int S>
static __device__ __forceinline__ void
add_places(const room_back<S> &room, const float left[2][4], const float slope[2][4],
           const kept_tokens<S> &kept, const float along[2], const float hat[2][S / 4],
           float place[2][S / 4], float ones[S / 4]) {
    int g = threadIdx.x % 32 / 4;
    const float one[2] = {kept.bit[0] == 1 ? kept.norm.y : 0, kept.bit[1] == 1 ? kept.norm.w : 0};
    const tensor_left weights[4] = {
        tensor_left(left[0][0], left[1][0], left[0][1], left[1][1]),
        tensor_left(left[0][2], left[1][2], left[0][3], left[1][3]),
        tensor_left(slope[0][0], slope[1][0], slope[0][1], slope[1][1]),
        tensor_left(slope[0][2], slope[1][2], slope[0][3], slope[1][3]),
    };
#pragma unroll
    for (int k = 0; k < S / 16; k++) {
        float sum[2][4] = {}, rest[2][4] = {}; /* of the even numbers, of the odd ones */
#pragma unroll
        for (int part = 0; part < 4; part++) {
            const float *m = (part < 2 ? room.d_z : room.u) + 16 * k + 2 * g;
            float2 x = *(const float2 *)(m + head_of(0, part % 2) * fleet_sizes<S>::wide);
            float2 y = *(const float2 *)(m + head_of(1, part % 2) * fleet_sizes<S>::wide);
            tensor_multiply(sum[0], rest[0], weights[part], tensor_right(x.x, y.x));
            tensor_multiply(sum[1], rest[1], weights[part], tensor_right(x.y, y.y));
        }
#pragma unroll
        for (int next = 0; next < 2; next++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int e = 4 * k + i;
                float scale = next == 0 ? kept.norm.y : kept.norm.w;
                float value = sum[i % 2][2 * next + i / 2] + rest[i % 2][2 * next + i / 2];
                value = is_kept<S>(kept, next, e) ? value - hat[next][e] * along[next] : 0;
                place[next][e] += value * scale;
                ones[e] += value * one[next];
            }
    }
}

/* The warp's part of d_u (16, S), to its scratch. */
template <int S>
static __device__ __forceinline__ void add_heads(const float slope[2][4], float *slopes,
                                                 const float hat[2][S / 4], float *scratch) {
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    float sum[S / 32][4][4] = {}, w[2][4];
    fleet_share_tokens<S>(hat, scratch);
#pragma unroll
    for (int c = 0; c < 4; c++)
        *(float2 *)(slopes + head_of(c % 2, c / 2) * SLOPES + 2 * g) =
            make_float2(slope[0][c], slope[1][c]);
    __syncwarp();
#pragma unroll
    for (int head = 0; head < 2; head++) {
        float4 x = *(const float4 *)(slopes + (g + 8 * head) * SLOPES + 4 * t);
        w[head][0] = x.x;
        w[head][1] = x.y;
        w[head][2] = x.z;
        w[head][3] = x.w;
    }
    fleet_gather<S>(w, scratch, sum);
    __syncwarp();
    fleet_put_heads<S>(sum, scratch);
}

/* u and d_z of a sample, on their way into rows of shared memory. */
template <int S>
static __device__ __forceinline__ void fetch_heads(const fleet_work &work, int64_t row,
                                                   room_back<S> *room) {
    for (int at = threadIdx.x * 4; at < 16 * S; at += 4 * fleet_sizes<S>::threads) {
        int to = at / S * fleet_sizes<S>::wide + at % S;
        __pipeline_memcpy_async(room->u + to, work.query + row * 16 * S + at, 16);
        __pipeline_memcpy_async(room->d_z + to, work.d_z + row * 16 * S + at, 16);
    }
    __pipeline_commit();
}

static __device__ __forceinline__ float4 load_head(const fleet_work &work, int64_t row) {
    int64_t at = row * 16 + threadIdx.x;
    return make_float4(work.most[at], 1 / work.sum[at], work.more[at], work.mean[at]);
}

/* Sums of the segment: the places of the tile, and its symbols. What is not of a one is of a zero,
 * but for [CLS]. */
template <int S>
static __device__ void store_places(const fleet_shape &shape, const fleet_work &work, int first,
                                    int64_t part, const float place[2][S / 4],
                                    const float ones[S / 4], room_back<S> &room) {
    enum { warps = fleet_sizes<S>::warps };
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    float *symbols = room.scratch[warp];
#pragma unroll
    for (int next = 0; next < 2; next++)
#pragma unroll
        for (int k = 0; k < S / 16; k++)
            *(float4 *)(work.d_places +
                        (part * FLEET_TILE + warp * FLEET_SHARE + 2 * g + next) * S + 16 * k +
                        4 * t) = make_float4(place[next][4 * k], place[next][4 * k + 1],
                                             place[next][4 * k + 2], place[next][4 * k + 3]);
#pragma unroll
    for (int e = 0; e < S / 4; e++) {
        float one = ones[e], zero = -one;
#pragma unroll
        for (int next = 0; next < 2; next++)
            zero += first + 2 * g + next < shape.length ? place[next][e] : 0;
#pragma unroll
        for (int step = 4; step < 32; step *= 2) {
            zero += __shfl_xor_sync(0xffffffffu, zero, step);
            one += __shfl_xor_sync(0xffffffffu, one, step);
        }
        if (g == 0) {
            symbols[e / 4 * 16 + 4 * t + e % 4] = zero;
            symbols[S + e / 4 * 16 + 4 * t + e % 4] = one;
        }
    }
    __syncthreads();
    for (int at = threadIdx.x; at < 2 * S; at += fleet_sizes<S>::threads) {
        float all = 0;
        for (int other = 0; other < warps; other++)
            all += room.scratch[other][at];
        work.d_symbols[part * 2 * S + at] = all;
    }
}

template <int S, bool WHOLE>
static __global__ void __launch_bounds__(fleet_sizes<S>::threads, S < 128 ? 3 : 2)
    attend_back(const fleet_shape shape, const fleet_work work) {
    extern __shared__ float4 memory[];
    room_back<S> &room = *(room_back<S> *)memory;
    const fleet_one one = work.ones[blockIdx.z];
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4;
    int tile = blockIdx.x * FLEET_TILE, first = tile + warp * FLEET_SHARE;
    int begin = blockIdx.y * FLEET_SEGMENT;
    int end = begin + FLEET_SEGMENT < one.samples ? begin + FLEET_SEGMENT : one.samples;
    int64_t row = (int64_t)blockIdx.z * shape.samples + begin;
    if (begin >= one.samples)
        return;
    const float *rows = work.rows_of + (int64_t)blockIdx.z * 2 * shape.tiles * FLEET_TILE * S;
    float place[2][S / 4] = {}, ones[S / 4] = {};
    bool works = first < shape.n;
    int sharers = (shape.n - tile + FLEET_SHARE - 1) / FLEET_SHARE; /* warps that have tokens */
    sharers = sharers < fleet_sizes<S>::warps ? sharers : fleet_sizes<S>::warps;
    kept_tokens<S> kept = {};
    if (works)
        kept = load_kept<S>(shape, work, one, row, begin, first);
    if (threadIdx.x < 16)
        room.head[threadIdx.x] = load_head(work, row);
    fetch_heads<S>(work, row, &room);
    for (int sample = begin; sample < end; sample++, row++) {
        bool more = sample + 1 < end;
        float hat[2][S / 4], p[2][4], slope[2][4], along[2];
        float4 head = make_float4(0, 0, 0, 0);
        if (threadIdx.x < 16 && more)
            head = load_head(work, row + 1);
        if (works) {
            const float *scores =
                work.scores + fleet_share_of(shape, row, first) * 16 * FLEET_SHARE;
#pragma unroll
            for (int c = 0; c < 4; c++) {
                float2 x = *(const float2 *)(scores + head_of(c % 2, c / 2) * FLEET_SHARE + 2 * g);
                slope[0][c] = x.x;
                slope[1][c] = x.y;
            }
            form_again<S, WHOLE>(shape, rows, first, kept, hat);
        }
        __pipeline_wait_prior(0);
        __syncthreads();
        if (works) {
            project<S>(room.d_z, hat, p);
            soften_back(shape, one, room.head, sample, first, p, slope, along);
            add_places<S>(room, p, slope, kept, along, hat, place, ones);
            if (more)
                kept = load_kept<S>(shape, work, one, row + 1, sample + 1, first);
            add_heads<S>(slope, room.slope[warp], hat, room.scratch[warp]);
        }
        __syncthreads();
        if (more)
            fetch_heads<S>(work, row + 1, &room);
        if (threadIdx.x < 16)
            room.head[threadIdx.x] = head;
        float *parts = work.parts + (row * shape.tiles + blockIdx.x) * 16 * S;
        for (int at = threadIdx.x * 4; at < 16 * S; at += 4 * fleet_sizes<S>::threads) {
            float4 sum = *(const float4 *)(room.scratch[0] + at);
            for (int other = 1; other < sharers; other++) {
                float4 x = *(const float4 *)(room.scratch[other] + at);
                sum = make_float4(sum.x + x.x, sum.y + x.y, sum.z + x.z, sum.w + x.w);
            }
            *(float4 *)(parts + at) = sum;
        }
    }
    __syncthreads();
    int64_t part = ((int64_t)blockIdx.z * shape.segments + blockIdx.y) * shape.tiles + blockIdx.x;
    store_places<S>(shape, work, first, part, place, ones, room);
}

template <int S, bool WHOLE> static void launch(const fleet_call &call) {
    int bytes = (int)sizeof(room_back<S>);
    unsigned segments = (unsigned)((call.most + FLEET_SEGMENT - 1) / FLEET_SEGMENT);
    (void)cudaFuncSetAttribute(attend_back<S, WHOLE>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               bytes);
    attend_back<S, WHOLE><<<dim3((unsigned)call.shape.tiles, segments, (unsigned)call.count),
                            fleet_sizes<S>::threads, bytes, call.stream>>>(call.shape, call.work);
}

template <int S> static void launch_of(const fleet_call &call) {
    call.shape.dim == S ? launch<S, true>(call) : launch<S, false>(call);
}

void fleet_attend_back(const fleet_call &call) {
    call.shape.stride == 32   ? launch_of<32>(call)
    : call.shape.stride == 64 ? launch_of<64>(call)
                              : launch_of<128>(call);
}
