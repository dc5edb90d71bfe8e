/* Attention of the [CLS] row with heads absorbed, as transformer_fast.h has it: scores are <u_h,
 * hat_t>, values are summed as z_h = sum_t a_t hat_t, and no key or value is formed. FLEET_TILE
 * tokens at a time; tokens are formed anew on the way back, from the masks, means and scales kept.
 *
 * Shared memory has rows of S + 8 floats: threads that read 16 bytes of neighbouring rows then
 * reach different banks. What the next tile or sample needs is on its way while the one in hand is
 * worked on: into registers where it is little, else into shared memory that is free by then. */
#include <cuda_pipeline.h>

#include "fleet.h"
#include "fleet_random.h"

enum { TOK_EMB, POS_EMB }; /* tensors */
enum { WEIGHTS = 16 };     /* floats of a row of weights: one a head */

template <int S> struct sizes {
    enum {
        threads = 2 * S,
        ld = S + 8,
        groups = S / 16,      /* of 16 numbers of a token */
        at_once = 128 / S,    /* tokens whose masks one draw fills */
        halves = threads / 16 /* half-warps */
    };
};

static __device__ __forceinline__ float sum_16(float x) {
    for (int step = 8; step > 0; step /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

/* The places and bits of a tile, as a half-warp has them: number 16 k + lane of its tokens. */
template <int S> struct raw_tile {
    enum { turns = FLEET_TILE / (sizes<S>::halves * sizes<S>::at_once) };
    float place[turns][sizes<S>::at_once][S / 16];
    uint8_t bit[turns][sizes<S>::at_once];
};

template <int S>
static __device__ __forceinline__ void load_tile(const fleet_shape &shape, const float *places,
                                                 const uint8_t *bits, int first, raw_tile<S> *to) {
    int lane = threadIdx.x % 16, half = threadIdx.x / 16;
#pragma unroll
    for (int turn = 0; turn < raw_tile<S>::turns; turn++)
#pragma unroll
        for (int j = 0; j < sizes<S>::at_once; j++) {
            int t = first + (turn * sizes<S>::halves + half) * sizes<S>::at_once + j;
            to->bit[turn][j] = t < shape.length ? bits[t] : 2;
#pragma unroll
            for (int k = 0; k < S / 16; k++) {
                int i = 16 * k + lane;
                bool live = t < shape.n && i < shape.dim;
                to->place[turn][j][k] = live ? places[(int64_t)t * shape.dim + i] : 0;
            }
        }
}

/* Forms the tile's tokens with fresh masks, and keeps what the way back needs. */
template <int S>
static __device__ __forceinline__ void
embed(const fleet_shape &shape, const fleet_work &work, const fleet_one &one, int64_t row,
      int sample, int first, const raw_tile<S> &raw, const float *symbols, float *hat) {
    int lane = threadIdx.x % 16, half = threadIdx.x / 16;
    uint32_t keep = shape.keep[DROP_TOKENS];
    float inverse = 1.0f / (float)shape.dim, by = shape.scale[DROP_TOKENS];
#pragma unroll
    for (int turn = 0; turn < raw_tile<S>::turns; turn++) {
        int at = (turn * sizes<S>::halves + half) * sizes<S>::at_once;
        uint4 word = make_uint4(0, 0, 0, 0);
        if (keep < FLEET_KEEP_ALL) {
            uint32_t batch = (uint32_t)(first + at) * (S / 2) / 64;
            word = philox_32(one.key, batch * 16 + lane, (uint32_t)sample, DROP_TOKENS);
        }
        const uint32_t words[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
        for (int j = 0; j < sizes<S>::at_once; j++) {
            int t = first + at + j;
            float x[S / 16], sum = 0, square = 0;
            bool live = t < shape.n;
#pragma unroll
            for (int k = 0; k < S / 16; k++) {
                uint32_t draw = words[j * (S / 32) + k / 2] >> (k % 2 * 16) & 0xffffu;
                bool kept = draw < keep;
                uint32_t both = __ballot_sync(0xffffffffu, kept);
                if (lane == 0 && live) {
                    uint16_t mask = (uint16_t)(threadIdx.x % 32 == 0 ? both & 0xffffu : both >> 16);
                    work.mask[(row * shape.n + t) * (S / 16) + k] = mask;
                }
                float value = symbols[raw.bit[turn][j] * S + 16 * k + lane] + raw.place[turn][j][k];
                x[k] = live && kept ? value * by : 0;
                sum += x[k];
            }
            float mean = sum_16(sum) * inverse;
#pragma unroll
            for (int k = 0; k < S / 16; k++) {
                x[k] = live && 16 * k + lane < shape.dim ? x[k] - mean : 0;
                square += x[k] * x[k];
            }
            float variance = sum_16(square) * inverse + 1e-5f;
            float scale = variance <= 3.4e38f ? 1 / sqrtf(variance) : NAN;
#pragma unroll
            for (int k = 0; k < S / 16; k++)
                hat[(at + j) * sizes<S>::ld + 16 * k + lane] = live ? x[k] * scale : 0;
            if (lane == 0 && live)
                work.token[row * shape.n + t] = make_float2(mean, scale);
        }
    }
}

/* What is kept of a token of the tile, a token a thread of the first 64. */
template <int S> struct kept_token {
    float2 norm; /* mean and scale */
    uint32_t mask[S / 32];
    uint8_t bit; /* 0, 1, 2 for [CLS] */
};

template <int S>
static __device__ __forceinline__ void load_kept(const fleet_shape &shape, const fleet_work &work,
                                                 const fleet_one &one, int64_t row, int sample,
                                                 int first, kept_token<S> *to) {
    int t = first + threadIdx.x;
    if (threadIdx.x >= FLEET_TILE || t >= shape.n)
        return;
    const uint8_t *bits = work.bit + ((int64_t)one.slot * shape.samples + sample) * shape.length;
    const uint32_t *mask = (const uint32_t *)(work.mask + (row * shape.n + t) * (S / 16));
    to->norm = work.token[row * shape.n + t];
    to->bit = t < shape.length ? bits[t] : 2;
#pragma unroll
    for (int k = 0; k < S / 32; k++)
        to->mask[k] = mask[k];
}

/* The same tokens from what was kept, a warp a token. */
template <int S>
static __device__ __forceinline__ void
embed_again(const fleet_shape &shape, const float *places, const float *symbols, const float2 *norm,
            const uint32_t *mask, const uint8_t *bit, float *hat) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float by = shape.scale[DROP_TOKENS];
#pragma unroll 4
    for (int at = warp; at < FLEET_TILE; at += sizes<S>::threads / 32)
#pragma unroll
        for (int k = 0; k < S / 32; k++) {
            int i = 32 * k + lane;
            float value = (symbols[bit[at] * S + i] + places[at * S + i]) * by;
            value = mask[at * (S / 32) + k] >> lane & 1 ? value : 0;
            hat[at * sizes<S>::ld + i] = i < shape.dim ? (value - norm[at].x) * norm[at].y : 0;
        }
}

/* out (TILE, WEIGHTS) = hat (TILE, S) m (16, S)^T: four tokens by four heads a thread, neighbouring
 * threads share the numbers of a token. */
template <int S> static __device__ void project(const float *hat, const float *m, float *out) {
    enum { split = S / 32, ld = sizes<S>::ld };
    int part = threadIdx.x % split, tile = threadIdx.x / split;
    int head = tile % 4, token = tile / 4 % 4 + tile / 16 * 16; /* and 4, 8, 12 further */
    float sum[4][4] = {};
#pragma unroll 2
    for (int i = part * 4; i < S; i += 4 * split) {
        float4 a[4], b[4];
#pragma unroll
        for (int r = 0; r < 4; r++) {
            a[r] = *(const float4 *)(hat + (token + 4 * r) * ld + i);
            b[r] = *(const float4 *)(m + (head + 4 * r) * ld + i);
        }
#pragma unroll
        for (int r = 0; r < 4; r++)
#pragma unroll
            for (int c = 0; c < 4; c++)
                sum[r][c] += a[r].x * b[c].x + a[r].y * b[c].y + a[r].z * b[c].z + a[r].w * b[c].w;
    }
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < 4; c++) {
            for (int step = 1; step < split; step *= 2)
                sum[r][c] += __shfl_xor_sync(0xffffffffu, sum[r][c], step);
            if (part == 0)
                out[(token + 4 * r) * WEIGHTS + head + 4 * c] = sum[r][c];
        }
}

/* sum (8 heads, 4 numbers) += w (TILE, WEIGHTS)^T hat, for a quarter of the tokens. */
template <int S>
static __device__ __forceinline__ void gather(const float *w, const float *hat, float sum[8][4]) {
    int i = threadIdx.x % (S / 4) * 4, head = threadIdx.x / (S / 4) % 2 * 8;
    int part = threadIdx.x / (S / 2);
#pragma unroll 2
    for (int t = part * 16; t < part * 16 + 16; t++) {
        float4 x = *(const float4 *)(hat + t * sizes<S>::ld + i);
        float4 low = *(const float4 *)(w + t * WEIGHTS + head);
        float4 high = *(const float4 *)(w + t * WEIGHTS + head + 4);
        const float weight[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
        for (int h = 0; h < 8; h++) {
            sum[h][0] += weight[h] * x.x;
            sum[h][1] += weight[h] * x.y;
            sum[h][2] += weight[h] * x.z;
            sum[h][3] += weight[h] * x.w;
        }
    }
}

/* Adds the four quarters up, in order: out (16, S) of one number a thread and turn, times by[h]. */
template <int S>
static __device__ void add_quarters(const float sum[8][4], float *scratch, const float *by,
                                    float *out) {
    int i = threadIdx.x % (S / 4) * 4, head = threadIdx.x / (S / 4) % 2 * 8;
    int part = threadIdx.x / (S / 2);
#pragma unroll
    for (int h = 0; h < 8; h++)
        *(float4 *)(scratch + (part * 16 + head + h) * S + i) =
            make_float4(sum[h][0], sum[h][1], sum[h][2], sum[h][3]);
    __syncthreads();
    for (int at = threadIdx.x; at < 16 * S; at += sizes<S>::threads) {
        float all =
            scratch[at] + scratch[16 * S + at] + scratch[32 * S + at] + scratch[48 * S + at];
        out[at] = by == NULL ? all : all * by[at / S];
    }
}

/* Draws for the weights of head `head` and the eight tokens from `first` on, a multiple of 8. */
static __device__ __forceinline__ void weight_draws(const fleet_shape &shape, const fleet_one &one,
                                                    int sample, int first, int head,
                                                    uint32_t words[4]) {
    uint4 x = make_uint4(0, 0, 0, 0);
    if (shape.keep[DROP_WEIGHTS] < FLEET_KEEP_ALL)
        x = philox_32(one.key, (uint32_t)(first / 8 * 16 + head), (uint32_t)sample, DROP_WEIGHTS);
    words[0] = x.x;
    words[1] = x.y;
    words[2] = x.z;
    words[3] = x.w;
}

/* (16, S) on its way into rows of `ld`; nothing where from is NULL. */
template <int S> static __device__ __forceinline__ void fetch_heads(const float *from, float *to) {
    for (int at = threadIdx.x * 4; at < 16 * S; at += 4 * sizes<S>::threads)
        __pipeline_memcpy_async(to + at / S * sizes<S>::ld + at % S, from + at, 16);
}

/* Scores of a tile, 0 past the last token. */
template <int S>
static __device__ __forceinline__ void fetch_scores(const fleet_shape &shape, const float *from,
                                                    int first, float *to) {
    for (int at = threadIdx.x * 4; at < FLEET_TILE * WEIGHTS; at += 4 * sizes<S>::threads) {
        bool live = first + at / WEIGHTS < shape.n;
        __pipeline_memcpy_async(to + at, from + (live ? at : 0), 16, live ? 0 : 16);
    }
}

template <int S>
static __device__ __forceinline__ void load_symbols(const fleet_shape &shape, const float *p,
                                                    float *to) {
    for (int at = threadIdx.x; at < 3 * S; at += sizes<S>::threads)
        to[at] = at % S < shape.dim ? p[shape.offset[TOK_EMB] + at / S * shape.dim + at % S] : 0;
}

/* Shared memory of the way there. */
template <int S> struct room_there {
    float hat[FLEET_TILE * sizes<S>::ld], u[16 * sizes<S>::ld], w[FLEET_TILE * WEIGHTS];
    float top[8 * 16], factor[16], symbols[3 * S];
};

/* A block a sample: from u to z, with a softmax that goes along. */
template <int S>
static __global__ void __launch_bounds__(2 * S, S < 128 ? 4 : 2)
    attend(const fleet_shape shape, const fleet_work work) {
    extern __shared__ float4 memory[];
    room_there<S> &room = *(room_there<S> *)memory;
    float *hat = room.hat, *u = room.u, *w = room.w, *top = room.top, *factor = room.factor;
    const fleet_one one = work.ones[blockIdx.y];
    int sample = blockIdx.x;
    int64_t row = (int64_t)blockIdx.y * shape.samples + sample;
    int head = threadIdx.x % 16;
    float sum[8][4] = {}, most = -INFINITY, all = 0, left = 0;
    if (sample >= one.samples)
        return;
    const float *p = work.parameters + one.slot * shape.size, *places = p + shape.offset[POS_EMB];
    const uint8_t *bits = work.bit + ((int64_t)one.slot * shape.samples + sample) * shape.length;
    raw_tile<S> raw;
    load_tile<S>(shape, places, bits, 0, &raw);
    fetch_heads<S>(work.query + row * 16 * S, u);
    load_symbols<S>(shape, p, room.symbols);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int first = 0; first < shape.n; first += FLEET_TILE) {
        embed<S>(shape, work, one, row, sample, first, raw, room.symbols, hat);
        __syncthreads();
        project<S>(hat, u, w);
        __syncthreads();
        load_tile<S>(shape, places, bits, first + FLEET_TILE, &raw);
        for (int eight = threadIdx.x / 16; eight < 8; eight += sizes<S>::halves) {
            float high = -INFINITY;
            for (int r = 0; r < 8; r++) {
                int at = eight * 8 + r, t = first + at;
                float score = w[at * WEIGHTS + head];
                if (t < shape.n) {
                    work.scores[(row * shape.n + t) * 16 + head] = score;
                    high = fmaxf(high, score);
                }
            }
            top[eight * 16 + head] = high;
        }
        __syncthreads();
        float before = most;
        for (int eight = 0; eight < 8; eight++)
            most = fmaxf(most, top[eight * 16 + head]);
        float by = expf(before - most);
        all *= by;
        left *= by;
        if (threadIdx.x < 16)
            factor[head] = by;
        for (int eight = threadIdx.x / 16; eight < 8; eight += sizes<S>::halves) {
            uint32_t words[4];
            weight_draws(shape, one, sample, first + eight * 8, head, words);
#pragma unroll
            for (int r = 0; r < 8; r++) {
                int at = eight * 8 + r;
                float e = first + at < shape.n ? expf(w[at * WEIGHTS + head] - most) : 0;
                bool kept = (words[r / 2] >> (r % 2 * 16) & 0xffffu) < shape.keep[DROP_WEIGHTS];
                all += e;
                e = kept ? e : 0;
                left += e;
                w[at * WEIGHTS + head] = e;
            }
        }
        __syncthreads();
#pragma unroll
        for (int h = 0; h < 8; h++) {
            float f = factor[threadIdx.x / (S / 4) % 2 * 8 + h];
            for (int c = 0; c < 4; c++)
                sum[h][c] *= f;
        }
        gather<S>(w, hat, sum);
        __syncthreads();
    }
    /* the sums of the eights: those that this thread did not have are 0 */
    int eights = sizes<S>::halves < 8 ? sizes<S>::halves : 8;
    if (threadIdx.x < 128) {
        top[threadIdx.x] = all;
        w[threadIdx.x] = left;
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        float total = 0, kept = 0;
        for (int eight = 0; eight < eights; eight++) {
            total += top[eight * 16 + head];
            kept += w[eight * 16 + head];
        }
        float share = shape.scale[DROP_WEIGHTS] / total;
        factor[head] = share;
        work.total[row * 16 + head] = kept * share;
        work.most[row * 16 + head] = most;
        work.sum[row * 16 + head] = total;
    }
    __syncthreads();
    add_quarters<S>(sum, hat, factor, work.z + row * 16 * S);
}

/* Slopes of the weights: b in place of p, and d_s = b (p + more) - a mean in place of scores;
 * along_t is what the norm takes off along hat. */
template <int S>
static __device__ void soft_back(const fleet_shape &shape, const fleet_work &work,
                                 const fleet_one &one, int64_t row, int sample, int first, float *b,
                                 float *d_s, float *along) {
    int head = threadIdx.x % 16;
    float most = work.most[row * 16 + head], share = 1 / work.sum[row * 16 + head];
    float more = work.more[row * 16 + head], mean = work.mean[row * 16 + head];
    for (int eight = threadIdx.x / 16; eight < 8; eight += sizes<S>::halves) {
        uint32_t words[4];
        weight_draws(shape, one, sample, first + eight * 8, head, words);
#pragma unroll 1
        for (int two = 0; two < 4; two++) {
            uint32_t word = two == 0   ? words[0]
                            : two == 1 ? words[1]
                            : two == 2 ? words[2]
                                       : words[3];
#pragma unroll
            for (int r = 0; r < 2; r++) {
                int at = eight * 8 + two * 2 + r, t = first + at;
                bool live = t < shape.n;
                float score = d_s[at * WEIGHTS + head];
                float a = live ? expf(score - most) * share : 0, p = b[at * WEIGHTS + head];
                bool kept = (word >> (r * 16) & 0xffffu) < shape.keep[DROP_WEIGHTS];
                float left = kept ? a * shape.scale[DROP_WEIGHTS] : 0;
                float slope = left * (p + more) - a * mean;
                float product = sum_16(left * p + slope * score);
                b[at * WEIGHTS + head] = left;
                d_s[at * WEIGHTS + head] = slope;
                if (head == 0)
                    along[at] = product / (float)shape.dim;
            }
        }
    }
}

/* d_hat of eight tokens by four numbers, from b d_z + d_s u. */
template <int S>
static __device__ __forceinline__ void spread(const float *w, const float *m, float sum[8][4]) {
    int i = threadIdx.x % (S / 4) * 4, token = threadIdx.x / (S / 4) * 8;
#pragma unroll 1
    for (int h = 0; h < 16; h += 4) {
        float4 x[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            x[j] = *(const float4 *)(m + (h + j) * sizes<S>::ld + i);
#pragma unroll
        for (int r = 0; r < 8; r++) {
            float4 by = *(const float4 *)(w + (token + r) * WEIGHTS + h);
            sum[r][0] += by.x * x[0].x + by.y * x[1].x + by.z * x[2].x + by.w * x[3].x;
            sum[r][1] += by.x * x[0].y + by.y * x[1].y + by.z * x[2].y + by.w * x[3].y;
            sum[r][2] += by.x * x[0].z + by.y * x[1].z + by.z * x[2].z + by.w * x[3].z;
            sum[r][3] += by.x * x[0].w + by.y * x[1].w + by.z * x[2].w + by.w * x[3].w;
        }
    }
}

/* Shared memory of the way back. */
template <int S> struct room_back {
    float hat[FLEET_TILE * sizes<S>::ld], places[FLEET_TILE * S], u[16 * sizes<S>::ld],
        d_z[16 * sizes<S>::ld];
    float b[FLEET_TILE * WEIGHTS], d_s[FLEET_TILE * WEIGHTS], along[FLEET_TILE], symbols[3 * S];
    float2 norm[FLEET_TILE];
    uint32_t mask[FLEET_TILE * (S / 32)];
    uint8_t bit[FLEET_TILE];
};

/* Eight tokens by four numbers of d_x, added to those of the places and the symbols. */
template <int S>
static __device__ __forceinline__ void add_places(const room_back<S> &room, float sum[8][4],
                                                  float place[8][4], float ones[4]) {
    int i = threadIdx.x % (S / 4) * 4, token = threadIdx.x / (S / 4) * 8;
#pragma unroll
    for (int r = 0; r < 8; r++) {
        float4 x = *(const float4 *)(room.hat + (token + r) * sizes<S>::ld + i);
        const float h[4] = {x.x, x.y, x.z, x.w};
        uint32_t kept = room.mask[(token + r) * (S / 32) + i / 32] >> i % 32;
        float along = room.along[token + r], scale = room.norm[token + r].y;
        int which = room.bit[token + r];
#pragma unroll
        for (int c = 0; c < 4; c++) {
            float value = kept >> c & 1 ? (sum[r][c] - h[c] * along) * scale : 0;
            place[r][c] += value;
            ones[c] += which == 1 ? value : 0;
            sum[r][c] = 0;
        }
    }
}

template <int S>
static __device__ __forceinline__ void store_kept(const kept_token<S> &from, room_back<S> *room) {
    if (threadIdx.x >= FLEET_TILE)
        return;
    room->norm[threadIdx.x] = from.norm;
    room->bit[threadIdx.x] = from.bit;
#pragma unroll
    for (int k = 0; k < S / 32; k++)
        room->mask[threadIdx.x * (S / 32) + k] = from.mask[k];
}

/* Sums of the segment: the places of the tile, and its symbols. What is not of a one is of a zero,
 * but for [CLS]. */
template <int S>
static __device__ void store_places(const fleet_shape &shape, const fleet_work &work, int first,
                                    int64_t part, const float place[8][4], const float ones[4],
                                    float *scratch) {
    int i = threadIdx.x % (S / 4) * 4, token = threadIdx.x / (S / 4) * 8;
    float zeros[4];
    for (int c = 0; c < 4; c++) {
        zeros[c] = -ones[c];
        for (int r = 0; r < 8; r++)
            zeros[c] += first + token + r < shape.length ? place[r][c] : 0;
    }
    for (int r = 0; r < 8; r++)
        *(float4 *)(work.d_places + (part * FLEET_TILE + token + r) * S + i) =
            make_float4(place[r][0], place[r][1], place[r][2], place[r][3]);
    *(float4 *)(scratch + token / 8 * 2 * S + i) =
        make_float4(zeros[0], zeros[1], zeros[2], zeros[3]);
    *(float4 *)(scratch + (token / 8 * 2 + 1) * S + i) =
        make_float4(ones[0], ones[1], ones[2], ones[3]);
    __syncthreads();
    for (int at = threadIdx.x; at < 2 * S; at += sizes<S>::threads) {
        float all = 0;
        for (int group = 0; group < 8; group++)
            all += scratch[group * 2 * S + at];
        work.d_symbols[part * 2 * S + at] = all;
    }
}

/* A block a tile of tokens and a segment of samples, one after the other: places add up in
 * registers, and every sample's part of d_u is written. */
template <int S>
static __global__ void __launch_bounds__(2 * S, S < 128 ? 4 : 2)
    attend_back(const fleet_shape shape, const fleet_work work) {
    extern __shared__ float4 memory[];
    room_back<S> &room = *(room_back<S> *)memory;
    const fleet_one one = work.ones[blockIdx.z];
    const float *p = work.parameters + one.slot * shape.size;
    int first = blockIdx.x * FLEET_TILE, begin = blockIdx.y * FLEET_SEGMENT;
    int end = begin + FLEET_SEGMENT < one.samples ? begin + FLEET_SEGMENT : one.samples;
    int64_t row = (int64_t)blockIdx.z * shape.samples + begin;
    float place[8][4] = {}, ones[4] = {};
    kept_token<S> token = {};
    if (begin >= one.samples)
        return;
    fetch_heads<S>(work.query + row * 16 * S, room.u);
    fetch_heads<S>(work.d_z + row * 16 * S, room.d_z);
    fetch_scores<S>(shape, work.scores + (row * shape.n + first) * 16, first, room.d_s);
    __pipeline_commit();
    load_kept<S>(shape, work, one, row, begin, first, &token);
    load_symbols<S>(shape, p, room.symbols);
    for (int at = threadIdx.x; at < FLEET_TILE * S; at += sizes<S>::threads) {
        bool live = first + at / S < shape.n && at % S < shape.dim;
        room.places[at] =
            live ? p[shape.offset[POS_EMB] + (int64_t)(first + at / S) * shape.dim + at % S] : 0;
    }
    for (int sample = begin; sample < end; sample++, row++) {
        bool more = sample + 1 < end;
        store_kept<S>(token, &room);
        __pipeline_wait_prior(0);
        __syncthreads();
        embed_again<S>(shape, room.places, room.symbols, room.norm, room.mask, room.bit, room.hat);
        __syncthreads();
        project<S>(room.hat, room.d_z, room.b);
        __syncthreads();
        soft_back<S>(shape, work, one, row, sample, first, room.b, room.d_s, room.along);
        __syncthreads();
        float sum[8][4] = {};
        spread<S>(room.b, room.d_z, sum);
        spread<S>(room.d_s, room.u, sum);
        add_places<S>(room, sum, place, ones);
        if (more)
            load_kept<S>(shape, work, one, row + 1, sample + 1, first, &token);
        gather<S>(room.d_s, room.hat, sum);
        __syncthreads();
        if (more) {
            fetch_heads<S>(work.query + (row + 1) * 16 * S, room.u);
            fetch_heads<S>(work.d_z + (row + 1) * 16 * S, room.d_z);
            fetch_scores<S>(shape, work.scores + ((row + 1) * shape.n + first) * 16, first,
                            room.d_s);
        }
        __pipeline_commit();
        add_quarters<S>(sum, room.hat, NULL,
                        work.parts + (row * shape.tiles + blockIdx.x) * 16 * S);
        __syncthreads();
    }
    int64_t part = ((int64_t)blockIdx.z * shape.segments + blockIdx.y) * shape.tiles + blockIdx.x;
    store_places<S>(shape, work, first, part, place, ones, room.hat);
}

template <int S> static void launch_attend(const fleet_call &call) {
    int bytes = (int)sizeof(room_there<S>);
    (void)cudaFuncSetAttribute(attend<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    attend<S><<<dim3((unsigned)call.most, (unsigned)call.count), 2 * S, bytes, call.stream>>>(
        call.shape, call.work);
}

template <int S> static void launch_back(const fleet_call &call) {
    int bytes = (int)sizeof(room_back<S>);
    unsigned segments = (unsigned)((call.most + FLEET_SEGMENT - 1) / FLEET_SEGMENT);
    (void)cudaFuncSetAttribute(attend_back<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    attend_back<S><<<dim3((unsigned)call.shape.tiles, segments, (unsigned)call.count), 2 * S, bytes,
                     call.stream>>>(call.shape, call.work);
}

void fleet_attend(const fleet_call &call) {
    call.shape.stride == 32   ? launch_attend<32>(call)
    : call.shape.stride == 64 ? launch_attend<64>(call)
                              : launch_attend<128>(call);
}

void fleet_attend_back(const fleet_call &call) {
    call.shape.stride == 32   ? launch_back<32>(call)
    : call.shape.stride == 64 ? launch_back<64>(call)
                              : launch_back<128>(call);
}
