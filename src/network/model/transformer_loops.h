/* The attention of the transformer's fast paths: inner loops for one kind of processor each.
 *
 * hat_t = (x_t - mean) / sqrt(variance + epsilon) is a token after LN1 but for its gain and bias,
 * which are folded into the matrices beside it (transformer_fast.h). Heads lie side by side. */
#ifndef WT_NETWORK_MODEL_TRANSFORMER_LOOPS_H
#define WT_NETWORK_MODEL_TRANSFORMER_LOOPS_H

#include "network/model/network_loops.h"

typedef struct wt_attention_shape {
    size_t n, rows;      /* tokens T + 1, and the same filled up to a multiple of 8 with zeros */
    size_t dim, stride;  /* d, and filled up to a multiple of 32 */
    size_t heads, lanes; /* and filled up to a multiple of 16 */
    size_t width;        /* d / heads */
    const float *live;   /* (stride) 1 for numbers that count */
} wt_attention_shape;

/* A sample whose token t is row index[t] of the tables; its attention weight is, but for a factor a
 * head, row from[t] of e. */
typedef struct wt_picked {
    const uint32_t *index, *from;
    const float *e;          /* (.., lanes) */
    float *b;                /* (rows, lanes) e after dropout */
    float *total;            /* (lanes) sum_t e */
    float *y;                /* (width, lanes) */
    const float *d_y, *mean; /* (width, lanes), (lanes) */
} wt_picked;

struct wt_transformer_loops {
    /* hat (n, stride) and scale (n) of the rows index[t] of table (.., stride), of which only those
     * numbers stay that the words keep. words (n, stride / 32, 16): the low halves for
     * 16 numbers, the high halves for the next 16. */
    void (*embed)(const wt_attention_shape *shape, const float *table, const uint32_t *index,
                  const uint32_t *words, uint32_t keep, float *hat, float *scale);
    /* p (rows, lanes) = hat (rows, stride) ut (stride, lanes) */
    void (*project)(const wt_attention_shape *shape, const float *hat, const float *ut, float *p);
    /* z (lanes, stride) = w (rows, lanes)^T hat (rows, stride) */
    void (*gather)(const wt_attention_shape *shape, const float *w, const float *hat, float *z);
    /* a = softmax over the n tokens of s (rows, lanes), b the same with dropout: a scale where
     * kept, and total (lanes) = sum_t b. words (rows / 2, lanes): low halves for even tokens, high
     * halves for odd ones; NULL: keep all, and b may be a. Rows past n become 0. */
    void (*softmax)(const wt_attention_shape *shape, const float *s, const uint32_t *words,
                    uint32_t keep, float scale, float *a, float *b, float *total);
    /* With p = hat-part of d_b, e (lanes) what every token's d_b has more, and D = sum_t b d_b:
     *   p_t <- d_s = b (p + e) - a D,   along_t = sum_h (b p + d_s s) / d = mean(d_hat hat) */
    void (*softmax_back)(const wt_attention_shape *shape, const float *s, const float *a,
                         const float *b, const float *e, const float *total, float *p,
                         float *along);
    /* The way back into the tokens: with d_hat_t = b_t z + ds_t u, the rows of z and u having mean
     * 0, d_x_t = scale_t (d_hat_t - along_t hat_t) where the words keep is added to row index[t]
     * of d_table. b, ds (rows, lanes); z, u (lanes, stride). */
    void (*spread)(const wt_attention_shape *shape, const float *b, const float *z, const float *ds,
                   const float *u, const float *hat, const float *scale, const float *along,
                   const uint32_t *index, const uint32_t *words, uint32_t keep, float *d_table);

    /* Rows r = k lanes + h of m (width lanes, stride) belong to number k of head h, i = h width +
     * k: out_h = sum_k q_i m_r,   out_i = <m_r, z_h>,   m_r += q_i z_h; z, out_h (lanes, stride) */
    void (*combine)(const wt_attention_shape *shape, const float *q, const float *m, float *out);
    void (*contract)(const wt_attention_shape *shape, const float *m, const float *z, float *out);
    void (*outer)(const wt_attention_shape *shape, const float *q, const float *z, float *m);

    /* For tables of all vectors that can occur: s_t = scores[index t] for the n tokens */
    void (*pick)(const wt_attention_shape *shape, const float *scores, const uint32_t *index,
                 float *s);
    /* b_t = scale e_t where kept, 0 elsewhere, and total = sum_t e_t; words as for softmax */
    void (*weigh)(const wt_attention_shape *shape, const uint32_t *words, uint32_t keep,
                  float scale, const wt_picked *sample);
    /* y = sum_t b_t values[index t] for each sample; values (.., width, lanes) */
    void (*mix)(const wt_attention_shape *shape, const float *values, size_t samples,
                const wt_picked *picked);
    /* Of all samples: d_s = b d_b - e mean with d_b = sum_k values d_y, added to
     * d_scores[index t]; b_t d_y added to d_values[index t] */
    void (*mix_back)(const wt_attention_shape *shape, const float *values, size_t samples,
                     const wt_picked *picked, float *d_scores, float *d_values);
    /* out = first + sum over q of the rows 16 q + code[q] of table (.., columns), columns a
     * multiple of 16 */
    void (*add_rows)(size_t count, const uint8_t *code, size_t columns, const float *table,
                     const float *first, float *out);
};

extern const wt_transformer_loops wt_transformer_loops_plain, wt_transformer_loops_avx2,
    wt_transformer_loops_avx512;

#endif
