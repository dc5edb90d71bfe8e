/* What a transformer does behind its attention (lines 4 to 6 of transformer.h), and the way back:
 * products of fleet_product.cu, and between them a warp a row. */
#include "fleet.h"
#include "fleet_random.h"
#include "fleet_rows.h"

enum { LN2_G = 12, LN2_B, W1, B1, W2, B2, LNF_G, LNF_B, HEAD, WO = 10, BO = 11 };

/* c = drop(c + bo) + x, and its norm. */
template <int S>
static __global__ void middle(const fleet_shape shape, const fleet_work work, int rows, bool fixed,
                              bool training) {
    fleet_row at;
    if (!fleet_row_begin(shape, work, rows, fixed, &at))
        return;
    const float *p = at.parameters;
    float c[S / 32], x[S / 32];
    fleet_load<S>(shape, work.c + at.place * S, c);
    fleet_load<S>(shape, work.x + at.place * S, x);
    fleet_add_bias<S>(shape, p + shape.offset[BO], c);
    if (training)
        fleet_drop<S>(shape, at, 0, c);
    for (int k = 0; k < S / 32; k++)
        c[k] += x[k];
    fleet_store<S>(work.c + at.place * S, c);
    float scale = fleet_norm<S>(shape, c);
    fleet_store<S>(work.c_hat + at.place * S, c);
    fleet_gain<S>(shape, p + shape.offset[LN2_G], p + shape.offset[LN2_B], c);
    fleet_store<S>(work.m + at.place * S, c);
    if (at.lane == 0)
        work.c_scale[at.place] = scale;
}

/* f + b1 becomes the slope of gelu, u its value. */
static __global__ void bend(const fleet_shape shape, const fleet_work work, int rows, bool fixed) {
    int network = blockIdx.y;
    const fleet_one one = work.ones[network];
    int64_t count = (int64_t)(fixed ? rows : one.samples) * shape.wide;
    const float *bias = work.parameters + one.slot * shape.size + shape.offset[B1];
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < count;
         at += (int64_t)gridDim.x * blockDim.x) {
        int64_t place = (int64_t)network * shape.rows * shape.wide + at;
        int column = (int)(at % shape.wide);
        float value = 0, slope = 0;
        if (column < shape.hidden)
            fleet_gelu(work.f[place] + bias[column], &value, &slope);
        work.f[place] = slope;
        work.u[place] = value;
    }
}

static __global__ void bend_back(const fleet_shape shape, const fleet_work work) {
    int network = blockIdx.y;
    int64_t count = (int64_t)work.ones[network].samples * shape.wide;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < count;
         at += (int64_t)gridDim.x * blockDim.x) {
        int64_t place = (int64_t)network * shape.rows * shape.wide + at;
        work.d_u[place] *= work.f[place];
    }
}

/* e = drop(e + b2) + c, its norm, the logits and the loss; when training also the way back to what
 * line 5 adds: d_e, and d_c so far. */
template <int S>
static __global__ void last(const fleet_shape shape, const fleet_work work, int rows, bool fixed,
                            bool training) {
    fleet_row at;
    if (!fleet_row_begin(shape, work, rows, fixed, &at))
        return;
    const float *p = at.parameters, *head = p + shape.offset[HEAD];
    float e[S / 32], c[S / 32], hat[S / 32], logits[2] = {0, 0}, slope[2];
    fleet_load<S>(shape, work.e + at.place * S, e);
    fleet_load<S>(shape, work.c + at.place * S, c);
    fleet_add_bias<S>(shape, p + shape.offset[B2], e);
    if (training)
        fleet_drop<S>(shape, at, 1, e);
    for (int k = 0; k < S / 32; k++)
        e[k] += c[k];
    float scale = fleet_norm<S>(shape, e);
    for (int k = 0; k < S / 32; k++)
        hat[k] = e[k];
    fleet_gain<S>(shape, p + shape.offset[LNF_G], p + shape.offset[LNF_B], e);
    for (int k = 0; k < S / 32; k++) {
        int i = 32 * k + at.lane;
        logits[0] += i < shape.dim ? e[k] * head[2 * i] : 0;
        logits[1] += i < shape.dim ? e[k] * head[2 * i + 1] : 0;
    }
    logits[0] = fleet_warp_sum(logits[0]);
    logits[1] = fleet_warp_sum(logits[1]);
    fleet_judge_logits(work, at.place,
                       fleet_label(shape, work, at.one, at.place, at.sample, training),
                       at.one.samples, logits, training, at.lane == 0, slope);
    if (!training)
        return;
    float d[S / 32];
    fleet_store<S>(work.w + at.place * S, e);
    fleet_store<S>(work.e_hat + at.place * S, hat);
    for (int k = 0; k < S / 32; k++) {
        int i = 32 * k + at.lane;
        d[k] = i < shape.dim ? slope[0] * head[2 * i] + slope[1] * head[2 * i + 1] : 0;
    }
    fleet_store<S>(work.d_w + at.place * S, d);
    fleet_norm_back<S>(shape, hat, scale, p + shape.offset[LNF_G], d);
    fleet_store<S>(work.d_c + at.place * S, d);
    fleet_drop<S>(shape, at, 1, d);
    fleet_store<S>(work.d_e + at.place * S, d);
}

/* d_c gets what came through line 5; dropped, it is what line 4 adds: into d_x. */
template <int S>
static __global__ void middle_back(const fleet_shape shape, const fleet_work work) {
    fleet_row at;
    if (!fleet_row_begin(shape, work, 0, false, &at))
        return;
    float hat[S / 32], d[S / 32], c[S / 32];
    fleet_load<S>(shape, work.c_hat + at.place * S, hat);
    fleet_load<S>(shape, work.d_m + at.place * S, d);
    fleet_load<S>(shape, work.d_c + at.place * S, c);
    fleet_norm_back<S>(shape, hat, work.c_scale[at.place], at.parameters + shape.offset[LN2_G], d);
    for (int k = 0; k < S / 32; k++)
        c[k] += d[k];
    fleet_store<S>(work.d_c + at.place * S, c);
    fleet_drop<S>(shape, at, 0, c);
    fleet_store<S>(work.d_x + at.place * S, c);
}

static dim3 many(const fleet_call &call, int rows) {
    int64_t blocks = ((int64_t)rows * call.shape.wide + 1023) / 1024;
    return dim3((unsigned)(blocks < 1 ? 1 : blocks), (unsigned)call.count);
}

void fleet_tail_forward(const fleet_call &call, int rows, bool training) {
    const fleet_shape &shape = call.shape;
    const fleet_work &work = call.work;
    int d = shape.dim, S = shape.stride, wide = shape.wide;
    bool fixed = !training;
    fleet_product(call, rows, d, d, fleet_rows(work.y, shape, S), fleet_tensor(call, WO, d), false,
                  fleet_rows(work.c, shape, S), fixed);
    FLEET_BY_STRIDE(middle, call, rows, (shape, work, rows, fixed, training));
    fleet_product(call, rows, shape.hidden, d, fleet_rows(work.m, shape, S),
                  fleet_tensor(call, W1, shape.hidden), false, fleet_rows(work.f, shape, wide),
                  fixed);
    bend<<<many(call, rows), 256, 0, call.stream>>>(shape, work, rows, fixed);
    fleet_product(call, rows, d, shape.hidden, fleet_rows(work.u, shape, wide),
                  fleet_tensor(call, W2, d), false, fleet_rows(work.e, shape, S), fixed);
    FLEET_BY_STRIDE(last, call, rows, (shape, work, rows, fixed, training));
}

void fleet_tail_back(const fleet_call &call) {
    const fleet_shape &shape = call.shape;
    const fleet_work &work = call.work;
    int d = shape.dim, S = shape.stride, wide = shape.wide, most = call.most;
    const fleet_matrix none = {NULL, 0, 0, false};
    fleet_matrix w = fleet_rows(work.w, shape, S), d_w = fleet_rows(work.d_w, shape, S);
    fleet_matrix d_e = fleet_rows(work.d_e, shape, S), d_m = fleet_rows(work.d_m, shape, S);
    fleet_matrix u = fleet_rows(work.u, shape, wide), d_u = fleet_rows(work.d_u, shape, wide);
    fleet_matrix m = fleet_rows(work.m, shape, S), d_x = fleet_rows(work.d_x, shape, S);
    fleet_matrix y = fleet_rows(work.y, shape, S);
    /* 6. logits = LNf e head */
    fleet_outer(call, d, 2, w, fleet_rows(work.d_logits, shape, 2), fleet_slope(call, HEAD, 2));
    fleet_sum_rows(call, d, d_w, fleet_rows(work.e_hat, shape, S), fleet_slope(call, LNF_G, d),
                   false);
    fleet_sum_rows(call, d, d_w, none, fleet_slope(call, LNF_B, d), false);
    /* 5. e = c + gelu(LN2 c w1 + b1) w2 + b2 */
    fleet_outer(call, shape.hidden, d, u, d_e, fleet_slope(call, W2, d));
    fleet_sum_rows(call, d, d_e, none, fleet_slope(call, B2, d), false);
    fleet_product(call, most, shape.hidden, d, d_e, fleet_tensor(call, W2, d), true, d_u, false);
    bend_back<<<many(call, most), 256, 0, call.stream>>>(shape, work);
    fleet_outer(call, d, shape.hidden, m, d_u, fleet_slope(call, W1, shape.hidden));
    fleet_sum_rows(call, shape.hidden, d_u, none, fleet_slope(call, B1, shape.hidden), false);
    fleet_product(call, most, d, shape.hidden, d_u, fleet_tensor(call, W1, shape.hidden), true, d_m,
                  false);
    fleet_sum_rows(call, d, d_m, fleet_rows(work.c_hat, shape, S), fleet_slope(call, LN2_G, d),
                   false);
    fleet_sum_rows(call, d, d_m, none, fleet_slope(call, LN2_B, d), false);
    FLEET_BY_STRIDE(middle_back, call, most, (shape, work));
    /* 4. c = x_T + y wo + bo */
    fleet_outer(call, d, d, y, d_x, fleet_slope(call, WO, d));
    fleet_sum_rows(call, d, d_x, none, fleet_slope(call, BO, d), false);
    fleet_product(call, most, d, d, d_x, fleet_tensor(call, WO, d), true,
                  fleet_rows(work.d_y, shape, S), false);
}
