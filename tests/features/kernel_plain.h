/* The kernels of infinitely many heads as their definitions read: the oracle of the fast ones. */
#ifndef TESTS_FEATURES_KERNEL_PLAIN_H
#define TESTS_FEATURES_KERNEL_PLAIN_H

#include <math.h>

#include "features/task/sets.h"
#include "linalg/normal_law.h"
#include "wattle/fit.h"

#define PLAIN_PI 3.14159265358979323846

static inline double plain_clamp(double r) {
    return fmax(-1, fmin(1, r));
}

/* E relu(u) relu(v) for centred normals of variances a, b and covariance c. */
static inline double plain_kappa(double a, double b, double c) {
    double r = plain_clamp(c / sqrt(a * b));
    return sqrt(a * b) / (2 * PLAIN_PI) * (sqrt(1 - r * r) + r * (PLAIN_PI - acos(r)));
}

/* The same with means m and k. */
static inline double plain_kappa_mean(double m, double k, double a, double b, double c) {
    return sqrt(a * b) * wt_normal2_relu(m / sqrt(a), k / sqrt(b), c / sqrt(a * b));
}

static inline double plain_dot(size_t dim, const double *x, const double *y) {
    double sum = 0;
    for (size_t j = 0; j < dim; j++)
        sum += x[j] * y[j];
    return sum;
}

static inline bool plain_live(const wt_sets *sets, size_t sample, size_t key) {
    return sets->mask == NULL || sets->mask[sample * sets->keys + key] != 0;
}

static inline double plain_attention(const wt_model_spec *spec, const wt_sets *a, size_t s,
                                     const wt_sets *b, size_t r) {
    size_t d = spec->dim, pairs = 0;
    const double *x0 = a->query + s * d, *y0 = b->query + r * d;
    double sum = 0, xx0 = 1 + plain_dot(d, x0, x0), yy0 = 1 + plain_dot(d, y0, y0);
    for (size_t i = 0; i < a->keys; i++)
        for (size_t j = 0; j < b->keys; j++) {
            if (!plain_live(a, s, i) || !plain_live(b, r, j))
                continue;
            const double *x = a->key + (s * a->keys + i) * d, *y = b->key + (r * b->keys + j) * d;
            double var_x = xx0 * (1 + plain_dot(d, x, x)) / 4;
            double var_y = yy0 * (1 + plain_dot(d, y, y)) / 4;
            double product = 1 + plain_dot(d, x, y);
            double cov = (1 + plain_dot(d, x0, y0)) * product / 4;
            double head =
                spec->kind == WT_MODEL_KIND_RFA_INF
                    ? plain_kappa(var_x, var_y, cov)
                    : plain_kappa_mean(spec->bias * plain_dot(d, x0, x),
                                       spec->bias * plain_dot(d, y0, y), var_x, var_y, cov);
            sum += head * product;
            pairs++;
        }
    return sum / (double)pairs;
}

static inline double plain_mlp(const wt_model_spec *spec, const wt_sets *a, size_t s,
                               const wt_sets *b, size_t r) {
    size_t d = spec->dim;
    const double *x0 = a->query + s * d, *y0 = b->query + r * d;
    double xx = 1 + plain_dot(d, x0, x0), yy = 1 + plain_dot(d, y0, y0);
    double xy = 1 + plain_dot(d, x0, y0);
    for (size_t i = 0; i < a->keys; i++) {
        const double *x = a->key + (s * a->keys + i) * d, *y = b->key + (r * b->keys + i) * d;
        bool live_x = plain_live(a, s, i), live_y = plain_live(b, r, i);
        xx += live_x ? plain_dot(d, x, x) : 0;
        yy += live_y ? plain_dot(d, y, y) : 0;
        xy += live_x && live_y ? plain_dot(d, x, y) : 0;
    }
    double inputs = (double)spec->keys + 2;
    return plain_kappa(xx / inputs, yy / inputs, xy / inputs);
}

static inline double plain_kernel(const wt_model_spec *spec, const wt_sets *a, size_t s,
                                  const wt_sets *b, size_t r) {
    return spec->kind == WT_MODEL_KIND_RFMLP_INF ? plain_mlp(spec, a, s, b, r)
                                                 : plain_attention(spec, a, s, b, r);
}

#endif
