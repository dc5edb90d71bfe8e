/* Looking at the query-key products of a layer, head by head: do their diagonals stand out?
 *
 *     wt_products *products = NULL;
 *     wt_head_summary summary = WT_SIZED(wt_head_summary);
 *     wt_products_load(context, "layer.safetensors", &products);
 *     wt_products_inspect(context, products, 0, &summary); */
#ifndef WATTLE_INSPECT_H
#define WATTLE_INSPECT_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Query-key products: head h scores query x against key x' by x^T theta_h x'. */
typedef struct wt_products wt_products;

/* Reads `theta` of a file, else `w_qk`, both (m,d,d) or (d,d), else w_q w_k^T of `w_q` and `w_k`,
 * both (m,d,r) or (d,r). NaN and Inf are WT_DATA with their place. */
WT_API wt_status wt_products_load(wt_context *context, const char *path, wt_products **out);
/* Accepts NULL. */
WT_API void wt_products_free(wt_products *products);
WT_API size_t wt_products_heads(const wt_products *products);        /* m */
WT_API size_t wt_products_dim(const wt_products *products);          /* d */
WT_API const double *wt_products_theta(const wt_products *products); /* (m, d, d) */

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
} wt_head_summary;

WT_API wt_status wt_products_inspect(wt_context *context, const wt_products *products, size_t head,
                                     wt_head_summary *out);

/* The mean of the entries theta[i][i + k] for k = -reach .. reach into out[k + reach];
 * reach < d. */
WT_API wt_status wt_products_profile(wt_context *context, const wt_products *products, size_t head,
                                     size_t reach, double *out);

#ifdef __cplusplus
}
#endif
#endif
