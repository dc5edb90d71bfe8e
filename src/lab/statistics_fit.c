#include "lab/statistics_fit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "wattle/random.h"

#define LEAST_RESAMPLED 6  /* points; fewer have too few residuals to draw from */
#define GRID            50 /* steps over the exponents, to start from the lowest valley */

static const char *const growth_names[] = {"log", "sqrt", "linear"};
enum { GROWTHS = sizeof growth_names / sizeof *growth_names };

const char *wt_growth_name(wt_growth growth) {
    return (size_t)growth < GROWTHS ? growth_names[growth] : "?";
}

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The quantile at share p of sorted values: between two of them by a straight line, or the nearer
 * one where either is infinite. */
static double quantile(const double *sorted, size_t count, double p) {
    double place = p * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count || sorted[below] == sorted[below + 1])
        return sorted[below];
    double share = place - (double)below;
    if (isinf(sorted[below]) || isinf(sorted[below + 1]))
        return sorted[share < 0.5 ? below : below + 1];
    return (1 - share) * sorted[below] + share * sorted[below + 1];
}

wt_interval wt_draws_interval(double value, double *draws, size_t count) {
    if (count == 0)
        return (wt_interval){value, NAN, NAN};
    qsort(draws, count, sizeof *draws, ascending);
    return (wt_interval){value, quantile(draws, count, 0.025), quantile(draws, count, 0.975)};
}

/* y = mean_y + b (u - mean_u), and what its errors are made of. */
typedef struct {
    double mean_u, mean_y, slope, spread; /* spread: sum of (u - mean_u)^2 */
    double squares, total;                /* sums of squares about the line and about mean_y */
} line;

static line line_through(const double *u, const double *y, size_t count) {
    line fit = {0};
    double product = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        fit.mean_u += u[i] / n;
        fit.mean_y += y[i] / n;
    }
    for (size_t i = 0; i < count; i++) {
        fit.spread += (u[i] - fit.mean_u) * (u[i] - fit.mean_u);
        fit.total += (y[i] - fit.mean_y) * (y[i] - fit.mean_y);
        product += (u[i] - fit.mean_u) * (y[i] - fit.mean_y);
    }
    fit.slope = fit.spread > 0 ? product / fit.spread : NAN;
    for (size_t i = 0; i < count; i++) {
        double residual = y[i] - fit.mean_y - fit.slope * (u[i] - fit.mean_u);
        fit.squares += residual * residual;
    }
    return fit;
}

static double intercept_of(const line *fit) {
    return fit->mean_y - fit->slope * fit->mean_u;
}

/* Standard errors of slope and intercept. */
static void errors_of(const line *fit, size_t count, double *slope, double *intercept) {
    double n = (double)count, variance = fit->squares / (n - 2);
    *slope = sqrt(variance / fit->spread);
    *intercept = sqrt(variance * (1 / n + fit->mean_u * fit->mean_u / fit->spread));
}

/* Residuals of equal variance, centred. */
static void spread_residuals(const line *fit, const double *u, const double *y, size_t count,
                             double *out) {
    double mean = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        double away = u[i] - fit->mean_u;
        double leverage = 1 / n + away * away / fit->spread;
        double residual = y[i] - fit->mean_y - fit->slope * away;
        out[i] = leverage < 1 ? residual / sqrt(1 - leverage) : 0;
        mean += out[i] / n;
    }
    for (size_t i = 0; i < count; i++)
        out[i] -= mean;
}

/* The interval of an estimate with its standard error from draws of Student's ratio. */
static wt_interval turned(double value, double error, double *ratios) {
    wt_interval ratio = wt_draws_interval(0, ratios, WT_BOOTSTRAP_DRAWS);
    return (wt_interval){value, value - ratio.high * error, value - ratio.low * error};
}

static wt_status by_bootstrap(wt_context *context, const line *fit, const double *u,
                              const double *y, size_t count, uint64_t seed, wt_affine_fit *out) {
    wt_arena arena = wt_arena_start(context, "a bootstrap");
    double *resampled = WT_TAKE(&arena, double, count), *residuals = WT_TAKE(&arena, double, count);
    double *uniform = WT_TAKE(&arena, double, count);
    double *slopes = WT_TAKE(&arena, double, WT_BOOTSTRAP_DRAWS);
    double *intercepts = WT_TAKE(&arena, double, WT_BOOTSTRAP_DRAWS);
    double slope_error, intercept_error, slope_again, intercept_again;
    wt_status status;
    WT_TRY(arena.status);
    spread_residuals(fit, u, y, count, residuals);
    errors_of(fit, count, &slope_error, &intercept_error);
    for (size_t draw = 0; draw < WT_BOOTSTRAP_DRAWS; draw++) {
        WT_TRY(wt_context_check_cancelled(context));
        wt_random_uniform(wt_stream_for(seed, "bootstrap", draw), 0, count, uniform);
        for (size_t i = 0; i < count; i++)
            resampled[i] = fit->mean_y + fit->slope * (u[i] - fit->mean_u) +
                           residuals[(size_t)(uniform[i] * (double)count)];
        line again = line_through(u, resampled, count);
        errors_of(&again, count, &slope_again, &intercept_again);
        /* A resample on a line says nothing about its error: it is counted as agreeing. */
        bool exact = !(again.squares > 0);
        slopes[draw] = exact ? 0 : (again.slope - fit->slope) / slope_again;
        intercepts[draw] = exact ? 0 : (intercept_of(&again) - intercept_of(fit)) / intercept_again;
    }
    out->slope = turned(fit->slope, slope_error, slopes);
    out->intercept = turned(intercept_of(fit), intercept_error, intercepts);
done:
    wt_arena_free(&arena);
    return status;
}

static wt_interval student(double value, double half) {
    return (wt_interval){value, value - half, value + half};
}

static void by_student(const line *fit, size_t count, wt_affine_fit *out) {
    double quantile = wt_student_quantile(0.975, (double)count - 2), slope, intercept;
    errors_of(fit, count, &slope, &intercept);
    out->slope = student(fit->slope, quantile * slope);
    out->intercept = student(intercept_of(fit), quantile * intercept);
}

static wt_status fit_line(wt_context *context, const double *u, const double *y, size_t count,
                          uint64_t seed, wt_affine_fit *out) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(u[i]) || !isfinite(y[i]))
            return wt_fail(context, WT_USAGE, "point %zu of a fit is not finite", i);
    line fit = line_through(u, y, count);
    if (count < 3 || !(fit.spread > 0))
        return wt_fail(context, WT_USAGE,
                       "a line needs three points at two different x, not %zu points", count);
    double n = (double)count;
    *out = (wt_affine_fit){.squares = fit.squares,
                           .r_squared = fit.total > 0 ? 1 - fit.squares / fit.total : NAN,
                           .aic = n * log(fit.squares / n) + 2 * 3,
                           .bic = n * log(fit.squares / n) + log(n) * 3};
    if (count >= LEAST_RESAMPLED)
        return by_bootstrap(context, &fit, u, y, count, seed, out);
    by_student(&fit, count, out);
    return WT_OK;
}

double wt_growth_at(wt_growth growth, double x) {
    return growth == WT_GROWTH_LOG ? log(x) : growth == WT_GROWTH_SQRT ? sqrt(x) : x;
}

wt_status wt_affine_fit_compute(wt_context *context, wt_growth growth, const double *x,
                                const double *y, size_t count, uint64_t seed, wt_affine_fit *out) {
    double *u = NULL;
    wt_status status;
    WT_TRY(wt_check_choice(context, "growth", (int)growth, GROWTHS));
    WT_TRY(WT_NEW(context, &u, count, "a fit"));
    for (size_t i = 0; i < count; i++)
        u[i] = wt_growth_at(growth, x[i]);
    WT_TRY(fit_line(context, u, y, count, seed, out));
done:
    wt_release(u);
    return status;
}

/* The share of the variance of y that a + b (x^p - 1)/p with b >= 0 leaves: 1 where y falls. */
static double left_over(const double *x, const double *y, size_t count, double p) {
    double n = (double)count, mean_u = 0, mean_y = 0, uu = 0, uy = 0, yy = 0;
    for (size_t i = 0; i < count; i++) {
        mean_u += (fabs(p) < 1e-9 ? log(x[i]) : expm1(p * log(x[i])) / p) / n;
        mean_y += y[i] / n;
    }
    for (size_t i = 0; i < count; i++) {
        double u = (fabs(p) < 1e-9 ? log(x[i]) : expm1(p * log(x[i])) / p) - mean_u;
        uu += u * u;
        uy += u * (y[i] - mean_y);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
    }
    /* below rounding y is constant, which is no growth */
    double least = DBL_EPSILON * mean_y;
    return yy > n * least * least && uy > 0 ? 1 - uy * uy / (uu * yy) : 1;
}

/* Golden section on low .. high, where there is one valley. */
static double lowest(const double *x, const double *y, size_t count, double low, double high) {
    const double golden = (sqrt(5) - 1) / 2;
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double at_a = left_over(x, y, count, a), at_b = left_over(x, y, count, b);
    while (high - low > 1e-7) {
        if (at_a < at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - golden * (high - low);
            at_a = left_over(x, y, count, a);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + golden * (high - low);
            at_b = left_over(x, y, count, b);
        }
    }
    return low + (high - low) / 2;
}

/* Whether there are three different x. */
static bool has_three(const double *x, size_t count) {
    size_t second = 1, third;
    while (second < count && x[second] == x[0])
        second++;
    for (third = second + 1; third < count && (x[third] == x[0] || x[third] == x[second]);)
        third++;
    return third < count;
}

double wt_growth_exponent(const double *x, const double *y, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!(x[i] > 0) || !isfinite(x[i]) || !isfinite(y[i]))
            return NAN;
    if (!has_three(x, count))
        return NAN;
    const double step = (WT_MAX_EXPONENT - WT_MIN_EXPONENT) / GRID;
    double best = WT_MIN_EXPONENT, least = INFINITY;
    for (int i = 0; i <= GRID; i++) {
        double p = i == GRID ? WT_MAX_EXPONENT : WT_MIN_EXPONENT + i * step;
        double left = left_over(x, y, count, p);
        best = left < least ? p : best;
        least = fmin(least, left);
    }
    double valley =
        lowest(x, y, count, fmax(WT_MIN_EXPONENT, best - step), fmin(WT_MAX_EXPONENT, best + step));
    bool at_end = best == WT_MIN_EXPONENT || best == WT_MAX_EXPONENT;
    return at_end && !(left_over(x, y, count, valley) < least) ? best : valley;
}

const char *wt_exponent_format(double exponent, char out[WT_EXPONENT_TEXT]) {
    snprintf(out, WT_EXPONENT_TEXT, "%.3g%s", exponent,
             exponent == WT_MIN_EXPONENT   ? " or less"
             : exponent == WT_MAX_EXPONENT ? " or more"
                                           : "");
    return out;
}
