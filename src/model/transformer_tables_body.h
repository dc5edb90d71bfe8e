/* The loops of transformer_kernels.h on tables, for one kind of processor: see kernels_plain.c. */
#include "model/transformer_kernels.h"

WT_INLINE void pick_body(const wt_attention_shape *shape, size_t lanes, size_t width,
                         const float *scores, const uint32_t *index, float *s) {
    (void)width;
    for (size_t t = 0; t < shape->n; t++)
        memcpy(s + t * lanes, scores + index[t] * lanes, lanes * sizeof *s);
}

/* Numbers k .. k+count-1 of LANES heads from l. */
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
    for (size_t l = 0; l < lanes; l += LANES) {
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
    for (size_t l = 0; l < lanes; l += LANES) {
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

TARGET static void mix(const wt_attention_shape *shape, const float *b, const float *values,
                       const uint32_t *index, float *y) {
    BY_WIDTH(mix_body, b, values, index, y);
}

TARGET static void mix_back(const wt_attention_shape *shape, const float *a, const float *b,
                            const float *values, const float *d_y, const float *total,
                            const uint32_t *index, float *d_scores, float *d_values) {
    BY_WIDTH(mix_back_body, a, b, values, d_y, total, index, d_scores, d_values);
}

TARGET static void add_rows(size_t count, const uint8_t *code, size_t columns, const float *table,
                            const float *first, float *out) {
    add_rows_body(count, code, columns, table, first, out);
}
