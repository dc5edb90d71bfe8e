/* The error of many tuples of candidate heads, from Gram matrices made once for all of them. */
#ifndef WT_LAYER_LEARN_SCULPT_TUPLES_H
#define WT_LAYER_LEARN_SCULPT_TUPLES_H

#include "base/memory.h"
#include "layer/task/sequences.h"

/* One part of the sequences, seen by all candidates: h (R, C d) attended tokens side by side. */
typedef struct wt_candidate_part {
    double *gram; /* h^T h (C d, C d), whole */
    double *side; /* h^T y (C d, p) */
    double whole; /* |y|^2 */
} wt_candidate_part;

typedef struct wt_candidates {
    size_t count, dim, outputs;
    wt_candidate_part fit, held;
} wt_candidates;

/* theta (count, d, d); memory comes from the arena. */
wt_status wt_candidates_open(wt_arena *arena, const wt_sequences *fit, const wt_sequences *held,
                             size_t count, const double *theta, wt_candidates *out);

/* Of the tuples (count, heads) the one whose W, least squares on `fit`, has the least square error
 * on `held`; the first of equals. *error is |y - F(x)| / |y| there. w (heads, d, p) may be NULL. */
wt_status wt_candidates_best(wt_context *context, const wt_candidates *candidates, size_t heads,
                             size_t count, const size_t *tuples, size_t *best, double *error,
                             double *w);

#endif
