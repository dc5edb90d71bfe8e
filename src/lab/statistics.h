/* Numbers with intervals. */
#ifndef WT_LAB_STATISTICS_H
#define WT_LAB_STATISTICS_H

#include "base/context.h"
#include "wattle/lab.h"

/* Distribution function of the beta law, which is the incomplete beta function I_x(a, b), for
 * 0 <= x <= 1, and its inverse for 0 < p < 1. */
double wt_beta_cdf(double x, double a, double b);
double wt_beta_quantile(double p, double a, double b);

/* Distribution function of Student's t, and its inverse for 0 < p < 1. */
double wt_student_cdf(double t, double freedom);
double wt_student_quantile(double p, double freedom);

/* The mean of the values and its 95% interval by Student's t; no interval for one value. */
wt_interval wt_mean_interval(const double *values, size_t count);

/* The rate of success and its 95% interval by Clopper and Pearson. It is the exact one: it covers
 * the true rate with 95% or more at every rate and number of trials, where Wilson's covers 95% on
 * average only; a verdict rests on few trials, often all successes, so it may be wide but not
 * wrong. */
wt_interval wt_rate_interval(size_t successes, size_t trials);

/* Slope of the least-squares line through (log x, log y); NaN with fewer than two different x or a
 * y that is not above 0. */
double wt_log_slope(const double *x, const double *y, size_t count);

#endif
