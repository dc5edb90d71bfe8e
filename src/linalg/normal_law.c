/* How wt_normal2_relu(h, k, rho) is computed.
 *
 * With cdf = P(X <= h, Y <= k) and the density p(t) = exp(-(h^2 - 2 t h k + k^2) / (2 (1 - t^2))) /
 * (2 pi sqrt(1 - t^2)) of (X, Y) at (h, k) for correlation t, Price's theorem gives
 * d relu / d rho = cdf and d cdf / d rho = p(rho). Both are known at rho = 0 (independent) and
 * rho = +-1 (one variable), and an integral of p leads from there to any rho:
 *
 * 1. |rho| < 0.925, from 0:  relu = relu(0) + rho cdf(0) + int_0^rho (rho - t) p(t) dt
 *    with t = sin(angle), by Gauss and Legendre's rule with 20 points.
 * 2. rho >= 0.925, from 1:   relu = relu(1) - (1 - rho) cdf(1) + R
 *    with R(h, k, rho) = int_rho^1 (t - rho) p(t) dt.
 * 3. rho <= -0.925, from -1: relu = relu(-1) + (1 + rho) cdf(-1) + R(h, -k, -rho)
 *
 * R by x = sqrt(1 - t^2), q = sqrt(1 - rho^2), y = x^2 is
 *   1/(2 pi) int_0^q exp(-(h - k)^2 / (2 x^2)) (t - rho) exp(-h k / (1 + t)) / t dx.
 * All but the first factor is a power series in y with y <= 0.15, and the integrals of that factor
 * times y^m obey a recurrence that starts at the normal tail. */
#include "linalg/normal_law.h"

#include <math.h>

#define PI          3.14159265358979323846
#define HIGH        0.925
#define HALF_POINTS 10
/* 0.1444^18 / 36 < 1e-16: what is cut off R. */
#define HIGH_TERMS 18

double wt_normal_density(double x) {
    return exp(-0.5 * x * x) / sqrt(2 * PI);
}

double wt_normal_cdf(double x) {
    return 0.5 * erfc(-x / sqrt(2));
}

/* E relu(h + X) */
static double relu(double h) {
    return h * wt_normal_cdf(h) + wt_normal_density(h);
}

/* The positive nodes and their weights (scripts/kernel_polynomials.py). */
static const double rule[HALF_POINTS][2] = {
    {0.99312859918509488, 0.017614007139152118}, {0.96397192727791381, 0.040601429800386939},
    {0.91223442825132595, 0.062672048334109068}, {0.83911697182221878, 0.083276741576704755},
    {0.7463319064601508, 0.10193011981724044},   {0.63605368072651502, 0.11819453196151841},
    {0.51086700195082713, 0.13168863844917664},  {0.37370608871541955, 0.14209610931838204},
    {0.22778585114164507, 0.14917298647260374},  {0.076526521133497338, 0.15275338713072584}};

/* The integral of case 1, over the angle. */
static double low_integral(double h, double k, double rho) {
    double half = 0.5 * asin(rho), sum = 0;
    for (int i = 0; i < HALF_POINTS; i++)
        for (int side = -1; side <= 1; side += 2) {
            double angle = half * (1 + side * rule[i][0]), t = sin(angle), c = cos(angle);
            double value = exp(-((h - k) * (h - k) + 2 * h * k * (1 - t)) / (2 * c * c));
            sum += rule[i][1] * ((rho - t) * value);
        }
    return sum * half / (2 * PI);
}

/* int_0^q x^(2m) exp(-gap^2 / (2 x^2)) dx for m below HIGH_TERMS. */
static void flat_moments(double gap, double q, double *out) {
    double edge = exp(-0.5 * (gap / q) * (gap / q));
    out[0] = q * edge - gap * sqrt(2 * PI) * wt_normal_cdf(-gap / q);
    double power = q * edge;
    for (int m = 1; m < HIGH_TERMS; m++) {
        power *= q * q;
        out[m] = (power - gap * gap * out[m - 1]) / (2 * m + 1);
    }
}

/* The series in y of exp(-hk / (1 + t)), t = sqrt(1 - y). With v = 1 / (1 + t), v_n = C_n / 2 / 4^n
 * by Catalan's numbers, for y v^2 - 2v + 1 = 0; and E = exp(-hk v) has E' = -hk v' E. */
static void exponential_series(double hk, double *out) {
    double v[HIGH_TERMS];
    v[0] = 0.5;
    out[0] = exp(-0.5 * hk);
    for (int n = 1; n < HIGH_TERMS; n++) {
        v[n] = v[n - 1] * (n - 0.5) / (n + 1);
        double sum = 0;
        for (int j = 1; j <= n; j++)
            sum += j * v[j] * out[n - j];
        out[n] = -hk * sum / n;
    }
}

/* R for rho >= HIGH. */
static double high_integral(double h, double k, double rho) {
    double gap = fabs(h - k), q = sqrt((1 - rho) * (1 + rho));
    /* Past exp(-100) nothing counts, and below it no factor can overflow. */
    if (q == 0 || 0.5 * (gap / q) * (gap / q) + fmin(0.5, 1 / (1 + rho)) * h * k > 100)
        return 0;
    double flat[HIGH_TERMS], exponential[HIGH_TERMS], inverse[HIGH_TERMS];
    flat_moments(gap, q, flat);
    exponential_series(h * k, exponential);
    /* 1/t = (1 - y)^(-1/2) */
    inverse[0] = 1;
    for (int n = 1; n < HIGH_TERMS; n++)
        inverse[n] = inverse[n - 1] * (n - 0.5) / n;
    double sum = 0;
    for (int n = 0; n < HIGH_TERMS; n++) {
        double over_t = 0;
        for (int j = 0; j <= n; j++)
            over_t += inverse[j] * exponential[n - j];
        sum += flat[n] * (exponential[n] - rho * over_t);
    }
    return sum / (2 * PI);
}

/* P(-k <= X <= h), from the tails that cancel less; 0 when h < -k. */
static double between(double h, double k) {
    double value =
        h > k ? wt_normal_cdf(k) - wt_normal_cdf(-h) : wt_normal_cdf(h) - wt_normal_cdf(-k);
    return h + k > 0 ? value : 0;
}

/* E relu(h + X) relu(k + X) */
static double relu_at_one(double h, double k) {
    double least = fmin(h, k);
    return (h * k + 1) * wt_normal_cdf(least) + fmax(h, k) * wt_normal_density(least);
}

/* E relu(h + X) relu(k - X), positive only where -h < X < k. */
static double relu_at_minus_one(double h, double k) {
    if (h + k <= 0)
        return 0;
    return (h * k - 1) * between(h, k) + k * wt_normal_density(h) + h * wt_normal_density(k);
}

double wt_normal2_relu(double h, double k, double rho) {
    rho = fmax(-1, fmin(1, rho));
    if (rho >= HIGH)
        return relu_at_one(h, k) - (1 - rho) * wt_normal_cdf(fmin(h, k)) + high_integral(h, k, rho);
    if (rho <= -HIGH)
        return relu_at_minus_one(h, k) + (1 + rho) * between(h, k) + high_integral(h, -k, -rho);
    return relu(h) * relu(k) + rho * wt_normal_cdf(h) * wt_normal_cdf(k) + low_integral(h, k, rho);
}

void wt_normal2_series(size_t count, const double *h, size_t terms, double *out, size_t stride) {
    for (size_t i = 0; i < count; i++) {
        out[i] = relu(h[i]);
        out[stride + i] = wt_normal_cdf(h[i]);
        out[2 * stride + i] = wt_normal_density(h[i]) / sqrt(2);
    }
    /* He_(n+1) = h He_n - n He_(n-1) in terms of a_n: forward is the stable way, in the waves of
     * the polynomials as in their tails. */
    for (size_t n = 3; n < terms; n++) {
        double order = (double)n;
        double rise = 1 / sqrt(order), fall = n == 3 ? 0 : (order - 3) / sqrt(order * (order - 1));
        const double *before = out + (n - 2) * stride, *here = out + (n - 1) * stride;
        double *next = out + n * stride;
        for (size_t i = 0; i < count; i++)
            next[i] = rise * h[i] * here[i] - fall * before[i];
    }
}
