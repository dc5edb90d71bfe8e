/* A Boolean function as a machine that reads its bits in order, for the search over positions.
 *
 * After j bits it is in one of a few states, each a different function of the bits left: j + 1 at
 * most where the function is symmetric, one live state for `and`. States 0 and 1 are the constants;
 * a sample that enters one has its label decided. */
#ifndef WT_NETWORK_LEARN_SEARCH_STATES_H
#define WT_NETWORK_LEARN_SEARCH_STATES_H

#include "base/memory.h"
#include "network/task/boolean.h"

enum { WT_STATE_LIVE = 2 }; /* live state i of a depth is numbered 2 + i */

typedef struct wt_states {
    size_t bits;                          /* s */
    size_t start;                         /* state before any bit */
    size_t live[WT_BOOLEAN_MAX_BITS + 1]; /* live states after j bits */
    uint32_t *next[WT_BOOLEAN_MAX_BITS];  /* next[j][2 i + b]: live state i of depth j reads b */
    bool decided_early;                   /* a constant can be entered before the last bit */
    /* The bit before j with which j may change places, or j itself. */
    size_t twin[WT_BOOLEAN_MAX_BITS];
    /* Value that bit j = b alone decides the function to; 2 = none. */
    uint8_t decides[WT_BOOLEAN_MAX_BITS][2];
} wt_states;

wt_status wt_states_fill(wt_arena *arena, const wt_boolean *function, wt_states *out);

#endif
