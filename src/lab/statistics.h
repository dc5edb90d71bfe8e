/* Numbers with intervals. */
#ifndef WT_LAB_STATISTICS_H
#define WT_LAB_STATISTICS_H

#include "base/context.h"
#include "wattle/statistics.h"

/* Distribution function of Student's t, and its inverse for 0 < p < 1. */
double wt_student_cdf(double t, double freedom);
double wt_student_quantile(double p, double freedom);

/* Distribution function of the beta law, which is the incomplete beta function I_x(a, b), for
 * 0 <= x <= 1, and its inverse for 0 < p < 1. */
double wt_beta_cdf(double x, double a, double b);
double wt_beta_quantile(double p, double a, double b);

/* Slope of the least-squares line through (log x, log y); NaN with fewer than two different x or a
 * y that is not above 0. */
double wt_log_slope(const double *x, const double *y, size_t count);

#endif
