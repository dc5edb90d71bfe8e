/* The size at which something begins to succeed: critical m from trials at a grid of m.
 *
 * Success is taken to rise with m and nothing more: the fit is the isotonic one (pooling adjacent
 * violators), read between grid points by a straight line in log m. A logistic curve would say more
 * between the points, and has no answer where the trials jump from none to all. */
#ifndef WT_LAB_STATISTICS_THRESHOLD_H
#define WT_LAB_STATISTICS_THRESHOLD_H

#include "lab/statistics_fit.h"
#include "wattle/random.h"

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

/* The critical m at one x, the length of a sample. */
typedef struct wt_critical {
    double x;
    wt_interval m;          /* infinite where the grid of m does not hold the value or an end */
    double least, most;     /* that grid */
    bool below, above;      /* the value is not in it: read "< least" or "> most" */
    bool cut_low, cut_high; /* m.low or m.high is not in it: it was not measured */
    size_t trials;
} wt_critical;

/* wt_threshold_fit at an x, with draws of its own for every x. */
wt_status wt_critical_fit(wt_context *context, double x, const wt_trials *points, size_t count,
                          double rate, uint64_t seed, wt_critical *out, double *draws);

/* The p of wt_growth_exponent through critical m in increasing x, with a 95% interval from their
 * draws (count, WT_BOOTSTRAP_DRAWS). An m above the grid is taken as the largest of it, which
 * bounds it from below: the growth may be any larger, and where a larger x has an m within the grid
 * any smaller too. One below the grid leaves everything open. NaN with fewer than three x. */
wt_status wt_critical_growth(wt_context *context, const wt_critical *sizes, size_t count,
                             const double *draws, wt_interval *out);

/* The sum of `count` squared normals from place *at of the stream on: twice a gamma variable. Of
 * more than 1000 it is drawn by one normal (Wilson and Hilferty), right to 1e-5 of itself. */
double wt_chi_square(wt_stream stream, uint64_t *at, size_t count);

#endif
