/* Explicit constructions: attention heads whose weights are written down, not trained, that compute
 * a sparse Boolean function of T bits.
 *
 * Position t holds the token x_t = v_t + e_b for bit b (tokens "sum"), or v_t where the bit is 1
 * and nothing where it is 0 (tokens "bag"); x_cls = v_cls is one token more. With vectors w_q, w_k,
 * w_v a head answers y = sum_t a_t <w_v, x_t>,  a = softmax over t of <w_q, x_cls> <w_k, x_t>,
 * [CLS] included, which is W_Q = w_q, W_K = w_k, W_V = w_v as matrices of one column. A network
 * with two hidden layers of ReLU reads the heads: f = relu(relu(y w1 + b1) w2 + b2) w3 + b3.
 *
 * One head attends to all relevant positions at once and answers, up to what leaks to the others,
 * the mean of +1 for a 0 and -1 for a 1 over them (sum), or (r - s)/(r + 1) for r ones among s
 * (bag). It serves symmetric functions; s heads with a position each serve any. */
#ifndef WATTLE_CONSTRUCT_H
#define WATTLE_CONSTRUCT_H

#include "wattle/boolean.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wt_positions {
    WT_POSITIONS_BASIS,  /* unit vectors: d = T + 3, or T + 1 for a bag */
    WT_POSITIONS_RANDOM, /* uniform on the unit sphere of R^d */
    WT_POSITIONS_TRAINED /* one vector at all relevant positions (one a head), else nothing */
} wt_positions;

/* The most bits of a function read by s heads: its network has 4 s 2^s by 2 2^s weights. */
#define WT_CONSTRUCT_MOST_BITS 8

typedef struct wt_construct_spec {
    const char *function; /* as wt_boolean_open reads it */
    size_t length;        /* T */
    const size_t *relevant;
    size_t relevant_count; /* as in wt_sparse_spec: NULL and 0 = by the seed */
    wt_positions positions;
    size_t position_dim; /* of random positions; 0 = max(64, 8 (s + 1) log T) */
    bool one_head;       /* the function must be symmetric then; else s heads */
    bool bag;            /* tokens */
    uint64_t seed;
} wt_construct_spec;

typedef struct wt_construction {
    wt_boolean function;
    size_t length, dim, heads; /* T, d, 1 or s */
    size_t *relevant;          /* (s) */
    bool bag;
    double *position;         /* (T, d); NULL = row t is the unit vector t */
    double *symbol;           /* (2, d) e_0 and e_1; NULL for a bag */
    double *cls;              /* (d) */
    double *w_q, *w_k, *w_v;  /* (heads, d) */
    size_t width1, width2;    /* of the network that reads the heads */
    double *w1, *b1;          /* (heads, width1), (width1) */
    double *w2, *b2;          /* (width1, width2), (width2) */
    double *w3, *b3;          /* (width2), (1) */
    double gap;               /* gamma: of the answers to be told apart */
    double strength, overlap; /* the largest R = log(8 T / gamma) / (1 - rho) and rho of a head */
} wt_construction;

/* Builds the weights. WT_USAGE with a sentence where random positions overlap too much (rho >= 1)
 * or are too few dimensions, or one head is asked of a function that is not symmetric.
 *
 * Where positions are random, w_k is the dual vector in the span of the relevant ones: 1 on each
 * of its own, 0 on the other relevant ones, e_0, e_1 and v_cls; and rho is the largest of <w_k,
 * v_t> over the other positions. For a bag R is log(8 T s / gamma) / (1 - rho), as values go to s.
 */
WT_API wt_status wt_construct(wt_context *context, const wt_construct_spec *spec,
                              wt_construction *out);
WT_API void wt_construction_free(wt_construction *construction);
/* The usual dimension of random positions. */
WT_API size_t wt_construct_random_dim(size_t bits, size_t length);
/* What can be told before anything is built; overlaps are not known then. */
WT_API wt_status wt_construct_spec_check(wt_context *context, const wt_construct_spec *spec);

/* What head h should answer for row r of the truth table. */
WT_API double wt_construction_ideal(const wt_construction *construction, size_t head, size_t row);

/* Answers on samples (labels are not read): of the heads (n, heads), and of the network (n). Either
 * may be NULL. */
WT_API wt_status wt_construction_run(wt_context *context, const wt_construction *construction,
                                     const wt_bits *bits, double *head, double *out);

typedef struct wt_construct_report {
    double promise;        /* gamma / 4 */
    double head_error;     /* the largest over all 2^s patterns and all values of the other bits */
    double drawn_error;    /* the largest over all patterns with random other bits */
    double function_error; /* of the network's answer: all patterns, with the other bits that make
                            * the heads answer most and least, and one random draw */
    bool kept;             /* head_error <= promise, and function_error <= 1e-9: rounding alone */
} wt_construct_report;

/* Runs the construction on every pattern of its relevant bits. The largest error of a head over all
 * 2^(T-s) values of the other bits is found exactly: the answer is a ratio of sums over positions,
 * whose extremes are found by choosing each bit for the best ratio so far until it stays. */
WT_API wt_status wt_construct_check(wt_context *context, const wt_construction *construction,
                                    size_t draws, uint64_t seed, wt_construct_report *out);

/* Every head's <w_q, x_cls>, which is not 0, becomes the strength: R is held, whatever the length
 * needs. */
WT_API void wt_construction_set_strength(wt_construction *construction, double strength);

/* The least R with which the heads keep the promise on all inputs, whatever R they were built with:
 * a head weighs a token by its score k_t = <w_k, x_t> and R. Of several heads, the largest. It is
 * INFINITY where no R up to 2^40 will do. */
typedef struct wt_construct_least {
    double strength; /* weights exp(R k_t): attention */
    double linear;   /* max(0, 1 + R k_t): the same without the exponential */
} wt_construct_least;

/* Relative: the promise is kept at R, and broken at R (1 - tolerance). */
#define WT_CONSTRUCT_LEAST_TOLERANCE 1e-6

/* By bisection on the heads. With unit and trained vectors, all tokens that a head is not to look
 * at weigh the same, the error falls as R rises, and what is found is the least R of all. With
 * random vectors the promise might be kept, broken and kept again; it is then an R where that turns
 * to kept, below the first of 1, 2, 4, .. that keeps it, and we have seen only one. */
WT_API wt_status wt_construct_find_least(wt_context *context, const wt_construction *construction,
                                         wt_construct_least *out);

/* Norms of the theory: |W_QK^T|_{2,1} = sum over rows of W_QK = W_Q W_K^T of their 2-norms,
 * |W_V|_{2,1}, |W_V|, the largest |x_t| and |x_cls|; heads apart, as the largest of each. */
typedef struct wt_construct_norms {
    double qk21, v21, v, x, cls;
} wt_construct_norms;
WT_API void wt_construction_norms(const wt_construction *construction, wt_construct_norms *out);

/* .safetensors of kind `head`: w_q, w_k, w_v (heads,d,1), positions (T,d), symbols (2,d) unless a
 * bag, cls (d), and the network; the metadata say function, relevant positions, tokens, gap. */
WT_API wt_status wt_construction_save(wt_context *context, const char *path,
                                      const wt_construction *construction);
WT_API wt_status wt_construction_load(wt_context *context, const char *path, wt_construction *out);

#ifdef __cplusplus
}
#endif
#endif
