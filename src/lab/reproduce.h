/* The table of all sweeps of `wattle reproduce`. */
#ifndef WT_LAB_REPRODUCE_H
#define WT_LAB_REPRODUCE_H

#include "wattle/reproduce.h"

enum { WT_REPRODUCTION_MOST = 128 }; /* sweeps */

/* NULL past the end. */
const wt_reproduction_sweep *wt_reproduction_row(size_t index);

#endif
