/* Looking at the query-key products of layers, head by head: do their diagonals stand out?
 *
 *     wt_inspect_options options;
 *     wt_inspection *all = NULL;
 *     wt_head_summary head = WT_SIZED(wt_head_summary);
 *     WT_INIT(wt_inspect_options, &options);
 *     wt_inspection_open(context, "model.safetensors", &options, &all);
 *     for (size_t i = 0; i < wt_inspection_count(all); i++)
 *         wt_inspection_at(context, all, i, &head);
 */
#ifndef WATTLE_INSPECT_H
#define WATTLE_INSPECT_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Query-key products: head h scores query x against key x' by x^T theta_h x'. */
typedef struct wt_products wt_products;

/* Reads `theta` of a file, else `w_qk`, or the one array of a .npy, all (m,d,d) or (d,d), else
 * w_q w_k^T of `w_q` and `w_k`, both (m,d,r) or (d,r); beside `theta` also `w` (m,d,p). NaN and Inf
 * are WT_DATA with their place. */
WT_API wt_status wt_products_load(wt_context *context, const char *path, wt_products **out);
/* Accepts NULL. */
WT_API void wt_products_free(wt_products *products);
WT_API size_t wt_products_heads(const wt_products *products);        /* m */
WT_API size_t wt_products_dim(const wt_products *products);          /* d */
WT_API const double *wt_products_theta(const wt_products *products); /* (m, d, d) */

#define WT_SINGULAR_SHOWN 4

typedef struct wt_head_summary {
    size_t size;
    double diagonal_mean, diagonal_spread; /* spread: standard deviation, n - 1 in the quotient */
    double off_mean, off_spread;           /* of the entries off the diagonal; NaN for d = 1 */
    /* The diagonal's mean over off_spread / sqrt(d), the error it would have if the diagonal were
     * made as the rest is. */
    double standard_errors;
    double identity;       /* the c nearest to theta as c I, tr(theta) / d */
    double identity_share; /* d c^2 / |theta|_F^2, the part of the squares that it explains */
    double effective_rank; /* (sum s)^2 / sum s^2 over the singular values; 0 for theta = 0 */
    size_t rank;           /* singular values above d * rounding * the largest, rounding that of the
                              stored numbers: 2^-52 for F64, 2^-23 for F32 */
    double spectral, frobenius;
    double columns_21; /* |theta|_{2,1}: the sum of the 2-norms of the columns (keys) */
    double rows_21;    /* |theta^T|_{2,1}: of the rows (queries) */
    /* Part of the squares that the symmetric part has, |(theta + theta^T) / 2|_F^2 / |theta|_F^2:
     * about 1/2 where entries are independent, 1 for a symmetric theta; NaN for theta = 0. */
    double symmetric;
    double singular[WT_SINGULAR_SHOWN]; /* the largest of theta; 0 past the last */
    /* The same of w, which attended tokens are multiplied by; NaN where the file has none. */
    double ov_singular[WT_SINGULAR_SHOWN];
    double ov_effective_rank, ov_frobenius;
    size_t layer, head, dim;
} wt_head_summary;

WT_API wt_status wt_products_inspect(wt_context *context, const wt_products *products, size_t head,
                                     wt_head_summary *out);

/* The mean of the entries theta[i][i + k] for k = -reach .. reach into out[k + reach];
 * reach < d. */
WT_API wt_status wt_products_profile(wt_context *context, const wt_products *products, size_t head,
                                     size_t reach, double *out);

/* All heads of a file: a checkpoint of a trained model (wattle/checkpoint.h), or what
 * wt_products_load reads, which is one layer. */
typedef struct wt_inspection wt_inspection;

typedef struct wt_inspect_options {
    size_t size;
    size_t heads;    /* as wt_checkpoint_options has it */
    const char *map; /* the same */
    bool fold; /* the gain of the norm before a layer becomes part of its matrices; where there
                  is none, nothing is folded */
    const size_t *layers, *only; /* numbers of layers, and of heads in each; NULL = all */
    size_t layer_count, only_count;
} wt_inspect_options;
/* All layers and heads, nothing folded. */
WT_API void wt_inspect_options_init(wt_inspect_options *options, size_t size);

/* Layers of a checkpoint are read one after the other, and theta and w looked at by their factors:
 * memory for one layer, time O(d r^2) a head. Ranks are those of the factors' product in double
 * precision. Rotary positions are left out: theta is that of tokens at one place. */
WT_API wt_status wt_inspection_open(wt_context *context, const char *path,
                                    const wt_inspect_options *options, wt_inspection **out);
/* Accepts NULL. */
WT_API void wt_inspection_free(wt_inspection *all);
WT_API size_t wt_inspection_count(const wt_inspection *all); /* heads, of all layers in order */
WT_API wt_status wt_inspection_at(wt_context *context, const wt_inspection *all, size_t index,
                                  wt_head_summary *out);
WT_API size_t wt_inspection_layers(const wt_inspection *all); /* of the file, looked at or not */
WT_API bool wt_inspection_folded(const wt_inspection *all);   /* whether there was a norm */
/* As wt_checkpoint_scheme, .._rope and .._left_out; NULL for a file of one layer. */
WT_API const char *wt_inspection_scheme(const wt_inspection *all);
/* As wt_checkpoint_stem: what the names of a layer's tensors start with; NULL for a file of one
 * layer. */
WT_API const char *wt_inspection_stem(const wt_inspection *all, size_t layer);
WT_API const char *wt_inspection_rope(const wt_inspection *all);
WT_API const char *wt_inspection_left_out(const wt_inspection *all);
/* The products of a file of one layer; NULL for a checkpoint. */
WT_API const wt_products *wt_inspection_products(const wt_inspection *all);

#ifdef __cplusplus
}
#endif
#endif
