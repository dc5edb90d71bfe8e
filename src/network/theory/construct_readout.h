/* The network that reads the heads of a construction. */
#ifndef WT_NETWORK_THEORY_CONSTRUCT_READOUT_H
#define WT_NETWORK_THEORY_CONSTRUCT_READOUT_H

#include "network/model/construction.h"

/* Widths for the construction's function and heads: 4 (s+1) and 2 (s+1) for one head, 4 s 2^s and
 * 2 2^s for s of them. */
void wt_readout_widths(wt_construction *construction);
/* Fills w1 .. b3, which are zero. `gap` is set. */
void wt_readout_fill(wt_construction *construction);

#endif
