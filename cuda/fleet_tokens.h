/* Tokens of a transformer as the attention of a fleet has them, and what both of its ways share.
 *
 * A warp has FLEET_SHARE = 16 tokens in hand, 2 g and 2 g + 1 with lane 4 g + t. Of a token, lane t
 * of the four has the numbers 16 k + 4 t + i with i < 4: number 4 k + i of its own. So four draws
 * of dropout are all that a lane needs, and a mean takes two exchanges. */
#ifndef WATTLE_CUDA_FLEET_TOKENS_H
#define WATTLE_CUDA_FLEET_TOKENS_H

#include "fleet.h"
#include "fleet_random.h"
#include "fleet_tensor.h"

template <int S> struct fleet_sizes {
    enum {
        warps = FLEET_TILE / FLEET_SHARE,
        threads = 32 * warps,
        mine = S / 4,                /* numbers of a token that a lane has */
        blocks = S / 16,             /* of 16 numbers of a token */
        words = S / 32,              /* of draws that a token needs from a lane */
        masks = S < 64 ? 1 : S / 64, /* words of a lane's masks */
        wide = S + 8,                /* floats of a row in shared memory: rows r to r + 3 lie in
                                      * different banks */
        scratch = FLEET_SHARE * wide /* floats of a warp's own */
    };
};

static __device__ __forceinline__ float fleet_sum_4(float x) {
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

static __device__ __forceinline__ float fleet_most_4(float x) {
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

/* Draws of 16 bits are below `keep` of 65,536: the lower and the upper half of a word. */
static __device__ __forceinline__ bool fleet_keeps(uint32_t word, bool upper, uint32_t keep) {
    return (upper ? word : word << 16) <= (keep << 16) - 1; /* all ones for 65,536 */
}

/* Rows of tokens in a warp's scratch. Lanes that write token 2 g, or read tokens 4 t + j, reach
 * different banks. */
static __device__ __forceinline__ int fleet_scratch_row(int token) {
    int j = token % 4;
    return 4 * j + (token / 4 + (j & 2)) % 4;
}

/* A lane's numbers of its two tokens, to where any lane may read them. */
template <int S>
static __device__ __forceinline__ void fleet_share_tokens(const float hat[2][S / 4],
                                                          float *scratch) {
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int one = 0; one < 2; one++) {
        float *row = scratch + fleet_scratch_row(2 * g + one) * fleet_sizes<S>::wide + 4 * t;
#pragma unroll
        for (int k = 0; k < S / 16; k++)
            *(float4 *)(row + 16 * k) = make_float4(hat[one][4 * k], hat[one][4 * k + 1],
                                                    hat[one][4 * k + 2], hat[one][4 * k + 3]);
    }
}

/* sum (16 heads, S) += w (16 heads, 16 tokens) hat. A lane has heads g and g + 8 of the tokens
 * 4 t + j, and of the sum its heads' numbers 32 part + 8 t + 4 half + c: sum[part][c][half], and
 * sum[part][c][2 + half] of head g + 8. */
template <int S>
static __device__ __forceinline__ void fleet_gather(const float w[2][4], const float *scratch,
                                                    float sum[S / 32][4][4]) {
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int two = 0; two < 4; two += 2) {
        tensor_left weights(w[0][two], w[1][two], w[0][two + 1], w[1][two + 1]);
        const float *row = scratch + fleet_scratch_row(4 * t + two) * fleet_sizes<S>::wide + 4 * g;
        const float *next =
            scratch + fleet_scratch_row(4 * t + two + 1) * fleet_sizes<S>::wide + 4 * g;
#pragma unroll
        for (int part = 0; part < S / 32; part++) {
            float4 x = *(const float4 *)(row + 32 * part), y = *(const float4 *)(next + 32 * part);
            tensor_multiply(sum[part][0], sum[part][0], weights, tensor_right(x.x, y.x));
            tensor_multiply(sum[part][1], sum[part][1], weights, tensor_right(x.y, y.y));
            tensor_multiply(sum[part][2], sum[part][2], weights, tensor_right(x.z, y.z));
            tensor_multiply(sum[part][3], sum[part][3], weights, tensor_right(x.w, y.w));
        }
    }
}

/* The same sum, as (16, S) to a warp's scratch. */
template <int S>
static __device__ __forceinline__ void fleet_put_heads(const float sum[S / 32][4][4],
                                                       float *scratch) {
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int part = 0; part < S / 32; part++)
#pragma unroll
        for (int place = 0; place < 4; place++) {
            int head = g + place / 2 * 8, half = place % 2;
            *(float4 *)(scratch + head * S + 32 * part + 8 * t + 4 * half) = make_float4(
                sum[part][0][place], sum[part][1][place], sum[part][2][place], sum[part][3][place]);
        }
}

/* ---- what the way back reads of the way there ---- */

/* Shares of tokens, numbered through all samples of a network. */
static __device__ __forceinline__ int64_t fleet_share_of(const fleet_shape &shape, int64_t row,
                                                         int first) {
    return row * shape.tiles * (FLEET_TILE / FLEET_SHARE) + first / FLEET_SHARE;
}

#endif
