/* The nearest pair (v, f) with f = Phi v. */
#ifndef WT_FEATURES_LEARN_BALL_GRAPH_H
#define WT_FEATURES_LEARN_BALL_GRAPH_H

#include "features/learn/ball.h"
#include "linalg/shifted.h"

typedef struct wt_graph {
    const wt_operator *phi;
    wt_trans trans;        /* WT_PLAIN: through Phi Phi^T (n <= M w), WT_TRANSPOSED: Phi^T Phi */
    wt_shifted gram;       /* of order min(n, M w), and its factor with tau on the diagonal */
    double *work;          /* (order, q) */
    double trace;          /* of the Gram matrix: a bound on its largest eigenvalue */
    double tau;            /* of the factor at hand */
    size_t passes;         /* products with Phi or its transpose, the Gram matrix apart */
    size_t factorisations; /* so far */
} wt_graph;

/* Forms the Gram matrix. wt_graph_close in any case. */
wt_status wt_graph_open(wt_context *context, const wt_operator *phi, size_t q, wt_graph *graph);
void wt_graph_close(wt_graph *graph);

/* Factors for a ratio tau > 0. */
wt_status wt_graph_factor(wt_context *context, wt_graph *graph, double tau);

/* v (M w, q) and f (n, q) to argmin tau |v - c|^2 + |f - d|^2 over f = Phi v. c and d are
 * overwritten with v and f. */
wt_status wt_graph_project(wt_context *context, wt_graph *graph, size_t q, double *c, double *d,
                           double *room);

#endif
