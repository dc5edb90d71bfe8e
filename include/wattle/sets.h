/* What is to be learned: sets of tokens with labels, from a file or drawn from a law.
 *
 * A sample is a query token x0 in R^d, N key tokens x1..xN in R^d, and q labels.
 *
 *     wt_problem_spec spec;
 *     WT_INIT(wt_problem_spec, &spec);
 *     spec.target = "mean-power:2";
 *     spec.dim = spec.keys = 8;
 *     wt_problem_new(context, &spec, &problem);
 *     wt_sets_new(context, 400, 8, 8, 1, false, &train);
 *     wt_problem_draw(context, problem, 0, train); */
#ifndef WATTLE_SETS_H
#define WATTLE_SETS_H

#include "wattle/field.h"
#include "wattle/law.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wt_sets wt_sets;

/* n samples of N keys in d dimensions with q labels each (0 = none), contents undefined; a mask
 * only where asked for. */
WT_API wt_status wt_sets_new(wt_context *context, size_t samples, size_t keys, size_t dim,
                             size_t outputs, bool masked, wt_sets **out);
/* The same over arrays of the caller's, which must outlive the sets; mask and y may be NULL, y
 * where outputs is 0. They are read alone, unless the sets are drawn into. */
WT_API wt_status wt_sets_borrow(wt_context *context, size_t samples, size_t keys, size_t dim,
                                size_t outputs, double *query, double *key, uint8_t *mask,
                                double *y, wt_sets **out);
/* Accepts NULL. Borrowed arrays stay. */
WT_API void wt_sets_free(wt_sets *sets);

WT_API size_t wt_sets_samples(const wt_sets *sets); /* n */
WT_API size_t wt_sets_keys(const wt_sets *sets);    /* N, the padded number where there is a mask */
WT_API size_t wt_sets_dim(const wt_sets *sets);     /* d */
WT_API size_t wt_sets_outputs(const wt_sets *sets); /* q */
/* The arrays, to be read and written: they live as long as the sets. */
WT_API double *wt_sets_query(const wt_sets *sets); /* (n, d) */
WT_API double *wt_sets_key(const wt_sets *sets);   /* (n, N, d) */
WT_API uint8_t *wt_sets_mask(const wt_sets *sets); /* (n, N), non-zero = live; NULL = all live */
WT_API double *wt_sets_y(const wt_sets *sets);     /* (n, q); NULL = no labels */

/* Shapes above 0, every number finite, at least one live key a sample; `name` stands in the
 * sentence (a file, say). */
WT_API wt_status wt_sets_check(wt_context *context, const wt_sets *sets, const char *name);

/* Reads `query` (n,d), `keys` (n,N,d), optional `mask` (n,N), optional `y` (n) or (n,q) of an
 * .npz file, and checks them. */
WT_API wt_status wt_sets_load(wt_context *context, const char *path, wt_sets **out);
/* Writes the same, and `beta` (d) when it is not NULL. y is written as (n) when q = 1. */
WT_API wt_status wt_sets_save(wt_context *context, const wt_sets *sets, const char *path,
                              const double *beta);

/* A learning problem with known answer: y = f*(x0; x1..xN) + noise. */
typedef struct wt_problem_spec {
    size_t size;
    const char *target; /* "mean-power:2" and so on: wt_target_at names them */
    wt_law law;
    double token_scale; /* 0 = wt_law_set_scale */
    double noise;       /* standard deviation of Gaussian label noise */
    size_t dim, keys;
    uint64_t seed;
} wt_problem_spec;
/* The sphere in 16 dimensions, 16 keys, without noise, seed 0. A target must be set. */
WT_API void wt_problem_spec_init(wt_problem_spec *spec, size_t size);
/* Its members by name: options of `wattle draw` and `wattle fit`, keys of the experiment `curve`.
 */
WT_API const wt_field *wt_problem_fields(size_t *count);

typedef struct wt_problem wt_problem;

WT_API wt_status wt_problem_new(wt_context *context, const wt_problem_spec *spec, wt_problem **out);
WT_API void wt_problem_free(wt_problem *problem);
/* The direction on the unit sphere of R^d that the target looks along. */
WT_API const double *wt_problem_beta(const wt_problem *problem);
WT_API const wt_problem_spec *wt_problem_get_spec(const wt_problem *problem);
/* Test samples of a problem are those from this index on: never among the training samples. */
#define WT_PROBLEM_FIRST_TEST ((uint64_t)1 << 40)
/* Fills sets (q = 1, no mask) with samples first .. first+n-1 of the problem. Sample i is the same
 * whatever is drawn beside it. */
WT_API wt_status wt_problem_draw(wt_context *context, const wt_problem *problem, uint64_t first,
                                 wt_sets *sets);
/* Labels alone for tokens drawn before (by a problem that differs in its target, say). */
WT_API wt_status wt_problem_label(wt_context *context, const wt_problem *problem, uint64_t first,
                                  wt_sets *sets);

/* The table of targets: name and parameters, formula. NULL past the end. */
typedef struct wt_target_info {
    const char *form;    /* "mean-power:p" */
    const char *formula; /* "(1/N) sum_i <beta,x_i>^p" */
} wt_target_info;
WT_API const wt_target_info *wt_target_at(size_t index);

#ifdef __cplusplus
}
#endif
#endif
