/* The loops of transformer_loops.h on the tokens of one sample, for one kind of processor: see
 * loops_plain.c. */
#include <math.h>

#include "network/model/transformer_loops.h"

enum {
    TOKENS = 8, /* tokens that share a load of ut */
    TILE = 4,   /* heads (or tokens) by WIDE vectors that stay in registers */
    WIDE = LANES == 16 ? 4 : 2,
    SLAB = 64, /* tokens whose hat stays in the first cache */
};

/* Which of the numbers from i the words of their token keep. */
WT_INLINE void kept(const uint32_t *words, size_t i, uint32_t keep, wt_int_lanes *mask) {
    wt_word_lanes word;
    memcpy(&word, words + i / 32 * 16 + i % 16, sizeof word);
    *mask = (i / 16 % 2 == 0 ? word & 0xffffU : word >> 16) < keep;
}

/* Which weights of token t the words of its pair of tokens keep. */
WT_INLINE void kept_weights(const uint32_t *words, size_t t, uint32_t keep, wt_int_lanes *mask) {
    wt_word_lanes word;
    memcpy(&word, words, sizeof word);
    *mask = (t % 2 == 0 ? word & 0xffffU : word >> 16) < keep;
}

WT_INLINE void embed_token(const wt_attention_shape *shape, size_t stride, const float *from,
                           const uint32_t *words, uint32_t keep, float *hat, float *scale) {
    float inverse = 1 / (float)shape->dim;
    wt_lanes sum = {0}, square = {0}, x, live;
    wt_int_lanes mask;
    for (size_t i = 0; i < stride; i += LANES) {
        wt_load(&x, from + i);
        kept(words, i, keep, &mask);
        x = (wt_lanes)((wt_int_lanes)x & mask);
        sum += x;
        wt_store(hat + i, &x);
    }
    float mean = wt_lanes_sum(&sum) * inverse;
    for (size_t i = 0; i < stride; i += LANES) {
        wt_load(&x, hat + i);
        wt_load(&live, shape->live + i);
        x = (x - mean) * live;
        square += x * x;
        wt_store(hat + i, &x);
    }
    *scale = 1 / sqrtf(wt_lanes_sum(&square) * inverse + (float)WT_NORM_EPSILON);
    for (size_t i = 0; i < stride; i += LANES) {
        wt_load(&x, hat + i);
        x *= *scale;
        wt_store(hat + i, &x);
    }
}

WT_INLINE void embed_body(const wt_attention_shape *shape, size_t stride, size_t lanes,
                          const float *table, const uint32_t *index, const uint32_t *words,
                          uint32_t keep, float *hat, float *scale) {
    (void)lanes;
    for (size_t t = 0; t < shape->n; t++)
        embed_token(shape, stride, table + index[t] * stride, words + t * stride / 2, keep,
                    hat + t * stride, scale + t);
}

WT_INLINE void project_body(const wt_attention_shape *shape, size_t stride, size_t lanes,
                            const float *hat, const float *ut, float *p) {
    for (size_t t = 0; t < shape->rows; t += TOKENS)
        for (size_t l = 0; l < lanes; l += LANES) {
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

/* Four heads and `wide` vectors, for `count` tokens. */
WT_INLINE void gather_tile(size_t wide, size_t count, size_t stride, size_t lanes, const float *w,
                           const float *hat, float *z) {
    wt_lanes sum[TILE][WIDE], x[WIDE];
    for (size_t r = 0; r < TILE; r++)
        for (size_t j = 0; j < wide; j++)
            wt_load(&sum[r][j], z + r * stride + j * LANES);
    for (size_t t = 0; t < count; t++) {
        for (size_t j = 0; j < wide; j++)
            wt_load(&x[j], hat + t * stride + j * LANES);
        for (size_t r = 0; r < TILE; r++)
            for (size_t j = 0; j < wide; j++)
                sum[r][j] += x[j] * w[t * lanes + r];
    }
    for (size_t r = 0; r < TILE; r++)
        for (size_t j = 0; j < wide; j++)
            wt_store(z + r * stride + j * LANES, &sum[r][j]);
}

WT_INLINE void gather_body(const wt_attention_shape *shape, size_t stride, size_t lanes,
                           const float *w, const float *hat, float *z) {
    memset(z, 0, lanes * stride * sizeof *z);
    for (size_t t = 0; t < shape->rows; t += SLAB) {
        size_t count = shape->rows - t < SLAB ? shape->rows - t : SLAB, i = 0;
        for (; i + WIDE * LANES <= stride; i += WIDE * LANES)
            for (size_t h = 0; h < lanes; h += TILE)
                gather_tile(WIDE, count, stride, lanes, w + t * lanes + h, hat + t * stride + i,
                            z + h * stride + i);
        for (; i < stride; i += LANES)
            for (size_t h = 0; h < lanes; h += TILE)
                gather_tile(1, count, stride, lanes, w + t * lanes + h, hat + t * stride + i,
                            z + h * stride + i);
    }
}

/* For LANES heads from l. */
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
            wt_int_lanes mask;
            kept_weights(words + t / 2 * lanes + l, t, keep, &mask);
            x = (wt_lanes)((wt_int_lanes)(x * scale) & mask);
            wt_store(b + t * lanes + l, &x);
        }
        left += x;
    }
    wt_store(total + l, &left);
}

WT_INLINE void softmax_body(const wt_attention_shape *shape, size_t stride, size_t lanes,
                            const float *s, const uint32_t *words, uint32_t keep, float scale,
                            float *a, float *b, float *total) {
    (void)stride;
    for (size_t l = 0; l < lanes; l += LANES)
        softmax_heads(shape, lanes, l, s, words, keep, scale, a, b, total);
    size_t tail = (shape->rows - shape->n) * lanes;
    memset(a + shape->n * lanes, 0, tail * sizeof *a);
    memset(b + shape->n * lanes, 0, tail * sizeof *b);
}

WT_INLINE void softmax_back_body(const wt_attention_shape *shape, size_t stride, size_t lanes,
                                 const float *s, const float *a, const float *b, const float *e,
                                 const float *total, float *p, float *along) {
    float inverse = 1 / (float)shape->dim;
    (void)stride;
    for (size_t t = 0; t < shape->rows; t++) {
        wt_lanes product = {0}, from, weight, left, more, mean, score;
        for (size_t l = 0; l < lanes; l += LANES) {
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

typedef struct {
    const float *b, *z, *ds, *u, *hat, *scale, *along;
    const uint32_t *index, *words;
    uint32_t keep;
    float *d_table;
} spreading;

/* sum (TILE tokens, wide) += w (tokens, lanes) m (lanes, ..) */
WT_INLINE void spread_add(size_t stride, size_t lanes, size_t wide, const float *w, const float *m,
                          wt_lanes sum[TILE][WIDE]) {
    wt_lanes x[WIDE];
    for (size_t h = 0; h < lanes; h++) {
        for (size_t j = 0; j < wide; j++)
            wt_load(&x[j], m + h * stride + j * LANES);
        for (size_t r = 0; r < TILE; r++)
            for (size_t j = 0; j < wide; j++)
                sum[r][j] += x[j] * w[r * lanes + h];
    }
}

/* TILE tokens from t, `wide` vectors from number i. */
WT_INLINE void spread_tile(const wt_attention_shape *shape, size_t stride, size_t lanes,
                           size_t wide, size_t t, size_t i, const spreading *job) {
    wt_lanes sum[TILE][WIDE] = {{{0}}};
    spread_add(stride, lanes, wide, job->b + t * lanes, job->z + i, sum);
    spread_add(stride, lanes, wide, job->ds + t * lanes, job->u + i, sum);
    for (size_t r = 0; r < TILE; r++)
        for (size_t j = 0; j < wide && t + r < shape->n; j++) {
            size_t at = i + j * LANES;
            float *to = job->d_table + job->index[t + r] * stride + at;
            wt_lanes value, old;
            wt_int_lanes mask;
            wt_load(&value, job->hat + (t + r) * stride + at);
            wt_load(&old, to);
            kept(job->words + (t + r) * stride / 2, at, job->keep, &mask);
            value = (sum[r][j] - value * job->along[t + r]) * job->scale[t + r];
            old += (wt_lanes)((wt_int_lanes)value & mask);
            wt_store(to, &old);
        }
}

WT_INLINE void spread_body(const wt_attention_shape *shape, size_t stride, size_t lanes,
                           const spreading *job) {
    for (size_t t = 0; t < shape->rows; t += TILE) {
        size_t i = 0;
        for (; i + WIDE * LANES <= stride; i += WIDE * LANES)
            spread_tile(shape, stride, lanes, WIDE, t, i, job);
        for (; i < stride; i += LANES)
            spread_tile(shape, stride, lanes, 1, t, i, job);
    }
}

WT_INLINE void combine_body(const wt_attention_shape *shape, size_t stride, size_t lanes,
                            const float *q, const float *m, float *out) {
    for (size_t h = 0; h < shape->heads; h++)
        for (size_t g = 0; g < stride; g += LANES) {
            wt_lanes sum = {0}, x;
            for (size_t k = 0; k < shape->width; k++) {
                wt_load(&x, m + (k * lanes + h) * stride + g);
                sum += x * q[h * shape->width + k];
            }
            wt_store(out + h * stride + g, &sum);
        }
}

WT_INLINE void contract_body(const wt_attention_shape *shape, size_t stride, size_t lanes,
                             const float *m, const float *z, float *out) {
    for (size_t h = 0; h < shape->heads; h++)
        for (size_t k = 0; k < shape->width; k++) {
            wt_lanes sum = {0}, x, y;
            for (size_t g = 0; g < stride; g += LANES) {
                wt_load(&x, m + (k * lanes + h) * stride + g);
                wt_load(&y, z + h * stride + g);
                sum += x * y;
            }
            out[h * shape->width + k] = wt_lanes_sum(&sum);
        }
}

WT_INLINE void outer_body(const wt_attention_shape *shape, size_t stride, size_t lanes,
                          const float *q, const float *z, float *m) {
    for (size_t h = 0; h < shape->heads; h++)
        for (size_t k = 0; k < shape->width; k++)
            for (size_t g = 0; g < stride; g += LANES) {
                wt_lanes sum, x;
                wt_load(&sum, m + (k * lanes + h) * stride + g);
                wt_load(&x, z + h * stride + g);
                sum += x * q[h * shape->width + k];
                wt_store(m + (k * lanes + h) * stride + g, &sum);
            }
}

/* The shape of the published recipe is a case of its own, in which the compiler knows all counts.
 */
#define BY_SHAPE(body, ...)                                                                        \
    do {                                                                                           \
        if (shape->stride == 64 && shape->lanes == 16)                                             \
            body(shape, 64, 16, __VA_ARGS__);                                                      \
        else                                                                                       \
            body(shape, shape->stride, shape->lanes, __VA_ARGS__);                                 \
    } while (0)

TARGET static void embed(const wt_attention_shape *shape, const float *table, const uint32_t *index,
                         const uint32_t *words, uint32_t keep, float *hat, float *scale) {
    BY_SHAPE(embed_body, table, index, words, keep, hat, scale);
}

TARGET static void project(const wt_attention_shape *shape, const float *hat, const float *ut,
                           float *p) {
    BY_SHAPE(project_body, hat, ut, p);
}

TARGET static void gather(const wt_attention_shape *shape, const float *w, const float *hat,
                          float *z) {
    BY_SHAPE(gather_body, w, hat, z);
}

TARGET static void softmax(const wt_attention_shape *shape, const float *s, const uint32_t *words,
                           uint32_t keep, float scale, float *a, float *b, float *total) {
    BY_SHAPE(softmax_body, s, words, keep, scale, a, b, total);
}

TARGET static void softmax_back(const wt_attention_shape *shape, const float *s, const float *a,
                                const float *b, const float *e, const float *total, float *p,
                                float *along) {
    BY_SHAPE(softmax_back_body, s, a, b, e, total, p, along);
}

TARGET static void spread(const wt_attention_shape *shape, const float *b, const float *z,
                          const float *ds, const float *u, const float *hat, const float *scale,
                          const float *along, const uint32_t *index, const uint32_t *words,
                          uint32_t keep, float *d_table) {
    const spreading job = {b, z, ds, u, hat, scale, along, index, words, keep, d_table};
    BY_SHAPE(spread_body, &job);
}

TARGET static void combine(const wt_attention_shape *shape, const float *q, const float *m,
                           float *out) {
    BY_SHAPE(combine_body, q, m, out);
}

TARGET static void contract(const wt_attention_shape *shape, const float *m, const float *z,
                            float *out) {
    BY_SHAPE(contract_body, m, z, out);
}

TARGET static void outer(const wt_attention_shape *shape, const float *q, const float *z,
                         float *m) {
    BY_SHAPE(outer_body, q, z, m);
}
