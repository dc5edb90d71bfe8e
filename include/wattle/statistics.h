/* Numbers with 95% intervals: means, rates, curves through measured points, critical sizes. */
#ifndef WATTLE_STATISTICS_H
#define WATTLE_STATISTICS_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wt_interval {
    double value, low, high; /* low and high are NaN where no interval can be given */
} wt_interval;

/* The mean of the values and its 95% interval by Student's t; no interval for one value. */
WT_API wt_interval wt_mean_interval(const double *values, size_t count);

/* The rate of success and its 95% interval by Clopper and Pearson. It is the exact one: it covers
 * the true rate with 95% or more at every rate and number of trials, where Wilson's covers 95% on
 * average only; a verdict rests on few trials, often all successes, so it may be wide but not
 * wrong. */
WT_API wt_interval wt_rate_interval(size_t successes, size_t trials);

/* ---- curves ------------------------------------------------------------------------------------
 */

/* What runs along x in y = a + b f(x). */
typedef enum wt_growth { WT_GROWTH_LOG, WT_GROWTH_SQRT, WT_GROWTH_LINEAR } wt_growth;
/* "log", "sqrt", "linear"; "?" for no growth. */
WT_API const char *wt_growth_name(wt_growth growth);

typedef struct wt_affine_fit {
    wt_interval intercept, slope; /* a and b */
    double r_squared;             /* share of the variance of y explained; NaN for constant y */
    double squares;               /* sum of the squared residuals */
    double aic, bic;              /* of Gaussian errors: a, b and their variance are fitted */
} wt_affine_fit;

/* Least squares with the x taken as chosen, not drawn. From six points on the intervals are by a
 * deterministic bootstrap of residuals, each over sqrt(1 - leverage), and the quantiles of
 * Student's ratio (b* - b)/se*; with fewer, too few to resample, they
 * are Student's own with n - 2 degrees of freedom. WT_USAGE with fewer than three points, two
 * different f(x), or values that are not finite; x above 0 for log, not below for sqrt. */
WT_API wt_status wt_affine_fit_compute(wt_context *context, wt_growth growth, const double *x,
                                       const double *y, size_t count, uint64_t seed,
                                       wt_affine_fit *out);

/* Where growth exponents are looked for. One at an end may lie beyond it. */
#define WT_MIN_EXPONENT (-2.0)
#define WT_MAX_EXPONENT 3.0
/* The p within these at which y = a + b (x^p - 1)/p with b >= 0 fits the points best, where p = 0
 * stands for log x: 0, 1/2 and 1 are the three growths, and a value between them shows which is
 * nearest. A y that does not grow gives the least p. NaN with fewer than three different x, an x
 * that is not above 0 or a y that is not finite. */
WT_API double wt_growth_exponent(const double *x, const double *y, size_t count);

/* "0.52", "-2 or less", "3 or more". Returns out. */
#define WT_EXPONENT_TEXT 32
WT_API const char *wt_exponent_format(double exponent, char out[WT_EXPONENT_TEXT]);

/* ---- critical sizes ----------------------------------------------------------------------------
 */

typedef struct wt_trials {
    double m; /* above 0 */
    size_t successes, count;
} wt_trials;

/* The m at which the rate of success passes `rate`, from trials at increasing m, with its 95%
 * interval by likelihood over S-shaped curves in log m. -INFINITY when the first m reaches the rate
 * already, +INFINITY when the last does not; ends of the interval outside the m tried are infinite
 * too. WT_USAGE unless m increases, every point has trials and 0 < rate < 1. */
WT_API wt_status wt_trials_critical(wt_context *context, const wt_trials *points, size_t count,
                                    double rate, wt_interval *out);

#ifdef __cplusplus
}
#endif
#endif
