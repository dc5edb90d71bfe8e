/* The perceptron in float, a block of samples at a time: mlp.h numbers the lines. */
#include <string.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "network/model/mlp.h"
#include "network/model/network_arena.h"
#include "network/model/network_dropout.h"

enum { BLOCK = 256 };

typedef struct {
    wt_context *context;
    const wt_network *network;
    const wt_network_loops *loops;
    wt_dropout dropout;
    const float *parameters;
    float *gradient;                            /* NULL: only judge */
    size_t length, hidden, stride, wide;        /* and filled up to multiples of 32 */
    float *z, *f1, *u1, *f2, *u2, *d_u1, *d_u2; /* (BLOCK, stride) and (BLOCK, wide) */
    float *logits;                              /* (BLOCK, 2), then the derivative by them */
    uint32_t *words;                            /* of one sample: for z, for u1 and u2 */
} pass;

static size_t cut(pass *at, float *block) {
    wt_floats arena = {.block = block};
    size_t most = at->stride > 2 * at->wide ? at->stride : 2 * at->wide;
    float **vectors[] = {&at->f1, &at->u1, &at->f2, &at->u2, &at->d_u1, &at->d_u2};
    at->z = wt_take(&arena, BLOCK * at->stride);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = wt_take(&arena, BLOCK * at->wide);
    at->logits = wt_take(&arena, 2 * (size_t)BLOCK);
    at->words = wt_take_words(&arena, wt_dropout_words(most));
    return arena.used;
}

/* The block stays with the network from call to call. */
static wt_status start(pass *at, wt_context *context, wt_network *network,
                       const float *parameters) {
    wt_status status = WT_OK;
    *at = (pass){.context = context, .network = network, .parameters = parameters};
    at->loops = wt_network_best();
    at->dropout = wt_dropout_none();
    at->length = network->spec.length;
    at->hidden = network->spec.hidden;
    at->stride = (at->length + 31) / 32 * 32;
    at->wide = (at->hidden + 31) / 32 * 32;
    if (network->work == NULL) {
        float *block;
        WT_TRY(WT_NEW_ZERO(context, &block, cut(at, NULL), "layers of an mlp"));
        network->work = block;
    }
    cut(at, network->work);
done:
    return status;
}

static const float *tensor(const pass *at, size_t index) {
    return at->parameters + at->network->tensors[index].offset;
}
static float *slope(const pass *at, size_t index) {
    return at->gradient + at->network->tensors[index].offset;
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
    return wt_gemm_float(at->context, WT_PLAIN, WT_PLAIN, count, columns, inner, 1, in, in_stride,
                         tensor(at, w), columns, 1, out, out_stride);
}

static wt_status layer_back(const pass *at, size_t count, size_t inner, size_t columns,
                            const float *in, size_t in_stride, size_t w, const float *d_out,
                            size_t out_stride, float *d_in) {
    float *d_bias = slope(at, w + 1);
    wt_status status = WT_OK;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < columns; j++)
            d_bias[j] += d_out[i * out_stride + j];
    WT_TRY(wt_gemm_float(at->context, WT_TRANSPOSED, WT_PLAIN, inner, columns, count, 1, in,
                         in_stride, d_out, out_stride, 1, slope(at, w), columns));
    if (d_in != NULL)
        WT_TRY(wt_gemm_float(at->context, WT_PLAIN, WT_TRANSPOSED, count, inner, columns, 1, d_out,
                             out_stride, tensor(at, w), columns, 0, d_in, in_stride));
done:
    return status;
}

static wt_status forward(const pass *at, size_t first, size_t count) {
    bool gelu = strcmp(at->network->spec.activation, "gelu") == 0;
    void (*act)(size_t, float *, float *) = gelu ? at->loops->gelu : at->loops->relu;
    wt_status status;
    WT_TRY(
        layer(at, count, at->length, at->hidden, at->z, at->stride, WT_MLP_W1, at->f1, at->wide));
    act(count * at->wide, at->f1, at->u1);
    drop_layer(at, first, count, 0, at->u1);
    WT_TRY(layer(at, count, at->hidden, at->hidden, at->u1, at->wide, WT_MLP_W2, at->f2, at->wide));
    act(count * at->wide, at->f2, at->u2);
    drop_layer(at, first, count, 1, at->u2);
    WT_TRY(layer(at, count, at->hidden, 2, at->u2, at->wide, WT_MLP_W3, at->logits, 2));
done:
    return status;
}

static wt_status backward(const pass *at, size_t first, size_t count) {
    wt_status status;
    /* 3. logits = u2 w3 + b3 */
    WT_TRY(
        layer_back(at, count, at->hidden, 2, at->u2, at->wide, WT_MLP_W3, at->logits, 2, at->d_u2));
    /* 2. u2 = act(u1 w2 + b2), f2 holds the slope */
    drop_layer(at, first, count, 1, at->d_u2);
    for (size_t i = 0; i < count * at->wide; i++)
        at->d_u2[i] *= at->f2[i];
    WT_TRY(layer_back(at, count, at->hidden, at->hidden, at->u1, at->wide, WT_MLP_W2, at->d_u2,
                      at->wide, at->d_u1));
    /* 1. u1 = act(z w1 + b1), f1 holds the slope */
    drop_layer(at, first, count, 0, at->d_u1);
    for (size_t i = 0; i < count * at->wide; i++)
        at->d_u1[i] *= at->f1[i];
    WT_TRY(layer_back(at, count, at->length, at->hidden, at->z, at->stride, WT_MLP_W1, at->d_u1,
                      at->wide, NULL));
done:
    return status;
}

static wt_status run(const pass *at, const wt_bits *batch, size_t most_errors,
                     wt_network_result *result) {
    wt_status status = WT_OK;
    while (result->samples < batch->samples && result->samples - result->correct <= most_errors) {
        size_t first = result->samples, left = batch->samples - first;
        size_t count = left < BLOCK ? left : BLOCK;
        set_inputs(at, batch, first, count);
        WT_TRY(forward(at, first, count));
        wt_network_judge(at->logits, batch->label + first, count, batch->samples, result);
        if (at->gradient != NULL)
            WT_TRY(backward(at, first, count));
    }
    result->loss /= (double)result->samples;
    result->miss /= (double)result->samples;
done:
    return status;
}

wt_status wt_mlp_gradient(wt_context *context, wt_network *network, const float *parameters,
                          const wt_bits *batch, uint64_t seed, uint64_t step, float *gradient,
                          wt_network_result *result) {
    pass at;
    wt_status status;
    WT_TRY(start(&at, context, network, parameters));
    at.dropout = wt_dropout_for(&network->spec, seed, step);
    at.gradient = gradient;
    memset(gradient, 0, network->size * sizeof *gradient);
    WT_TRY(run(&at, batch, SIZE_MAX, result));
done:
    return status;
}

wt_status wt_mlp_evaluate(wt_context *context, wt_network *network, const float *parameters,
                          const wt_bits *batch, size_t most_errors, wt_network_result *result) {
    pass at;
    wt_status status;
    WT_TRY(start(&at, context, network, parameters));
    WT_TRY(run(&at, batch, most_errors, result));
done:
    return status;
}
