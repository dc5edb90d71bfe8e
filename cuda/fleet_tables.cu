/* A step of transformers without dropout of token vectors: there are 2 T + 1 vectors that a token
 * can be, so that scores and values of all of them are formed once (fleet_judge.cu), and a sample
 * picks T + 1 of them. On the way back slopes of scores and values add up row by row, and only
 * their sums go back through the matrices. */
#include "fleet.h"
#include "fleet_rows.h"

enum { TOK_EMB, POS_EMB, LN1_G, LN1_B, WQ, BQ };

static __device__ __forceinline__ void draw_weights(const fleet_shape &shape, const fleet_one &one,
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

/* table_values + value_bias, and the residual of every sample. */
static __global__ void add_values(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.y, S = shape.stride;
    const fleet_one one = work.ones[b];
    const float *p = work.parameters + one.slot * shape.size;
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int j = (int)(at % S), r = (int)(at / S);
    bool live = j < shape.dim;
    if (r < shape.table) {
        float *to = work.table_values + ((int64_t)b * shape.table + r) * S + j;
        *to = live ? *to + work.value_bias[(int64_t)b * shape.dim + j] : 0;
    }
    if (r < one.samples)
        work.x[((int64_t)b * shape.rows + r) * S + j] =
            live ? p[shape.offset[TOK_EMB] + 2 * shape.dim + j] +
                       p[shape.offset[POS_EMB] + (int64_t)shape.length * shape.dim + j]
                 : 0;
}

/* A block a sample: y = sum_t b_t v_t, with a softmax that goes along. */
enum { THREADS = 128 };
static __global__ void __launch_bounds__(THREADS)
    pick(const fleet_shape shape, const fleet_work work) {
    __shared__ float w[FLEET_TILE * 17], top[8 * 16], factor[16], share[16];
    __shared__ int rows[FLEET_TILE];
    int b = blockIdx.y, sample = blockIdx.x, S = shape.stride, head = threadIdx.x % 16;
    int eight = threadIdx.x / 16;
    const fleet_one one = work.ones[b];
    if (sample >= one.samples)
        return;
    const uint8_t *bits = work.bit + ((int64_t)one.slot * shape.samples + sample) * shape.length;
    const float *scores = work.table_scores + (int64_t)b * shape.table * 16;
    const float *values = work.table_values + (int64_t)b * shape.table * S;
    int64_t row = (int64_t)b * shape.samples + sample;
    /* S columns side by side, the tokens in THREADS / S parts */
    int j = threadIdx.x % S, parts = THREADS / S, part = threadIdx.x / S;
    int mine = j < shape.dim ? j / shape.width : 0;
    float sum = 0, most = -INFINITY, all = 0, left = 0;
    for (int first = 0; first < shape.n; first += FLEET_TILE) {
        if (threadIdx.x < FLEET_TILE) {
            int t = first + threadIdx.x;
            rows[threadIdx.x] = t < shape.length ? 2 * t + bits[t] : 2 * shape.length;
        }
        __syncthreads();
        float score[8], high = -INFINITY;
#pragma unroll
        for (int r = 0; r < 8; r++) {
            bool live = first + eight * 8 + r < shape.n;
            score[r] = live ? scores[rows[eight * 8 + r] * 16 + head] : -INFINITY;
            high = fmaxf(high, score[r]);
        }
        top[eight * 16 + head] = high;
        __syncthreads();
        float before = most;
        for (int other = 0; other < 8; other++)
            most = fmaxf(most, top[other * 16 + head]);
        float by = expf(before - most);
        all *= by;
        left *= by;
        if (threadIdx.x < 16)
            factor[head] = by;
        uint32_t words[4];
        draw_weights(shape, one, sample, first + eight * 8, head, words);
#pragma unroll
        for (int r = 0; r < 8; r++) {
            bool live = first + eight * 8 + r < shape.n;
            float e = live ? expf(score[r] - most) : 0;
            bool kept = (words[r / 2] >> (r % 2 * 16) & 0xffffu) < shape.keep[DROP_WEIGHTS];
            all += e;
            e = kept ? e : 0;
            left += e;
            w[(eight * 8 + r) * 17 + head] = e;
        }
        __syncthreads();
        sum *= factor[mine];
        int end = shape.n - first < FLEET_TILE ? shape.n - first : FLEET_TILE;
#pragma unroll 8
        for (int t = part; t < end; t += parts)
            sum += w[t * 17 + mine] * values[(int64_t)rows[t] * S + j];
        __syncthreads();
    }
    top[threadIdx.x] = all;
    w[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < 16) {
        float total = 0;
        for (int other = 0; other < 8; other++)
            total += top[other * 16 + head];
        share[head] = shape.scale[DROP_WEIGHTS] / total;
        work.most[row * 16 + head] = most;
        work.sum[row * 16 + head] = total;
    }
    __syncthreads();
    if (threadIdx.x < S) {
        for (int other = 1; other < parts; other++)
            sum += w[other * S + j];
        work.y[((int64_t)b * shape.rows + sample) * S + j] = j < shape.dim ? sum * share[mine] : 0;
    }
}

/* A block a tile of tokens and a segment of samples: slopes of scores and values, of all samples
 * and of those that have a one there. */
template <int S>
static __global__ void __launch_bounds__(2 * S)
    pick_back(const fleet_shape shape, const fleet_work work) {
    extern __shared__ float4 memory[];
    float *values = (float *)memory, *scores = values + 2 * FLEET_TILE * S;
    float *w = scores + 2 * FLEET_TILE * 16, *d_y = w + FLEET_TILE * 17;
    uint8_t *bit = (uint8_t *)(d_y + S);
    enum { halves = 2 * S / 16, turns = halves < 8 ? 8 / halves : 1 };
    int b = blockIdx.z, first = blockIdx.x * FLEET_TILE, begin = blockIdx.y * FLEET_SEGMENT;
    const fleet_one one = work.ones[b];
    int end = begin + FLEET_SEGMENT < one.samples ? begin + FLEET_SEGMENT : one.samples;
    int head = threadIdx.x % 16, i = threadIdx.x % (S / 4) * 4, token = threadIdx.x / (S / 4) * 8;
    float d_score[turns][8][2] = {}, all[8][4] = {}, ones[8][4] = {};
    if (begin >= one.samples)
        return;
    for (int at = threadIdx.x; at < 2 * FLEET_TILE * S; at += 2 * S) {
        int r = 2 * first + at / S;
        values[at] =
            r < shape.table ? work.table_values[((int64_t)b * shape.table + r) * S + at % S] : 0;
    }
    for (int at = threadIdx.x; at < 2 * FLEET_TILE * 16; at += 2 * S) {
        int r = 2 * first + at / 16;
        scores[at] =
            r < shape.table ? work.table_scores[((int64_t)b * shape.table + r) * 16 + at % 16] : 0;
    }
    for (int sample = begin; sample < end; sample++) {
        int64_t row = (int64_t)b * shape.samples + sample;
        const uint8_t *bits =
            work.bit + ((int64_t)one.slot * shape.samples + sample) * shape.length;
        __syncthreads();
        if (threadIdx.x < FLEET_TILE) {
            int t = first + threadIdx.x;
            bit[threadIdx.x] = t < shape.length ? bits[t] : 0;
        }
        for (int j = threadIdx.x; j < S; j += 2 * S)
            d_y[j] = j < shape.dim ? work.d_y[((int64_t)b * shape.rows + sample) * S + j] : 0;
        float most = work.most[row * 16 + head], share = 1 / work.sum[row * 16 + head];
        float mean = work.mean[row * 16 + head];
        __syncthreads();
#pragma unroll
        for (int turn = 0; turn < turns; turn++) {
            int eight = turn * halves + threadIdx.x / 16;
            uint32_t words[4];
            if (eight >= 8)
                continue;
            draw_weights(shape, one, sample, first + eight * 8, head, words);
#pragma unroll
            for (int r = 0; r < 8; r++) {
                int at = eight * 8 + r, which = bit[at], place = 2 * at + which;
                bool live = first + at < shape.n;
                float a = live ? expf(scores[place * 16 + head] - most) * share : 0, p = 0;
                bool kept = (words[r / 2] >> (r % 2 * 16) & 0xffffu) < shape.keep[DROP_WEIGHTS];
                float left = kept ? a * shape.scale[DROP_WEIGHTS] : 0;
                for (int k = 0; k < shape.width && head < shape.heads; k++)
                    p += d_y[head * shape.width + k] * values[place * S + head * shape.width + k];
                float slope = left * p - a * mean;
                d_score[turn][r][0] += slope;
                d_score[turn][r][1] += which == 1 ? slope : 0;
                w[at * 17 + head] = left;
            }
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 8; r++)
#pragma unroll
            for (int c = 0; c < 4; c++) {
                int mine = i + c < shape.dim ? (i + c) / shape.width : 0;
                float value = w[(token + r) * 17 + mine] * d_y[i + c];
                all[r][c] += value;
                ones[r][c] += bit[token + r] == 1 ? value : 0;
            }
    }
    int64_t part = ((int64_t)b * shape.segments + blockIdx.y) * shape.tiles + blockIdx.x;
    float *d_scores = work.d_table_scores + part * 2 * FLEET_TILE * 16;
    float *d_values = work.d_table_values + part * 2 * FLEET_TILE * S;
    for (int turn = 0; turn < turns; turn++)
        for (int r = 0; r < 8; r++) {
            int at = (turn * halves + threadIdx.x / 16) * 8 + r;
            if (at < FLEET_TILE)
                for (int which = 0; which < 2; which++)
                    d_scores[(2 * at + which) * 16 + head] =
                        which == 1 ? d_score[turn][r][1]
                                   : d_score[turn][r][0] - d_score[turn][r][1];
        }
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 4; c++) {
            d_values[2 * (token + r) * S + i + c] = all[r][c] - ones[r][c];
            d_values[(2 * (token + r) + 1) * S + i + c] = ones[r][c];
        }
}

/* Sums of the segments, in order: over table_scores and table_sums, which are done with. */
static __global__ void add_segments(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.y, S = shape.stride, columns = 16 + S;
    int segments = (work.ones[b].samples + FLEET_SEGMENT - 1) / FLEET_SEGMENT;
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int r = (int)(at / columns), column = (int)(at % columns);
    if (r >= shape.table)
        return;
    float sum = 0;
    for (int segment = 0; segment < segments; segment++) {
        int64_t part = ((int64_t)b * shape.segments + segment) * shape.tiles + r / (2 * FLEET_TILE);
        int64_t place = part * 2 * FLEET_TILE + r % (2 * FLEET_TILE);
        sum += column < 16 ? work.d_table_scores[place * 16 + column]
                           : work.d_table_values[place * S + column - 16];
    }
    if (column < 16)
        work.table_scores[((int64_t)b * shape.table + r) * 16 + column] = sum;
    else
        work.table_values[((int64_t)b * shape.table + r) * S + column - 16] = sum;
}

/* Through the norm of every row of the table: d_hat has two parts, by scores and by values. */
template <int S> static __global__ void rows_back(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.y, r = blockIdx.x * (FLEET_ROW_THREADS / 32) + threadIdx.x / 32;
    if (r >= shape.table)
        return;
    const float *p = work.parameters + work.ones[b].slot * shape.size;
    int64_t place = ((int64_t)b * shape.table + r) * S;
    int symbol = r == 2 * shape.length ? 2 : r % 2;
    float x[S / 32], d[S / 32], along = 0;
    for (int k = 0; k < S / 32; k++) {
        int i = 32 * k + threadIdx.x % 32;
        x[k] = i < shape.dim ? p[shape.offset[TOK_EMB] + symbol * shape.dim + i] +
                                   p[shape.offset[POS_EMB] + (int64_t)(r / 2) * shape.dim + i]
                             : 0;
    }
    float scale = fleet_norm<S>(shape, x);
    for (int k = 0; k < S / 32; k++) {
        int i = 32 * k + threadIdx.x % 32;
        d[k] = i < shape.dim ? work.d_hat[place + i] + work.d_hat_more[place + i] : 0;
        along += d[k] * x[k];
    }
    along = fleet_warp_sum(along) / (float)shape.dim;
    for (int k = 0; k < S / 32; k++)
        work.d_hat[place + 32 * k + threadIdx.x % 32] = (d[k] - x[k] * along) * scale;
}

/* From d_u of a network back through the query to [CLS]: key, wq, bq, LN1; a block a network. */
static __global__ void query_back(const fleet_shape shape, const fleet_work work) {
    __shared__ float h[128], q[128], hat[128], d_q[128], d_h[128];
    int b = blockIdx.x, d = shape.dim, S = shape.stride, j = threadIdx.x;
    const float *p = work.parameters + work.ones[b].slot * shape.size;
    const float *d_u = work.d_query + (int64_t)b * shape.samples * 16 * S;
    float *to = work.gradient + b * shape.size;
    bool live = j < d;
    int head = live ? j / shape.width : 0;
    if (live) {
        hat[j] = work.table_hat[((int64_t)b * shape.table + shape.table - 1) * S + j];
        h[j] = hat[j] * p[shape.offset[LN1_G] + j] + p[shape.offset[LN1_B] + j];
    }
    __syncthreads();
    if (live) {
        float sum = 0, back = 0;
        for (int i = 0; i < d; i++) {
            sum += h[i] * p[shape.offset[WQ] + (int64_t)i * d + j];
            back += work.key[((int64_t)b * d + j) * S + i] * d_u[head * S + i];
        }
        q[j] = sum + p[shape.offset[BQ] + j];
        d_q[j] = back;
        to[shape.offset[BQ] + j] = back;
        for (int i = 0; i < S; i++)
            work.d_key[((int64_t)b * d + j) * S + i] = q[j] * d_u[head * S + i];
    }
    __syncthreads();
    if (live) {
        float sum = 0;
        for (int i = 0; i < d; i++) {
            sum += d_q[i] * p[shape.offset[WQ] + (int64_t)j * d + i];
            to[shape.offset[WQ] + (int64_t)i * d + j] = h[i] * d_q[j];
        }
        d_h[j] = sum;
        to[shape.offset[LN1_G] + j] = sum * hat[j];
        to[shape.offset[LN1_B] + j] = sum;
    }
    __syncthreads();
    if (j == 0) { /* the norm of [CLS] */
        float mean = 0, along = 0, square = 0, center = 0;
        const float *x = p + shape.offset[TOK_EMB] + 2 * d;
        const float *place = p + shape.offset[POS_EMB] + (int64_t)shape.length * d;
        for (int i = 0; i < d; i++)
            center += x[i] + place[i];
        center /= (float)d;
        for (int i = 0; i < d; i++) {
            float s = d_h[i] * p[shape.offset[LN1_G] + i], off = x[i] + place[i] - center;
            mean += s;
            along += s * hat[i];
            square += off * off;
        }
        float scale = 1 / sqrtf(square / (float)d + 1e-5f);
        for (int i = 0; i < d; i++)
            d_q[i] = (d_h[i] * p[shape.offset[LN1_G] + i] - mean / (float)d -
                      hat[i] * along / (float)d) *
                     scale;
    }
    __syncthreads();
    if (live) /* the residual's part is there */
        to[shape.offset[POS_EMB] + (int64_t)shape.length * d + j] += d_q[j];
}

/* Places and symbols from the rows of the table. */
static __global__ void unfold_rows(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.y, d = shape.dim, S = shape.stride;
    const float *d_x = work.d_hat + (int64_t)b * shape.table * S;
    float *to = work.gradient + b * shape.size;
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int t = (int)(at / d), i = (int)(at % d);
    if (t > shape.length)
        return;
    float sum = d_x[(int64_t)2 * t * S + i];
    sum += t < shape.length ? d_x[((int64_t)2 * t + 1) * S + i] : to[shape.offset[POS_EMB] + at];
    to[shape.offset[POS_EMB] + at] = sum;
    if (t == shape.length)
        to[shape.offset[TOK_EMB] + 2 * d + i] = sum;
}

/* Sixteen parts of the rows side by side, added in order. */
static __global__ void sum_symbols(const fleet_shape shape, const fleet_work work) {
    __shared__ double parts[16][32];
    int b = blockIdx.y, d = shape.dim, S = shape.stride;
    int at = blockIdx.x * 32 + threadIdx.x;
    const float *d_x = work.d_hat + (int64_t)b * shape.table * S;
    double sum = 0;
    if (at < 2 * d)
        for (int t = (int)threadIdx.y; t < shape.length; t += 16)
            sum += d_x[((int64_t)2 * t + at / d) * S + at % d];
    parts[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || at >= 2 * d)
        return;
    for (int part = 1; part < 16; part++)
        sum += parts[part][threadIdx.x];
    work.gradient[b * shape.size + shape.offset[TOK_EMB] + at] = (float)sum;
}

template <int S> static void launch_back(const fleet_call &call) {
    int bytes =
        (int)sizeof(float) * (2 * FLEET_TILE * S + 2 * FLEET_TILE * 16 + FLEET_TILE * 17 + S) +
        FLEET_TILE;
    unsigned segments = (unsigned)((call.most + FLEET_SEGMENT - 1) / FLEET_SEGMENT);
    (void)cudaFuncSetAttribute(pick_back<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    pick_back<S><<<dim3((unsigned)call.shape.tiles, segments, (unsigned)call.count), 2 * S, bytes,
                   call.stream>>>(call.shape, call.work);
}

static dim3 all_of(const fleet_call &call, int64_t numbers) {
    return dim3((unsigned)((numbers + 255) / 256), (unsigned)call.count);
}

void fleet_tables_forward(const fleet_call &call) {
    const fleet_shape &shape = call.shape;
    int rows = shape.table > call.most ? shape.table : call.most;
    fleet_transformer_tables(call);
    add_values<<<all_of(call, (int64_t)rows * shape.stride), 256, 0, call.stream>>>(shape,
                                                                                    call.work);
    pick<<<dim3((unsigned)call.most, (unsigned)call.count), THREADS, 0, call.stream>>>(shape,
                                                                                       call.work);
}

void fleet_tables_back(const fleet_call &call) {
    const fleet_shape &shape = call.shape;
    const fleet_work &work = call.work;
    int d = shape.dim, S = shape.stride, table = shape.table;
    const fleet_matrix none = {NULL, 0, 0, false};
    fleet_matrix hat = {work.table_hat, (int64_t)table * S, S, false};
    fleet_matrix query = {work.query, (int64_t)shape.samples * 16 * S, S, false};
    fleet_matrix value = {work.value, (int64_t)d * S, S, false};
    fleet_matrix d_scores = {work.table_scores, (int64_t)table * 16, 16, false};
    fleet_matrix d_values = {work.table_values, (int64_t)table * S, S, false};
    fleet_matrix d_hat = {work.d_hat, (int64_t)table * S, S, false};
    fleet_matrix more = {work.d_hat_more, (int64_t)table * S, S, false};
    fleet_matrix d_u = {work.d_query, (int64_t)shape.samples * 16 * S, S, false};
    fleet_matrix d_value = {work.d_value, (int64_t)d * S, S, false};
    fleet_matrix d_bias = {work.d_value_bias, d, d, false};
    fleet_matrix cls = fleet_slope(call, POS_EMB, d);
    shape.stride == 32   ? launch_back<32>(call)
    : shape.stride == 64 ? launch_back<64>(call)
                         : launch_back<128>(call);
    add_segments<<<all_of(call, (int64_t)table * (16 + S)), 256, 0, call.stream>>>(shape, work);
    fleet_product(call, table, S, 16, d_scores, query, false, d_hat, true);
    fleet_product(call, table, S, d, d_values, value, false, more, true);
    fleet_outer(call, 16, S, d_scores, hat, d_u, table);
    fleet_outer(call, d, S, d_values, hat, d_value, table);
    fleet_sum_rows(call, d, d_values, none, d_bias, false, table);
    FLEET_BY_STRIDE(rows_back, call, table, (shape, work));
    cls.base += (int64_t)shape.length * d;
    fleet_sum_rows(call, d, fleet_rows(work.d_c, shape, S), none, cls, false, 0);
    query_back<<<(unsigned)call.count, 128, 0, call.stream>>>(shape, work);
    unfold_rows<<<all_of(call, (int64_t)shape.n * d), 256, 0, call.stream>>>(shape, work);
    sum_symbols<<<dim3((unsigned)((2 * d + 31) / 32), (unsigned)call.count), dim3(32, 16), 0,
                  call.stream>>>(shape, work);
}
