/* How a cost grows where some of those who looked for something gave up. */
#ifndef WT_LAB_STATISTICS_GROWTH_H
#define WT_LAB_STATISTICS_GROWTH_H

#include "lab/statistics_fit.h"

/* What was spent at one size x: attempts, each of which finds with a chance of its own, the same
 * for all, and has a price. Runs that were given up are attempts in vain like others. */
typedef struct wt_spent {
    double x;
    size_t found, in_vain;   /* attempts */
    double log_price, error; /* log of the mean price of an attempt, and its standard error */
} wt_spent;

/* The p at which the logs of the expected costs of finding, the price of an attempt over its
 * chance, are a + b (x^p - 1)/p with b >= 0, as wt_growth_exponent. The number of attempts is
 * geometric, cut off where a run was given up, so that the likelihood of a chance q is q^found (1 -
 * q)^in_vain; chances are drawn from it, raised to 4/5 as runs differ, times (q (1 - q))^-1/2, logs
 * of prices from the normal law, and p is found for every draw. A size at which nothing was found
 * has no cost that could be told: its draws bound the cost from below, and above it may be
 * anything, so that the interval holds what any such cost could give. NaN with fewer than three
 * different x, or where nothing was found at all. The x rise. */
wt_status wt_spent_growth(wt_context *context, const wt_spent *points, size_t count, uint64_t seed,
                          wt_interval *out);

#endif
