/* What can be fitted to sets: random features with frozen weights, and their limits of infinitely
 * many heads.
 *
 * With x~ = [x; 1]:
 *   rfa    f = sum_m (1/N) sum_i relu(x~0^T W_m x~i) <v_m, x~i>, entries of W_m N(0, 1/4)
 *   brfa   the same with W_m + c [I_d 0; 0 0]
 *   rfmlp  f = sum_p relu(<w_p, [x0; x1; ..; xN; 1]>) v_p, entries of w_p N(0, 1/(N+2))
 * and softmax over i may take the place of (1/N) relu in the first two. */
#ifndef WATTLE_MODEL_H
#define WATTLE_MODEL_H

#include "wattle/sets.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wt_model_kind {
    WT_RFA,
    WT_BRFA,
    WT_RFMLP,
    WT_RFA_INF,
    WT_BRFA_INF,
    WT_RFMLP_INF
} wt_model_kind;
/* "rfa", "brfa-inf" and so on; WT_USAGE for another word, "?" for no kind. */
WT_API wt_status wt_model_kind_parse(wt_context *context, const char *word, wt_model_kind *out);
WT_API const char *wt_model_kind_name(wt_model_kind kind);
/* Whether it is a limit of infinitely many heads: a kernel, not features. */
WT_API bool wt_model_kind_infinite(wt_model_kind kind);

typedef enum wt_activation { WT_RELU, WT_SOFTMAX } wt_activation;

typedef struct wt_model_spec {
    wt_model_kind kind;
    wt_activation activation; /* of rfa and brfa */
    size_t heads;             /* M; not read for the infinite kinds */
    size_t width;             /* P of rfmlp; 0 = M(d+1), as many parameters as rfa */
    double bias;              /* c of brfa and brfa-inf */
    size_t dim;               /* d */
    size_t keys;              /* N; decides shapes for rfmlp and rfmlp-inf alone */
    uint64_t seed;            /* of the frozen weights */
} wt_model_spec;

/* One function judges a specification for the C API and the command line. */
WT_API wt_status wt_model_spec_check(wt_context *context, const wt_model_spec *spec);

/* A fitted model: predicts, and goes to a file and back. */
typedef struct wt_fitted wt_fitted;
WT_API void wt_fitted_free(wt_fitted *fitted);
/* Predictions for every sample into out (samples, outputs). */
WT_API wt_status wt_fitted_predict(wt_context *context, const wt_fitted *fitted,
                                   const wt_sets *sets, double *out);
WT_API size_t wt_fitted_outputs(const wt_fitted *fitted);
WT_API const wt_model_spec *wt_fitted_spec(const wt_fitted *fitted);
/* Mean squared error and the same over the variance of y, all outputs together; each output in
 * units of its training deviation, for the second, where labels were standardised. */
WT_API wt_status wt_fitted_score(wt_context *context, const wt_fitted *fitted, const wt_sets *sets,
                                 double *mean_square, double *error);
/* Writes or reads a .safetensors file, as docs/formats.md describes. A file of another kind or a
 * later version is WT_DATA. */
WT_API wt_status wt_fitted_save(wt_context *context, const char *path, const wt_fitted *fitted);
WT_API wt_status wt_fitted_load(wt_context *context, const char *path, wt_fitted **out);

#ifdef __cplusplus
}
#endif
#endif
