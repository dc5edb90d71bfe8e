/* The point of a simplex whose mixture is nearest to a target. */
#ifndef WT_LINALG_HULL_H
#define WT_LINALG_HULL_H

#include <stdbool.h>
#include <stddef.h>

/* The most points of one call: scratch space is on the stack. */
#define WT_HULL_POINTS 16

/* weights = argmin |target - sum_b weights_b points_b| over weights >= 0 with sum 1, for points
 * (count, p), count <= WT_HULL_POINTS, by Wolfe's method: finite, exact to rounding. The weights
 * are unique when the points are affinely independent; false when they are not, to a relative
 * 1e-6, and then the weights are not to be used. *residual is the distance left. */
bool wt_hull_nearest(size_t count, size_t p, const double *points, const double *target,
                     double *weights, double *residual);

#endif
