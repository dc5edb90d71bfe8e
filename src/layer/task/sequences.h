/* What is inside sequences. */
#ifndef WT_LAYER_TASK_SEQUENCES_H
#define WT_LAYER_TASK_SEQUENCES_H

#include "wattle/layer.h"

struct wt_sequences {
    size_t samples; /* n */
    size_t length;  /* k */
    size_t dim;     /* d */
    size_t outputs; /* p; 0 = no outputs */
    double *x;      /* (n, k, d) */
    double *y;      /* (n, k, p); NULL = no outputs */
};

/* Sequences begin .. end-1, borrowed: not to be freed. */
wt_sequences wt_sequences_part(const wt_sequences *sequences, size_t begin, size_t end);

#endif
