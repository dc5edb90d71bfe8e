/* Attention of the [CLS] row with heads absorbed, as transformer_fast.h has it: scores are <u_h,
 * hat_t>, values are summed as z_h = sum_t a_t hat_t, and no key or value is formed. FLEET_TILE
 * tokens at a time; tokens are formed anew on the way back, from the masks, means and scales kept.
 *
 * Shared memory has rows of S + 8 floats: threads that read 16 bytes of neighbouring rows then
 * reach different banks. */
#include "fleet.h"
#include "fleet_random.h"

enum { TOK_EMB, POS_EMB }; /* tensors */
enum { WEIGHTS = 20 };     /* floats of a row of weights: 16 heads, and banks kept apart */

template <int S> struct sizes {
    enum {
        threads = 2 * S,
        ld = S + 8,
        groups = S / 16,      /* of 16 numbers of a token */
        at_once = 128 / S,    /* tokens whose masks one draw fills */
        halves = threads / 16 /* half-warps */
    };
};

/* What a block holds of its tokens. */
template <int S> struct tokens {
    float *hat;     /* (TILE, ld) */
    uint8_t *bit;   /* (TILE) 0, 1, 2 for [CLS] */
    uint16_t *mask; /* (TILE, groups) */
    float *scale;   /* (TILE) */
};

static __device__ __forceinline__ float sum_16(float x) {
    for (int step = 8; step > 0; step /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

/* The numbers of token t that lie with this lane: symbol and place, times the scale of dropout. */
template <int S>
static __device__ __forceinline__ void load_token(const fleet_shape &shape, const float *p, int t,
                                                  int bit, int lane, float x[S / 16]) {
    const float *symbol = p + shape.offset[TOK_EMB] + bit * shape.dim;
    const float *place = p + shape.offset[POS_EMB] + (int64_t)t * shape.dim;
    for (int k = 0; k < S / 16; k++) {
        int i = 16 * k + lane;
        x[k] = i < shape.dim ? (symbol[i] + place[i]) * shape.scale[DROP_TOKENS] : 0;
    }
}

/* Forms the tile's tokens with fresh masks, and keeps what the way back needs. */
template <int S>
static __device__ void embed(const fleet_shape &shape, const fleet_work &work, const fleet_one &one,
                             int64_t row, int sample, int first, const tokens<S> &to) {
    const float *p = work.parameters + one.slot * shape.size;
    const uint8_t *bits = work.bit + ((int64_t)one.slot * shape.samples + sample) * shape.length;
    int lane = threadIdx.x % 16, half = threadIdx.x / 16;
    uint32_t keep = shape.keep[DROP_TOKENS];
    float inverse = 1.0f / (float)shape.dim;
    for (int at = half * sizes<S>::at_once; at < FLEET_TILE;
         at += sizes<S>::halves * sizes<S>::at_once) {
        uint4 word = make_uint4(0, 0, 0, 0);
        if (keep < FLEET_KEEP_ALL) {
            uint32_t batch = (uint32_t)(first + at) * (S / 2) / 64;
            word = philox_32(one.key, batch * 16 + lane, (uint32_t)sample, DROP_TOKENS);
        }
        const uint32_t words[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
        for (int j = 0; j < sizes<S>::at_once; j++) {
            int t = first + at + j, bit = t < shape.length ? bits[t] : 2;
            float x[S / 16], sum = 0, square = 0;
            bool live = t < shape.n;
            if (live)
                load_token<S>(shape, p, t, bit, lane, x);
#pragma unroll
            for (int k = 0; k < S / 16; k++) {
                uint32_t draw = words[j * (S / 32) + k / 2] >> (k % 2 * 16) & 0xffffu;
                bool kept = draw < keep;
                uint32_t both = __ballot_sync(0xffffffffu, kept);
                if (lane == 0 && live) {
                    uint16_t mask = (uint16_t)(threadIdx.x % 32 == 0 ? both & 0xffffu : both >> 16);
                    work.mask[(row * shape.n + t) * (S / 16) + k] = mask;
                }
                x[k] = live && kept ? x[k] : 0;
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
                to.hat[(at + j) * sizes<S>::ld + 16 * k + lane] = live ? x[k] * scale : 0;
            if (lane == 0 && live)
                work.token[row * shape.n + t] = make_float2(mean, scale);
        }
    }
}

/* The same tokens from what was kept. */
template <int S>
static __device__ void embed_again(const fleet_shape &shape, const fleet_work &work,
                                   const fleet_one &one, int64_t row, int sample, int first,
                                   const tokens<S> &to) {
    const float *p = work.parameters + one.slot * shape.size;
    const uint8_t *bits = work.bit + ((int64_t)one.slot * shape.samples + sample) * shape.length;
    int lane = threadIdx.x % 16, half = threadIdx.x / 16;
    for (int at = half; at < FLEET_TILE; at += sizes<S>::halves) {
        int t = first + at, bit = t < shape.length ? bits[t] : 2;
        float x[S / 16];
        float2 token = make_float2(0, 0);
        const uint16_t *mask = work.mask + (row * shape.n + t) * (S / 16);
        bool live = t < shape.n;
        if (live) {
            load_token<S>(shape, p, t, bit, lane, x);
            token = work.token[row * shape.n + t];
        }
#pragma unroll
        for (int k = 0; k < S / 16; k++) {
            uint32_t kept = live ? mask[k] : 0;
            float value = live && kept >> lane & 1 ? x[k] : 0;
            value = live && 16 * k + lane < shape.dim ? (value - token.x) * token.y : 0;
            to.hat[at * sizes<S>::ld + 16 * k + lane] = value;
            if (lane == 0)
                to.mask[at * (S / 16) + k] = (uint16_t)kept;
        }
        if (lane == 0) {
            to.bit[at] = (uint8_t)bit;
            to.scale[at] = token.y;
        }
    }
}

/* out (TILE, WEIGHTS) = hat (TILE, S) m (16, S)^T: four tokens by four heads a thread, neighbouring
 * threads share the numbers of a token. */
template <int S> static __device__ void project(const float *hat, const float *m, float *out) {
    enum { split = S / 32, ld = sizes<S>::ld };
    int part = threadIdx.x % split, tile = threadIdx.x / split;
    int head = tile % 4, token = tile / 4 % 4 + tile / 16 * 16; /* and 4, 8, 12 further */
    float sum[4][4] = {};
#pragma unroll 4
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
#pragma unroll 4
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

template <int S> static __device__ void load_heads(const float *from, float *to) {
    for (int at = threadIdx.x; at < 16 * S; at += sizes<S>::threads)
        to[at / S * sizes<S>::ld + at % S] = from[at];
}

/* A block a sample: from u to z, with a softmax that goes along. */
template <int S>
static __global__ void __launch_bounds__(2 * S)
    attend(const fleet_shape shape, const fleet_work work) {
    extern __shared__ float4 memory[];
    enum { ld = sizes<S>::ld };
    float *hat = (float *)memory, *u = hat + FLEET_TILE * ld, *w = u + 16 * ld;
    float *top = w + FLEET_TILE * WEIGHTS, *factor = top + 8 * 16;
    const fleet_one one = work.ones[blockIdx.y];
    int sample = blockIdx.x;
    int64_t row = (int64_t)blockIdx.y * shape.samples + sample;
    int head = threadIdx.x % 16;
    float sum[8][4] = {}, most = -INFINITY, all = 0, left = 0;
    if (sample >= one.samples)
        return;
    load_heads<S>(work.query + row * 16 * S, u);
    for (int first = 0; first < shape.n; first += FLEET_TILE) {
        embed<S>(shape, work, one, row, sample, first, tokens<S>{hat, NULL, NULL, NULL});
        __syncthreads();
        project<S>(hat, u, w);
        __syncthreads();
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

/* Slopes of the weights: b, and d_s = b (p + more) - a mean in place of scores; along_t is what the
 * norm takes off along hat. */
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
#pragma unroll
        for (int r = 0; r < 8; r++) {
            int at = eight * 8 + r, t = first + at;
            bool live = t < shape.n;
            float score = live ? work.scores[(row * shape.n + t) * 16 + head] : 0;
            float a = live ? expf(score - most) * share : 0, p = b[at * WEIGHTS + head];
            bool kept = (words[r / 2] >> (r % 2 * 16) & 0xffffu) < shape.keep[DROP_WEIGHTS];
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

/* d_hat of eight tokens by four numbers, from b d_z + d_s u. */
template <int S>
static __device__ __forceinline__ void spread(const float *w, const float *m, float sum[8][4]) {
    int i = threadIdx.x % (S / 4) * 4, token = threadIdx.x / (S / 4) * 8;
#pragma unroll
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

/* A block a tile of tokens and a segment of samples, one after the other: places add up in
 * registers, and every sample's part of d_u is written. */
template <int S>
static __global__ void __launch_bounds__(2 * S)
    attend_back(const fleet_shape shape, const fleet_work work) {
    extern __shared__ float4 memory[];
    enum { ld = sizes<S>::ld };
    float *hat = (float *)memory, *u = hat + FLEET_TILE * ld, *d_z = u + 16 * ld;
    float *b = d_z + 16 * ld, *d_s = b + FLEET_TILE * WEIGHTS;
    float *along = d_s + FLEET_TILE * WEIGHTS, *scale = along + FLEET_TILE;
    uint16_t *mask = (uint16_t *)(scale + FLEET_TILE);
    uint8_t *bit = (uint8_t *)(mask + FLEET_TILE * (S / 16));
    const fleet_one one = work.ones[blockIdx.z];
    int first = blockIdx.x * FLEET_TILE, begin = blockIdx.y * FLEET_SEGMENT;
    int end = begin + FLEET_SEGMENT < one.samples ? begin + FLEET_SEGMENT : one.samples;
    int i = threadIdx.x % (S / 4) * 4, token = threadIdx.x / (S / 4) * 8;
    float place[8][4] = {}, symbol[2][4] = {};
    if (begin >= one.samples)
        return;
    for (int sample = begin; sample < end; sample++) {
        int64_t row = (int64_t)blockIdx.z * shape.samples + sample;
        load_heads<S>(work.query + row * 16 * S, u);
        load_heads<S>(work.d_z + row * 16 * S, d_z);
        embed_again<S>(shape, work, one, row, sample, first, tokens<S>{hat, bit, mask, scale});
        __syncthreads();
        project<S>(hat, d_z, b);
        __syncthreads();
        soft_back<S>(shape, work, one, row, sample, first, b, d_s, along);
        __syncthreads();
        float sum[8][4] = {};
        spread<S>(b, d_z, sum);
        spread<S>(d_s, u, sum);
#pragma unroll
        for (int r = 0; r < 8; r++) {
            float4 x = *(const float4 *)(hat + (token + r) * ld + i);
            const float h[4] = {x.x, x.y, x.z, x.w};
            uint32_t kept = (uint32_t)mask[(token + r) * (S / 16) + i / 16] >> i % 16;
            int which = bit[token + r];
#pragma unroll
            for (int c = 0; c < 4; c++) {
                float value = (sum[r][c] - h[c] * along[token + r]) * scale[token + r];
                value = kept >> c & 1 ? value : 0;
                place[r][c] += value;
                symbol[0][c] += which == 0 ? value : 0;
                symbol[1][c] += which == 1 ? value : 0;
                sum[r][c] = 0;
            }
        }
        gather<S>(d_s, hat, sum);
        __syncthreads();
        add_quarters<S>(sum, hat, NULL, work.parts + (row * shape.tiles + blockIdx.x) * 16 * S);
        __syncthreads();
    }
    int64_t part = ((int64_t)blockIdx.z * shape.segments + blockIdx.y) * shape.tiles + blockIdx.x;
    for (int r = 0; r < 8; r++)
        *(float4 *)(work.d_places + (part * FLEET_TILE + token + r) * S + i) =
            make_float4(place[r][0], place[r][1], place[r][2], place[r][3]);
    for (int which = 0; which < 2; which++)
        *(float4 *)(hat + (token / 8 * 2 + which) * S + i) =
            make_float4(symbol[which][0], symbol[which][1], symbol[which][2], symbol[which][3]);
    __syncthreads();
    for (int at = threadIdx.x; at < 2 * S; at += sizes<S>::threads) {
        float all = 0;
        for (int group = 0; group < 8; group++)
            all += hat[group * 2 * S + at];
        work.d_symbols[part * 2 * S + at] = all;
    }
}

template <int S> static void launch_attend(const fleet_call &call) {
    enum { ld = sizes<S>::ld };
    int bytes =
        (int)sizeof(float) * (FLEET_TILE * ld + 16 * ld + FLEET_TILE * WEIGHTS + 8 * 16 + 16);
    (void)cudaFuncSetAttribute(attend<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    attend<S><<<dim3((unsigned)call.most, (unsigned)call.count), 2 * S, bytes, call.stream>>>(
        call.shape, call.work);
}

template <int S> static void launch_back(const fleet_call &call) {
    enum { ld = sizes<S>::ld };
    int bytes = (int)sizeof(float) *
                    (FLEET_TILE * ld + 32 * ld + 2 * FLEET_TILE * WEIGHTS + 2 * FLEET_TILE) +
                FLEET_TILE * (S / 16) * (int)sizeof(uint16_t) + FLEET_TILE;
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
