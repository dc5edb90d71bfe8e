/* J(r) = sqrt(1 - r^2) + r (pi - arccos r) by two expansions, with s = r^2 and u = 1 - r^2:
 *   s <= 1/2:  J = (pi/2) r + G(s),               G(s) = sqrt(1-s) + sqrt(s) asin sqrt(s)
 *   s >  1/2:  J = pi max(r, 0) + u sqrt(u) H(u), H(u) = (sqrt(u) - sqrt(1-u) asin sqrt(u)) / u^1.5
 * G and H are smooth there and replaced by polynomials; J is off by less than 1e-15.
 *
 * The loops are plain C that compilers turn into vector code, compiled once for each kind of
 * processor and picked at run time. This file alone is built with -ffp-contract=fast (products and
 * sums fuse where the processor can) and without errno for sqrt. */
#include "features/model/kernel_rows.h"

#include <math.h>
#include <stdbool.h>

#include "linalg/normal_law.h"

#define PI     3.14159265358979323846
#define INLINE static inline __attribute__((always_inline))

/* Horner's rule written out, for compilers to see one straight line: coefficients and errors from
 * scripts/kernel_polynomials.py. */
/* G(s) for s <= 1/4, to 2.6e-16 */
INLINE double even_low(double s) {
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
INLINE double even_mid(double s) {
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
INLINE double edge(double u) {
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

/* For s <= 1/4, s <= 1/2 and all. */
INLINE double arc_low(double r) {
    return PI / 2 * r + even_low(r * r);
}
INLINE double arc_mid(double r) {
    return PI / 2 * r + even_mid(r * r);
}
INLINE double arc_high(double r) {
    r = r > 1 ? 1 : r;
    r = r < -1 ? -1 : r;
    double u = (1 - r) * (1 + r);
    double far = PI * (r > 0 ? r : 0) + u * sqrt(u) * edge(u);
    double near = arc_mid(r);
    return r * r <= 0.5 ? near : far;
}

#define ZERO_MEAN(name, arc)                                                                       \
    INLINE void name(const wt_kernel_rows *work) {                                                 \
        const double *restrict rho = work->rho;                                                    \
        double *restrict sum = work->sum;                                                          \
        for (size_t i = 0; i < work->rows; i++) {                                                  \
            const double *restrict t = work->t + i * work->stride;                                 \
            double weight = work->weight[i];                                                       \
            for (size_t j = 0; j < work->columns; j++)                                             \
                sum[j] += weight * t[j] * arc(rho[j] * t[j]);                                      \
        }                                                                                          \
    }
ZERO_MEAN(zero_mean_low, arc_low)
ZERO_MEAN(zero_mean_mid, arc_mid)
ZERO_MEAN(zero_mean_high, arc_high)

INLINE void arc_all(size_t count, const double *r, double *out) {
    for (size_t j = 0; j < count; j++)
        out[j] = arc_high(r[j]);
}

/* value = value r^8 + c_(n+7) r^7 + .. + c_n with c_n = a_n(i) a_n(j), for `count` columns from
 * `first`: eight terms at a time, so that the value goes through memory once in eight. */
#define TERMS_A_STEP 8
INLINE void series_step(const wt_kernel_rows *work, size_t n, size_t i, size_t first, size_t count,
                        const double *restrict r, double *restrict value) {
    size_t down = work->row_stride, stride = work->column_stride;
    const double *a = work->row_series + n * down + i;
    const double *b = work->column_series + n * stride + first;
    double a0 = a[0], a1 = a[down], a2 = a[2 * down], a3 = a[3 * down];
    double a4 = a[4 * down], a5 = a[5 * down], a6 = a[6 * down], a7 = a[7 * down];
    for (size_t j = 0; j < count; j++) {
        double v = value[j];
        v = v * r[j] + a7 * b[7 * stride + j];
        v = v * r[j] + a6 * b[6 * stride + j];
        v = v * r[j] + a5 * b[5 * stride + j];
        v = v * r[j] + a4 * b[4 * stride + j];
        v = v * r[j] + a3 * b[3 * stride + j];
        v = v * r[j] + a2 * b[2 * stride + j];
        v = v * r[j] + a1 * b[1 * stride + j];
        v = v * r[j] + a0 * b[j];
        value[j] = v;
    }
}

/* A row against at most COLUMNS_A_STEP columns from `first`, whose series then stay in cache. */
#define COLUMNS_A_STEP 64
INLINE void series_row(const wt_kernel_rows *work, size_t i, size_t first, size_t count) {
    const double *restrict t = work->t + i * work->stride + first;
    const double *restrict rho = work->rho + first;
    double *restrict sum = work->sum + first;
    double r[COLUMNS_A_STEP], value[COLUMNS_A_STEP];
    for (size_t j = 0; j < count; j++) {
        r[j] = rho[j] * t[j];
        value[j] = 0;
    }
    for (size_t n = work->terms; n > 0;) {
        n -= TERMS_A_STEP;
        series_step(work, n, i, first, count, r, value);
    }
    double weight = work->weight[i], limit = work->limit;
    for (size_t j = 0; j < count; j++)
        sum[j] += fabs(r[j]) <= limit ? weight * t[j] * value[j] : 0;
}

INLINE void series_all(const wt_kernel_rows *work) {
    for (size_t first = 0; first < work->columns; first += COLUMNS_A_STEP) {
        size_t left = work->columns - first;
        for (size_t i = 0; i < work->rows; i++)
            series_row(work, i, first, left < COLUMNS_A_STEP ? left : COLUMNS_A_STEP);
    }
}

/* One set of functions for a processor; `target` is its attribute, or nothing. */
#define VERSION(name, words, target)                                                               \
    target static void name##_low(const wt_kernel_rows *work) {                                    \
        zero_mean_low(work);                                                                       \
    }                                                                                              \
    target static void name##_mid(const wt_kernel_rows *work) {                                    \
        zero_mean_mid(work);                                                                       \
    }                                                                                              \
    target static void name##_high(const wt_kernel_rows *work) {                                   \
        zero_mean_high(work);                                                                      \
    }                                                                                              \
    target static void name##_series(const wt_kernel_rows *work) {                                 \
        series_all(work);                                                                          \
    }                                                                                              \
    target static void name##_arc(size_t count, const double *r, double *out) {                    \
        arc_all(count, r, out);                                                                    \
    }                                                                                              \
    static const wt_kernel_loops name = {                                                          \
        words, {name##_low, name##_mid, name##_high}, name##_series, name##_arc};

VERSION(plain, "any", )
#if defined(__x86_64__)
VERSION(avx2, "avx2", __attribute__((target("avx2,fma"))))
VERSION(avx512, "avx512", __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma"))))
#endif

const wt_kernel_loops *wt_kernel_loops_list(size_t index) {
    const wt_kernel_loops *able[4] = {0};
    size_t count = 0;
#if defined(__x86_64__)
    bool fused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (fused && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        able[count++] = &avx512;
    if (fused)
        able[count++] = &avx2;
#endif
    able[count++] = &plain;
    return index < count ? able[index] : NULL;
}

const wt_kernel_loops *wt_kernel_loops_best(void) {
    return wt_kernel_loops_list(0);
}
