/* The loops of network_loops.h for one kind of processor: see loops_plain.c. */
#include <float.h>
#include <math.h>

#include "network/model/network_lanes.h"
#include "network/model/network_loops.h"

typedef uint64_t wide_words __attribute__((vector_size(4 * LANES)));
typedef uint32_t half_words __attribute__((vector_size(2 * LANES)));
enum { HALF = LANES / 2 }; /* words of 64 bits in a vector */

#define LOW 0xffffffffU

/* Ten rounds of Philox4x32 on HALF counters: words are the low halves of 64 bits, and what is left
 * in the high halves is never read. */
WT_INLINE void philox_some(uint64_t key, wide_words x[4]) {
    uint64_t k0 = key & LOW, k1 = key >> 32;
    for (int round = 0; round < 10; round++) {
        wide_words p0 = WIDE_PRODUCT(x[0], 0xD2511F53U), p1 = WIDE_PRODUCT(x[2], 0xCD9E8D57U);
        x[0] = (p1 >> 32) ^ x[1] ^ k0;
        x[1] = p1;
        x[2] = (p0 >> 32) ^ x[3] ^ k1;
        x[3] = p0;
        k0 = (k0 + 0x9E3779B9U) & LOW;
        k1 = (k1 + 0xBB67AE85U) & LOW;
    }
}

TARGET static void words(uint64_t key, const uint32_t counter[3], size_t batches, uint32_t *out) {
    wide_words lane = {0}, zero = {0};
    for (size_t i = 0; i < HALF; i++)
        lane[i] = i;
    for (size_t first = 0; first < 16 * batches; first += HALF) {
        wide_words x[4] = {lane + first, zero + counter[0], zero + counter[1], zero + counter[2]};
        philox_some(key, x);
        for (size_t v = 0; v < 4; v++) {
            half_words narrow = __builtin_convertvector(x[v], half_words);
            memcpy(out + first / 16 * WT_WORDS + 16 * v + first % 16, &narrow, sizeof narrow);
        }
    }
}

TARGET static void drop(size_t count, const uint32_t *words, uint32_t keep, float scale, float *x) {
    for (size_t i = 0; i < count; i += 32)
        for (size_t l = 0; l < 16; l += LANES) {
            wt_word_lanes word;
            wt_lanes low, high;
            memcpy(&word, words + i / 2 + l, sizeof word);
            wt_load(&low, x + i + l);
            wt_load(&high, x + i + 16 + l);
            low = (wt_lanes)((wt_int_lanes)(low * scale) & ((word & 0xffffU) < keep));
            high = (wt_lanes)((wt_int_lanes)(high * scale) & ((word >> 16) < keep));
            wt_store(x + i + l, &low);
            wt_store(x + i + 16 + l, &high);
        }
}

WT_INLINE void norm_row(const wt_row_shape *shape, const float *x, const float *g, const float *b,
                        float *hat, float *out, float *scale) {
    wt_lanes sum = {0}, square = {0}, value, live, gain, bias;
    for (size_t i = 0; i < shape->stride; i += LANES) {
        wt_load(&value, x + i);
        sum += value;
    }
    float mean = wt_lanes_sum(&sum) / (float)shape->width;
    for (size_t i = 0; i < shape->stride; i += LANES) {
        wt_load(&value, x + i);
        wt_load(&live, shape->live + i);
        value = (value - mean) * live;
        square += value * value;
        wt_store(hat + i, &value);
    }
    float variance = wt_lanes_sum(&square) / (float)shape->width + (float)WT_NORM_EPSILON;
    *scale = variance <= FLT_MAX ? 1 / sqrtf(variance) : NAN; /* one too large is not hidden */
    for (size_t i = 0; i < shape->stride; i += LANES) {
        wt_load(&value, hat + i);
        value *= *scale;
        wt_store(hat + i, &value);
        if (out == NULL)
            continue;
        wt_load(&gain, g + i);
        wt_load(&bias, b + i);
        value = value * gain + bias;
        wt_store(out + i, &value);
    }
}

TARGET static void norm(const wt_row_shape *shape, size_t rows, const float *x, const float *g,
                        const float *b, float *hat, float *out, float *scale) {
    for (size_t r = 0; r < rows; r++)
        norm_row(shape, x + r * shape->stride, g, b, hat + r * shape->stride,
                 out == NULL ? NULL : out + r * shape->stride, scale + r);
}

WT_INLINE void norm_row_back(const wt_row_shape *shape, const float *hat, float scale,
                             const float *g, const float *d_out, float *d_x, float *d_g,
                             float *d_b) {
    wt_lanes sum = {0}, product = {0}, from, gain, value, live, old;
    for (size_t i = 0; i < shape->stride; i += LANES) {
        wt_load(&from, d_out + i);
        wt_load(&gain, g + i);
        wt_load(&value, hat + i);
        wt_lanes s = from * gain;
        sum += s;
        product += s * value;
        wt_load(&old, d_g + i);
        old += from * value;
        wt_store(d_g + i, &old);
        wt_load(&old, d_b + i);
        old += from;
        wt_store(d_b + i, &old);
    }
    float mean = wt_lanes_sum(&sum) / (float)shape->width;
    float along = wt_lanes_sum(&product) / (float)shape->width;
    for (size_t i = 0; i < shape->stride; i += LANES) {
        wt_load(&from, d_out + i);
        wt_load(&gain, g + i);
        wt_load(&value, hat + i);
        wt_load(&live, shape->live + i);
        wt_load(&old, d_x + i);
        old += (from * gain - mean - value * along) * live * scale;
        wt_store(d_x + i, &old);
    }
}

TARGET static void norm_back(const wt_row_shape *shape, size_t rows, const float *hat,
                             const float *scale, const float *g, const float *d_out, float *d_x,
                             float *d_g, float *d_b) {
    for (size_t r = 0; r < rows; r++)
        norm_row_back(shape, hat + r * shape->stride, scale[r], g, d_out + r * shape->stride,
                      d_x + r * shape->stride, d_g, d_b);
}

TARGET static void gelu(size_t count, float *f, float *u) {
    wt_lanes x, value, slope;
    for (size_t i = 0; i < count; i += LANES) {
        wt_load(&x, f + i);
        wt_lanes_gelu(&x, &value, &slope);
        wt_store(u + i, &value);
        wt_store(f + i, &slope);
    }
}

TARGET static void relu(size_t count, float *f, float *u) {
    for (size_t i = 0; i < count; i++) {
        u[i] = f[i] <= 0 ? 0 : f[i]; /* NaN stays */
        f[i] = f[i] > 0 ? 1 : 0;
    }
}

/* In sixteen sums that are added at the end, the same for all processors. */
TARGET static double squares(size_t count, const float *x) {
    double lane[16] = {0}, sum = 0;
    size_t i = 0;
    for (; i + 16 <= count; i += 16)
        for (size_t j = 0; j < 16; j++)
            lane[j] += (double)x[i + j] * (double)x[i + j];
    for (; i < count; i++)
        lane[i % 16] += (double)x[i] * (double)x[i];
    for (size_t j = 0; j < 16; j++)
        sum += lane[j];
    return sum;
}

TARGET static void adam(const wt_adam_factors *by, size_t count, const float *restrict g,
                        float *restrict p, float *restrict m, float *restrict v) {
    const float b1 = (float)WT_ADAM_FIRST, b2 = (float)WT_ADAM_SECOND;
    const float c1 = (float)(1 - WT_ADAM_FIRST), c2 = (float)(1 - WT_ADAM_SECOND);
    const float scale = by->scale, decay = by->decay, decoupled = by->decoupled;
    const float step = by->step, root = by->root;
    for (size_t i = 0; i < count; i++) {
        float slope = scale * g[i] + decay * p[i];
        m[i] = b1 * m[i] + c1 * slope;
        v[i] = b2 * v[i] + c2 * slope * slope;
        float moved = step * m[i] / (sqrtf(v[i]) * root + (float)WT_ADAM_EPSILON);
        p[i] -= decoupled * p[i] + moved;
    }
}

const wt_network_loops NETWORK_TABLE = {words, drop, norm, norm_back, gelu, relu, squares, adam};
