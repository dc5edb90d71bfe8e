/* What is inside sequences. */
#ifndef WT_LAYER_TASK_SEQUENCES_H
#define WT_LAYER_TASK_SEQUENCES_H

#include <math.h>

#include "wattle/layer.h"

struct wt_sequences {
    size_t samples;              /* n */
    size_t length;               /* k */
    size_t dim;                  /* d */
    size_t outputs;              /* p; 0 = no outputs */
    double *x;                   /* (n, k, d) */
    double *y;                   /* (n, k, p); NULL = no outputs */
    size_t *lengths;             /* (n); NULL = all are whole */
    bool partial;                /* rows of y that are not known are NaN */
    bool borrowed_x, borrowed_y; /* the caller's, neither written to nor freed */
};

static inline size_t wt_sequences_length_of(const wt_sequences *sequences, size_t s) {
    return sequences->lengths == NULL ? sequences->length : sequences->lengths[s];
}
/* Whether there is an output row for token a of sequence s. */
static inline bool wt_sequences_known(const wt_sequences *sequences, size_t s, size_t a) {
    return a < wt_sequences_length_of(sequences, s) &&
           !(sequences->partial &&
             isnan(sequences->y[(s * sequences->length + a) * sequences->outputs]));
}

/* Brings x and y, which are in `out` as they were given, to their places, by the lengths or the
 * mask of `given`, and checks all; `name` stands in the sentences. */
wt_status wt_sequences_arrange(wt_context *context, const char *name, const wt_sequences_spec *spec,
                               const wt_sequences_arrays *given, wt_sequences *out);

/* Sequences begin .. end-1, borrowed: not to be freed. */
wt_sequences wt_sequences_part(const wt_sequences *sequences, size_t begin, size_t end);

#endif
