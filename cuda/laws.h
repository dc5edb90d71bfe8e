/* The functions that kernels are made of, for the GPU: J(r) as in src/features/model/kernel_rows.c,
 * the normal law as in src/linalg/normal_law.c, where the formulas are explained. Coefficients from
 * scripts/kernel_polynomials.py. */
#ifndef WATTLE_CUDA_LAWS_H
#define WATTLE_CUDA_LAWS_H

#include <math.h>

#define PI          3.14159265358979323846
#define HIGH        0.925
#define HALF_POINTS 10
#define HIGH_TERMS  18

/* G(s) for s <= 1/4, to 2.6e-16 */
__device__ static double even_low(double s) {
    double value = 0.0015920720886143367;
    value = value * s - 0.00015913133678813727;
    value = value * s + 0.0011691832317705713;
    value = value * s + 0.001174040772020351;
    value = value * s + 0.0018734427456639383;
    value = value * s + 0.003037392195570593;
    value = value * s + 0.0055804009039894008;
    value = value * s + 0.012499998615395143;
    value = value * s + 0.041666666689033967;
    value = value * s + 0.49999999999985961;
    value = value * s + 1.0000000000000002;
    return value;
}
/* G(s) for s <= 1/2, to 1.9e-16 */
__device__ static double even_mid(double s) {
    double value = 0.011864162479464846;
    value = value * s - 0.033936429493058848;
    value = value * s + 0.047462429632946321;
    value = value * s - 0.039528091002178689;
    value = value * s + 0.022976261812326603;
    value = value * s - 0.0085382107025728671;
    value = value * s + 0.0032371684290701266;
    value = value * s + 0.00033215905296627926;
    value = value * s + 0.0013206226167111596;
    value = value * s + 0.0018557228000044693;
    value = value * s + 0.0030388237305729285;
    value = value * s + 0.0055803271601584719;
    value = value * s + 0.012500000859909471;
    value = value * s + 0.041666666653767497;
    value = value * s + 0.50000000000007616;
    value = value * s + 0.99999999999999989;
    return value;
}
/* H(u) for u <= 1/2, to 2.3e-16 */
__device__ static double edge(double u) {
    double value = 1.0521078906599146;
    value = value * u - 3.6146905798836095;
    value = value * u + 5.9210166651435925;
    value = value * u - 5.9364363712969039;
    value = value * u + 4.0830899603137913;
    value = value * u - 1.996832795010292;
    value = value * u + 0.73911125782293652;
    value = value * u - 0.18622428149753151;
    value = value * u + 0.053861634608783203;
    value = value * u + 0.0096263387416318114;
    value = value * u + 0.019409258496074357;
    value = value * u + 0.022677268622955198;
    value = value * u + 0.028419147606227969;
    value = value * u + 0.036940721474089028;
    value = value * u + 0.050793653385086152;
    value = value * u + 0.076190476159904069;
    value = value * u + 0.13333333333347583;
    value = value * u + 0.3333333333333332;
    return value;
}

/* J(r) = sqrt(1 - r^2) + r (pi - arccos r), |r| <= 1 but for rounding. */
__device__ static double arc(double r) {
    r = r > 1 ? 1 : r < -1 ? -1 : r;
    double s = r * r;
    if (s <= 0.25)
        return PI / 2 * r + even_low(s);
    if (s <= 0.5)
        return PI / 2 * r + even_mid(s);
    double u = (1 - r) * (1 + r);
    return PI * (r > 0 ? r : 0) + u * sqrt(u) * edge(u);
}

__device__ static double density(double x) {
    return exp(-0.5 * x * x) / sqrt(2 * PI);
}

__device__ static double cdf(double x) {
    return 0.5 * erfc(-x / sqrt(2.0));
}

/* E relu(h + X) */
__device__ static double relu(double h) {
    return h * cdf(h) + density(h);
}

/* The positive nodes and their weights (scripts/kernel_polynomials.py). */
__constant__ static const double rule[HALF_POINTS][2] = {
    {0.99312859918509488, 0.017614007139152118}, {0.96397192727791381, 0.040601429800386939},
    {0.91223442825132595, 0.062672048334109068}, {0.83911697182221878, 0.083276741576704755},
    {0.7463319064601508, 0.10193011981724044},   {0.63605368072651502, 0.11819453196151841},
    {0.51086700195082713, 0.13168863844917664},  {0.37370608871541955, 0.14209610931838204},
    {0.22778585114164507, 0.14917298647260374},  {0.076526521133497338, 0.15275338713072584}};

/* The integral of case 1, over the angle. */
__device__ static double low_integral(double h, double k, double rho) {
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
__device__ static void flat_moments(double gap, double q, double *out) {
    double edge = exp(-0.5 * (gap / q) * (gap / q));
    out[0] = q * edge - gap * sqrt(2 * PI) * cdf(-gap / q);
    double power = q * edge;
    for (int m = 1; m < HIGH_TERMS; m++) {
        power *= q * q;
        out[m] = (power - gap * gap * out[m - 1]) / (2 * m + 1);
    }
}

/* The series in y of exp(-hk / (1 + t)), t = sqrt(1 - y). With v = 1 / (1 + t), v_n = C_n / 2 / 4^n
 * by Catalan's numbers, for y v^2 - 2v + 1 = 0; and E = exp(-hk v) has E' = -hk v' E. */
__device__ static void exponential_series(double hk, double *out) {
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
__device__ static double high_integral(double h, double k, double rho) {
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
__device__ static double between(double h, double k) {
    double value = h > k ? cdf(k) - cdf(-h) : cdf(h) - cdf(-k);
    return h + k > 0 ? value : 0;
}

/* E relu(h + X) relu(k + X) */
__device__ static double relu_at_one(double h, double k) {
    double least = fmin(h, k);
    return (h * k + 1) * cdf(least) + fmax(h, k) * density(least);
}

/* E relu(h + X) relu(k - X), positive only where -h < X < k. */
__device__ static double relu_at_minus_one(double h, double k) {
    if (h + k <= 0)
        return 0;
    return (h * k - 1) * between(h, k) + k * density(h) + h * density(k);
}

__device__ __noinline__ static double normal2_relu(double h, double k, double rho) {
    rho = fmax(-1.0, fmin(1.0, rho));
    if (rho >= HIGH)
        return relu_at_one(h, k) - (1 - rho) * cdf(fmin(h, k)) + high_integral(h, k, rho);
    if (rho <= -HIGH)
        return relu_at_minus_one(h, k) + (1 + rho) * between(h, k) + high_integral(h, -k, -rho);
    return relu(h) * relu(k) + rho * cdf(h) * cdf(k) + low_integral(h, k, rho);
}

#endif
