/* Perceptrons in step: lines as in mlp.h. */
#include "fleet.h"
#include "fleet_rows.h"

enum { W1, B1, W2, B2, W3, B3 };

/* The bits as signs, dropped where they are when training. */
static __global__ void set_inputs(const fleet_shape shape, const fleet_work work, bool training) {
    int b = blockIdx.y, s = blockIdx.x;
    const fleet_one one = work.ones[b];
    if (s >= one.samples)
        return;
    int64_t place = (int64_t)b * shape.rows + s;
    const uint8_t *bit = training
                             ? work.bit + ((int64_t)one.slot * shape.samples + s) * shape.length
                             : work.drawn + place * shape.drawn;
    uint32_t keep = training ? shape.keep[DROP_TOKENS] : FLEET_KEEP_ALL;
    for (int t = threadIdx.x; t < shape.length; t += blockDim.x) {
        float z = bit[t] == 1 ? 1 : -1;
        if (keep < FLEET_KEEP_ALL)
            z = drop_draw(one.key, (uint32_t)s, DROP_TOKENS, 0, (uint32_t)t) < keep
                    ? z * shape.scale[DROP_TOKENS]
                    : 0;
        work.input[place * shape.inputs + t] = z;
    }
}

static __device__ __forceinline__ float drop_unit(const fleet_shape &shape, const fleet_one &one,
                                                  int s, int layer, int j, float x) {
    if (shape.keep[DROP_BLOCKS] == FLEET_KEEP_ALL)
        return x;
    uint32_t draw = drop_draw(one.key, (uint32_t)s, DROP_BLOCKS, (uint32_t)(layer * shape.wide / 2),
                              (uint32_t)j);
    return draw < shape.keep[DROP_BLOCKS] ? x * shape.scale[DROP_BLOCKS] : 0;
}

/* f + bias becomes the slope, u the value after dropout. */
static __global__ void bend(const fleet_shape shape, const fleet_work work, int layer, float *f,
                            float *u, bool training) {
    int b = blockIdx.y, s = blockIdx.x;
    const fleet_one one = work.ones[b];
    if (s >= one.samples)
        return;
    int64_t place = ((int64_t)b * shape.rows + s) * shape.wide;
    const float *bias =
        work.parameters + one.slot * shape.size + shape.offset[layer == 0 ? B1 : B2];
    for (int j = threadIdx.x; j < shape.wide; j += blockDim.x) {
        float value = 0, slope = 0;
        if (j < shape.hidden) {
            float x = f[place + j] + bias[j];
            if (shape.activation == FLEET_GELU)
                fleet_gelu(x, &value, &slope);
            else {
                value = x <= 0 ? 0 : x; /* NaN stays */
                slope = x > 0 ? 1 : 0;
            }
        }
        f[place + j] = slope;
        u[place + j] = training ? drop_unit(shape, one, s, layer, j, value) : value;
    }
}

static __global__ void bend_back(const fleet_shape shape, const fleet_work work, int layer,
                                 const float *f, float *d) {
    int b = blockIdx.y, s = blockIdx.x;
    const fleet_one one = work.ones[b];
    if (s >= one.samples)
        return;
    int64_t place = ((int64_t)b * shape.rows + s) * shape.wide;
    for (int j = threadIdx.x; j < shape.hidden; j += blockDim.x)
        d[place + j] = drop_unit(shape, one, s, layer, j, d[place + j]) * f[place + j];
}

/* 3. logits = u2 w3 + b3 and the loss, a warp a sample; when training also d_u2. */
static __global__ void last(const fleet_shape shape, const fleet_work work, bool training) {
    int b = blockIdx.y, s = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    const fleet_one one = work.ones[b];
    if (s >= one.samples)
        return;
    int64_t place = (int64_t)b * shape.rows + s;
    const float *p = work.parameters + one.slot * shape.size, *w = p + shape.offset[W3];
    float logits[2] = {0, 0}, slope[2];
    for (int j = lane; j < shape.hidden; j += 32) {
        float u = work.u2[place * shape.wide + j];
        logits[0] += u * w[2 * j];
        logits[1] += u * w[2 * j + 1];
    }
    for (int c = 0; c < 2; c++)
        logits[c] = fleet_warp_sum(logits[c]) + p[shape.offset[B3] + c];
    fleet_judge_logits(work, place, fleet_label(shape, work, one, place, s, training), one.samples,
                       logits, training, lane == 0, slope);
    for (int j = lane; training && j < shape.hidden; j += 32)
        work.d_u2[place * shape.wide + j] = slope[0] * w[2 * j] + slope[1] * w[2 * j + 1];
}

static void forward(const fleet_call &call, bool training) {
    const fleet_shape &shape = call.shape;
    const fleet_work &work = call.work;
    int hidden = shape.hidden, wide = shape.wide, most = call.most;
    dim3 rows((unsigned)most, (unsigned)call.count);
    set_inputs<<<rows, 128, 0, call.stream>>>(shape, work, training);
    fleet_product(call, most, hidden, shape.length, fleet_rows(work.input, shape, shape.inputs),
                  fleet_tensor(call, W1, hidden), false, fleet_rows(work.f1, shape, wide), false);
    bend<<<rows, 128, 0, call.stream>>>(shape, work, 0, work.f1, work.u1, training);
    fleet_product(call, most, hidden, hidden, fleet_rows(work.u1, shape, wide),
                  fleet_tensor(call, W2, hidden), false, fleet_rows(work.f2, shape, wide), false);
    bend<<<rows, 128, 0, call.stream>>>(shape, work, 1, work.f2, work.u2, training);
    last<<<fleet_row_grid(call, most), 128, 0, call.stream>>>(shape, work, training);
}

void fleet_mlp_judge(const fleet_call &call) {
    forward(call, false);
}

void fleet_mlp_step(const fleet_call &call) {
    const fleet_shape &shape = call.shape;
    const fleet_work &work = call.work;
    int hidden = shape.hidden, wide = shape.wide, most = call.most;
    dim3 rows((unsigned)most, (unsigned)call.count);
    const fleet_matrix none = {NULL, 0, 0, false};
    fleet_matrix d_logits = fleet_rows(work.d_logits, shape, 2);
    fleet_matrix d_u1 = fleet_rows(work.d_u1, shape, wide),
                 d_u2 = fleet_rows(work.d_u2, shape, wide);
    forward(call, true);
    fleet_outer(call, hidden, 2, fleet_rows(work.u2, shape, wide), d_logits,
                fleet_slope(call, W3, 2));
    fleet_sum_rows(call, 2, d_logits, none, fleet_slope(call, B3, 2), false);
    bend_back<<<rows, 128, 0, call.stream>>>(shape, work, 1, work.f2, work.d_u2);
    fleet_outer(call, hidden, hidden, fleet_rows(work.u1, shape, wide), d_u2,
                fleet_slope(call, W2, hidden));
    fleet_sum_rows(call, hidden, d_u2, none, fleet_slope(call, B2, hidden), false);
    fleet_product(call, most, hidden, hidden, d_u2, fleet_tensor(call, W2, hidden), true, d_u1,
                  false);
    bend_back<<<rows, 128, 0, call.stream>>>(shape, work, 0, work.f1, work.d_u1);
    fleet_outer(call, shape.length, hidden, fleet_rows(work.input, shape, shape.inputs), d_u1,
                fleet_slope(call, W1, hidden));
    fleet_sum_rows(call, hidden, d_u1, none, fleet_slope(call, B1, hidden), false);
}
