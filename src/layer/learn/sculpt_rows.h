/* Rows of examples seen through an estimate of the sum of the heads' W.
 *
 * Row (n, a) of the examples is query token a of sequence n and its output y_na. Where all heads
 * share one pattern P of attention, y_na = W_S^T X_n^T P with W_S = sum_i W_i: the row is a mixture
 * of the k points W_S^T x_b, and its weights are the pattern. */
#ifndef WT_LAYER_LEARN_SCULPT_ROWS_H
#define WT_LAYER_LEARN_SCULPT_ROWS_H

#include "base/memory.h"
#include "layer/task/sequences.h"

/* One row's nearest mixture. */
typedef struct wt_row_fit {
    size_t row;      /* n k + a */
    double residual; /* |y - W^T X^T pattern| over the spread of the points W^T x_b (the root mean
                        square distance from their mean): tokens that lie close together are close
                        to any mixture. INFINITY where the pattern is not unique. */
} wt_row_fit;

typedef struct wt_patterns {
    size_t rows, k;
    double *weights;   /* (rows, k) by row */
    wt_row_fit *order; /* all rows by increasing residual, then by row */
    size_t usable;     /* rows whose pattern is unique */
} wt_patterns;

/* Room for the patterns, from the arena. */
wt_status wt_patterns_open(wt_arena *arena, const wt_sequences *rows, wt_patterns *out);
/* The nearest mixture of every row with W = w (d, p), and the rows in order. */
wt_status wt_patterns_find(wt_context *context, const wt_sequences *rows, const double *w,
                           wt_patterns *patterns);

/* The least squares W (d, p) of sum_a y_a on sum_a x_a over the sequences: the crude sum. It is
 * (1/Nk) sum X^T J Y / sigma^2 with the covariance of the tokens measured instead of known.
 * *explained is the part of the squares of the left side that W explains. */
wt_status wt_crude_sum(wt_context *context, const wt_sequences *rows, double *w, double *explained);
/* One Gauss-Newton step, in place, of W towards the least sum of squares over the first `accepted`
 * rows of y - W^T X^T pattern, with the patterns following W (variable projection): what a pattern
 * can take up, a change of W need not. Of many rows some thousand, evenly spread, are used. */
wt_status wt_refit_sum(wt_context *context, const wt_sequences *rows, const wt_patterns *patterns,
                       size_t accepted, double *w);

#endif
