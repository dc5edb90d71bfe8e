/* The normal law in one and two dimensions: what the kernels with a bias are made of.
 *
 * X and Y are standard normal with correlation rho; arguments beyond [-1, 1] count as the end. */
#ifndef WT_LINALG_NORMAL_LAW_H
#define WT_LINALG_NORMAL_LAW_H

#include <stddef.h>

double wt_normal_density(double x);
/* P(X <= x) */
double wt_normal_cdf(double x);

/* E relu(h + X) relu(k + Y), to about 1e-15 times (1 + |h|)(1 + |k|). */
double wt_normal2_relu(double h, double k, double rho);

/* The series E relu(h + X) relu(k + Y) = sum_n a_n(h) a_n(k) rho^n, for `count` values of h:
 * a_n(h_i) goes to out[n * stride + i], n = 0 .. terms-1, terms >= 3.
 *
 * a_0 = E relu(h + X), a_1 = P(X <= h), a_n = He_(n-2)(h) phi(h) / sqrt(n!) with Hermite's
 * polynomials. By Cramer's bound |He_n(h)| <= 1.0865 sqrt(n!) exp(h^2/4), what is left out is at
 * most 0.188 |rho|^terms / (terms (terms - 1) (1 - |rho|)), whatever h and k. */
#define WT_NORMAL2_TERMS 80
void wt_normal2_series(size_t count, const double *h, size_t terms, double *out, size_t stride);

#endif
