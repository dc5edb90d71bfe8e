/* The assignment of least cost. */
#ifndef WT_LAYER_MODEL_ASSIGNMENT_H
#define WT_LAYER_MODEL_ASSIGNMENT_H

#include "base/context.h"

/* column[r], all different, with the least sum of cost[r * columns + column[r]]; rows <= columns.
 * The Hungarian method with potentials: rows * rows * columns steps. */
wt_status wt_assignment(wt_context *context, size_t rows, size_t columns, const double *cost,
                        size_t *column);

#endif
