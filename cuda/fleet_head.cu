/* Single heads in step: lines as in head.h. A sample is a row of weights over the 2 T + 1 rows that
 * X can have. */
#include "fleet.h"
#include "fleet_rows.h"

enum { QK, V, W, CLS, SYMBOLS, POSITIONS };
enum { THREADS = 128 };

/* q = cls w_qk, a block a network. */
static __global__ void set_query(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.x, d = shape.dim;
    const float *p = work.parameters + work.ones[b].slot * shape.size;
    for (int j = threadIdx.x; j < d; j += blockDim.x) {
        float sum = 0;
        for (int i = 0; i < d; i++)
            sum += p[shape.offset[CLS] + i] * p[shape.offset[QK] + (int64_t)i * d + j];
        work.query[(int64_t)b * shape.stride + j] = sum;
    }
}

/* Rows of X and their scores, a warp a row. */
static __global__ void set_rows(const fleet_shape shape, const fleet_work work) {
    int b = blockIdx.y, r = blockIdx.x * 4 + threadIdx.x / 32, d = shape.dim;
    if (r >= shape.table)
        return;
    const float *p = work.parameters + work.ones[b].slot * shape.size;
    float sum = 0;
    for (int i = threadIdx.x % 32; i < d; i += 32) {
        float x = r == 2 * shape.length ? p[shape.offset[CLS] + i]
                                        : p[shape.offset[SYMBOLS] + r % 2 * d + i] +
                                              p[shape.offset[POSITIONS] + (int64_t)(r / 2) * d + i];
        work.table_hat[((int64_t)b * shape.table + r) * shape.stride + i] = x;
        sum += work.query[(int64_t)b * shape.stride + i] * x;
    }
    sum = fleet_warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        work.table_scores[(int64_t)b * shape.table + r] = sum;
}

static __device__ float block_all(float x, bool largest, float *shared) {
    shared[threadIdx.x] = x;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) {
            float y = shared[threadIdx.x + half];
            shared[threadIdx.x] = largest ? fmaxf(shared[threadIdx.x], y) : shared[threadIdx.x] + y;
        }
        __syncthreads();
    }
    float all = shared[0];
    __syncthreads();
    return all;
}

/* Line 2: the weights of a sample, a block a sample. */
static __global__ void weigh(const fleet_shape shape, const fleet_work work, bool training) {
    __shared__ float shared[THREADS];
    int b = blockIdx.y, s = blockIdx.x;
    const fleet_one one = work.ones[b];
    if (s >= one.samples)
        return;
    int64_t place = (int64_t)b * shape.rows + s;
    const uint8_t *bit = training
                             ? work.bit + ((int64_t)one.slot * shape.samples + s) * shape.length
                             : work.drawn + place * shape.drawn;
    const float *scores = work.table_scores + (int64_t)b * shape.table;
    float *a = work.a + place * shape.inputs, most = -INFINITY, sum = 0;
    for (int t = threadIdx.x; t < shape.n; t += THREADS)
        most = fmaxf(most, scores[2 * t + (t < shape.length ? bit[t] : 0)]);
    most = block_all(most, true, shared);
    for (int t = threadIdx.x; t < shape.n; t += THREADS)
        sum += expf(scores[2 * t + (t < shape.length ? bit[t] : 0)] - most);
    float share = 1 / block_all(sum, false, shared);
    for (int r = threadIdx.x; r < shape.table; r += THREADS) {
        int t = r / 2;
        bool mine = t == shape.length || bit[t] == r % 2;
        a[r] = mine ? expf(scores[r] - most) * share : 0;
    }
}

static __device__ void bend_one(const fleet_shape &shape, float x, float *value, float *slope) {
    if (shape.activation == FLEET_GELU)
        fleet_gelu(x, value, slope);
    else if (shape.activation == FLEET_TANH) {
        *value = tanhf(x);
        *slope = 1 - *value * *value;
    } else if (shape.activation == FLEET_RELU) {
        *value = x <= 0 ? 0 : x;
        *slope = x > 0 ? 1 : 0;
    } else {
        *value = x;
        *slope = 1;
    }
}

/* Line 3 from v = z w_v on, a warp a sample; when training d_v, and d_f y for the slope of w. */
static __global__ void last(const fleet_shape shape, const fleet_work work, bool training) {
    int b = blockIdx.y, s = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    const fleet_one one = work.ones[b];
    if (s >= one.samples)
        return;
    int64_t place = (int64_t)b * shape.rows + s, row = place * shape.stride;
    const float *w = work.parameters + one.slot * shape.size + shape.offset[W];
    float f = 0, value, by, slope[2];
    for (int j = lane; j < shape.dim; j += 32) {
        bend_one(shape, work.c[row + j], &value, &by);
        f += value * w[j];
    }
    const float logits[2] = {0, fleet_warp_sum(f)};
    fleet_judge_logits(work, place, fleet_label(shape, work, one, place, s, training), one.samples,
                       logits, training, lane == 0, slope);
    for (int j = lane; training && j < shape.dim; j += 32) {
        bend_one(shape, work.c[row + j], &value, &by);
        work.m[row + j] = slope[1] * value;
        work.d_c[row + j] = slope[1] * w[j] * by;
    }
}

/* d_a becomes a (d_a - sum a d_a), and z a times d_z for [CLS]. */
static __global__ void soft_back(const fleet_shape shape, const fleet_work work) {
    __shared__ float shared[THREADS];
    int b = blockIdx.y, s = blockIdx.x;
    if (s >= work.ones[b].samples)
        return;
    int64_t place = (int64_t)b * shape.rows + s;
    const float *a = work.a + place * shape.inputs;
    float *d_a = work.d_a + place * shape.inputs, mean = 0;
    for (int r = threadIdx.x; r < shape.table; r += THREADS)
        mean += a[r] * d_a[r];
    mean = block_all(mean, false, shared);
    for (int r = threadIdx.x; r < shape.table; r += THREADS)
        d_a[r] = a[r] * (d_a[r] - mean);
    for (int i = threadIdx.x; i < shape.dim; i += THREADS)
        work.d_y[place * shape.stride + i] *= a[shape.table - 1];
}

/* Line 1 back: d_q = d_s X, a block a network; the slope of cls has its part by z. */
static __global__ void query_back(const fleet_shape shape, const fleet_work work) {
    extern __shared__ float d_q[]; /* (d) */
    int b = blockIdx.x, d = shape.dim;
    const float *p = work.parameters + work.ones[b].slot * shape.size;
    const float *d_s = work.d_s + (int64_t)b * shape.inputs;
    float *to = work.gradient + b * shape.size;
    for (int j = threadIdx.x; j < d; j += blockDim.x) {
        float sum = 0;
        for (int r = 0; r < shape.table; r++)
            sum += d_s[r] * work.table_hat[((int64_t)b * shape.table + r) * shape.stride + j];
        d_q[j] = sum;
    }
    __syncthreads();
    for (int64_t at = threadIdx.x; at < (int64_t)d * d; at += blockDim.x)
        to[shape.offset[QK] + at] = p[shape.offset[CLS] + at / d] * d_q[at % d];
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float sum = to[shape.offset[CLS] + i] +
                    d_s[shape.table - 1] * work.query[(int64_t)b * shape.stride + i];
        for (int j = 0; j < d; j++)
            sum += d_q[j] * p[shape.offset[QK] + (int64_t)i * d + j];
        to[shape.offset[CLS] + i] = sum;
    }
}

/* Rows of X, once for a step or a judgement. */
void fleet_head_tables(const fleet_call &call) {
    set_query<<<(unsigned)call.count, 128, 0, call.stream>>>(call.shape, call.work);
    set_rows<<<fleet_row_grid(call, call.shape.table), 128, 0, call.stream>>>(call.shape,
                                                                              call.work);
}

static void forward(const fleet_call &call, bool training) {
    const fleet_shape &shape = call.shape;
    const fleet_work &work = call.work;
    int d = shape.dim, S = shape.stride, most = call.most;
    fleet_matrix x = {work.table_hat, (int64_t)shape.table * S, S, false};
    weigh<<<dim3((unsigned)most, (unsigned)call.count), THREADS, 0, call.stream>>>(shape, work,
                                                                                   training);
    fleet_product(call, most, d, shape.table, fleet_rows(work.a, shape, shape.inputs), x, false,
                  fleet_rows(work.y, shape, S), false);
    fleet_product(call, most, d, d, fleet_rows(work.y, shape, S), fleet_tensor(call, V, d), false,
                  fleet_rows(work.c, shape, S), false);
    last<<<fleet_row_grid(call, most), 128, 0, call.stream>>>(shape, work, training);
}

void fleet_head_judge(const fleet_call &call) {
    forward(call, false);
}

void fleet_head_step(const fleet_call &call) {
    const fleet_shape &shape = call.shape;
    const fleet_work &work = call.work;
    int d = shape.dim, S = shape.stride, most = call.most, inputs = shape.inputs;
    const fleet_matrix none = {NULL, 0, 0, false};
    fleet_matrix x = {work.table_hat, (int64_t)shape.table * S, S, false};
    fleet_matrix d_v = fleet_rows(work.d_c, shape, S), d_z = fleet_rows(work.d_y, shape, S);
    fleet_matrix d_a = fleet_rows(work.d_a, shape, inputs);
    fleet_matrix d_s = {work.d_s, inputs, inputs, false};
    fleet_head_tables(call);
    forward(call, true);
    fleet_sum_rows(call, d, fleet_rows(work.m, shape, S), none, fleet_slope(call, W, d), false);
    fleet_outer(call, d, d, fleet_rows(work.y, shape, S), d_v, fleet_slope(call, V, d));
    fleet_product(call, most, d, d, d_v, fleet_tensor(call, V, d), true, d_z, false);
    fleet_product(call, most, shape.table, d, d_z, x, true, d_a, false);
    soft_back<<<dim3((unsigned)most, (unsigned)call.count), THREADS, 0, call.stream>>>(shape, work);
    fleet_sum_rows(call, shape.table, d_a, none, d_s, false);
    fleet_sum_rows(call, d, d_z, none, fleet_slope(call, CLS, d), false);
    query_back<<<(unsigned)call.count, 128, (unsigned)d *(unsigned)sizeof(float), call.stream>>>(
        shape, work);
}
