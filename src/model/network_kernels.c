/* Plain C over vectors of 16 floats, compiled once for each kind of processor and picked at run
 * time. This file is built with -ffp-contract=fast: products and sums fuse where the processor
 * can. */
#include "model/network_kernels.h"

#include <math.h>
#include <stdbool.h>

#include "model/network_lanes.h"
#include "model/network_plain.h"

typedef uint64_t wide_words __attribute__((vector_size(64)));
typedef uint32_t eight_words __attribute__((vector_size(32)));

#define LOW 0xffffffffU

/* Ten rounds of Philox4x32 on eight counters, a word in every 64 bits. */
WT_INLINE void philox_eight(uint64_t key, wide_words x[4]) {
    uint64_t k0 = key & LOW, k1 = key >> 32;
    for (int round = 0; round < 10; round++) {
        wide_words p0 = x[0] * 0xD2511F53U, p1 = x[2] * 0xCD9E8D57U;
        x[0] = (p1 >> 32) ^ x[1] ^ k0;
        x[1] = p1 & LOW;
        x[2] = (p0 >> 32) ^ x[3] ^ k1;
        x[3] = p0 & LOW;
        k0 = (k0 + 0x9E3779B9U) & LOW;
        k1 = (k1 + 0xBB67AE85U) & LOW;
    }
}

WT_INLINE void words_body(uint64_t key, const uint32_t counter[3], size_t batches, uint32_t *out) {
    for (size_t b = 0; b < batches; b++)
        for (size_t half = 0; half < 2; half++) {
            uint64_t first = 16 * b + 8 * half;
            wide_words zero = {0}, lane = {0, 1, 2, 3, 4, 5, 6, 7};
            wide_words x[4] = {lane + first, zero + counter[0], zero + counter[1],
                               zero + counter[2]};
            philox_eight(key, x);
            for (size_t v = 0; v < 4; v++) {
                eight_words narrow = __builtin_convertvector(x[v], eight_words);
                memcpy(out + WT_WORDS * b + 16 * v + 8 * half, &narrow, sizeof narrow);
            }
        }
}

WT_INLINE void drop_body(size_t count, const uint32_t *words, uint32_t keep, float scale,
                         float *x) {
    for (size_t i = 0; i < count; i += 32) {
        wt_word_lanes word;
        wt_lanes low, high;
        memcpy(&word, words + i / 2, sizeof word);
        wt_load(&low, x + i);
        wt_load(&high, x + i + 16);
        low = (wt_lanes)((wt_int_lanes)(low * scale) & ((word & 0xffffU) < keep));
        high = (wt_lanes)((wt_int_lanes)(high * scale) & ((word >> 16) < keep));
        wt_store(x + i, &low);
        wt_store(x + i + 16, &high);
    }
}

WT_INLINE void norm_row(const wt_row_shape *shape, const float *x, const float *g, const float *b,
                        float *hat, float *out, float *scale) {
    wt_lanes sum = {0}, square = {0}, value, live, gain, bias;
    for (size_t i = 0; i < shape->stride; i += WT_LANES) {
        wt_load(&value, x + i);
        sum += value;
    }
    float mean = wt_lanes_sum(&sum) / (float)shape->width;
    for (size_t i = 0; i < shape->stride; i += WT_LANES) {
        wt_load(&value, x + i);
        wt_load(&live, shape->live + i);
        value = (value - mean) * live;
        square += value * value;
        wt_store(hat + i, &value);
    }
    *scale = 1 / sqrtf(wt_lanes_sum(&square) / (float)shape->width + (float)WT_NORM_EPSILON);
    for (size_t i = 0; i < shape->stride; i += WT_LANES) {
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

WT_INLINE void norm_body(const wt_row_shape *shape, size_t rows, const float *x, const float *g,
                         const float *b, float *hat, float *out, float *scale) {
    for (size_t r = 0; r < rows; r++)
        norm_row(shape, x + r * shape->stride, g, b, hat + r * shape->stride,
                 out == NULL ? NULL : out + r * shape->stride, scale + r);
}

WT_INLINE void norm_row_back(const wt_row_shape *shape, const float *hat, float scale,
                             const float *g, const float *d_out, float *d_x, float *d_g,
                             float *d_b) {
    wt_lanes sum = {0}, product = {0}, from, gain, value, live, old;
    for (size_t i = 0; i < shape->stride; i += WT_LANES) {
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
    for (size_t i = 0; i < shape->stride; i += WT_LANES) {
        wt_load(&from, d_out + i);
        wt_load(&gain, g + i);
        wt_load(&value, hat + i);
        wt_load(&live, shape->live + i);
        wt_load(&old, d_x + i);
        old += (from * gain - mean - value * along) * live * scale;
        wt_store(d_x + i, &old);
    }
}

WT_INLINE void norm_back_body(const wt_row_shape *shape, size_t rows, const float *hat,
                              const float *scale, const float *g, const float *d_out, float *d_x,
                              float *d_g, float *d_b) {
    for (size_t r = 0; r < rows; r++)
        norm_row_back(shape, hat + r * shape->stride, scale[r], g, d_out + r * shape->stride,
                      d_x + r * shape->stride, d_g, d_b);
}

WT_INLINE void gelu_body(size_t count, float *f, float *u) {
    wt_lanes x, value, slope;
    for (size_t i = 0; i < count; i += WT_LANES) {
        wt_load(&x, f + i);
        wt_lanes_gelu(&x, &value, &slope);
        wt_store(u + i, &value);
        wt_store(f + i, &slope);
    }
}

WT_INLINE void relu_body(size_t count, float *f, float *u) {
    for (size_t i = 0; i < count; i++) {
        u[i] = f[i] > 0 ? f[i] : 0;
        f[i] = f[i] > 0 ? 1 : 0;
    }
}

#define VERSION(kind, text, attribute)                                                             \
    attribute static void kind##_words(uint64_t key, const uint32_t counter[3], size_t batches,    \
                                       uint32_t *out) {                                            \
        words_body(key, counter, batches, out);                                                    \
    }                                                                                              \
    attribute static void kind##_drop(size_t count, const uint32_t *words, uint32_t keep,          \
                                      float scale, float *x) {                                     \
        drop_body(count, words, keep, scale, x);                                                   \
    }                                                                                              \
    attribute static void kind##_norm(const wt_row_shape *shape, size_t rows, const float *x,      \
                                      const float *g, const float *b, float *hat, float *out,      \
                                      float *scale) {                                              \
        norm_body(shape, rows, x, g, b, hat, out, scale);                                          \
    }                                                                                              \
    attribute static void kind##_norm_back(                                                        \
        const wt_row_shape *shape, size_t rows, const float *hat, const float *scale,              \
        const float *g, const float *d_out, float *d_x, float *d_g, float *d_b) {                  \
        norm_back_body(shape, rows, hat, scale, g, d_out, d_x, d_g, d_b);                          \
    }                                                                                              \
    attribute static void kind##_gelu(size_t count, float *f, float *u) {                          \
        gelu_body(count, f, u);                                                                    \
    }                                                                                              \
    attribute static void kind##_relu(size_t count, float *f, float *u) {                          \
        relu_body(count, f, u);                                                                    \
    }                                                                                              \
    static const wt_network_kernels kind = {                                                       \
        text, kind##_words, kind##_drop, kind##_norm, kind##_norm_back, kind##_gelu, kind##_relu};

VERSION(plain, "plain", )
#if defined(__x86_64__)
VERSION(avx2, "avx2", __attribute__((target("avx2,fma"))))
VERSION(avx512, "avx512", __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"))))
#endif

size_t wt_network_able(const wt_network_kernels **out, size_t most) {
    const wt_network_kernels *able[3];
    size_t count = 0;
    able[count++] = &plain;
#if defined(__x86_64__)
    bool fused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (fused)
        able[count++] = &avx2;
    if (fused && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        able[count++] = &avx512;
#endif
    for (size_t i = 0; i < count && i < most; i++)
        out[i] = able[i];
    return count < most ? count : most;
}

const wt_network_kernels *wt_network_best(void) {
    const wt_network_kernels *able[3];
    return able[wt_network_able(able, 3) - 1];
}
