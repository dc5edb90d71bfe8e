/* What the theory says of random-feature attention, and what can be measured beside it.
 *
 * A bound is a shape, not a prediction: it is printed with every constant that the theory leaves
 * open set to 1. Numbers are kept as logarithms to base 10, for they pass any range. */
#ifndef WATTLE_BOUNDS_H
#define WATTLE_BOUNDS_H

#include "wattle/fit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The excess risk of random-feature attention on a target f*:
 *     sqrt(B(f*)) ( sqrt(log(d M) / n) + sqrt((d^2 + log(1/delta)) / M) )
 * with probability 1 - delta, up to a constant. */
typedef struct wt_bound_spec {
    size_t size;
    wt_model_kind kind; /* WT_MODEL_KIND_RFA, WT_MODEL_KIND_BRFA or WT_MODEL_KIND_RFMLP */
    const char *target; /* as in wt_problem_spec */
    size_t dim;         /* d */
    size_t keys;        /* N */
    size_t heads;       /* M */
    size_t samples;     /* n */
    double delta;       /* chance that the bound fails, above 0 and below 1 */
} wt_bound_spec;
/* rfa, 1000 heads, delta 0.05. Target, dim, keys and samples must be set. */
WT_API void wt_bound_spec_init(wt_bound_spec *spec, size_t size);

typedef struct wt_bound {
    size_t size;
    bool complexity_known;   /* false for brfa: its formula is not at hand */
    double log10_complexity; /* B(f*) */
    const char *formula;     /* of B(f*) for the target's family */
    bool risk_known;         /* for rfa alone */
    double log10_sample_term, log10_head_term, log10_risk; /* the two terms, and their sum */
    double heads_suffice;                                  /* d^2 n */
    double heads_balanced; /* M at which the term of the heads falls to that of the samples */
    const char *source;    /* how we know the formula, in words; or that none is at hand */
    double log10_over_rfa; /* B(f*) over that of rfa on the same target */
    const char *const *unspecified; /* what the theory leaves open of the risk, in words; the last
                                       is NULL */
} wt_bound;

/* B(f*) = sum_k C_k sum_{max(r,s)=k} |f_rs|_F^2, C_k = max(k^4.5 4^k, 1), where
 * f* = (1/N) sum_i sum_rs <f_rs, x0^r (x) xi^s>; for rfmlp, which sees one vector of N + 1 tokens
 * of norm N + 2 with the constant, C_k = max(k^4.5 (N+2)^k, 1), k = r + s, and |f_rs|^2 / N where
 * s > 0. */
WT_API wt_status wt_bound_compute(wt_context *context, const wt_bound_spec *spec, wt_bound *out);

typedef struct wt_complexity {
    size_t size;
    double jitter;   /* added to K's diagonal, as a multiple of its mean; 0 = none */
    double diagonal; /* the mean of K's diagonal. Kernels differ in scale; y^T K^-1 y times it does
                      * not change when K is multiplied by a number */
} wt_complexity;

/* y^T K^-1 y of the labels by the kernel of infinitely many heads, over the first sizes[i]
 * samples for each i (increasing, the last at most the number of samples); summed over outputs.
 * For labels without noise it grows with the number of samples to the squared norm of the target
 * in the kernel's space, the complexity a bound stands for; it needs no constant.
 *
 * A kernel matrix that is singular to working precision gets a jitter on its diagonal: 1e-14
 * times the mean of the diagonal, ten times as much until it factors, 1e-6 at most. */
WT_API wt_status wt_complexity_measure(wt_context *context, const wt_model_spec *spec,
                                       const wt_sets *sets, const size_t *sizes, size_t count,
                                       double *out, wt_complexity *about);

#ifdef __cplusplus
}
#endif
#endif
