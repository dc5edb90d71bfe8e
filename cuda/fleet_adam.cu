/* The end of a step: its loss, the length of the gradient, and Adam's method. */
#include "fleet.h"

enum { THREADS = 256 };

/* The same tree for every network. */
static __device__ double sum_block(double x, double *shared) {
    shared[threadIdx.x] = x;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    double all = shared[0];
    __syncthreads();
    return all;
}

/* outcome: mean loss (NaN where the gradient is not finite), correct samples, factor of the
 * gradient. */
static __global__ void measure(const fleet_shape shape, const fleet_work work,
                               const fleet_adam rule) {
    __shared__ double shared[THREADS];
    int b = blockIdx.x;
    const fleet_one one = work.ones[b];
    const float *g = work.gradient + b * shape.size;
    double square = 0, loss = 0, right = 0;
    for (int r = 0; r < rule.ranges; r++)
        for (int64_t i = rule.begin[r] + threadIdx.x; i < rule.end[r]; i += THREADS)
            square += (double)g[i] * (double)g[i];
    for (int s = threadIdx.x; s < one.samples; s += THREADS) {
        loss += work.loss[(int64_t)b * shape.rows + s];
        right += work.right[(int64_t)b * shape.rows + s];
    }
    double length = sqrt(sum_block(square, shared));
    loss = sum_block(loss, shared) / one.samples;
    right = sum_block(right, shared);
    if (threadIdx.x == 0) {
        work.outcome[3 * b] = isfinite(length) ? loss : NAN;
        work.outcome[3 * b + 1] = right;
        work.outcome[3 * b + 2] =
            rule.clip > 0 && length > rule.clip ? (double)(float)(rule.clip / length) : 1;
    }
}

static __global__ void adam(const fleet_shape shape, const fleet_work work, const fleet_adam rule,
                            int range) {
    int b = blockIdx.y;
    const fleet_one one = work.ones[b];
    int64_t i = rule.begin[range] + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rule.end[range] || isnan(work.outcome[3 * b]))
        return;
    int64_t at = one.slot * shape.size + i;
    const float b1 = 0.9f, b2 = 0.999f, c1 = (float)(1 - 0.9), c2 = (float)(1 - 0.999);
    float p = work.parameters[at], scale = (float)work.outcome[3 * b + 2];
    float slope = scale * work.gradient[b * shape.size + i] + rule.decay * p;
    float m = b1 * work.first[at] + c1 * slope, v = b2 * work.second[at] + c2 * slope * slope;
    work.first[at] = m;
    work.second[at] = v;
    work.parameters[at] = p - (rule.decoupled * p + one.rate * m / (sqrtf(v) * one.root + 1e-8f));
}

void fleet_update(const fleet_call &call, const fleet_adam &rule) {
    measure<<<(unsigned)call.count, THREADS, 0, call.stream>>>(call.shape, call.work, rule);
    for (int r = 0; r < rule.ranges; r++)
        adam<<<dim3((unsigned)((rule.end[r] - rule.begin[r] + 255) / 256), (unsigned)call.count),
               256, 0, call.stream>>>(call.shape, call.work, rule, r);
}

/* A warp a window. */
static __global__ void count_right(const fleet_shape shape, const fleet_work work, int rows,
                                   uint32_t *out, int windows, int first_window) {
    int b = blockIdx.y, window = blockIdx.x, lane = threadIdx.x;
    uint32_t sum = 0;
    for (int r = lane; r < WT_FLEET_COUNTED; r += 32) {
        int row = window * WT_FLEET_COUNTED + r;
        sum += row < rows ? work.right[(int64_t)b * shape.rows + row] : 0;
    }
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (lane == 0)
        out[(int64_t)b * windows + first_window + window] = sum;
}

void fleet_count(const fleet_call &call, uint32_t *out, int windows, int first_window) {
    unsigned here = (unsigned)((call.most + WT_FLEET_COUNTED - 1) / WT_FLEET_COUNTED);
    count_right<<<dim3(here, (unsigned)call.count), 32, 0, call.stream>>>(
        call.shape, call.work, call.most, out, windows, first_window);
}
