/* The slabs that accepted rows cut, and what their normals say of the heads.
 *
 * Row a of sequence X with pattern P asks of every head that shares it
 *     | <Theta, x_a (x_b - x_c)^T> - log(P_b / P_c) | <= eta    for all b, c
 * with a small eta. The normals hardly see the differences of the Theta_i: their covariance has
 * m - 1 small eigenvalues, whose eigenvectors span those differences. Memory comes from the
 * caller's arena. */
#ifndef WT_LAYER_LEARN_SCULPT_SPAN_H
#define WT_LAYER_LEARN_SCULPT_SPAN_H

#include "layer/learn/sculpt_rows.h"

/* Weights outside [WT_SLAB_LEAST, 1 - WT_SLAB_LEAST] make no slab: their logarithms magnify every
 * error, and heads that attend to one token agree whatever their Theta. */
#define WT_SLAB_LEAST 0.1

typedef struct wt_slabs {
    size_t count, unknowns; /* unknowns = d^2 */
    size_t rows;            /* looked at, in order of residual, until there were enough */
    double *normal;         /* (count, d^2): x_a (x_b - x_c)^T */
    double *middle;         /* (count): log(P_b / P_c) */
} wt_slabs;

/* Slabs of the rows of least residual until `wanted` are there or rows run out: of every pair of
 * tokens b < c whose weights are inside the limits, or (whole) of rows all whose weights are. */
wt_status wt_slabs_collect(wt_arena *arena, const wt_sequences *rows, const wt_patterns *patterns,
                           bool whole, size_t wanted, wt_slabs *out);
/* How many rows of least residual hold `wanted` slabs; all usable ones when they do not. */
size_t wt_slabs_rows_for(const wt_patterns *patterns, size_t wanted);
/* The largest distance of <theta, normal> from the middle of a slab. */
double wt_slabs_violation(const wt_slabs *slabs, const double *theta);

typedef struct wt_span {
    size_t unknowns;
    double *values;  /* (d^2): eigenvalues of the covariance of normals, increasing */
    double *vectors; /* (d^2, d^2): row j is the unit eigenvector of value j */
    double *side;    /* (d^2): mean of middle times normal */
} wt_span;

wt_status wt_span_find(wt_arena *arena, const wt_slabs *slabs, wt_span *out);
/* values[j] over values[j - 1], at most 1e15; j from 1. */
double wt_span_gap(const wt_span *span, size_t j);
/* The point of least norm among those nearest to the middles, with the first `null` eigenvectors
 * taken as unseen. center (d^2) */
void wt_span_center(const wt_span *span, size_t null, double *center);
/* The distance of theta from the affine hull center + span of the first `null` eigenvectors. */
double wt_span_distance(const wt_span *span, size_t null, const double *center,
                        const double *theta);

#endif
