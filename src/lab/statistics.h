/* Numbers with intervals. */
#ifndef WT_LAB_STATISTICS_H
#define WT_LAB_STATISTICS_H

#include "base/context.h"

typedef struct wt_interval {
    double value, low, high; /* low and high are NaN where no interval can be given */
} wt_interval;

/* Distribution function of Student's t, and its inverse for 0 < p < 1. */
double wt_student_cdf(double t, double freedom);
double wt_student_quantile(double p, double freedom);

/* The mean of the values and its 95% interval by Student's t; no interval for one value. */
wt_interval wt_mean_interval(const double *values, size_t count);

/* Slope of the least-squares line through (log x, log y); NaN with fewer than two different x or a
 * y that is not above 0. */
double wt_log_slope(const double *x, const double *y, size_t count);

#endif
