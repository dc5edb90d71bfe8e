/* The size at which something begins to succeed: critical m from trials at a grid of m.
 *
 * Success is taken to rise with m and nothing more: the fit is the isotonic one (pooling adjacent
 * violators), read between grid points by a straight line in log m. A logistic curve would say more
 * between the points, and has no answer where the trials jump from none to all. */
#ifndef WT_LAB_STATISTICS_THRESHOLD_H
#define WT_LAB_STATISTICS_THRESHOLD_H

#include "lab/statistics_fit.h"

typedef struct wt_trials {
    double m; /* above 0 */
    size_t successes, count;
} wt_trials;

/* Isotonic success rates at each m, out (count); `points` are in increasing m. Weighted by the
 * trials where rates is NULL; else the given rates are fitted. */
void wt_isotonic(const wt_trials *points, size_t count, const double *rates, double *out);

/* Where the fitted rate reaches `rate`: -INFINITY when the smallest m does already, +INFINITY when
 * the largest does not: the grid then shows one side of the threshold only. */
double wt_threshold_at(const wt_trials *points, const double *fitted, size_t count, double rate);

/* The critical m and its 95% interval, ends infinite where the grid cannot tell. The bootstrap
 * draws the rate at each m from its Jeffreys posterior, Beta(s + 1/2, f + 1/2), so that ten
 * successes of ten do not pass for certainty. draws (WT_BOOTSTRAP_DRAWS), in the order they were
 * made, may be NULL. WT_USAGE unless m increases, every point has trials and 0 < rate < 1. */
wt_status wt_threshold_fit(wt_context *context, const wt_trials *points, size_t count, double rate,
                           uint64_t seed, wt_interval *out, double *draws);

#endif
