/* What sets hold. */
#ifndef WT_FEATURES_TASK_SETS_H
#define WT_FEATURES_TASK_SETS_H

#include "base/context.h"
#include "wattle/sets.h"

struct wt_sets {
    size_t samples; /* n */
    size_t keys;    /* N, the padded number where there is a mask */
    size_t dim;     /* d */
    size_t outputs; /* q; 0 = no labels */
    double *query;  /* (n, d) */
    double *key;    /* (n, N, d) */
    uint8_t *mask;  /* (n, N), non-zero = live; NULL = all live */
    double *y;      /* (n, q); NULL = no labels */
    bool borrowed;  /* the arrays are another's */
};

/* As wt_sets_new and wt_sets_free, for sets inside another struct. */
wt_status wt_sets_open(wt_context *context, size_t samples, size_t keys, size_t dim, size_t outputs,
                       bool masked, wt_sets *out);
void wt_sets_close(wt_sets *sets);

/* Samples begin .. end-1 of the sets, borrowed: not to be closed. */
wt_sets wt_sets_part(const wt_sets *sets, size_t begin, size_t end);

#endif
