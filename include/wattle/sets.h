/* What is to be learned: sets of tokens with labels, from a file or drawn from a law.
 *
 * A sample is a query token x0 in R^d, N key tokens x1..xN in R^d, and q labels. */
#ifndef WATTLE_SETS_H
#define WATTLE_SETS_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wt_sets {
    size_t samples; /* n */
    size_t keys;    /* N, the padded number where there is a mask */
    size_t dim;     /* d */
    size_t outputs; /* q; 0 = no labels */
    double *query;  /* (n, d) */
    double *key;    /* (n, N, d) */
    uint8_t *mask;  /* (n, N), non-zero = live; NULL = all live */
    double *y;      /* (n, q); NULL = no labels */
} wt_sets;

/* Room for sets of the given shape, contents undefined; a mask only where asked for. */
WT_API wt_status wt_sets_new(wt_context *context, size_t samples, size_t keys, size_t dim,
                             size_t outputs, bool masked, wt_sets *out);
WT_API void wt_sets_free(wt_sets *sets);
/* Shapes above 0, every number finite, at least one live key a sample; `name` stands in the
 * sentence (a file, say). */
WT_API wt_status wt_sets_check(wt_context *context, const char *name, const wt_sets *sets);
/* Samples begin .. end-1 of the sets, borrowed: not to be freed. */
WT_API wt_sets wt_sets_part(const wt_sets *sets, size_t begin, size_t end);

/* Reads `query` (n,d), `keys` (n,N,d), optional `mask` (n,N), optional `y` (n) or (n,q) of an
 * .npz file, and checks them. */
WT_API wt_status wt_sets_load(wt_context *context, const char *path, wt_sets *out);
/* Writes the same, and `beta` (d) when it is not NULL. y is written as (n) when q = 1. */
WT_API wt_status wt_sets_save(wt_context *context, const char *path, const wt_sets *sets,
                              const double *beta);

/* Laws a token is drawn from. */
typedef enum wt_law {
    WT_SPHERE,   /* uniform on the unit sphere */
    WT_GAUSSIAN, /* N(0, I) */
    WT_BOOLEAN   /* independent signs */
} wt_law;
/* "sphere", "gaussian", "boolean"; WT_USAGE for another word, "?" for no law. */
WT_API wt_status wt_law_parse(wt_context *context, const char *word, wt_law *out);
WT_API const char *wt_law_name(wt_law law);
/* What tokens of set data are multiplied by unless one says otherwise: 1 for the sphere,
 * 1/sqrt(d) for the other laws. */
WT_API double wt_law_set_scale(wt_law law, size_t dim);

/* A learning problem with known answer: y = f*(x0; x1..xN) + noise. */
typedef struct wt_problem_spec {
    const char *target; /* "mean-power:2" and so on: wt_target_list names them */
    wt_law law;
    double token_scale; /* 0 = wt_law_set_scale */
    double noise;       /* standard deviation of Gaussian label noise */
    size_t dim, keys;
    uint64_t seed;
} wt_problem_spec;

typedef struct wt_problem wt_problem;

WT_API wt_status wt_problem_open(wt_context *context, const wt_problem_spec *spec,
                                 wt_problem **out);
WT_API void wt_problem_free(wt_problem *problem);
/* The direction on the unit sphere of R^d that the target looks along. */
WT_API const double *wt_problem_beta(const wt_problem *problem);
WT_API const wt_problem_spec *wt_problem_get_spec(const wt_problem *problem);
/* Fills sets (q = 1, no mask) with samples first .. first+samples-1 of the problem. Sample i is
 * the same whatever is drawn beside it. */
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
WT_API const wt_target_info *wt_target_list(size_t index);

#ifdef __cplusplus
}
#endif
#endif
