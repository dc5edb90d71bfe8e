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
 * (bag). It serves symmetric functions; s heads with a position each serve any.
 *
 *     wt_construction_spec spec;
 *     WT_INIT(wt_construction_spec, &spec);
 *     spec.function = "majority:3";
 *     wt_construction *built;
 *     wt_construction_new(context, &spec, &built);
 *     wt_construction_report report = WT_SIZED(wt_construction_report);
 *     wt_construction_check(context, built, 100, 1, &report); */
#ifndef WATTLE_CONSTRUCT_H
#define WATTLE_CONSTRUCT_H

#include "wattle/boolean.h"
#include "wattle/field.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wt_positions {
    WT_POSITIONS_BASIS,  /* unit vectors: d = T + 3, or T + 1 for a bag */
    WT_POSITIONS_RANDOM, /* uniform on the unit sphere of R^d */
    WT_POSITIONS_TRAINED /* one vector at all relevant positions (a head each), else nothing */
} wt_positions;

/* s heads serve any function, one serves symmetric ones. */
typedef enum wt_construction_heads {
    WT_CONSTRUCTION_HEADS_EACH, /* one for each relevant bit */
    WT_CONSTRUCTION_HEADS_ONE,
    WT_CONSTRUCTION_HEADS_AUTO /* one where it will do */
} wt_construction_heads;

typedef enum wt_construction_tokens {
    WT_CONSTRUCTION_TOKENS_SUM, /* position plus the symbol of the bit */
    WT_CONSTRUCTION_TOKENS_BAG  /* the position where the bit is 1, nothing where it is 0 */
} wt_construction_tokens;

/* The most bits of a function read by s heads: its network has 4 s 2^s by 2 2^s weights. */
#define WT_CONSTRUCTION_MAX_BITS 8

typedef struct wt_construction_spec {
    size_t size;
    const char *function; /* as wt_boolean_new reads it */
    size_t length;        /* T */
    const size_t *relevant;
    size_t relevant_count; /* as in wt_sparse_spec: NULL and 0 = by the seed */
    wt_positions positions;
    size_t position_dim; /* of random positions; 0 = max(64, 8 (s + 1) log T) */
    wt_construction_heads heads;
    wt_construction_tokens tokens;
    uint64_t seed;
} wt_construction_spec;

/* and:3 of 1024 bits, heads by what will do, unit vectors, tokens "sum". */
WT_API void wt_construction_spec_init(wt_construction_spec *spec, size_t size);
/* Its members by name: options of `wattle construct`, keys of the experiment `construct`. */
WT_API const wt_field *wt_construction_fields(size_t *count);
/* What can be checked before anything is built: all but the overlaps. */
WT_API wt_status wt_construction_spec_check(wt_context *context, const wt_construction_spec *spec);

typedef struct wt_construction wt_construction;

/* Builds the weights. WT_USAGE with a sentence where random positions overlap too much (rho >= 1)
 * or are too few dimensions, or one head is asked of a function that is not symmetric.
 *
 * Where positions are random, w_k is the dual vector in the span of the relevant ones: 1 on each
 * of its own, 0 on the other relevant ones, e_0, e_1 and v_cls; and rho is the largest of <w_k,
 * v_t> over the other positions. For a bag R is log(8 T s / gamma) / (1 - rho), as values go to s.
 */
WT_API wt_status wt_construction_new(wt_context *context, const wt_construction_spec *spec,
                                     wt_construction **out);
WT_API void wt_construction_free(wt_construction *construction);

typedef struct wt_construction_summary {
    size_t size;
    size_t length, bits, heads, dim; /* T, s, 1 or s, d */
    const size_t *relevant;          /* (s), of the construction */
    bool bag;
    size_t width1, width2; /* of the network that reads the heads */
    double gap;            /* gamma: the smallest distance of answers that must be distinguished */
    double strength;       /* the largest R = log(8 T / gamma) / (1 - rho) of a head, */
    double overlap;        /* and the largest rho */
    /* Norms of the theory: |W_QK^T|_{2,1} = the sum over the rows of W_QK = W_Q W_K^T of their
     * 2-norms, |W_V|_{2,1}, |W_V|, the largest |x_t|, and |x_cls|; the largest over the heads. */
    double qk21, v21, v, x, cls;
} wt_construction_summary;
WT_API wt_status wt_construction_summarise(wt_context *context, const wt_construction *construction,
                                           wt_construction_summary *out);

/* Answers on samples (labels are not read): of the heads (n, heads), and of the network (n). Either
 * may be NULL. */
WT_API wt_status wt_construction_run(wt_context *context, const wt_construction *construction,
                                     const wt_bits *bits, double *head, double *out);

typedef struct wt_construction_report {
    size_t size;
    double promise;        /* gamma / 4 */
    double head_error;     /* the largest over all 2^s patterns and all values of the other bits */
    double drawn_error;    /* the largest over all patterns with random other bits */
    double function_error; /* of the network's answer: all patterns, with the other bits that make
                            * the heads answer most and least, and one random draw */
    bool kept;             /* head_error <= promise, and function_error <= 1e-9: rounding alone */
} wt_construction_report;

/* Runs the construction on every pattern of its relevant bits. The largest error of a head over all
 * 2^(T-s) values of the other bits is found exactly: the answer is a ratio of sums over positions,
 * whose extremes are found by choosing each bit for the best ratio so far until it stays. */
WT_API wt_status wt_construction_check(wt_context *context, const wt_construction *construction,
                                       size_t draws, uint64_t seed, wt_construction_report *out);

/* Every head's <w_q, x_cls>, which is not 0, becomes the strength: R is held, whatever the length
 * needs. */
WT_API void wt_construction_set_strength(wt_construction *construction, double strength);

/* The least R with which the heads keep the promise on all inputs, whatever R they were built with:
 * a head weighs a token by its score k_t = <w_k, x_t> and R. Of several heads, the largest. It is
 * INFINITY where no R up to 2^40 will do. */
typedef struct wt_construction_least {
    size_t size;
    double strength; /* weights exp(R k_t): attention */
    double linear;   /* max(0, 1 + R k_t): the same without the exponential */
} wt_construction_least;

/* Relative: the promise is kept at R, and broken at R (1 - tolerance). */
#define WT_CONSTRUCTION_LEAST_TOLERANCE 1e-6

/* By bisection on the heads. With unit and trained vectors, all tokens that a head is not to look
 * at weigh the same, the error falls as R rises, and what is found is the least R of all. With
 * random vectors the promise might be kept, broken and kept again; what is found then is an R where
 * broken becomes kept, below the first of 1, 2, 4, .. that keeps it; only one was ever seen. */
WT_API wt_status wt_construction_find_least(wt_context *context,
                                            const wt_construction *construction,
                                            wt_construction_least *out);

/* .safetensors of kind `head`: w_q, w_k, w_v (heads,d,1), positions (T,d), symbols (2,d) unless a
 * bag, cls (d), and the network; the metadata say function, relevant positions, tokens, gap. */
WT_API wt_status wt_construction_save(wt_context *context, const wt_construction *construction,
                                      const char *path);
WT_API wt_status wt_construction_load(wt_context *context, const char *path, wt_construction **out);

#ifdef __cplusplus
}
#endif
#endif
