/* Attention of the [CLS] row with heads absorbed, as transformer_fast.h has it: scores are <u_h,
 * hat_t>, values are summed as z_h = sum_t a_t hat_t, and no key or value is formed.
 *
 * A block a sample, and a warp 16 tokens at a time, by itself: it forms them, multiplies them with
 * all heads on the tensor units, and adds them up with a softmax that goes along. */
#include <math.h>

#include "fleet_tokens.h"

enum { TOK_EMB, POS_EMB }; /* tensors */

/* What a token can be, times the scale of dropout: row 2 t + bit, zeros behind the last. */
static __global__ void form_rows(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.y, S = shape.stride;
    const float *p = work.parameters + work.ones[b].slot * shape.size;
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t rows = (int64_t)2 * shape.tiles * FLEET_TILE;
    int r = (int)(at / S), i = (int)(at % S), t = r / 2;
    if (at >= rows * S)
        return;
    int symbol = t == shape.length ? 2 : r % 2;
    bool live = r < shape.table && i < shape.dim;
    work.rows_of[b * rows * S + at] =
        live ? (p[shape.offset[TOK_EMB] + symbol * shape.dim + i] +
                p[shape.offset[POS_EMB] + (int64_t)t * shape.dim + i]) *
                   shape.scale[DROP_TOKENS]
             : 0;
}

/* Words of the draws of a token's numbers 4 t + i + 16 k: k is the half of word k / 2. */
template <int S>
static __device__ __forceinline__ void token_draws(const fleet_one &one, int sample, int token,
                                                   int i, uint32_t words[2][S / 32]) {
    if constexpr (S == 128) {
#pragma unroll
        for (int next = 0; next < 2; next++) {
            uint4 x = philox_32(one.key, (uint32_t)((token + next) * 16 + i), (uint32_t)sample,
                                DROP_TOKENS);
            words[next][0] = x.x;
            words[next][1] = x.y;
            words[next][2] = x.z;
            words[next][3] = x.w;
        }
    } else if constexpr (S == 64) {
        uint4 x = philox_32(one.key, (uint32_t)(token / 2 * 16 + i), (uint32_t)sample, DROP_TOKENS);
        words[0][0] = x.x;
        words[0][1] = x.y;
        words[1][0] = x.z;
        words[1][1] = x.w;
    } else {
        uint4 x = philox_32(one.key, (uint32_t)(token / 4 * 16 + i), (uint32_t)sample, DROP_TOKENS);
        words[0][0] = token % 4 == 0 ? x.x : x.z;
        words[1][0] = token % 4 == 0 ? x.y : x.w;
    }
}

/* Shared memory of a block. */
template <int S> struct room_there {
    float scratch[fleet_sizes<S>::warps][fleet_sizes<S>::scratch];
    float u[16 * (S + 16)];
    float most[fleet_sizes<S>::warps][16], sum[fleet_sizes<S>::warps][16];
    float left[fleet_sizes<S>::warps][16];
};

/* Tokens `token` and the next, of which the lane has its part, with fresh masks; keeps what the way
 * back needs. WHOLE: no number is filled up. */
template <int S, bool WHOLE>
static __device__ __forceinline__ void
form_tokens(const fleet_shape &shape, const fleet_work &work, const fleet_one &one, int64_t row,
            int sample, int first, const float *rows, const int bit[2], float hat[2][S / 4]) {
    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, token = first + 2 * g;
    uint32_t keep = shape.keep[DROP_TOKENS], mask[fleet_sizes<S>::masks] = {};
#pragma unroll
    for (int next = 0; next < 2; next++)
#pragma unroll
        for (int k = 0; k < S / 16; k++) {
            float4 x = *(const float4 *)(rows + ((int64_t)2 * (token + next) + bit[next]) * S +
                                         16 * k + 4 * t);
            hat[next][4 * k] = x.x;
            hat[next][4 * k + 1] = x.y;
            hat[next][4 * k + 2] = x.z;
            hat[next][4 * k + 3] = x.w;
        }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint32_t words[2][S / 32];
        token_draws<S>(one, sample, token, 4 * t + i, words);
#pragma unroll
        for (int next = 0; next < 2; next++)
#pragma unroll
            for (int k = 0; k < S / 16; k++) {
                int at = next * (S / 4) + 4 * k + i;
                bool kept = fleet_keeps(words[next][k / 2], k % 2 == 1, keep);
                hat[next][4 * k + i] = kept ? hat[next][4 * k + i] : 0;
                mask[at / 32] |= kept ? 1u << at % 32 : 0;
            }
    }
    float inverse = 1.0f / (float)shape.dim, norm[2][2];
#pragma unroll
    for (int next = 0; next < 2; next++) {
        float sum = 0, square = 0;
#pragma unroll
        for (int e = 0; e < S / 4; e++)
            sum += hat[next][e];
        float mean = fleet_sum_4(sum) * inverse;
#pragma unroll
        for (int e = 0; e < S / 4; e++) {
            bool live = WHOLE || e / 4 * 16 + 4 * t + e % 4 < shape.dim;
            hat[next][e] = live ? hat[next][e] - mean : 0;
            square += hat[next][e] * hat[next][e];
        }
        float variance = fleet_sum_4(square) * inverse + 1e-5f;
        float scale = variance <= 3.4e38f ? 1 / sqrtf(variance) : NAN;
#pragma unroll
        for (int e = 0; e < S / 4; e++)
            hat[next][e] *= scale;
        norm[next][0] = mean;
        norm[next][1] = scale;
    }
    int64_t share = fleet_share_of(shape, row, first);
    if (t == 0)
        *(float4 *)(work.token + share * FLEET_SHARE + 2 * g) =
            make_float4(norm[0][0], norm[0][1], norm[1][0], norm[1][1]);
#pragma unroll
    for (int k = 0; k < fleet_sizes<S>::masks; k++)
        work.mask[(share * fleet_sizes<S>::masks + k) * 32 + lane] = mask[k];
}

/* Scores of heads g and g + 8 and the tokens 4 t + j. */
template <int S>
static __device__ __forceinline__ void multiply_heads(const float *u, const float hat[2][S / 4],
                                                      float score[2][4]) {
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    float sum[2][4] = {}, rest[2][4] = {}; /* of even tokens, of odd ones */
#pragma unroll
    for (int k = 0; k < S / 16; k++) {
        float4 x = *(const float4 *)(u + g * (S + 16) + 16 * k + 4 * t);
        float4 y = *(const float4 *)(u + (g + 8) * (S + 16) + 16 * k + 4 * t);
        tensor_left front(x.x, y.x, x.y, y.y), back(x.z, y.z, x.w, y.w);
#pragma unroll
        for (int next = 0; next < 2; next++) {
            tensor_multiply(sum[next], rest[next], front,
                            tensor_right(hat[next][4 * k], hat[next][4 * k + 1]));
            tensor_multiply(sum[next], rest[next], back,
                            tensor_right(hat[next][4 * k + 2], hat[next][4 * k + 3]));
        }
    }
#pragma unroll
    for (int head = 0; head < 2; head++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            score[head][j] = sum[j % 2][2 * head + j / 2] + rest[j % 2][2 * head + j / 2];
}

/* Words of the draws of heads g and g + 8 and tokens 4 t + j: half j % 2 of word j / 2. A draw is
 * of one head and eight tokens: two lanes share it. */
static __device__ __forceinline__ void weight_draws(const fleet_shape &shape, const fleet_one &one,
                                                    int sample, int first, uint32_t words[2][2]) {
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    bool odd = t % 2 == 1;
    uint4 x = make_uint4(0, 0, 0, 0);
    if (shape.keep[DROP_WEIGHTS] < FLEET_KEEP_ALL)
        x = philox_32(one.key, (uint32_t)((first / 8 + t / 2) * 16 + g + (odd ? 8 : 0)),
                      (uint32_t)sample, DROP_WEIGHTS);
    uint32_t low = __shfl_xor_sync(0xffffffffu, odd ? x.x : x.z, 1);
    uint32_t high = __shfl_xor_sync(0xffffffffu, odd ? x.y : x.w, 1);
    words[0][0] = odd ? low : x.x;
    words[0][1] = odd ? high : x.y;
    words[1][0] = odd ? x.z : low;
    words[1][1] = odd ? x.w : high;
}

/* What a warp knows of heads g and g + 8: sums of its lane's tokens, of the quad's largest score.
 */
struct running {
    float most[2], all[2], left[2];
};

/* Scores become weights over those of the largest score so far; by[] is for what was summed
 * before. */
static __device__ __forceinline__ void soften(const fleet_shape &shape, const fleet_one &one,
                                              int sample, int first, float score[2][4],
                                              running *so_far, float by[2]) {
    int t = threadIdx.x % 4, token = first + 4 * t;
    uint32_t words[2][2];
    weight_draws(shape, one, sample, first, words);
#pragma unroll
    for (int head = 0; head < 2; head++) {
        float high = -INFINITY, before = so_far->most[head];
#pragma unroll
        for (int j = 0; j < 4; j++)
            high = token + j < shape.n ? fmaxf(high, score[head][j]) : high;
        float most = fmaxf(before, fleet_most_4(high));
        by[head] = expf(before - most);
        float all = so_far->all[head] * by[head], left = so_far->left[head] * by[head];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float e = token + j < shape.n ? expf(score[head][j] - most) : 0;
            bool kept = fleet_keeps(words[head][j / 2], j % 2 == 1, shape.keep[DROP_WEIGHTS]);
            all += e;
            e = kept ? e : 0;
            left += e;
            score[head][j] = e;
        }
        so_far->most[head] = most;
        so_far->all[head] = all;
        so_far->left[head] = left;
    }
}

/* The sums of the warps, in order. */
template <int S>
static __device__ __forceinline__ void add_warps(const fleet_shape &shape, const fleet_work &work,
                                                 int64_t row, room_there<S> &room) {
    enum { warps = fleet_sizes<S>::warps };
    if (threadIdx.x < 16) {
        int head = threadIdx.x;
        float most = -INFINITY, total = 0, left = 0, by[warps];
        for (int warp = 0; warp < warps; warp++)
            most = fmaxf(most, room.most[warp][head]);
        for (int warp = 0; warp < warps; warp++) {
            by[warp] = expf(room.most[warp][head] - most);
            total += room.sum[warp][head] * by[warp];
            left += room.left[warp][head] * by[warp];
        }
        float share = shape.scale[DROP_WEIGHTS] / total;
        for (int warp = 0; warp < warps; warp++)
            room.left[warp][head] = by[warp] * share;
        work.total[row * 16 + head] = left * share;
        work.most[row * 16 + head] = most;
        work.sum[row * 16 + head] = total;
    }
    __syncthreads();
    for (int at = threadIdx.x; at < 16 * S; at += fleet_sizes<S>::threads) {
        float sum = 0;
        for (int warp = 0; warp < warps; warp++)
            sum += room.scratch[warp][at] * room.left[warp][at / S];
        work.z[row * 16 * S + at] = sum;
    }
}

/* A block a sample: from u to z. */
template <int S, bool WHOLE>
static __global__ void __launch_bounds__(fleet_sizes<S>::threads, S < 128 ? 4 : 2)
    attend(const fleet_shape shape, const fleet_work work) {
    extern __shared__ float4 memory[];
    room_there<S> &room = *(room_there<S> *)memory;
    const fleet_one one = work.ones[blockIdx.y];
    int sample = blockIdx.x, warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int64_t row = (int64_t)blockIdx.y * shape.samples + sample;
    if (sample >= one.samples)
        return;
    const uint8_t *bits = work.bit + ((int64_t)one.slot * shape.samples + sample) * shape.length;
    const float *rows = work.rows_of + (int64_t)blockIdx.y * 2 * shape.tiles * FLEET_TILE * S;
    float *scratch = room.scratch[warp], sum[S / 32][4][4] = {};
    running so_far = {{-INFINITY, -INFINITY}, {0, 0}, {0, 0}};
    for (int at = threadIdx.x * 4; at < 16 * S; at += 4 * fleet_sizes<S>::threads)
        *(float4 *)(room.u + at / S * (S + 16) + at % S) =
            *(const float4 *)(work.query + row * 16 * S + at);
    __syncthreads();
    int first = warp * FLEET_SHARE, bit[2];
    for (int next = 0; next < 2; next++)
        bit[next] = first + 2 * g + next < shape.length ? bits[first + 2 * g + next] : 0;
    for (; first < shape.n; first += FLEET_TILE) {
        float hat[2][S / 4], score[2][4], by[2];
        form_tokens<S, WHOLE>(shape, work, one, row, sample, first, rows, bit, hat);
        int ahead = first + FLEET_TILE + 2 * g;
        for (int next = 0; next < 2; next++)
            bit[next] = ahead + next < shape.length ? bits[ahead + next] : 0;
        multiply_heads<S>(room.u, hat, score);
        __syncwarp();
        fleet_share_tokens<S>(hat, scratch);
        float *kept = work.scores + fleet_share_of(shape, row, first) * 16 * FLEET_SHARE;
        for (int head = 0; head < 2; head++)
            *(float4 *)(kept + (g + 8 * head) * FLEET_SHARE + 4 * t) =
                make_float4(score[head][0], score[head][1], score[head][2], score[head][3]);
        soften(shape, one, sample, first, score, &so_far, by);
#pragma unroll
        for (int part = 0; part < S / 32; part++)
#pragma unroll
            for (int c = 0; c < 4; c++)
#pragma unroll
                for (int place = 0; place < 4; place++)
                    sum[part][c][place] *= by[place / 2];
        __syncwarp();
        fleet_gather<S>(score, scratch, sum);
    }
    __syncwarp();
    fleet_put_heads<S>(sum, scratch);
    for (int head = 0; head < 2; head++) {
        float all = fleet_sum_4(so_far.all[head]), left = fleet_sum_4(so_far.left[head]);
        if (t == 0) {
            room.most[warp][g + 8 * head] = so_far.most[head];
            room.sum[warp][g + 8 * head] = all;
            room.left[warp][g + 8 * head] = left;
        }
    }
    __syncthreads();
    add_warps<S>(shape, work, row, room);
}

template <int S, bool WHOLE> static void launch(const fleet_call &call) {
    int bytes = (int)sizeof(room_there<S>);
    (void)cudaFuncSetAttribute(attend<S, WHOLE>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               bytes);
    attend<S, WHOLE><<<dim3((unsigned)call.most, (unsigned)call.count), fleet_sizes<S>::threads,
                       bytes, call.stream>>>(call.shape, call.work);
}

template <int S> static void launch_of(const fleet_call &call) {
    call.shape.dim == S ? launch<S, true>(call) : launch<S, false>(call);
}

void fleet_attend(const fleet_call &call) {
    const fleet_shape &shape = call.shape;
    int64_t numbers = (int64_t)2 * shape.tiles * FLEET_TILE * shape.stride;
    form_rows<<<dim3((unsigned)((numbers + 255) / 256), (unsigned)call.count), 256, 0,
                call.stream>>>(shape, call.work);
    shape.stride == 32   ? launch_of<32>(call)
    : shape.stride == 64 ? launch_of<64>(call)
                         : launch_of<128>(call);
}
