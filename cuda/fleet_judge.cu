/* Judging transformers without dropout: there are 2 T + 1 vectors that a token can be, so that
 * weights e and e v of all of them are formed once, and a sample adds up T + 1 rows. Four positions
 * have 16 patterns of bits, whose sums are formed in shared memory: a quarter of the rows is read.
 * All e are positive, and nothing is taken away again. Where the scores of a head lie further apart
 * than e^60, every sample has a softmax of its own. */
#include "fleet.h"
#include "fleet_rows.h"

enum { TOK_EMB, POS_EMB, LN1_G, LN1_B, WQ, BQ };
enum { PLACES = 16, FOURS = PLACES / 4, PATTERNS = 16, ACROSS = 16, EACH = 16 };
#define MOST_RANGE 60.0f

/* hat of every row of the table, a warp a row. */
template <int S> static __global__ void table_rows(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.y, r = blockIdx.x * (FLEET_ROW_THREADS / 32) + threadIdx.x / 32;
    if (r >= shape.table)
        return;
    const float *p = work.parameters + work.ones[b].slot * shape.size;
    int symbol = r == 2 * shape.length ? 2 : r % 2;
    float x[S / 32];
    for (int k = 0; k < S / 32; k++) {
        int i = 32 * k + threadIdx.x % 32;
        x[k] = i < shape.dim ? p[shape.offset[TOK_EMB] + symbol * shape.dim + i] +
                                   p[shape.offset[POS_EMB] + (int64_t)(r / 2) * shape.dim + i]
                             : 0;
    }
    fleet_norm<S>(shape, x);
    fleet_store<S>(work.table_hat + ((int64_t)b * shape.table + r) * S, x);
}

/* u of [CLS] into query, a block a network. */
static __global__ void table_query(const fleet_shape shape, const fleet_work work) {
    __shared__ float h[128], q[128];
    int b = blockIdx.x, d = shape.dim, S = shape.stride, j = threadIdx.x;
    const float *p = work.parameters + work.ones[b].slot * shape.size;
    const float *hat = work.table_hat + ((int64_t)b * shape.table + shape.table - 1) * S;
    if (j < d)
        h[j] = hat[j] * p[shape.offset[LN1_G] + j] + p[shape.offset[LN1_B] + j];
    __syncthreads();
    if (j < d) {
        float sum = 0;
        for (int i = 0; i < d; i++)
            sum += h[i] * p[shape.offset[WQ] + (int64_t)i * d + j];
        q[j] = sum + p[shape.offset[BQ] + j];
    }
    __syncthreads();
    for (int at = threadIdx.x; at < 16 * S; at += blockDim.x) {
        int head = at / S;
        float sum = 0;
        for (int k = 0; k < shape.width && head < shape.heads; k++)
            sum += q[head * shape.width + k] *
                   work.key[((int64_t)b * d + head * shape.width + k) * S + at % S];
        work.query[(int64_t)b * shape.samples * 16 * S + at] = sum;
    }
}

/* The largest score of every head, NaN where they lie too far apart. */
static __global__ void table_tops(const fleet_shape shape, const fleet_work work) {
    __shared__ float high[16][16], low[16][16];
    int b = blockIdx.x, head = threadIdx.x % 16, part = threadIdx.x / 16;
    const float *scores = work.table_scores + (int64_t)b * shape.table * 16;
    float most = -INFINITY, least = INFINITY, none = 0;
    for (int r = part; r < shape.table; r += 16) {
        float score = scores[r * 16 + head];
        most = fmaxf(most, score);
        least = fminf(least, score);
        none += score * 0;
    }
    high[part][head] = most + none;
    low[part][head] = least;
    __syncthreads();
    if (part > 0)
        return;
    for (int other = 1; other < 16; other++) {
        none += high[other][head] * 0;
        most = fmaxf(most, high[other][head]);
        least = fminf(least, low[other][head]);
    }
    bool narrow = most - least + none <= MOST_RANGE;
    work.table_most[b * 16 + head] = narrow ? most : NAN;
}

static __device__ __forceinline__ bool is_narrow(const fleet_work &work, int b) {
    bool narrow = true;
    for (int head = 0; head < 16; head++)
        narrow = narrow && !isnan(work.table_most[b * 16 + head]);
    return narrow;
}

/* e and e v of every row of the table. */
static __global__ void table_sums(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.y, S = shape.stride, columns = 16 + S;
    int64_t count = (int64_t)shape.table * columns;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < count;
         at += (int64_t)gridDim.x * blockDim.x) {
        int64_t r = (int64_t)b * shape.table + at / columns;
        int column = (int)(at % columns), j = column - 16;
        int head = column < 16 ? column : j < shape.dim ? j / shape.width : 0;
        float e = expf(work.table_scores[r * 16 + head] - work.table_most[b * 16 + head]);
        float value = j < 0           ? 1
                      : j < shape.dim ? work.table_values[r * S + j] +
                                            work.value_bias[(int64_t)b * shape.dim + j]
                                      : 0;
        work.table_sums[(int64_t)b * count + at] = e * value;
    }
}

/* Threads, and shared memory, of add_samples. */
static constexpr int quads_of(int stride) {
    return 4 + stride / 4;
}
static constexpr int bytes_of(int stride) {
    return (2 * PLACES + FOURS * PATTERNS) * quads_of(stride) * (int)sizeof(float4) +
           ACROSS * EACH * (int)sizeof(uint16_t);
}

/* Sums of 256 samples: a thread has four columns of EACH samples. Shared: the rows of PLACES
 * positions, their patterns, and the patterns of the samples. */
static __global__ void __launch_bounds__(quads_of(FLEET_MOST_STRIDE) * ACROSS)
    add_samples(const fleet_shape shape, const fleet_work work, int rows) {
    extern __shared__ float4 memory[];
    int b = blockIdx.y, first = blockIdx.x * ACROSS * EACH, quads = 4 + shape.stride / 4;
    float4 *table = memory, *patterns = table + 2 * PLACES * quads;
    uint16_t *codes = (uint16_t *)(patterns + FOURS * PATTERNS * quads);
    int quad = threadIdx.x % quads, across = threadIdx.x / quads;
    const float4 *from = (const float4 *)work.table_sums + (int64_t)b * shape.table * quads;
    float4 sum[EACH];
    if (!is_narrow(work, b))
        return;
    float4 cls = from[(int64_t)(shape.table - 1) * quads + quad];
#pragma unroll
    for (int s = 0; s < EACH; s++)
        sum[s] = cls;
    for (int t0 = 0; t0 < shape.length; t0 += PLACES) {
        __syncthreads();
        for (int at = threadIdx.x; at < 2 * PLACES * quads; at += blockDim.x)
            table[at] = t0 + at / quads / 2 < shape.length ? from[(int64_t)2 * t0 * quads + at]
                                                           : make_float4(0, 0, 0, 0);
        for (int at = threadIdx.x; at < ACROSS * EACH; at += blockDim.x) {
            uint32_t code = 0;
            for (int q = 0; q < FOURS && first + at < rows && t0 + 4 * q < shape.drawn; q++) {
                uint32_t v =
                    *(const uint32_t *)(work.drawn +
                                        ((int64_t)b * shape.rows + first + at) * shape.drawn + t0 +
                                        4 * q);
                code |= ((v | v >> 7 | v >> 14 | v >> 21) & 15u) << 4 * q;
            }
            codes[at] = (uint16_t)code;
        }
        __syncthreads();
        for (int at = threadIdx.x; at < FOURS * PATTERNS * quads; at += blockDim.x) {
            int q = at / quads / PATTERNS, pattern = at / quads % PATTERNS, c = at % quads;
            float4 all = make_float4(0, 0, 0, 0);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float4 x = table[(2 * (4 * q + j) + (pattern >> j & 1)) * quads + c];
                all = make_float4(all.x + x.x, all.y + x.y, all.z + x.z, all.w + x.w);
            }
            patterns[at] = all;
        }
        __syncthreads();
#pragma unroll
        for (int s = 0; s < EACH; s++) {
            uint32_t code = codes[across + s * ACROSS];
#pragma unroll
            for (int q = 0; q < FOURS; q++) {
                float4 x = patterns[(q * PATTERNS + (code >> 4 * q & 15u)) * quads + quad];
                sum[s] =
                    make_float4(sum[s].x + x.x, sum[s].y + x.y, sum[s].z + x.z, sum[s].w + x.w);
            }
        }
    }
#pragma unroll
    for (int s = 0; s < EACH; s++) {
        int row = first + across + s * ACROSS;
        if (row < rows)
            ((float4 *)work.sums)[((int64_t)b * shape.rows + row) * quads + quad] = sum[s];
    }
}

/* The same where scores lie far apart, a warp a sample: its own largest score of every head. */
static __global__ void add_alone(const fleet_shape shape, const fleet_work work, int rows) {
    int b = blockIdx.y, row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows || is_narrow(work, b))
        return;
    int64_t place = (int64_t)b * shape.rows + row;
    const uint8_t *bits = work.drawn + place * shape.drawn;
    const float *scores = work.table_scores + (int64_t)b * shape.table * 16;
    const float *values = work.table_values + (int64_t)b * shape.table * shape.stride;
    float *out = work.sums + place * (16 + shape.stride);
    for (int column = lane; column < 16 + shape.stride; column += 32) {
        int j = column - 16, head = column < 16 ? column : j < shape.dim ? j / shape.width : 0;
        float most = scores[(shape.table - 1) * 16 + head], sum = 0;
        for (int t = 0; t < shape.length; t++)
            most = fmaxf(most, scores[(2 * t + bits[t]) * 16 + head]);
        for (int t = 0; t < shape.n; t++) {
            int64_t r = 2 * (int64_t)t + (t < shape.length ? bits[t] : 0);
            float value = j < 0           ? 1
                          : j < shape.dim ? values[r * shape.stride + j] +
                                                work.value_bias[(int64_t)b * shape.dim + j]
                                          : 0;
            sum += expf(scores[r * 16 + head] - most) * value;
        }
        out[column] = sum;
    }
}

/* y = sum e v / sum e; x is that of [CLS]. */
static __global__ void divide(const fleet_shape shape, const fleet_work work, int rows) {
    int b = blockIdx.y, S = shape.stride;
    const float *p = work.parameters + work.ones[b].slot * shape.size;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < (int64_t)rows * S;
         at += (int64_t)gridDim.x * blockDim.x) {
        int64_t place = (int64_t)b * shape.rows + at / S;
        int j = (int)(at % S);
        const float *sums = work.sums + place * (16 + S);
        bool live = j < shape.dim;
        work.y[place * S + j] = live ? sums[16 + j] / sums[j / shape.width] : 0;
        work.x[place * S + j] =
            live ? p[shape.offset[TOK_EMB] + 2 * shape.dim + j] +
                       p[shape.offset[POS_EMB] + (int64_t)shape.length * shape.dim + j]
                 : 0;
    }
}

/* Tables of the parameters as they are. */
void fleet_transformer_tables(const fleet_call &call) {
    const fleet_shape &shape = call.shape;
    const fleet_work &work = call.work;
    int S = shape.stride, table = shape.table;
    unsigned count = (unsigned)call.count;
    fleet_matrix hat = {work.table_hat, (int64_t)table * S, S, false};
    fleet_matrix query = {work.query, (int64_t)shape.samples * 16 * S, S, false};
    fleet_matrix value = {work.value, (int64_t)shape.dim * S, S, false};
    fleet_matrix scores = {work.table_scores, (int64_t)table * 16, 16, false};
    fleet_matrix values = {work.table_values, (int64_t)table * S, S, false};
    fleet_fold(call);
    FLEET_BY_STRIDE(table_rows, call, table, (shape, work));
    table_query<<<count, 128, 0, call.stream>>>(shape, work);
    fleet_product(call, table, 16, S, hat, query, true, scores, true);
    fleet_product(call, table, shape.dim, S, hat, value, true, values, true);
    table_tops<<<count, 256, 0, call.stream>>>(shape, work);
    table_sums<<<dim3((unsigned)((table * (16 + S) + 1023) / 1024), count), 256, 0, call.stream>>>(
        shape, work);
}

void fleet_transformer_judge(const fleet_call &call) {
    const fleet_shape &shape = call.shape;
    const fleet_work &work = call.work;
    int quads = quads_of(shape.stride), rows = call.most;
    unsigned count = (unsigned)call.count,
             blocks = (unsigned)((rows + ACROSS * EACH - 1) / (ACROSS * EACH));
    /* the limit holds for all threads, and a smaller one would take room from another's launch */
    (void)cudaFuncSetAttribute(add_samples, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               bytes_of(FLEET_MOST_STRIDE));
    add_samples<<<dim3(blocks, count), (unsigned)(quads * ACROSS), (size_t)bytes_of(shape.stride),
                  call.stream>>>(shape, work, rows);
    add_alone<<<dim3((unsigned)((rows + 3) / 4), count), 128, 0, call.stream>>>(shape, work, rows);
    divide<<<dim3((unsigned)((rows * shape.stride + 1023) / 1024), count), 256, 0, call.stream>>>(
        shape, work, rows);
    fleet_tail_forward(call, rows, false);
}
