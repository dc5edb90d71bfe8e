/* Plain C over vectors of 16 floats, compiled once for each kind of processor and picked at run
 * time. The shape of the published recipe (d = 64, 16 heads of 4) is a case of its own, in which
 * the compiler knows every inner count. This file is built with -ffp-contract=fast: products and
 * sums fuse where the processor can. */
#include "model/transformer_kernels.h"

#include <math.h>
#include <stdbool.h>

#include "model/network_lanes.h"
#include "model/network_plain.h"

enum {
    TOKENS = 8, /* tokens that share a load of ut */
    TILE = 4,   /* heads (or tokens) by groups of 16 numbers that stay in registers */
    SLAB = 64,  /* tokens whose hat stays in the first cache */
};

/* Draws of group g (16 numbers) in the words of a token. */
WT_INLINE void kept(const uint32_t *words, size_t g, uint32_t keep, wt_int_lanes *mask) {
    wt_word_lanes word;
    memcpy(&word, words + g / 2 * WT_LANES, sizeof word);
    *mask = (g % 2 == 0 ? word & 0xffffU : word >> 16) < keep;
}

WT_INLINE void embed_body(const wt_attention_shape *shape, size_t groups, const float *table,
                          const uint32_t *index, const uint32_t *words, uint32_t keep, float *hat,
                          float *scale) {
    size_t stride = groups * WT_LANES, each = groups / 2 * WT_LANES;
    float inverse = 1 / (float)shape->dim;
    for (size_t t = 0; t < shape->n; t++) {
        const float *from = table + index[t] * stride;
        float *to = hat + t * stride;
        wt_lanes sum = {0}, square = {0}, x, live;
        wt_int_lanes mask;
        for (size_t g = 0; g < groups; g++) {
            wt_load(&x, from + g * WT_LANES);
            kept(words + t * each, g, keep, &mask);
            x = (wt_lanes)((wt_int_lanes)x & mask);
            sum += x;
            wt_store(to + g * WT_LANES, &x);
        }
        float mean = wt_lanes_sum(&sum) * inverse;
        for (size_t g = 0; g < groups; g++) {
            wt_load(&x, to + g * WT_LANES);
            wt_load(&live, shape->live + g * WT_LANES);
            x = (x - mean) * live;
            square += x * x;
            wt_store(to + g * WT_LANES, &x);
        }
        scale[t] = 1 / sqrtf(wt_lanes_sum(&square) * inverse + (float)WT_NORM_EPSILON);
        for (size_t g = 0; g < groups; g++) {
            wt_load(&x, to + g * WT_LANES);
            x *= scale[t];
            wt_store(to + g * WT_LANES, &x);
        }
    }
}

WT_INLINE void project_body(const wt_attention_shape *shape, size_t groups, size_t lanes,
                            const float *hat, const float *ut, float *p) {
    size_t stride = groups * WT_LANES;
    for (size_t t = 0; t < shape->rows; t += TOKENS)
        for (size_t l = 0; l < lanes; l += WT_LANES) {
            wt_lanes sum[TOKENS] = {{0}}, u;
            for (size_t i = 0; i < stride; i++) {
                wt_load(&u, ut + i * lanes + l);
                for (size_t r = 0; r < TOKENS; r++)
                    sum[r] += u * hat[(t + r) * stride + i];
            }
            for (size_t r = 0; r < TOKENS; r++)
                wt_store(p + (t + r) * lanes + l, &sum[r]);
        }
}

/* Heads h .. h+3 and `wide` groups from g, for `count` tokens. */
WT_INLINE void gather_tile(size_t wide, size_t count, size_t stride, size_t lanes, const float *w,
                           const float *hat, float *z) {
    wt_lanes sum[TILE][TILE], x[TILE];
    for (size_t r = 0; r < TILE; r++)
        for (size_t j = 0; j < wide; j++)
            wt_load(&sum[r][j], z + r * stride + j * WT_LANES);
    for (size_t t = 0; t < count; t++) {
        for (size_t j = 0; j < wide; j++)
            wt_load(&x[j], hat + t * stride + j * WT_LANES);
        for (size_t r = 0; r < TILE; r++)
            for (size_t j = 0; j < wide; j++)
                sum[r][j] += x[j] * w[t * lanes + r];
    }
    for (size_t r = 0; r < TILE; r++)
        for (size_t j = 0; j < wide; j++)
            wt_store(z + r * stride + j * WT_LANES, &sum[r][j]);
}

WT_INLINE void gather_body(const wt_attention_shape *shape, size_t groups, size_t lanes,
                           const float *w, const float *hat, float *z) {
    size_t stride = groups * WT_LANES;
    memset(z, 0, lanes * stride * sizeof *z);
    for (size_t t = 0; t < shape->rows; t += SLAB) {
        size_t count = shape->rows - t < SLAB ? shape->rows - t : SLAB, g = 0;
        for (; g + TILE <= groups; g += TILE)
            for (size_t h = 0; h < lanes; h += TILE)
                gather_tile(TILE, count, stride, lanes, w + t * lanes + h,
                            hat + t * stride + g * WT_LANES, z + h * stride + g * WT_LANES);
        for (; g < groups; g++)
            for (size_t h = 0; h < lanes; h += TILE)
                gather_tile(1, count, stride, lanes, w + t * lanes + h,
                            hat + t * stride + g * WT_LANES, z + h * stride + g * WT_LANES);
    }
}

/* For the 16 heads from l. */
WT_INLINE void softmax_heads(const wt_attention_shape *shape, size_t lanes, size_t l,
                             const float *s, const uint32_t *words, uint32_t keep, float scale,
                             float *a, float *b, float *total) {
    wt_lanes most, x, sum = {0}, left = {0};
    wt_load(&most, s + l);
    for (size_t t = 1; t < shape->n; t++) {
        wt_load(&x, s + t * lanes + l);
        wt_lanes_max(&most, &x);
    }
    for (size_t t = 0; t < shape->n; t++) {
        wt_load(&x, s + t * lanes + l);
        x -= most;
        wt_lanes_exp(&x);
        sum += x;
        wt_store(a + t * lanes + l, &x);
    }
    wt_lanes share = 1.0F / sum;
    for (size_t t = 0; t < shape->n; t++) {
        wt_load(&x, a + t * lanes + l);
        x *= share;
        wt_store(a + t * lanes + l, &x);
        if (words != NULL) {
            wt_word_lanes word;
            memcpy(&word, words + t / 2 * lanes + l, sizeof word);
            wt_int_lanes mask = (t % 2 == 0 ? word & 0xffffU : word >> 16) < keep;
            x = (wt_lanes)((wt_int_lanes)(x * scale) & mask);
            wt_store(b + t * lanes + l, &x);
        }
        left += x;
    }
    wt_store(total + l, &left);
}

WT_INLINE void softmax_body(const wt_attention_shape *shape, size_t lanes, const float *s,
                            const uint32_t *words, uint32_t keep, float scale, float *a, float *b,
                            float *total) {
    for (size_t l = 0; l < lanes; l += WT_LANES)
        softmax_heads(shape, lanes, l, s, words, keep, scale, a, b, total);
    size_t tail = (shape->rows - shape->n) * lanes;
    memset(a + shape->n * lanes, 0, tail * sizeof *a);
    memset(b + shape->n * lanes, 0, tail * sizeof *b);
}

WT_INLINE void softmax_back_body(const wt_attention_shape *shape, size_t lanes, const float *s,
                                 const float *a, const float *b, const float *e, const float *total,
                                 float *p, float *along) {
    float inverse = 1 / (float)shape->dim;
    for (size_t t = 0; t < shape->rows; t++) {
        wt_lanes product = {0}, from, weight, left, more, mean, score;
        for (size_t l = 0; l < lanes; l += WT_LANES) {
            size_t at = t * lanes + l;
            wt_load(&from, p + at);
            wt_load(&weight, a + at);
            wt_load(&left, b + at);
            wt_load(&more, e + l);
            wt_load(&mean, total + l);
            wt_load(&score, s + at);
            wt_lanes slope = left * (from + more) - weight * mean;
            product += left * from + slope * score;
            wt_store(p + at, &slope);
        }
        along[t] = wt_lanes_sum(&product) * inverse;
    }
}

/* Four tokens from t, `wide` groups from g; `live` of the four are tokens. */
WT_INLINE void spread_tile(const wt_attention_shape *shape, size_t groups, size_t lanes,
                           size_t wide, size_t t, size_t g, const float *b, const float *z,
                           const float *ds, const float *u, const float *hat, const float *scale,
                           const float *along, const uint32_t *index, const uint32_t *words,
                           uint32_t keep, float *d_table) {
    size_t stride = groups * WT_LANES, each = groups / 2 * WT_LANES;
    wt_lanes sum[TILE][TILE] = {{{0}}}, x[TILE];
    for (size_t h = 0; h < lanes; h++) {
        for (size_t j = 0; j < wide; j++)
            wt_load(&x[j], z + h * stride + (g + j) * WT_LANES);
        for (size_t r = 0; r < TILE; r++)
            for (size_t j = 0; j < wide; j++)
                sum[r][j] += x[j] * b[(t + r) * lanes + h];
    }
    for (size_t h = 0; h < lanes; h++) {
        for (size_t j = 0; j < wide; j++)
            wt_load(&x[j], u + h * stride + (g + j) * WT_LANES);
        for (size_t r = 0; r < TILE; r++)
            for (size_t j = 0; j < wide; j++)
                sum[r][j] += x[j] * ds[(t + r) * lanes + h];
    }
    for (size_t r = 0; r < TILE && t + r < shape->n; r++)
        for (size_t j = 0; j < wide; j++) {
            float *to = d_table + index[t + r] * stride + (g + j) * WT_LANES;
            wt_lanes value, old;
            wt_int_lanes mask;
            wt_load(&value, hat + (t + r) * stride + (g + j) * WT_LANES);
            wt_load(&old, to);
            kept(words + (t + r) * each, g + j, keep, &mask);
            value = (sum[r][j] - value * along[t + r]) * scale[t + r];
            old += (wt_lanes)((wt_int_lanes)value & mask);
            wt_store(to, &old);
        }
}

WT_INLINE void spread_body(const wt_attention_shape *shape, size_t groups, size_t lanes,
                           const float *b, const float *z, const float *ds, const float *u,
                           const float *hat, const float *scale, const float *along,
                           const uint32_t *index, const uint32_t *words, uint32_t keep,
                           float *d_table) {
    for (size_t t = 0; t < shape->rows; t += TILE) {
        size_t g = 0;
        for (; g + TILE <= groups; g += TILE)
            spread_tile(shape, groups, lanes, TILE, t, g, b, z, ds, u, hat, scale, along, index,
                        words, keep, d_table);
        for (; g < groups; g++)
            spread_tile(shape, groups, lanes, 1, t, g, b, z, ds, u, hat, scale, along, index, words,
                        keep, d_table);
    }
}

WT_INLINE void combine_body(const wt_attention_shape *shape, size_t groups, size_t lanes,
                            const float *q, const float *m, float *out) {
    size_t stride = groups * WT_LANES;
    for (size_t h = 0; h < shape->heads; h++)
        for (size_t g = 0; g < stride; g += WT_LANES) {
            wt_lanes sum = {0}, x;
            for (size_t k = 0; k < shape->width; k++) {
                wt_load(&x, m + (k * lanes + h) * stride + g);
                sum += x * q[h * shape->width + k];
            }
            wt_store(out + h * stride + g, &sum);
        }
}

WT_INLINE void contract_body(const wt_attention_shape *shape, size_t groups, size_t lanes,
                             const float *m, const float *z, float *out) {
    size_t stride = groups * WT_LANES;
    for (size_t h = 0; h < shape->heads; h++)
        for (size_t k = 0; k < shape->width; k++) {
            wt_lanes sum = {0}, x, y;
            for (size_t g = 0; g < stride; g += WT_LANES) {
                wt_load(&x, m + (k * lanes + h) * stride + g);
                wt_load(&y, z + h * stride + g);
                sum += x * y;
            }
            out[h * shape->width + k] = wt_lanes_sum(&sum);
        }
}

WT_INLINE void outer_body(const wt_attention_shape *shape, size_t groups, size_t lanes,
                          const float *q, const float *z, float *m) {
    size_t stride = groups * WT_LANES;
    for (size_t h = 0; h < shape->heads; h++)
        for (size_t k = 0; k < shape->width; k++)
            for (size_t g = 0; g < stride; g += WT_LANES) {
                wt_lanes sum, x;
                wt_load(&sum, m + (k * lanes + h) * stride + g);
                wt_load(&x, z + h * stride + g);
                sum += x * q[h * shape->width + k];
                wt_store(m + (k * lanes + h) * stride + g, &sum);
            }
}

WT_INLINE void pick_body(const wt_attention_shape *shape, size_t lanes, const float *scores,
                         const uint32_t *index, float *s) {
    for (size_t t = 0; t < shape->n; t++)
        memcpy(s + t * lanes, scores + index[t] * lanes, lanes * sizeof *s);
}

/* Numbers k .. k+count-1 of the 16 heads from l. */
WT_INLINE void mix_tile(const wt_attention_shape *shape, size_t lanes, size_t width, size_t count,
                        size_t k, size_t l, const float *b, const float *values,
                        const uint32_t *index, float *y) {
    wt_lanes sum[TILE] = {{0}}, weight, value;
    for (size_t t = 0; t < shape->n; t++) {
        wt_load(&weight, b + t * lanes + l);
        const float *from = values + (index[t] * width + k) * lanes + l;
        for (size_t j = 0; j < count; j++) {
            wt_load(&value, from + j * lanes);
            sum[j] += weight * value;
        }
    }
    for (size_t j = 0; j < count; j++)
        wt_store(y + (k + j) * lanes + l, &sum[j]);
}

WT_INLINE void mix_body(const wt_attention_shape *shape, size_t lanes, size_t width, const float *b,
                        const float *values, const uint32_t *index, float *y) {
    for (size_t l = 0; l < lanes; l += WT_LANES) {
        size_t k = 0;
        for (; k + TILE <= width; k += TILE)
            mix_tile(shape, lanes, width, TILE, k, l, b, values, index, y);
        for (; k < width; k++)
            mix_tile(shape, lanes, width, 1, k, l, b, values, index, y);
    }
}

WT_INLINE void mix_back_body(const wt_attention_shape *shape, size_t lanes, size_t width,
                             const float *a, const float *b, const float *values, const float *d_y,
                             const float *total, const uint32_t *index, float *d_scores,
                             float *d_values) {
    for (size_t l = 0; l < lanes; l += WT_LANES) {
        wt_lanes mean, weight, left, value, from, old;
        wt_load(&mean, total + l);
        for (size_t t = 0; t < shape->n; t++) {
            size_t at = index[t] * width * lanes + l;
            wt_lanes slope = {0};
            wt_load(&left, b + t * lanes + l);
            wt_load(&weight, a + t * lanes + l);
            for (size_t k = 0; k < width; k++) {
                wt_load(&from, d_y + k * lanes + l);
                wt_load(&value, values + at + k * lanes);
                slope += from * value;
                wt_load(&old, d_values + at + k * lanes);
                old += left * from;
                wt_store(d_values + at + k * lanes, &old);
            }
            wt_load(&old, d_scores + index[t] * lanes + l);
            old += left * slope - weight * mean;
            wt_store(d_scores + index[t] * lanes + l, &old);
        }
    }
}

WT_INLINE void add_rows_tile(size_t wide, size_t count, const uint8_t *code, size_t columns,
                             const float *table, const float *first, float *out) {
    wt_lanes sum[5], x;
    for (size_t j = 0; j < wide; j++)
        wt_load(&sum[j], first + j * WT_LANES);
    for (size_t q = 0; q < count; q++)
        for (size_t j = 0; j < wide; j++) {
            wt_load(&x, table + (16 * q + code[q]) * columns + j * WT_LANES);
            sum[j] += x;
        }
    for (size_t j = 0; j < wide; j++)
        wt_store(out + j * WT_LANES, &sum[j]);
}

WT_INLINE void add_rows_body(size_t count, const uint8_t *code, size_t columns, const float *table,
                             const float *first, float *out) {
    size_t c = 0;
    for (; c + 5 * WT_LANES <= columns; c += 5 * WT_LANES)
        add_rows_tile(5, count, code, columns, table + c, first + c, out + c);
    for (; c < columns; c += WT_LANES)
        add_rows_tile(1, count, code, columns, table + c, first + c, out + c);
}

/* The recipe's shape, or any other. */
#define RECIPE(shape) ((shape)->stride == 64 && (shape)->lanes == 16 && (shape)->width == 4)
#define BY_SHAPE(body, ...)                                                                        \
    do {                                                                                           \
        if (RECIPE(shape))                                                                         \
            body(shape, 4, 16, __VA_ARGS__);                                                       \
        else                                                                                       \
            body(shape, shape->stride / WT_LANES, shape->lanes, __VA_ARGS__);                      \
    } while (0)
#define BY_LANES(body, ...)                                                                        \
    do {                                                                                           \
        if (RECIPE(shape))                                                                         \
            body(shape, 16, __VA_ARGS__);                                                          \
        else                                                                                       \
            body(shape, shape->lanes, __VA_ARGS__);                                                \
    } while (0)
#define BY_WIDTH(body, ...)                                                                        \
    do {                                                                                           \
        if (RECIPE(shape))                                                                         \
            body(shape, 16, 4, __VA_ARGS__);                                                       \
        else                                                                                       \
            body(shape, shape->lanes, shape->width, __VA_ARGS__);                                  \
    } while (0)

#define VERSION(kind, text, attribute)                                                             \
    attribute static void kind##_embed(const wt_attention_shape *shape, const float *table,        \
                                       const uint32_t *index, const uint32_t *words,               \
                                       uint32_t keep, float *hat, float *scale) {                  \
        if (RECIPE(shape))                                                                         \
            embed_body(shape, 4, table, index, words, keep, hat, scale);                           \
        else                                                                                       \
            embed_body(shape, shape->stride / WT_LANES, table, index, words, keep, hat, scale);    \
    }                                                                                              \
    attribute static void kind##_project(const wt_attention_shape *shape, const float *hat,        \
                                         const float *ut, float *p) {                              \
        BY_SHAPE(project_body, hat, ut, p);                                                        \
    }                                                                                              \
    attribute static void kind##_gather(const wt_attention_shape *shape, const float *w,           \
                                        const float *hat, float *z) {                              \
        BY_SHAPE(gather_body, w, hat, z);                                                          \
    }                                                                                              \
    attribute static void kind##_softmax(const wt_attention_shape *shape, const float *s,          \
                                         const uint32_t *words, uint32_t keep, float scale,        \
                                         float *a, float *b, float *total) {                       \
        BY_LANES(softmax_body, s, words, keep, scale, a, b, total);                                \
    }                                                                                              \
    attribute static void kind##_softmax_back(const wt_attention_shape *shape, const float *s,     \
                                              const float *a, const float *b, const float *e,      \
                                              const float *total, float *p, float *along) {        \
        BY_LANES(softmax_back_body, s, a, b, e, total, p, along);                                  \
    }                                                                                              \
    attribute static void kind##_spread(                                                           \
        const wt_attention_shape *shape, const float *b, const float *z, const float *ds,          \
        const float *u, const float *hat, const float *scale, const float *along,                  \
        const uint32_t *index, const uint32_t *words, uint32_t keep, float *d_table) {             \
        BY_SHAPE(spread_body, b, z, ds, u, hat, scale, along, index, words, keep, d_table);        \
    }                                                                                              \
    attribute static void kind##_combine(const wt_attention_shape *shape, const float *q,          \
                                         const float *m, float *out) {                             \
        BY_SHAPE(combine_body, q, m, out);                                                         \
    }                                                                                              \
    attribute static void kind##_contract(const wt_attention_shape *shape, const float *m,         \
                                          const float *z, float *out) {                            \
        BY_SHAPE(contract_body, m, z, out);                                                        \
    }                                                                                              \
    attribute static void kind##_outer(const wt_attention_shape *shape, const float *q,            \
                                       const float *z, float *m) {                                 \
        BY_SHAPE(outer_body, q, z, m);                                                             \
    }                                                                                              \
    attribute static void kind##_pick(const wt_attention_shape *shape, const float *scores,        \
                                      const uint32_t *index, float *s) {                           \
        BY_LANES(pick_body, scores, index, s);                                                     \
    }                                                                                              \
    attribute static void kind##_mix(const wt_attention_shape *shape, const float *b,              \
                                     const float *values, const uint32_t *index, float *y) {       \
        BY_WIDTH(mix_body, b, values, index, y);                                                   \
    }                                                                                              \
    attribute static void kind##_mix_back(const wt_attention_shape *shape, const float *a,         \
                                          const float *b, const float *values, const float *d_y,   \
                                          const float *total, const uint32_t *index,               \
                                          float *d_scores, float *d_values) {                      \
        BY_WIDTH(mix_back_body, a, b, values, d_y, total, index, d_scores, d_values);              \
    }                                                                                              \
    attribute static void kind##_add_rows(size_t count, const uint8_t *code, size_t columns,       \
                                          const float *table, const float *first, float *out) {    \
        add_rows_body(count, code, columns, table, first, out);                                    \
    }                                                                                              \
    static const wt_transformer_kernels kind = {text,                                              \
                                                kind##_embed,                                      \
                                                kind##_project,                                    \
                                                kind##_gather,                                     \
                                                kind##_softmax,                                    \
                                                kind##_softmax_back,                               \
                                                kind##_spread,                                     \
                                                kind##_combine,                                    \
                                                kind##_contract,                                   \
                                                kind##_outer,                                      \
                                                kind##_pick,                                       \
                                                kind##_mix,                                        \
                                                kind##_mix_back,                                   \
                                                kind##_add_rows};

VERSION(plain, "plain", )
#if defined(__x86_64__)
VERSION(avx2, "avx2", __attribute__((target("avx2,fma"))))
VERSION(avx512, "avx512", __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"))))
#endif

size_t wt_transformer_able(const wt_transformer_kernels **out, size_t most) {
    const wt_transformer_kernels *able[3];
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

const wt_transformer_kernels *wt_transformer_best(void) {
    const wt_transformer_kernels *able[3];
    return able[wt_transformer_able(able, 3) - 1];
}
