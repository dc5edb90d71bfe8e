/* The head in float: head.h numbers the lines.
 *
 * Symbols and positions stay as they are, so that there are R = 2 T + 1 rows that X can have, and a
 * sample is a row of weights A (.., R) in which only its own T + 1 rows have any. With e_r =
 * exp(s_r - max) in double once for a step, these are e_r / sum e; should the sum vanish, the
 * sample has a softmax of its own. */
#include "network/model/head.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

enum { BLOCK = 128 }; /* samples at a time */

typedef struct {
    wt_network_pass base;
    size_t T, d, rows;
    double *s, *e;        /* (rows) */
    float *x;             /* (rows, d) */
    float *q, *d_q;       /* (d) */
    float *a, *d_a, *d_s; /* (BLOCK, rows) twice, (rows) */
    float *z, *v, *y;     /* (BLOCK, d) */
    float *d_v, *d_z;     /* (BLOCK, d) */
} pass;

static void open_pass(void *work) {
    pass *at = work;
    wt_arena *arena = &at->base.arena;
    size_t d = at->d = at->base.network->spec.dim, rows;
    at->T = at->base.network->spec.length;
    at->rows = rows = 2 * at->T + 1;
    at->s = WT_TAKE_ZERO(arena, double, rows);
    at->e = WT_TAKE_ZERO(arena, double, rows);
    WT_TAKE_FLOATS(arena, rows, d, &at->x);
    WT_TAKE_FLOATS(arena, 1, d, &at->q, &at->d_q);
    WT_TAKE_FLOATS(arena, BLOCK, rows, &at->a, &at->d_a);
    WT_TAKE_FLOATS(arena, 1, rows, &at->d_s);
    WT_TAKE_FLOATS(arena, BLOCK, d, &at->z, &at->v, &at->y, &at->d_v, &at->d_z);
}

static const float *tensor(const pass *at, size_t index) {
    return wt_pass_tensor(&at->base, index);
}
static float *slope(const pass *at, size_t index) {
    return wt_pass_slope(&at->base, index);
}

/* Line 1 for all rows, and e. */
static void set_scores(const pass *at) {
    size_t d = at->d;
    const float *cls = tensor(at, WT_HEAD_CLS), *qk = tensor(at, WT_HEAD_QK);
    double most = -DBL_MAX;
    memset(at->q, 0, d * sizeof *at->q);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            at->q[j] += cls[i] * qk[i * d + j];
    for (size_t r = 0; r < at->rows; r++) {
        float *x = at->x + r * d;
        at->s[r] = 0;
        for (size_t i = 0; i < d; i++) {
            x[i] = r == 2 * at->T ? cls[i]
                                  : tensor(at, WT_HEAD_SYMBOLS)[r % 2 * d + i] +
                                        tensor(at, WT_HEAD_POSITIONS)[r / 2 * d + i];
            at->s[r] += (double)at->q[i] * x[i];
        }
        most = fmax(most, at->s[r]);
    }
    for (size_t r = 0; r < at->rows; r++)
        at->e[r] = exp(at->s[r] - most);
}

/* Row of X that token t of the sample is. */
static size_t row_of(const pass *at, const uint8_t *bit, size_t t) {
    return t < at->T ? 2 * t + bit[t] : 2 * at->T;
}

/* Line 2: the sample's weights. */
static void weigh(const pass *at, const uint8_t *bit, float *a) {
    double sum = 0, most = 0;
    for (size_t t = 0; t <= at->T; t++)
        sum += at->e[row_of(at, bit, t)];
    bool vanished = !(sum > DBL_MIN * 0x1p60);
    if (vanished) {
        most = at->s[2 * at->T];
        for (size_t t = 0; t < at->T; t++)
            most = fmax(most, at->s[row_of(at, bit, t)]);
        sum = 0;
        for (size_t t = 0; t <= at->T; t++)
            sum += exp(at->s[row_of(at, bit, t)] - most);
    }
    memset(a, 0, at->rows * sizeof *a);
    for (size_t t = 0; t <= at->T; t++) {
        size_t r = row_of(at, bit, t);
        a[r] = (float)((vanished ? exp(at->s[r] - most) : at->e[r]) / sum);
    }
}

static wt_status forward(const void *given, const wt_bits *batch, size_t first, size_t count) {
    const pass *at = given;
    size_t d = at->d;
    const float *w = tensor(at, WT_HEAD_W);
    for (size_t i = 0; i < count; i++)
        weigh(at, batch->bit + (first + i) * at->T, at->a + i * at->rows);
    WT_PASS(wt_gemm_float(at->base.context, WT_PLAIN, WT_PLAIN, count, d, at->rows, 1, at->a,
                          at->rows, at->x, d, 0, at->z, d));
    WT_PASS(wt_gemm_float(at->base.context, WT_PLAIN, WT_PLAIN, count, d, d, 1, at->z, d,
                          tensor(at, WT_HEAD_V), d, 0, at->v, d));
    for (size_t i = 0; i < count; i++) {
        double f = 0;
        for (size_t j = i * d; j < (i + 1) * d; j++) {
            at->y[j] = (float)at->base.network->activation->value(at->v[j]);
            f += (double)at->y[j] * w[j - i * d];
        }
        at->base.logits[2 * i] = 0;
        at->base.logits[2 * i + 1] = (float)f;
    }
    return WT_OK;
}

/* d_s += sum over samples of a (d_a - sum a d_a) */
static void softmax_back(const pass *at, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const float *a = at->a + i * at->rows, *d_a = at->d_a + i * at->rows;
        double mean = 0;
        for (size_t r = 0; r < at->rows; r++)
            mean += (double)a[r] * d_a[r];
        for (size_t r = 0; r < at->rows; r++)
            at->d_s[r] += a[r] * (d_a[r] - (float)mean);
    }
}

static wt_status backward(const void *given, size_t first, size_t count) {
    const pass *at = given;
    size_t d = at->d;
    const float *w = tensor(at, WT_HEAD_W);
    float *d_w = slope(at, WT_HEAD_W), *d_cls = slope(at, WT_HEAD_CLS);
    (void)first;
    /* 3. y = act(z w_v), f = <w, y> */
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < d; j++) {
            double d_f = at->base.logits[2 * i + 1],
                   by = at->base.network->activation->slope(at->v[i * d + j]);
            d_w[j] += (float)(d_f * at->y[i * d + j]);
            at->d_v[i * d + j] = (float)(d_f * w[j] * by);
        }
    WT_PASS(wt_gemm_float(at->base.context, WT_TRANSPOSED, WT_PLAIN, d, d, count, 1, at->z, d,
                          at->d_v, d, 1, slope(at, WT_HEAD_V), d));
    WT_PASS(wt_gemm_float(at->base.context, WT_PLAIN, WT_TRANSPOSED, count, d, d, 1, at->d_v, d,
                          tensor(at, WT_HEAD_V), d, 0, at->d_z, d));
    /* 2. a = softmax s, z = X^T a; of X only the row of [CLS] is trained */
    WT_PASS(wt_gemm_float(at->base.context, WT_PLAIN, WT_TRANSPOSED, count, at->rows, d, 1, at->d_z,
                          d, at->x, d, 0, at->d_a, at->rows));
    softmax_back(at, count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < d; j++)
            d_cls[j] += at->a[(i + 1) * at->rows - 1] * at->d_z[i * d + j];
    return WT_OK;
}

/* 1. q = cls w_qk, s_t = <q, x_t> */
static wt_status scores_back(const pass *at) {
    size_t d = at->d;
    const float *cls = tensor(at, WT_HEAD_CLS), *qk = tensor(at, WT_HEAD_QK);
    float *d_cls = slope(at, WT_HEAD_CLS), *d_qk = slope(at, WT_HEAD_QK);
    wt_status status = wt_gemm_float(at->base.context, WT_PLAIN, WT_PLAIN, 1, d, at->rows, 1,
                                     at->d_s, at->rows, at->x, d, 0, at->d_q, d);
    for (size_t i = 0; i < d; i++) {
        double sum = (double)at->d_s[at->rows - 1] * at->q[i];
        for (size_t j = 0; j < d; j++) {
            d_qk[i * d + j] = cls[i] * at->d_q[j];
            sum += (double)at->d_q[j] * qk[i * d + j];
        }
        d_cls[i] += (float)sum;
    }
    return status;
}

static const wt_network_blocks blocks = {.samples = BLOCK,
                                         .bytes = sizeof(pass),
                                         .what = "layers of a head",
                                         .open = open_pass,
                                         .forward = forward,
                                         .backward = backward};

static wt_status start(wt_context *context, wt_network *network, const float *parameters,
                       float *gradient, pass **out) {
    wt_status status =
        wt_network_start_blocks(context, network, &blocks, parameters, gradient, out);
    if (status == WT_OK)
        set_scores(*out);
    return status;
}

static wt_status gradient_of(wt_context *context, wt_network *network, const float *parameters,
                             const wt_bits *batch, uint64_t key, float *gradient,
                             wt_network_result *result) {
    pass *at;
    (void)key; /* nothing is dropped */
    WT_PASS(start(context, network, parameters, gradient, &at));
    memset(at->d_s, 0, at->rows * sizeof *at->d_s);
    WT_PASS(wt_network_run_blocks(&blocks, at, batch, SIZE_MAX, result));
    return scores_back(at);
}

static wt_status evaluate(wt_context *context, wt_network *network, const float *parameters,
                          const wt_bits *batch, size_t max_errors, wt_network_result *result) {
    pass *at;
    wt_status status = start(context, network, parameters, NULL, &at);
    return status != WT_OK ? status : wt_network_run_blocks(&blocks, at, batch, max_errors, result);
}

static wt_status attention(wt_context *context, wt_network *network, const float *parameters,
                           const wt_bits *batch, float *out) {
    pass *at;
    wt_status status = start(context, network, parameters, NULL, &at);
    for (size_t i = 0; status == WT_OK && i < batch->samples; i++) {
        const uint8_t *bit = batch->bit + i * at->T;
        weigh(at, bit, at->a);
        for (size_t t = 0; t <= at->T; t++)
            out[i * (at->T + 1) + t] = at->a[row_of(at, bit, t)];
    }
    return status;
}

/* ---- the kind ---- */

#define HALF_RADIUS 0.5 /* of symbols and of positions: B_X is twice that */

static wt_status layout(wt_context *context, wt_network *network) {
    wt_network_spec *spec = &network->spec;
    size_t d = spec->dim;
    if (d == 0)
        return wt_fail(context, WT_USAGE, "a head needs tokens of 1 dimension or more");
    if (spec->embedding_drop > 0 || spec->attention_drop > 0 || spec->block_drop > 0)
        return wt_fail(context, WT_USAGE,
                       "a head has no dropout: give 0 for embedding, attention and block, not %g, "
                       "%g and %g",
                       spec->embedding_drop, spec->attention_drop, spec->block_drop);
    spec->heads = 1;
    spec->hidden = d;
    spec->fixed_positions = true;
    wt_network_law small = {.spread = 0.02}, wide = {.spread = 1 / sqrt((double)d)},
                   ball = {.radius = HALF_RADIUS};
    WT_PASS(wt_network_add(context, network, "w_qk", d, d, small, false));
    WT_PASS(wt_network_add(context, network, "w_v", d, d, wide, false));
    WT_PASS(wt_network_add(context, network, "w", 0, d, wide, false));
    WT_PASS(wt_network_add(context, network, "cls", 0, d, wide, false));
    WT_PASS(wt_network_add(context, network, "symbols", 2, d, ball, true));
    return wt_network_add(context, network, "positions", spec->length, d, ball, true);
}

static const char *const activations[] = {"relu", "gelu", "tanh", "identity", NULL};

const wt_network_kind wt_kind_head = {.name = "head",
                                      .activations = activations,
                                      .layout = layout,
                                      .gradient = gradient_of,
                                      .evaluate = evaluate,
                                      .attention = attention,
                                      .close = wt_network_close_blocks};
