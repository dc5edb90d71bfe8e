/* Variable projection: for given Theta the W of least squares, and what is left.
 *
 * Theta is held packed as (e, m d): Theta_i[u, v] at [u][i d + v], so that X Theta of all heads is
 * one product. H (R, c) are the attended tokens, c = m d columns, and one of ones where there are
 * biases. H = Q L^T with Q^T (c, R) of orthonormal rows; W = H^+ Y, E = Y - H W.
 *
 * Heads in groups share values: W_i = V_g O_i, V_g (d, v) of the group g of head i. Then V is given
 * as Theta is, and O takes the place of W: H is N = [H_i V_g] (R, m v) in all that is said above.
 */
#ifndef WT_LAYER_LEARN_PROJECTION_H
#define WT_LAYER_LEARN_PROJECTION_H

#include "base/memory.h"
#include "layer/learn/rows.h"

typedef struct wt_projection {
    const wt_rows *rows;
    size_t heads;          /* m */
    size_t asked, width;   /* e and m d: the sides of packed Theta */
    size_t columns;        /* c */
    size_t groups, values; /* and v; 0 = W of any rank */
    size_t spanned;        /* columns of what Q spans: c, or m v and one of ones for biases */
    double *theta;         /* packed (e, m d); V follows it */
    double *v;             /* (groups, d, v), behind theta */
    size_t *starts;        /* of the weights of each sequence, one head's */
    double *weights;       /* A of all heads, as wt_attention_run gives them */
    double *h;             /* (R, c) */
    double *narrow;        /* N (R, spanned); h where there are no groups */
    double *qt;            /* (spanned, R) */
    double *first, *again; /* (spanned, spanned): Cholesky factors, L = first again */
    double *third;         /* one that goes into `again` where H is ill-conditioned */
    double *w;             /* (c, p): with biases the last row is their sum */
    double *o;             /* (spanned, p), with the same last row; w where there are no groups */
    double *e;             /* (R, p) */
    double *spare;         /* (spanned, p) */
    double *plain;         /* Theta as (m, e, d) */
    bool quick;   /* Q may be orthonormal to 1e-6 or so, which steps in float can do with */
    double error; /* |E| / |Y|; infinite where nothing could be computed */
    wt_arena arena;
} wt_projection;

/* The shape alone, without room for numbers. */
wt_projection wt_projection_form(const wt_rows *rows, size_t heads, size_t groups, size_t values);
wt_status wt_projection_new(wt_context *context, const wt_rows *rows, size_t heads,
                            wt_projection *out);
/* With values of v columns that heads share in `groups` of as many heads each; 0 = W of any rank.
 */
wt_status wt_projection_new_grouped(wt_context *context, const wt_rows *rows, size_t heads,
                                    size_t groups, size_t values, wt_projection *out);
/* The group of a head. */
size_t wt_projection_group(const wt_projection *projection, size_t head);
/* Numbers of V. */
size_t wt_projection_shared(const wt_projection *projection);
void wt_projection_free(wt_projection *projection);
/* Everything at the Theta in place. Numbers that are not finite, or no basis for them, are no
 * failure of the call: the error is infinite then, W 0 and E Y. */
wt_status wt_projection_evaluate(wt_context *context, wt_projection *projection);

void wt_theta_pack(size_t heads, size_t asked, size_t dim, const double *plain, double *packed);
void wt_theta_unpack(size_t heads, size_t asked, size_t dim, const double *packed, double *plain);

#endif
