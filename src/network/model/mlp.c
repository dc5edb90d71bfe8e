/* The perceptron in float, a block of samples at a time: mlp.h numbers the lines. */
#include "network/model/mlp.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "network/model/network_dropout.h"

enum { BLOCK = 256 };

typedef struct {
    wt_network_pass base;
    const wt_network_loops *loops;
    wt_dropout dropout;
    size_t length, hidden, stride, wide;        /* and filled up to multiples of 32 */
    float *z, *f1, *u1, *f2, *u2, *d_u1, *d_u2; /* (BLOCK, stride) and (BLOCK, wide) */
    uint32_t *words;                            /* of one sample: for z, for u1 and u2 */
} pass;

static void open_pass(void *work) {
    pass *at = work;
    wt_arena *arena = &at->base.arena;
    at->loops = wt_loops_best()->network;
    at->length = at->base.network->spec.length;
    at->hidden = at->base.network->spec.hidden;
    at->stride = (at->length + 31) / 32 * 32;
    at->wide = (at->hidden + 31) / 32 * 32;
    size_t most = at->stride > 2 * at->wide ? at->stride : 2 * at->wide;
    WT_TAKE_FLOATS(arena, BLOCK, at->stride, &at->z);
    WT_TAKE_FLOATS(arena, BLOCK, at->wide, &at->f1, &at->u1, &at->f2, &at->u2, &at->d_u1,
                   &at->d_u2);
    at->words = WT_TAKE_ZERO(arena, uint32_t, wt_dropout_words(most));
}

static const float *tensor(const pass *at, size_t index) {
    return wt_pass_tensor(&at->base, index);
}
static float *slope(const pass *at, size_t index) {
    return wt_pass_slope(&at->base, index);
}

static void set_inputs(const pass *at, const wt_bits *batch, size_t first, size_t count) {
    uint32_t keep = at->dropout.keep[WT_DROP_TOKENS];
    for (size_t i = 0; i < count; i++) {
        float *z = at->z + i * at->stride;
        for (size_t t = 0; t < at->length; t++)
            z[t] = batch->bit[(first + i) * at->length + t] == 1 ? 1 : -1;
        if (keep == WT_KEEP_ALL)
            continue;
        wt_dropout_draw(&at->dropout, at->loops, first + i, WT_DROP_TOKENS, at->stride, at->words);
        at->loops->drop(at->stride, at->words, keep, at->dropout.scale[WT_DROP_TOKENS], z);
    }
}

/* The draws of sample i: the first half for layer 0, the second for layer 1. */
static void drop_layer(const pass *at, size_t first, size_t count, size_t layer, float *u) {
    uint32_t keep = at->dropout.keep[WT_DROP_BLOCKS];
    for (size_t i = 0; i < count && keep < WT_KEEP_ALL; i++) {
        wt_dropout_draw(&at->dropout, at->loops, first + i, WT_DROP_BLOCKS, 2 * at->wide,
                        at->words);
        at->loops->drop(at->wide, at->words + layer * at->wide / 2, keep,
                        at->dropout.scale[WT_DROP_BLOCKS], u + i * at->wide);
    }
}

/* out (count, columns) = in (count, inner) w + b */
static wt_status layer(const pass *at, size_t count, size_t inner, size_t columns, const float *in,
                       size_t in_stride, size_t w, float *out, size_t out_stride) {
    const float *bias = tensor(at, w + 1);
    for (size_t i = 0; i < count; i++)
        memcpy(out + i * out_stride, bias, columns * sizeof *out);
    return wt_gemm_float(at->base.context, WT_PLAIN, WT_PLAIN, count, columns, inner, 1, in,
                         in_stride, tensor(at, w), columns, 1, out, out_stride);
}

static wt_status layer_back(const pass *at, size_t count, size_t inner, size_t columns,
                            const float *in, size_t in_stride, size_t w, const float *d_out,
                            size_t out_stride, float *d_in) {
    float *d_bias = slope(at, w + 1);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < columns; j++)
            d_bias[j] += d_out[i * out_stride + j];
    WT_PASS(wt_gemm_float(at->base.context, WT_TRANSPOSED, WT_PLAIN, inner, columns, count, 1, in,
                          in_stride, d_out, out_stride, 1, slope(at, w), columns));
    if (d_in != NULL)
        WT_PASS(wt_gemm_float(at->base.context, WT_PLAIN, WT_TRANSPOSED, count, inner, columns, 1,
                              d_out, out_stride, tensor(at, w), columns, 0, d_in, in_stride));
    return WT_OK;
}

static wt_status forward(const void *given, const wt_bits *batch, size_t first, size_t count) {
    const pass *at = given;
    bool gelu = strcmp(at->base.network->spec.activation, "gelu") == 0;
    void (*act)(size_t, float *, float *) = gelu ? at->loops->gelu : at->loops->relu;
    set_inputs(at, batch, first, count);
    WT_PASS(
        layer(at, count, at->length, at->hidden, at->z, at->stride, WT_MLP_W1, at->f1, at->wide));
    act(count * at->wide, at->f1, at->u1);
    drop_layer(at, first, count, 0, at->u1);
    WT_PASS(
        layer(at, count, at->hidden, at->hidden, at->u1, at->wide, WT_MLP_W2, at->f2, at->wide));
    act(count * at->wide, at->f2, at->u2);
    drop_layer(at, first, count, 1, at->u2);
    return layer(at, count, at->hidden, 2, at->u2, at->wide, WT_MLP_W3, at->base.logits, 2);
}

static wt_status backward(const void *given, size_t first, size_t count) {
    const pass *at = given;
    /* 3. logits = u2 w3 + b3 */
    WT_PASS(layer_back(at, count, at->hidden, 2, at->u2, at->wide, WT_MLP_W3, at->base.logits, 2,
                       at->d_u2));
    /* 2. u2 = act(u1 w2 + b2), f2 holds the slope */
    drop_layer(at, first, count, 1, at->d_u2);
    for (size_t i = 0; i < count * at->wide; i++)
        at->d_u2[i] *= at->f2[i];
    WT_PASS(layer_back(at, count, at->hidden, at->hidden, at->u1, at->wide, WT_MLP_W2, at->d_u2,
                       at->wide, at->d_u1));
    /* 1. u1 = act(z w1 + b1), f1 holds the slope */
    drop_layer(at, first, count, 0, at->d_u1);
    for (size_t i = 0; i < count * at->wide; i++)
        at->d_u1[i] *= at->f1[i];
    return layer_back(at, count, at->length, at->hidden, at->z, at->stride, WT_MLP_W1, at->d_u1,
                      at->wide, NULL);
}

static const wt_network_blocks blocks = {.samples = BLOCK,
                                         .bytes = sizeof(pass),
                                         .what = "layers of an mlp",
                                         .open = open_pass,
                                         .forward = forward,
                                         .backward = backward};

static wt_status run(wt_context *context, wt_network *network, const float *parameters,
                     const wt_bits *batch, wt_dropout dropout, float *gradient, size_t max_errors,
                     wt_network_result *result) {
    pass *at;
    WT_PASS(wt_network_start_blocks(context, network, &blocks, parameters, gradient, &at));
    at->dropout = dropout;
    return wt_network_run_blocks(&blocks, at, batch, max_errors, result);
}

static wt_status gradient_of(wt_context *context, wt_network *network, const float *parameters,
                             const wt_bits *batch, uint64_t key, float *gradient,
                             wt_network_result *result) {
    return run(context, network, parameters, batch, wt_dropout_for(&network->spec, key), gradient,
               SIZE_MAX, result);
}

static wt_status evaluate(wt_context *context, wt_network *network, const float *parameters,
                          const wt_bits *batch, size_t max_errors, wt_network_result *result) {
    return run(context, network, parameters, batch, wt_dropout_none(), NULL, max_errors, result);
}

/* ---- the kind ---- */

static wt_status layout(wt_context *context, wt_network *network) {
    wt_network_spec *spec = &network->spec;
    size_t hidden = spec->hidden == 0 ? 4 * spec->dim : spec->hidden;
    if (hidden == 0 || spec->dim > SIZE_MAX / 64)
        return wt_fail(context, WT_USAGE, "an mlp needs a hidden layer of 1 unit or more");
    spec->hidden = hidden;
    spec->heads = 0;
    /* Variance 2 / inputs keeps the size of what ReLU lets through. */
    wt_network_law first = {.spread = sqrt(2 / (double)spec->length)},
                   other = {.spread = sqrt(2 / (double)hidden)}, zero = {0};
    WT_PASS(wt_network_add(context, network, "w1", spec->length, hidden, first, false));
    WT_PASS(wt_network_add(context, network, "b1", 0, hidden, zero, false));
    WT_PASS(wt_network_add(context, network, "w2", hidden, hidden, other, false));
    WT_PASS(wt_network_add(context, network, "b2", 0, hidden, zero, false));
    WT_PASS(wt_network_add(context, network, "w3", hidden, 2, other, false));
    return wt_network_add(context, network, "b3", 0, 2, zero, false);
}

static const char *const activations[] = {"relu", "gelu", NULL};

const wt_network_kind wt_kind_mlp = {.name = "mlp",
                                     .activations = activations,
                                     .layout = layout,
                                     .gradient = gradient_of,
                                     .evaluate = evaluate,
                                     .close = wt_network_close_blocks};
