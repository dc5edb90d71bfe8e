/* Inner loops that all networks share, for one kind of processor each. */
#ifndef WT_NETWORK_MODEL_NETWORK_LOOPS_H
#define WT_NETWORK_MODEL_NETWORK_LOOPS_H

#include <stddef.h>
#include <stdint.h>

/* Rows are `stride` numbers apart, a multiple of 16; live (stride) is 1 for the numbers that count
 * and 0 for those that fill up, which are kept at 0. */
typedef struct wt_row_shape {
    size_t width, stride;
    const float *live;
} wt_row_shape;

#define WT_NORM_EPSILON 1e-5 /* of every layer normalisation */

/* With s = scale g + decay p:  m = b1 m + (1 - b1) s,  v = b2 v + (1 - b2) s^2,
 * p = p - (decoupled p + step m / (sqrt(v) root + epsilon)) */
#define WT_ADAM_FIRST   0.9
#define WT_ADAM_SECOND  0.999
#define WT_ADAM_EPSILON 1e-8
typedef struct wt_adam_factors {
    float scale;     /* of the gradient, by the clip */
    float step;      /* rate / (1 - b1^t) */
    float root;      /* 1 / sqrt(1 - b2^t) */
    float decay;     /* added to the gradient, times the parameter */
    float decoupled; /* taken from the parameter, times it; 1 - this would not fit a float */
} wt_adam_factors;

/* Which of 16 draws are kept: those whose 16 bits are below `keep`, 65536 for all. */
#define WT_KEEP_ALL 65536
#define WT_WORDS    64 /* numbers of words drawn at a time */

typedef struct wt_network_loops {
    /* Batches of 64 words: word 16 v + l of batch b is word v of Philox4x32-10 with the key and the
     * counter {16 b + l, counter[0], counter[1], counter[2]}. */
    void (*words)(uint64_t key, const uint32_t counter[3], size_t batches, uint32_t *out);
    /* x = x scale where kept, 0 elsewhere; words (count / 2), the low halves of 16 words for the
     * first 16 numbers of every 32, the high halves for the second. count a multiple of 32. */
    void (*drop)(size_t count, const uint32_t *words, uint32_t keep, float scale, float *x);
    /* Layer normalisation of `rows` rows: hat = (x - mean) / sqrt(variance + epsilon), out = hat g
     * + b, scale = 1 / sqrt(..). With out = NULL, g and b are not read. Back: with s = d_out g, d_x
     * = scale (s - mean(s) - hat mean(s hat)), d_g = d_out hat, d_b = d_out, all added to. */
    void (*norm)(const wt_row_shape *shape, size_t rows, const float *x, const float *g,
                 const float *b, float *hat, float *out, float *scale);
    void (*norm_back)(const wt_row_shape *shape, size_t rows, const float *hat, const float *scale,
                      const float *g, const float *d_out, float *d_x, float *d_g, float *d_b);
    /* u = gelu(f), and the slope in place of f; count a multiple of 16. */
    void (*gelu)(size_t count, float *f, float *u);
    void (*relu)(size_t count, float *f, float *u);
    /* |x|^2, summed in double */
    double (*squares)(size_t count, const float *x);
    /* One step of Adam's method on parameters p with slopes g and moments m, v. */
    void (*adam)(const wt_adam_factors *by, size_t count, const float *g, float *p, float *m,
                 float *v);
} wt_network_loops;

extern const wt_network_loops wt_network_loops_plain, wt_network_loops_avx2,
    wt_network_loops_avx512;

typedef struct wt_transformer_loops wt_transformer_loops; /* transformer_loops.h */
typedef struct wt_loops_version {
    const wt_network_loops *network;
    const wt_transformer_loops *transformer;
} wt_loops_version;
/* Those this processor can run, the best last. */
const wt_loops_version *wt_loops_able(size_t *count);
const wt_loops_version *wt_loops_best(void);

#endif
