/* Curves through measured points, with 95% intervals. */
#ifndef WT_LAB_STATISTICS_FIT_H
#define WT_LAB_STATISTICS_FIT_H

#include "lab/statistics.h"

#define WT_BOOTSTRAP_DRAWS 1000

/* f(x) of a growth. */
double wt_growth_at(wt_growth growth, double x);

/* The 95% interval of sorted or unsorted draws, by their quantiles 2.5% and 97.5%; the draws are
 * left sorted. Infinite draws count as what they are. */
wt_interval wt_draws_interval(double value, double *draws, size_t count);

#endif
