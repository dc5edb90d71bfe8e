#include "lab/statistics.h"

#include <float.h>
#include <math.h>

#define FRACTION_TERMS 300
#define BISECTIONS     200

/* The continued fraction of the incomplete beta function, by the modified Lentz method. */
static double beta_fraction(double x, double a, double b) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m <= FRACTION_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        const double terms[] = {even, odd};
        double change = 1;
        for (int i = 0; i < 2; i++) {
            d = 1 + terms[i] * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + terms[i] / c;
            c = fabs(c) < tiny ? tiny : c;
            change = c * d;
            value *= change;
        }
        if (fabs(change - 1) < DBL_EPSILON)
            break;
    }
    return value;
}

double wt_beta_cdf(double x, double a, double b) {
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    /* The fraction converges fast on this side of the mean only. */
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
                                     : 1 - front * beta_fraction(1 - x, b, a) / b;
}

double wt_student_cdf(double t, double freedom) {
    double tail = wt_beta_cdf(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
    return t > 0 ? 1 - tail : tail;
}

double wt_student_quantile(double p, double freedom) {
    double low = -1, high = 1;
    while (wt_student_cdf(low, freedom) > p)
        low *= 2;
    while (wt_student_cdf(high, freedom) < p)
        high *= 2;
    for (int i = 0; i < BISECTIONS && high - low > DBL_EPSILON * fabs(high); i++) {
        double middle = low + (high - low) / 2;
        *(wt_student_cdf(middle, freedom) < p ? &low : &high) = middle;
    }
    return low + (high - low) / 2;
}

/* From the mean of the values and the sum of the squares about it. */
static wt_interval student_interval(double mean, double square, size_t count) {
    if (count < 2)
        return (wt_interval){count == 1 ? mean : NAN, NAN, NAN};
    double n = (double)count;
    double half = wt_student_quantile(0.975, n - 1) * sqrt(square / (n - 1) / n);
    return (wt_interval){mean, mean - half, mean + half};
}

double wt_beta_quantile(double p, double a, double b) {
    double low = 0, high = 1;
    for (int i = 0; i < BISECTIONS && high - low > DBL_EPSILON * high; i++) {
        double middle = low + (high - low) / 2;
        *(wt_beta_cdf(middle, a, b) < p ? &low : &high) = middle;
    }
    return low + (high - low) / 2;
}

wt_interval wt_rate_interval(size_t successes, size_t trials) {
    if (trials == 0)
        return (wt_interval){NAN, NAN, NAN};
    double s = (double)successes, f = (double)(trials - successes);
    return (wt_interval){s / (s + f), s > 0 ? wt_beta_quantile(0.025, s, f + 1) : 0,
                         f > 0 ? wt_beta_quantile(0.975, s + 1, f) : 1};
}

wt_interval wt_mean_interval(const double *values, size_t count) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        square += (values[i] - mean) * (values[i] - mean);
    return student_interval(mean, square, count);
}

double wt_log_slope(const double *x, const double *y, size_t count) {
    double mean_x = 0, mean_y = 0, covariance = 0, variance = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(x[i] > 0) || !(y[i] > 0))
            return NAN;
        mean_x += log(x[i]) / (double)count;
        mean_y += log(y[i]) / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        covariance += (log(x[i]) - mean_x) * (log(y[i]) - mean_y);
        variance += (log(x[i]) - mean_x) * (log(x[i]) - mean_x);
    }
    return variance > 0 ? covariance / variance : NAN;
}
