/* The size at which something begins to succeed: critical m from trials at a grid of m.
 *
 * Success rises with m by a law of which no more is known than a family: S-shaped curves in log m,
 * even or skewed to either side, of any steepness, that end at 1 or somewhat below. The critical m
 * is where the curve passes the rate. Its likelihood is the best over all other parameters, and its
 * interval holds what is not much less likely than the best. A straight line between grid points
 * would be too high on average where the curve bends, and a logistic curve alone is led far off by
 * a few failures at large m. */
#ifndef WT_LAB_STATISTICS_THRESHOLD_H
#define WT_LAB_STATISTICS_THRESHOLD_H

#include "lab/statistics_fit.h"

/* Isotonic success rates at each m, out (count): pooled, weighted by trials, until they rise.
 * `points` are in increasing m. */
void wt_isotonic(const wt_trials *points, size_t count, double *out);

/* The log likelihood of log m, less its maximum, at evenly spaced places around what is likely. */
enum { WT_SUPPORT_POINTS = 80 };
typedef struct wt_support {
    double first, step; /* of log m */
    double value[WT_SUPPORT_POINTS];
} wt_support;

/* Between the places by a straight line; beyond them it falls on as at the end, or stays. */
double wt_support_at(const wt_support *support, double log_m);

/* What a 95% interval leaves out is less likely than the best by a factor exp(-this). For many
 * trials 1.92 would do, half the quantile of chi square with one degree of freedom. It is raised
 * for few trials and for laws outside the family: coverage is measured by scripts/verdict-coverage.
 */
#define WT_SUPPORT_DROP 2.5

/* The critical m and its 95% interval. The value is the likeliest m of the grid's range where the
 * isotonic rates pass `rate` there; -INFINITY when the first reaches it already, +INFINITY when the
 * last does not. Ends of the interval outside that range are infinite too, as nothing was tried
 * there. WT_USAGE unless m increases, every point has trials and 0 < rate < 1.
 * support may be NULL. */
wt_status wt_threshold_fit(wt_context *context, const wt_trials *points, size_t count, double rate,
                           wt_interval *out, wt_support *support);

/* The critical m at one x, the length of a sample. */
typedef struct wt_critical {
    double x;
    wt_interval m;          /* infinite where the grid of m does not hold the value or an end */
    double least, most;     /* that grid */
    bool below, above;      /* the value is not in it: read "< least" or "> most" */
    bool cut_low, cut_high; /* m.low or m.high is not in it: it was not measured */
    size_t trials;
    wt_support support;
} wt_critical;

/* wt_threshold_fit at an x. */
wt_status wt_critical_fit(wt_context *context, double x, const wt_trials *points, size_t count,
                          double rate, wt_critical *out);

/* The p between WT_MIN_EXPONENT and WT_MAX_EXPONENT at which m = a + b (x^p - 1)/p with b >= 0
 * is likeliest for critical m in increasing x, where p = 0 stands for log x, and its 95% interval
 * by the same rule. An m that does not grow leaves p open. An m above the grid says only that it is
 * above: the growth may be any larger, and where a larger x has an m within the grid any smaller
 * too. One below the grid leaves everything open. NaN with fewer than three x, or x that do not
 * increase from above 0. */
wt_status wt_critical_growth(wt_context *context, const wt_critical *sizes, size_t count,
                             wt_interval *out);

/* The slope of log m against log x that is likeliest for critical m in increasing x, and its 95%
 * interval by the same rule; infinite on the sides that an m outside its grid could lie on. NaN
 * with fewer than two x, or x that do not increase from above 0. */
wt_status wt_critical_slope(wt_context *context, const wt_critical *sizes, size_t count,
                            wt_interval *out);

#endif
