/* Sixteen floats side by side, for files that compile their loops once for each kind of processor:
 * loads, sums, exp and GELU. Everything is inlined into the caller, and vectors go by address, so
 * that the code is right whatever registers the caller's processor has. */
#ifndef WT_MODEL_NETWORK_LANES_H
#define WT_MODEL_NETWORK_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WT_LANES  16
#define WT_INLINE static inline __attribute__((always_inline))

typedef float wt_lanes __attribute__((vector_size(4 * WT_LANES)));
typedef int32_t wt_int_lanes __attribute__((vector_size(4 * WT_LANES)));
typedef uint32_t wt_word_lanes __attribute__((vector_size(4 * WT_LANES)));

/* a where the mask is set, b elsewhere */
#define WT_SELECT(mask, a, b)                                                                      \
    ((wt_lanes)(((wt_int_lanes)(a) & (mask)) | ((wt_int_lanes)(b) & ~(mask))))

WT_INLINE void wt_load(wt_lanes *out, const float *from) {
    memcpy(out, from, sizeof *out);
}
WT_INLINE void wt_store(float *to, const wt_lanes *in) {
    memcpy(to, in, sizeof *in);
}

/* Half of the lanes onto the other half, four times. */
WT_INLINE float wt_lanes_sum(const wt_lanes *x) {
    typedef float eight __attribute__((vector_size(32)));
    typedef float four __attribute__((vector_size(16)));
    eight a = __builtin_shufflevector(*x, *x, 0, 1, 2, 3, 4, 5, 6, 7) +
              __builtin_shufflevector(*x, *x, 8, 9, 10, 11, 12, 13, 14, 15);
    four b = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
    return (b[0] + b[2]) + (b[1] + b[3]);
}

WT_INLINE void wt_lanes_max(wt_lanes *x, const wt_lanes *y) {
    wt_int_lanes above = *y > *x;
    *x = WT_SELECT(above, *y, *x);
}

/* exp x for x <= 88; below -87 the answer is that of -87. x = n log 2 + r, |r| <= log(2)/2, and a
 * polynomial in r (scripts/network_polynomials.py): within 2e-7 of the value. */
WT_INLINE void wt_lanes_exp(wt_lanes *x) {
    const float magic = 12582912; /* 1.5 * 2^23: adding it rounds to an integer */
    wt_lanes least = {0}, value = *x;
    least -= 87.0F;
    wt_lanes_max(&least, &value);
    value = least;
    wt_lanes shifted = value * 1.44269504F + magic, n = shifted - magic;
    wt_lanes r = value - n * 0.693359375F;
    r -= n * -2.12194440e-4F;
    wt_lanes p = r * 0.0013829302F + 0.00837485399F;
    p = p * r + 0.0416683666F;
    p = p * r + 0.166664198F;
    p = p * r + 0.499999911F;
    p = p * r + 1.0F;
    p = p * r + 1.0F;
    *x = (wt_lanes)((wt_word_lanes)p + ((wt_word_lanes)shifted << 23));
}

/* u = x P(X <= x) and its slope P(X <= x) + x phi(x), X normal, by P(X <= -a) = exp(-a^2/2) Q(t),
 * t = 1 / (1 + 0.3 a): within 4e-7 of both, times 1 + |x| for u. */
WT_INLINE void wt_lanes_gelu(const wt_lanes *x, wt_lanes *u, wt_lanes *slope) {
    wt_int_lanes positive = *x > 0.0F;
    wt_lanes a = WT_SELECT(positive, *x, -*x), e = a * a * -0.5F;
    wt_lanes_exp(&e);
    wt_lanes t = 1.0F / (a * 0.3F + 1.0F);
    wt_lanes q = t * 0.0388709195F - 0.171443552F;
    q = q * t + 0.233107477F;
    q = q * t - 0.0812823027F;
    q = q * t + 0.145609826F;
    q = q * t + 0.0934725851F;
    q = q * t + 0.122204594F;
    q = q * t + 0.119451404F;
    q = q * t + 9.09630853e-06F;
    q *= e;
    wt_lanes above = 1.0F - q, cdf = WT_SELECT(positive, above, q);
    *u = *x * cdf;
    *slope = cdf + *x * e * 0.398942280F;
}

#endif
