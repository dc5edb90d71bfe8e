/* The loops of transformer_loops.h on tables, for one kind of processor: see loops_plain.c. */
#include "network/model/transformer_loops.h"

enum { POSITIONS = 16 }; /* whose rows of the tables stay in the first cache for all samples */

WT_INLINE void pick_body(const wt_attention_shape *shape, size_t lanes, size_t width,
                         const float *scores, const uint32_t *index, float *s) {
    (void)width;
    for (size_t t = 0; t < shape->n; t++)
        memcpy(s + t * lanes, scores + index[t] * lanes, lanes * sizeof *s);
}

WT_INLINE void weigh_body(const wt_attention_shape *shape, size_t lanes, size_t width,
                          const uint32_t *words, uint32_t keep, float scale,
                          const wt_picked *sample) {
    (void)width;
    for (size_t l = 0; l < lanes; l += LANES) {
        wt_lanes sum = {0}, e;
        for (size_t t = 0; t < shape->n; t++) {
            wt_load(&e, sample->e + sample->from[t] * lanes + l);
            sum += e;
            if (words != NULL) {
                wt_int_lanes mask;
                kept_weights(words + t / 2 * lanes + l, t, keep, &mask);
                e = (wt_lanes)((wt_int_lanes)(e * scale) & mask);
            }
            wt_store(sample->b + t * lanes + l, &e);
        }
        wt_store(sample->total + l, &sum);
    }
}

/* Numbers k .. k+count-1 of LANES heads from l, for tokens t .. end-1. */
WT_INLINE void mix_tile(size_t lanes, size_t width, size_t count, size_t k, size_t l, size_t t,
                        size_t end, const float *values, const wt_picked *sample) {
    wt_lanes sum[TILE], weight, value;
    for (size_t j = 0; j < count; j++)
        wt_load(&sum[j], sample->y + (k + j) * lanes + l);
    for (; t < end; t++) {
        wt_load(&weight, sample->b + t * lanes + l);
        const float *from = values + (sample->index[t] * width + k) * lanes + l;
        for (size_t j = 0; j < count; j++) {
            wt_load(&value, from + j * lanes);
            sum[j] += weight * value;
        }
    }
    for (size_t j = 0; j < count; j++)
        wt_store(sample->y + (k + j) * lanes + l, &sum[j]);
}

WT_INLINE void mix_body(const wt_attention_shape *shape, size_t lanes, size_t width,
                        const float *values, size_t samples, const wt_picked *picked) {
    for (size_t s = 0; s < samples; s++)
        memset(picked[s].y, 0, width * lanes * sizeof *picked[s].y);
    for (size_t t = 0; t < shape->n; t += POSITIONS) {
        size_t end = shape->n - t < POSITIONS ? shape->n : t + POSITIONS;
        for (size_t s = 0; s < samples; s++)
            for (size_t l = 0; l < lanes; l += LANES) {
                size_t k = 0;
                for (; k + TILE <= width; k += TILE)
                    mix_tile(lanes, width, TILE, k, l, t, end, values, &picked[s]);
                for (; k < width; k++)
                    mix_tile(lanes, width, 1, k, l, t, end, values, &picked[s]);
            }
    }
}

/* Likewise; the part of d_s without values goes with k = 0. */
WT_INLINE void mix_back_tile(size_t lanes, size_t width, size_t count, size_t k, size_t l, size_t t,
                             size_t end, const float *values, const wt_picked *sample,
                             float *d_scores, float *d_values) {
    wt_lanes from[TILE], mean = {0}, left, e, value, old;
    if (k == 0)
        wt_load(&mean, sample->mean + l);
    for (size_t j = 0; j < count; j++)
        wt_load(&from[j], sample->d_y + (k + j) * lanes + l);
    for (; t < end; t++) {
        size_t row = sample->index[t], at = (row * width + k) * lanes + l;
        wt_lanes slope = {0};
        wt_load(&left, sample->b + t * lanes + l);
        wt_load(&e, sample->e + sample->from[t] * lanes + l);
        for (size_t j = 0; j < count; j++) {
            wt_load(&value, values + at + j * lanes);
            slope += from[j] * value;
            wt_load(&old, d_values + at + j * lanes);
            old += left * from[j];
            wt_store(d_values + at + j * lanes, &old);
        }
        wt_load(&old, d_scores + row * lanes + l);
        old += left * slope - e * mean;
        wt_store(d_scores + row * lanes + l, &old);
    }
}

WT_INLINE void mix_back_body(const wt_attention_shape *shape, size_t lanes, size_t width,
                             const float *values, size_t samples, const wt_picked *picked,
                             float *d_scores, float *d_values) {
    for (size_t t = 0; t < shape->n; t += POSITIONS) {
        size_t end = shape->n - t < POSITIONS ? shape->n : t + POSITIONS;
        for (size_t s = 0; s < samples; s++)
            for (size_t l = 0; l < lanes; l += LANES) {
                size_t k = 0;
                for (; k + TILE <= width; k += TILE)
                    mix_back_tile(lanes, width, TILE, k, l, t, end, values, &picked[s], d_scores,
                                  d_values);
                for (; k < width; k++)
                    mix_back_tile(lanes, width, 1, k, l, t, end, values, &picked[s], d_scores,
                                  d_values);
            }
    }
}

WT_INLINE void add_rows_tile(size_t wide, size_t count, const uint8_t *code, size_t columns,
                             const float *table, const float *first, float *out) {
    wt_lanes sum[5], x;
    for (size_t j = 0; j < wide; j++)
        wt_load(&sum[j], first + j * LANES);
    for (size_t q = 0; q < count; q++)
        for (size_t j = 0; j < wide; j++) {
            wt_load(&x, table + (16 * q + code[q]) * columns + j * LANES);
            sum[j] += x;
        }
    for (size_t j = 0; j < wide; j++)
        wt_store(out + j * LANES, &sum[j]);
}

WT_INLINE void add_rows_body(size_t count, const uint8_t *code, size_t columns, const float *table,
                             const float *first, float *out) {
    size_t c = 0;
    for (; c + 5 * LANES <= columns; c += 5 * LANES)
        add_rows_tile(5, count, code, columns, table + c, first + c, out + c);
    for (; c < columns; c += LANES)
        add_rows_tile(1, count, code, columns, table + c, first + c, out + c);
}

#define BY_WIDTH(body, ...)                                                                        \
    do {                                                                                           \
        if (shape->lanes == 16 && shape->width == 4)                                               \
            body(shape, 16, 4, __VA_ARGS__);                                                       \
        else                                                                                       \
            body(shape, shape->lanes, shape->width, __VA_ARGS__);                                  \
    } while (0)

TARGET static void pick(const wt_attention_shape *shape, const float *scores, const uint32_t *index,
                        float *s) {
    BY_WIDTH(pick_body, scores, index, s);
}

TARGET static void weigh(const wt_attention_shape *shape, const uint32_t *words, uint32_t keep,
                         float scale, const wt_picked *sample) {
    BY_WIDTH(weigh_body, words, keep, scale, sample);
}

TARGET static void mix(const wt_attention_shape *shape, const float *values, size_t samples,
                       const wt_picked *picked) {
    BY_WIDTH(mix_body, values, samples, picked);
}

TARGET static void mix_back(const wt_attention_shape *shape, const float *values, size_t samples,
                            const wt_picked *picked, float *d_scores, float *d_values) {
    BY_WIDTH(mix_back_body, values, samples, picked, d_scores, d_values);
}

TARGET static void add_rows(size_t count, const uint8_t *code, size_t columns, const float *table,
                            const float *first, float *out) {
    add_rows_body(count, code, columns, table, first, out);
}

const wt_transformer_loops TRANSFORMER_TABLE = {embed,  project, gather,   softmax, softmax_back,
                                                spread, combine, contract, outer,   pick,
                                                weigh,  mix,     mix_back, add_rows};
