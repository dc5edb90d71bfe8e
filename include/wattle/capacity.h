/* How large a class of attention heads or transformers of bounded norms is: covering numbers, and
 * the shape of the generalisation gap that follows.
 *
 * |W|_{2,1} is the sum of the 2-norms of a matrix's columns. Of query-key weights it is taken of
 * W_QK^T, so it is the sum over the rows of W_QK, where a head is
 *     sigma( W_V^T X^T softmax( X W_QK^T x_cls ) ).
 *
 *     wt_capacity_spec spec;
 *     WT_INIT(wt_capacity_spec, &spec);
 *     wt_model_norms_load_head(context, "head.safetensors", &norms);
 *     spec.norms = norms;
 *     spec.dim = wt_model_norms_dim(norms);
 *     spec.length = wt_model_norms_length(norms);
 *     spec.samples = 1000;
 *     wt_capacity bound = WT_SIZED(wt_capacity);
 *     wt_capacity_compute(context, &spec, NULL, &bound); */
#ifndef WATTLE_CAPACITY_H
#define WATTLE_CAPACITY_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The norms that a bound reads. NaN = not known. */
typedef enum wt_model_norm {
    /* of each head: |W_QK^T|_{2,1} and |W_QK|, which counts where layers lie above, */
    WT_MODEL_NORM_QK21,
    WT_MODEL_NORM_QK,
    /* |W_V|_{2,1} and |W_V|, */
    WT_MODEL_NORM_V21,
    WT_MODEL_NORM_V,
    /* and of W_C, which maps the head's answer back to a token; a single head without layers has
       none */
    WT_MODEL_NORM_C21,
    WT_MODEL_NORM_C,
    /* of each layer: the Lipschitz constant of the activation */
    WT_MODEL_NORM_SIGMA,
    /* of the model: the largest |x_t|, without positions where these are added apart; */
    WT_MODEL_NORM_X,
    WT_MODEL_NORM_P,   /* the largest norm of a position's vector, 0 = in x already; */
    WT_MODEL_NORM_CLS, /* |x_cls|; */
    WT_MODEL_NORM_W    /* of the read-out, which is learned, NaN = none, heads only */
} wt_model_norm;

typedef struct wt_model_norms wt_model_norms;

/* `heads` heads in each of `layers` layers, the lowest first: sigma = x = cls = 1, p = 0, all other
 * norms NaN. */
WT_API wt_status wt_model_norms_new(wt_context *context, size_t layers, size_t heads,
                                    wt_model_norms **out);
/* "qk21", "sigma" and the like; "?" for no norm. */
WT_API const char *wt_model_norm_name(wt_model_norm norm);
/* "qk21=8,v21=4,v=2/qk21=6": one group a head, or a layer where `deep`; what a group leaves out is
 * as in the group before it, and at first sigma = x = cls = 1, p = 0, and w = 1 where `deep`. One
 * group counts `copies` times; a layer has `heads` heads alike. WT_USAGE when it is none. */
WT_API wt_status wt_model_norms_parse(wt_context *context, const char *text, bool deep,
                                      size_t copies, size_t heads, wt_model_norms **out);
/* The norms of a file's own weights. Kind `head`: w_qk (d,d) or w_q, w_k (H,d,r), w_v, symbols,
 * positions, cls; x is the largest |position + symbol|. */
WT_API wt_status wt_model_norms_load_head(wt_context *context, const char *path,
                                          wt_model_norms **out);
/* Kind `transformer`, one pre-LN block: per head W_QK = W_Q^h W_K^h^T / sqrt(width), W_V^h and
 * W_C^h = the head's rows of wo; x = cls = sqrt(d) max|g| + |b| of the first layer norm; w is the
 * norm of the difference of the two read-outs. `heads` = 0 takes them from the metadata. */
WT_API wt_status wt_model_norms_load_transformer(wt_context *context, const char *path,
                                                 size_t heads, wt_model_norms **out);
WT_API void wt_model_norms_free(wt_model_norms *norms);

WT_API size_t wt_model_norms_layers(const wt_model_norms *norms);
WT_API size_t wt_model_norms_heads(const wt_model_norms *norms); /* of a layer */
/* d and T of the file; 0 = not known */
WT_API size_t wt_model_norms_dim(const wt_model_norms *norms);
WT_API size_t wt_model_norms_length(const wt_model_norms *norms);
/* One norm; layer and head are read only where the norm has them. NaN where there is none. */
WT_API double wt_model_norms_get(const wt_model_norms *norms, wt_model_norm norm, size_t layer,
                                 size_t head);
WT_API wt_status wt_model_norms_set(wt_context *context, wt_model_norms *norms, wt_model_norm norm,
                                    size_t layer, size_t head, double value);

/* What a file holds that the theorem does not speak of, in words; the last is NULL. Nothing of
 * norms that no file has. */
WT_API const char *const *wt_model_norms_outside(const wt_model_norms *norms);

typedef struct wt_capacity_spec {
    size_t size;
    const wt_model_norms *norms;
    bool deep;                  /* transformers: W_C, the read-out and layers; else heads alone */
    bool residual;              /* a layer adds to its input: its Lipschitz constant is 1 larger */
    size_t dim, length;         /* d, T */
    size_t samples;             /* m */
    double epsilon;             /* of the covering number, above 0 */
    double delta;               /* chance that the bound on the gap fails */
    double lipschitz, loss_max; /* of the loss: Lipschitz constant L and largest value b */
} wt_capacity_spec;

/* epsilon 0.1, delta 0.05, L = b = 1; norms, d, T and m must be set. */
WT_API void wt_capacity_spec_init(wt_capacity_spec *spec, size_t size);

typedef struct wt_capacity {
    size_t size;
    double log_factor;      /* log(d m T) */
    double constant;        /* C_F, log N_inf(epsilon) <= C_F / epsilon^2 up to a constant */
    double covering;        /* C_F / epsilon^2 */
    double range;           /* A: largest answer */
    bool vacuous;           /* C_F > A^2 m: the logarithm in the gap is cut off at 0 */
    double capacity_term;   /* 4 L sqrt(C_F / m) (1 + log(A sqrt(m / C_F))), with c = 1 */
    double confidence_term; /* 2 b sqrt(log(1 / delta) / 2 m) */
    double gap;             /* both */
    size_t pseudo_natural, pseudo_binary; /* floor(log T), by the natural logarithm and to base 2 */
    const char *const *unspecified; /* what the theory leaves open, in words; the last is NULL */
} wt_capacity;

/* With tokens in the unit ball, which scaling W_V by B = x + p and W_QK by B cls in the first layer
 * makes of any (by B max(B, cls) with layers above it, where every token asks),
 *     C_F = log(d m T) w^2 ( r^(2/3) + sum_i alpha_i^(2/3) sum_h [ c21^(2/3)
 *                        + (2 sigma c v qk21)^(2/3) + (sigma c v21)^(2/3) ] )^3,
 *     alpha_i = prod_{j > i} sum_h sigma c v (1 + 4 qk)   (+ 1 with residual),
 * r the largest vector that w reads: 1 for transformers. For heads alone c21 = 0, c = 1 and
 * r = sum_h sigma v, or r = 0 and w = 1 where they have no read-out.
 *
 * Published for transformers with prod_{j < i} and with w^2 on the first term alone; an error made
 * in layer i is multiplied by the layers above it and by the read-out, which is what the argument
 * gives. Published for heads without a read-out, and the corollary prints no 2 and no B inside; its
 * proof has them, and so has this.
 * `alpha` (layers) may be NULL. */
WT_API wt_status wt_capacity_compute(wt_context *context, const wt_capacity_spec *spec,
                                     double *alpha, wt_capacity *out);

#ifdef __cplusplus
}
#endif
#endif
