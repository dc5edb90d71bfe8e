/* A step of transformers: what leads to the attention and back from it to the parameters. Names are
 * those of transformer.h and transformer_fast.h. */
#include "fleet.h"
#include "fleet_rows.h"

enum { TOK_EMB, POS_EMB, LN1_G, LN1_B, WQ, BQ, WK, BK, WV, BV };
enum { SAMPLES = 16 }; /* that a block has side by side */

/* Row j of key and value: column j of wk (over sqrt(width)) and wv times the gains, the mean taken
 * out; value_bias_j = <b, wv_j> + bv_j. */
static __global__ void fold(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.x, d = shape.dim, S = shape.stride;
    const float *p = work.parameters + work.ones[b].slot * shape.size;
    const float *g = p + shape.offset[LN1_G], *bias = p + shape.offset[LN1_B];
    for (int at = threadIdx.x; at < 2 * d; at += blockDim.x) {
        int j = at % d;
        bool keys = at < d;
        const float *w = p + shape.offset[keys ? WK : WV] + j;
        float *to = (keys ? work.key : work.value) + ((int64_t)b * d + j) * S;
        float scale = keys ? 1 / sqrtf((float)shape.width) : 1;
        double mean = 0, sum = 0;
        for (int i = 0; i < d; i++) {
            mean += g[i] * w[(int64_t)i * d] * scale;
            sum += (double)bias[i] * w[(int64_t)i * d];
        }
        float off = (float)(mean / d);
        for (int i = 0; i < S; i++)
            to[i] = i < d ? g[i] * w[(int64_t)i * d] * scale - off : 0;
        if (!keys)
            work.value_bias[(int64_t)b * d + j] = (float)(sum + p[shape.offset[BV] + j]);
    }
}

/* [CLS] of every sample: x, hat, h = LN1 x. */
template <int S> static __global__ void embed_cls(const fleet_shape shape, const fleet_work work) {
    fleet_row at;
    if (!fleet_row_begin(shape, work, 0, false, &at))
        return;
    const float *p = at.parameters;
    float x[S / 32];
    uint32_t keep = shape.keep[DROP_TOKENS];
    for (int k = 0; k < S / 32; k++) {
        int i = 32 * k + at.lane;
        float value = i < shape.dim
                          ? (p[shape.offset[TOK_EMB] + 2 * shape.dim + i] +
                             p[shape.offset[POS_EMB] + (int64_t)shape.length * shape.dim + i]) *
                                shape.scale[DROP_TOKENS]
                          : 0;
        bool kept = keep == FLEET_KEEP_ALL ||
                    drop_draw(at.one.key, (uint32_t)at.sample, DROP_TOKENS,
                              (uint32_t)shape.length * (S / 2), (uint32_t)i) < keep;
        x[k] = kept ? value : 0;
    }
    fleet_store<S>(work.x + at.place * S, x);
    float scale = fleet_norm<S>(shape, x);
    fleet_store<S>(work.hat + at.place * S, x);
    fleet_gain<S>(shape, p + shape.offset[LN1_G], p + shape.offset[LN1_B], x);
    fleet_store<S>(work.h + at.place * S, x);
    if (at.lane == 0)
        work.hat_scale[at.place] = scale;
}

/* q + bq. */
static __global__ void add_bias(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.y, s = blockIdx.x;
    const fleet_one one = work.ones[b];
    if (s < one.samples && (int)threadIdx.x < shape.dim)
        work.q[((int64_t)b * shape.rows + s) * shape.stride + threadIdx.x] +=
            work.parameters[one.slot * shape.size + shape.offset[BQ] + threadIdx.x];
}

/* out (samples, 16, S) = sum over the numbers k of a head of q_j m_j, j = h width + k. */
static __global__ void combine(const fleet_shape shape, const fleet_work work, const float *q,
                               const float *m, float *out) {
    extern __shared__ float some[]; /* (SAMPLES, d) */
    int b = blockIdx.y, first = blockIdx.x * SAMPLES, S = shape.stride, d = shape.dim;
    int count = work.ones[b].samples - first;
    if (count <= 0)
        return;
    count = count < SAMPLES ? count : SAMPLES;
    for (int at = threadIdx.x; at < SAMPLES * d; at += blockDim.x)
        some[at] = at / d < count ? q[((int64_t)b * shape.rows + first + at / d) * S + at % d] : 0;
    __syncthreads();
    for (int at = threadIdx.x; at < 16 * S; at += blockDim.x) {
        int head = at / S, i = at % S;
        float sum[SAMPLES] = {};
        for (int k = 0; k < shape.width && head < shape.heads; k++) {
            int j = head * shape.width + k;
            float by = m[((int64_t)b * d + j) * S + i];
#pragma unroll
            for (int s = 0; s < SAMPLES; s++)
                sum[s] += some[s * d + j] * by;
        }
#pragma unroll
        for (int s = 0; s < SAMPLES; s++)
            if (s < count)
                out[((int64_t)b * shape.samples + first + s) * 16 * S + at] = sum[s];
    }
}

/* out_j = <m_j, z_h>, and total_h bias_j where there is a bias: a warp a sample, S / 4 lanes a j.
 */
template <int S>
static __global__ void contract(const fleet_shape shape, const fleet_work work, const float *m,
                                const float *z, const float *bias, float *out) {
    enum { lanes = S / 4 };
    int b = blockIdx.y, s = blockIdx.x * (FLEET_ROW_THREADS / 32) + threadIdx.x / 32;
    int part = threadIdx.x % 32 % lanes;
    int64_t row = (int64_t)b * shape.samples + s;
    if (s >= work.ones[b].samples)
        return;
    for (int first = 0; first < shape.dim; first += 32 / lanes) {
        int j = first + threadIdx.x % 32 / lanes;
        bool live = j < shape.dim;
        int head = live ? j / shape.width : 0;
        float sum = 0;
        if (live) {
            float4 a = *(const float4 *)(m + ((int64_t)b * shape.dim + j) * S + 4 * part);
            float4 c = *(const float4 *)(z + (row * 16 + head) * S + 4 * part);
            sum = a.x * c.x + a.y * c.y + a.z * c.z + a.w * c.w;
        }
        for (int step = lanes / 2; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (live && bias != NULL)
            sum += work.total[row * 16 + head] * bias[(int64_t)b * shape.dim + j];
        if (live && part == 0)
            out[((int64_t)b * shape.rows + s) * S + j] = sum;
    }
}

/* more_h = <d_y, value_bias> and mean_h = <d_y, y> over the numbers of a head. */
static __global__ void head_sums(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.y, at = blockIdx.x * blockDim.x + threadIdx.x, s = at / 16, head = at % 16;
    if (s >= work.ones[b].samples)
        return;
    int64_t row = ((int64_t)b * shape.rows + s) * shape.stride;
    float more = 0, mean = 0;
    for (int k = 0; k < shape.width && head < shape.heads; k++) {
        int j = head * shape.width + k;
        more += work.d_y[row + j] * work.value_bias[(int64_t)b * shape.dim + j];
        mean += work.d_y[row + j] * work.y[row + j];
    }
    work.more[((int64_t)b * shape.samples + s) * 16 + head] = more;
    work.mean[((int64_t)b * shape.samples + s) * 16 + head] = mean;
}

/* out_j (S) = sum over samples of q_j z_h; a block a head. Of a bias: sum of q_j total_h. */
static __global__ void outer_heads(const fleet_shape shape, const fleet_work work, const float *q,
                                   const float *z, float *out, float *bias) {
    enum { SOME = 4 };
    int b = blockIdx.y, head = blockIdx.x, S = shape.stride, samples = work.ones[b].samples;
    for (int k = 0; k < shape.width; k += SOME)
        for (int i = threadIdx.x; i < S; i += blockDim.x) {
            float sum[SOME] = {}, left[SOME] = {};
            int j = head * shape.width + k;
            for (int s = 0; s < samples; s++) {
                int64_t row = (int64_t)b * shape.samples + s;
                const float *by = q + ((int64_t)b * shape.rows + s) * S + j;
                float x = z[(row * 16 + head) * S + i], total = work.total[row * 16 + head];
#pragma unroll
                for (int c = 0; c < SOME; c++)
                    if (k + c < shape.width) {
                        sum[c] += by[c] * x;
                        left[c] += by[c] * total;
                    }
            }
            for (int c = 0; c < SOME && k + c < shape.width; c++) {
                out[((int64_t)b * shape.dim + j + c) * S + i] = sum[c];
                if (bias != NULL && i == 0)
                    bias[(int64_t)b * shape.dim + j + c] = left[c];
            }
        }
}

/* d_u of every sample: its parts, tile after tile. */
static __global__ void add_parts(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.y, s = blockIdx.x, each = 16 * shape.stride;
    int64_t row = (int64_t)b * shape.samples + s;
    if (s >= work.ones[b].samples)
        return;
    for (int at = threadIdx.x; at < each; at += blockDim.x) {
        float sum = 0;
        for (int tile = 0; tile < shape.tiles; tile++)
            sum += work.parts[(row * shape.tiles + tile) * each + at];
        work.d_query[row * each + at] = sum;
    }
}

/* From d_h and the residual to [CLS], but for the scale of dropout: into d_x. */
template <int S> static __global__ void cls_back(const fleet_shape shape, const fleet_work work) {
    fleet_row at;
    if (!fleet_row_begin(shape, work, 0, false, &at))
        return;
    float hat[S / 32], d[S / 32], c[S / 32];
    uint32_t keep = shape.keep[DROP_TOKENS];
    fleet_load<S>(shape, work.hat + at.place * S, hat);
    fleet_load<S>(shape, work.d_h + at.place * S, d);
    fleet_load<S>(shape, work.d_c + at.place * S, c);
    fleet_norm_back<S>(shape, hat, work.hat_scale[at.place], at.parameters + shape.offset[LN1_G],
                       d);
    for (int k = 0; k < S / 32; k++) {
        bool kept =
            keep == FLEET_KEEP_ALL ||
            drop_draw(at.one.key, (uint32_t)at.sample, DROP_TOKENS,
                      (uint32_t)shape.length * (S / 2), (uint32_t)(32 * k + at.lane)) < keep;
        c[k] = kept ? c[k] + d[k] : 0;
    }
    fleet_store<S>(work.d_x + at.place * S, c);
}

/* From the folded matrices to wk, wv, bv and LN1, whose slopes through [CLS] are there already. */
static __global__ void unfold(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.x, d = shape.dim, S = shape.stride;
    const float *p = work.parameters + work.ones[b].slot * shape.size;
    float *to = work.gradient + b * shape.size, scale = 1 / sqrtf((float)shape.width);
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float g = p[shape.offset[LN1_G] + i], bias = p[shape.offset[LN1_B] + i];
        float d_g = to[shape.offset[LN1_G] + i], d_b = to[shape.offset[LN1_B] + i];
        for (int j = 0; j < d; j++) {
            float key = work.d_key[((int64_t)b * d + j) * S + i];
            float value = work.d_value[((int64_t)b * d + j) * S + i];
            float more = work.d_value_bias[(int64_t)b * d + j];
            float wk = p[shape.offset[WK] + (int64_t)i * d + j];
            float wv = p[shape.offset[WV] + (int64_t)i * d + j];
            to[shape.offset[WK] + (int64_t)i * d + j] = g * key * scale;
            to[shape.offset[WV] + (int64_t)i * d + j] = g * value + bias * more;
            d_g += wk * key * scale + wv * value;
            d_b += wv * more;
        }
        to[shape.offset[LN1_G] + i] = d_g;
        to[shape.offset[LN1_B] + i] = d_b;
        to[shape.offset[BK] + i] = 0; /* the same for all tokens */
        to[shape.offset[BV] + i] = work.d_value_bias[(int64_t)b * d + i];
    }
}

/* Places, a block a few of them; the row of [CLS] holds what came by query and residual. */
static __global__ void unfold_places(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.y, d = shape.dim, S = shape.stride;
    int segments = (work.ones[b].samples + FLEET_SEGMENT - 1) / FLEET_SEGMENT;
    float *to = work.gradient + b * shape.size, scale = shape.scale[DROP_TOKENS];
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < (int64_t)shape.n * d;
         at += (int64_t)gridDim.x * blockDim.x) {
        int t = (int)(at / d), i = (int)(at % d);
        float sum = t == shape.length ? to[shape.offset[POS_EMB] + at] : 0;
        for (int segment = 0; segment < segments; segment++) {
            int64_t part = ((int64_t)b * shape.segments + segment) * shape.tiles + t / FLEET_TILE;
            sum += work.d_places[(part * FLEET_TILE + t % FLEET_TILE) * S + i];
        }
        to[shape.offset[POS_EMB] + at] = scale * sum;
        if (t == shape.length)
            to[shape.offset[TOK_EMB] + 2 * d + i] = scale * sum;
    }
}

static __global__ void unfold_symbols(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.x, d = shape.dim, S = shape.stride;
    int parts = (work.ones[b].samples + FLEET_SEGMENT - 1) / FLEET_SEGMENT * shape.tiles;
    for (int at = threadIdx.x; at < 2 * d; at += blockDim.x) {
        double sum = 0;
        for (int part = 0; part < parts; part++)
            sum += work.d_symbols[((int64_t)b * shape.segments * shape.tiles + part) * 2 * S +
                                  at / d * S + at % d];
        work.gradient[b * shape.size + shape.offset[TOK_EMB] + at] =
            (float)(shape.scale[DROP_TOKENS] * sum);
    }
}

static void query_back(const fleet_call &call) {
    const fleet_shape &shape = call.shape;
    const fleet_work &work = call.work;
    int d = shape.dim, S = shape.stride;
    unsigned most = (unsigned)call.most, count = (unsigned)call.count;
    const fleet_matrix none = {NULL, 0, 0, false};
    fleet_matrix d_q = fleet_rows(work.d_q, shape, S), d_h = fleet_rows(work.d_h, shape, S);
    fleet_matrix d_x = fleet_rows(work.d_x, shape, S), cls = fleet_slope(call, POS_EMB, d);
    add_parts<<<dim3(most, count), 256, 0, call.stream>>>(shape, work);
    FLEET_BY_STRIDE(contract, call, call.most,
                    (shape, work, work.key, work.d_query, NULL, work.d_q));
    outer_heads<<<dim3((unsigned)shape.heads, count), (unsigned)S, 0, call.stream>>>(
        shape, work, work.q, work.d_query, work.d_key, NULL);
    fleet_product(call, call.most, d, d, d_q, fleet_tensor(call, WQ, d), true, d_h, false);
    fleet_outer(call, d, d, fleet_rows(work.h, shape, S), d_q, fleet_slope(call, WQ, d));
    fleet_sum_rows(call, d, d_q, none, fleet_slope(call, BQ, d), false);
    fleet_sum_rows(call, d, d_h, fleet_rows(work.hat, shape, S), fleet_slope(call, LN1_G, d),
                   false);
    fleet_sum_rows(call, d, d_h, none, fleet_slope(call, LN1_B, d), false);
    FLEET_BY_STRIDE(cls_back, call, call.most, (shape, work));
    cls.base += (int64_t)shape.length * d;
    fleet_sum_rows(call, d, d_x, none, cls, false);
}

/* Lines 1 to 3, every sample with tokens of its own. */
static void attend_forward(const fleet_call &call) {
    const fleet_shape &shape = call.shape;
    const fleet_work &work = call.work;
    int d = shape.dim, S = shape.stride;
    unsigned most = (unsigned)call.most, count = (unsigned)call.count;
    fleet_fold(call);
    FLEET_BY_STRIDE(embed_cls, call, call.most, (shape, work));
    fleet_product(call, call.most, d, d, fleet_rows(work.h, shape, S), fleet_tensor(call, WQ, d),
                  false, fleet_rows(work.q, shape, S), false);
    add_bias<<<dim3(most, count), (unsigned)S, 0, call.stream>>>(shape, work);
    combine<<<dim3((most + SAMPLES - 1) / SAMPLES, count), 256, SAMPLES * d * sizeof(float),
              call.stream>>>(shape, work, work.q, work.key, work.query);
    fleet_attend(call);
    FLEET_BY_STRIDE(contract, call, call.most,
                    (shape, work, work.value, work.z, work.value_bias, work.y));
}

static void attend_backward(const fleet_call &call) {
    const fleet_shape &shape = call.shape;
    const fleet_work &work = call.work;
    unsigned most = (unsigned)call.most, count = (unsigned)call.count;
    combine<<<dim3((most + SAMPLES - 1) / SAMPLES, count), 256, SAMPLES * shape.dim * sizeof(float),
              call.stream>>>(shape, work, work.d_y, work.value, work.d_z);
    outer_heads<<<dim3((unsigned)shape.heads, count), (unsigned)shape.stride, 0, call.stream>>>(
        shape, work, work.d_y, work.z, work.d_value, work.d_value_bias);
    fleet_attend_back(call);
    query_back(call);
    unfold_places<<<dim3((unsigned)((shape.n * shape.dim + 1023) / 1024), count), 256, 0,
                    call.stream>>>(shape, work);
    unfold_symbols<<<count, (unsigned)(2 * shape.stride), 0, call.stream>>>(shape, work);
}

void fleet_transformer_step(const fleet_call &call) {
    bool tables = call.shape.keep[DROP_TOKENS] == FLEET_KEEP_ALL;
    unsigned most = (unsigned)call.most, count = (unsigned)call.count;
    tables ? fleet_tables_forward(call) : attend_forward(call);
    fleet_tail_forward(call, call.most, true);
    fleet_tail_back(call);
    head_sums<<<dim3((most * 16 + 127) / 128, count), 128, 0, call.stream>>>(call.shape, call.work);
    tables ? fleet_tables_back(call) : attend_backward(call);
    unfold<<<count, (unsigned)call.shape.stride, 0, call.stream>>>(call.shape, call.work);
}

void fleet_fold(const fleet_call &call) {
    fold<<<(unsigned)call.count, (unsigned)(2 * call.shape.stride), 0, call.stream>>>(call.shape,
                                                                                      call.work);
}
