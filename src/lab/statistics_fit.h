/* Curves through measured points, with 95% intervals. */
#ifndef WT_LAB_STATISTICS_FIT_H
#define WT_LAB_STATISTICS_FIT_H

#include "lab/statistics.h"

#define WT_BOOTSTRAP_DRAWS 1000

/* The 95% interval of sorted or unsorted draws, by their quantiles 2.5% and 97.5%; the draws are
 * left sorted. Infinite draws count as what they are. */
wt_interval wt_draws_interval(double value, double *draws, size_t count);

/* Least squares with the x taken as chosen, not drawn. From six points on the intervals are by a
 * deterministic bootstrap of residuals, each over sqrt(1 - leverage), and the quantiles of
 * Student's ratio (b* - b)/se*; with fewer, of which it would have too little to draw from, they
 * are Student's own with n - 2 degrees of freedom. WT_USAGE with fewer than three points, two
 * different f(x), or values that are not finite; x above 0 for log, not below for sqrt. */
wt_status wt_affine_fit_of(wt_context *context, wt_growth growth, const double *x, const double *y,
                           size_t count, uint64_t seed, wt_affine_fit *out);

typedef struct wt_power_fit {
    wt_interval factor, exponent; /* y = factor x^exponent */
    double r_squared;             /* of the logs */
} wt_power_fit;

/* The same through (log x, log y); all above 0. */
wt_status wt_power_fit_of(wt_context *context, const double *x, const double *y, size_t count,
                          uint64_t seed, wt_power_fit *out);

/* Where growth exponents are looked for. One at an end may lie beyond it. */
#define WT_LEAST_EXPONENT (-2.0)
#define WT_MOST_EXPONENT  3.0

/* The p within these at which y = a + b (x^p - 1)/p with b >= 0 fits the points best, where p = 0
 * stands for log x: 0, 1/2 and 1 are the three growths, and what is between tells which one is
 * nearest. A y that does not grow gives the least p. NaN with fewer than three different x, an x
 * that is not above 0 or a y that is not finite. */
double wt_growth_exponent(const double *x, const double *y, size_t count);
/* "0.52", "-2 or less", "3 or more". Returns out. */
#define WT_EXPONENT_TEXT 32
const char *wt_exponent_words(double exponent, char out[WT_EXPONENT_TEXT]);

#endif
