/* The theorem's estimator: empirical risk minimisation over both norm balls.
 *
 *     minimise  P(v) = (1/n) sum_i sum_o loss(y_io, f_io),  f = Phi v,
 *     over      sum_m |v_m| <= K1  and  sum_m |v_m|^2 <= K2 / M,
 *
 * where block v_m is the w x q numbers of head m. The answer comes with a certificate: for every
 * choice of slopes s (n, q)
 *
 *     D(s) = -(1/n) ( sum_io loss*(s_io) + max_{v in the set} <Phi^T s, v> )  <=  min P,
 *
 * so that P(v) - D(s) bounds how far v is from the best there is, whatever led to v and s. */
#ifndef WT_FEATURES_LEARN_BALL_H
#define WT_FEATURES_LEARN_BALL_H

#include "features/learn/loss.h"
#include "linalg/linalg.h"

/* Phi as an operator: rows = samples n, columns = M w in head-major order (column m w + j). */
typedef struct wt_operator {
    size_t rows, heads, width; /* n, M, w */
    /* out (n, q) = Phi v, v (M w, q) */
    wt_status (*apply)(const void *self, wt_context *context, const double *v, size_t q,
                       double *out);
    /* out (M w, q) = Phi^T u, u (n, q) */
    wt_status (*apply_transposed)(const void *self, wt_context *context, const double *u, size_t q,
                                  double *out);
    /* Lower triangle of WT_PLAIN: Phi Phi^T (n, n), WT_TRANSPOSED: Phi^T Phi (M w, M w), rows
     * packed without gaps. NULL = there is no shorter way than through the two above. */
    wt_status (*gram)(const void *self, wt_context *context, wt_trans trans, double *out);
    const void *self;
} wt_operator;

/* Phi (rows, columns) in memory, row-major without gaps; columns = heads * width. */
typedef struct wt_dense_features {
    const double *phi;
    size_t rows, columns;
} wt_dense_features;
/* Borrows the features. */
wt_operator wt_operator_of_dense(const wt_dense_features *features, size_t heads);

/* y (n, q); v (M w, q), in: where to start (any finite numbers, zero say), out: the answer. Running
 * out of steps is WT_OK with `reached` false. Holds one square matrix of order min(n, M w), and
 * vectors. On failure v is left as it was or as the best point so far. */
wt_status wt_ball_solve(wt_context *context, const wt_operator *phi, const double *y, size_t q,
                        const wt_ball_options *options, double *v, wt_ball_report *out);

#endif
