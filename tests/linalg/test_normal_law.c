#include "linalg/normal_law.h"

#include "check.h"

#define PI_LONG 3.141592653589793238462643383279502884L

/* ---- the oracle: Gauss and Legendre's rule on panels, in long double ----------------------- */

enum { POINTS = 24 };
static long double node[POINTS], node_weight[POINTS];

static void make_rule(void) {
    for (int i = 0; i < POINTS; i++) {
        long double x = cosl(PI_LONG * (i + 0.75L) / (POINTS + 0.5L)), slope = 0;
        for (int step = 0; step < 20; step++) {
            long double before = 1, here = x;
            for (int n = 2; n <= POINTS; n++) {
                long double next = ((2 * n - 1) * x * here - (n - 1) * before) / n;
                before = here;
                here = next;
            }
            slope = POINTS * (x * here - before) / (x * x - 1);
            x -= here / slope;
        }
        node[i] = x;
        node_weight[i] = 2 / ((1 - x * x) * slope * slope);
    }
}

static long double density(long double x) {
    return expl(-x * x / 2) / sqrtl(2 * PI_LONG);
}
static long double cdf(long double x) {
    return erfcl(-x / sqrtl(2)) / 2;
}

typedef struct {
    long double h, k, rho, q;
} pair;

/* Given X = x, Y is normal of mean rho x and deviation q: (h + x) E relu(k + Y). */
static long double integrand(const pair *p, long double x) {
    long double mean = p->k + p->rho * x;
    /* Far from the bend the tail is exactly nothing, and q may be 0. */
    bool bent = fabsl(mean) < 40 * p->q;
    long double part =
        bent ? mean * cdf(mean / p->q) + p->q * density(mean / p->q) : fmaxl(mean, 0);
    return (p->h + x) * density(x) * part;
}

/* Halves panels that touch the bend at x = -k / rho until they are finer than it is. */
static long double integrate(const pair *p, long double a, long double b) {
    long double width = b - a, bend = p->rho != 0 ? -p->k / p->rho : -1e9L;
    bool near = bend > a - width && bend < b + width;
    if (near && width > fmaxl(p->q / 2, 1e-17L))
        return integrate(p, a, a + width / 2) + integrate(p, a + width / 2, b);
    long double sum = 0;
    for (int i = 0; i < POINTS; i++)
        sum += node_weight[i] * integrand(p, (a + b) / 2 + width / 2 * node[i]);
    return sum * width / 2;
}

/* E relu(h + X) relu(k + Y) */
static double oracle(double h, double k, double rho) {
    pair p = {
        .h = h, .k = k, .rho = rho, .q = sqrtl((1 - (long double)rho) * (1 + (long double)rho))};
    long double sum = 0;
    for (long double x = -fminl(h, 14); x < 14; x += 1)
        sum += integrate(&p, x, x + 1);
    return (double)sum;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static const double correlations[] = {0,         0.1,       0.5,       0.74,  0.9,     0.92499,
                                      0.925,     0.95,      0.99,      0.999, 0.99999, 0.9999999,
                                      1 - 1e-10, 1 - 1e-13, 1 - 1e-15, 1};
enum { CORRELATIONS = sizeof correlations / sizeof *correlations };

/* 2e-15: a few roundings of values of at most (1 + |h|)(1 + |k|). */
static void relu_agrees_with_integration(void **state) {
    (void)state;
    for (size_t c = 0; c < 2 * CORRELATIONS; c++)
        for (int i = -4; i <= 4; i++)
            for (int j = -4; j <= 4; j++) {
                double rho = c % 2 == 0 ? correlations[c / 2] : -correlations[c / 2];
                double h = 0.9 * i + 0.04 * j, k = i == 3 ? rho * h + 1e-4 * j : 0.87 * j;
                double scale = (1 + fabs(h)) * (1 + fabs(k));
                CHECK_NEAR(wt_normal2_relu(h, k, rho) / scale, oracle(h, k, rho) / scale, 2e-15);
            }
}

static void relu_without_means_is_the_arc(void **state) {
    (void)state;
    for (double r = -1; r <= 1; r += 1.0 / 128) {
        double arc = sqrt(1 - r * r) + r * (acos(-1) - acos(r));
        CHECK_NEAR(wt_normal2_relu(0, 0, r), arc / (2 * acos(-1)), 5e-16);
    }
}

/* Means far above the spread leave E (h + X)(k + Y) = h k + rho, far below nothing. */
static void relu_with_large_means(void **state) {
    (void)state;
    const double sizes[] = {12, 50, 1e3, 1e10, 1e20};
    for (size_t s = 0; s < 5; s++)
        for (size_t c = 0; c < 2 * CORRELATIONS; c++) {
            double rho = c % 2 == 0 ? correlations[c / 2] : -correlations[c / 2], h = sizes[s];
            double k = 1.5 * h, wanted = h * k + rho;
            CHECK_NEAR(wt_normal2_relu(h, k, rho) / wanted, 1, 2e-15);
            CHECK_NEAR(wt_normal2_relu(-h, -k, rho), 0, 1e-30);
            CHECK_NEAR(wt_normal2_relu(h, -k, rho), 0, 1e-15);
        }
}

/* 2e-15 = the bound on what is left out at the largest correlation, and some roundings. */
static void the_series_agrees_with_the_closed_form(void **state) {
    (void)state;
    double h[33], a[WT_NORMAL2_TERMS * 33];
    for (int i = 0; i < 33; i++)
        h[i] = i == 32 ? 60 : 0.5 * (i - 16);
    wt_normal2_series(33, h, WT_NORMAL2_TERMS, a, 33);
    for (int i = 0; i < 33; i++)
        for (int j = 0; j < 33; j++)
            for (double rho = -0.727; rho <= 0.727; rho += 0.727 / 8) {
                double sum = 0, scale = (1 + fabs(h[i])) * (1 + fabs(h[j]));
                for (int n = WT_NORMAL2_TERMS; n-- > 0;)
                    sum = sum * rho + a[n * 33 + i] * a[n * 33 + j];
                CHECK_NEAR(sum / scale, wt_normal2_relu(h[i], h[j], rho) / scale, 2e-15);
            }
}

int main(void) {
    make_rule();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relu_agrees_with_integration),
        cmocka_unit_test(relu_without_means_is_the_arc),
        cmocka_unit_test(relu_with_large_means),
        cmocka_unit_test(the_series_agrees_with_the_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
