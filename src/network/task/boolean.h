/* The inside of functions, samples and tasks. */
#ifndef WT_NETWORK_TASK_BOOLEAN_H
#define WT_NETWORK_TASK_BOOLEAN_H

#include "base/context.h"
#include "wattle/boolean.h"

struct wt_boolean {
    size_t bits; /* s */
    bool symmetric;
    uint8_t value[]; /* (2^s) 0 or 1 */
};

struct wt_bits {
    size_t samples, length; /* n, T */
    uint8_t *bit;           /* (n, T) 0 or 1 */
    uint8_t *label;         /* (n) 0 or 1 */
};

struct wt_sparse_task {
    wt_boolean *function;
    size_t length;
    size_t relevant[WT_BOOLEAN_MAX_BITS]; /* (s) */
    double probability, noise;
    uint64_t seed;
};

#endif
