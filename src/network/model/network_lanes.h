/* LANES floats side by side: loads, sums, exp and GELU. For files that define LANES (16, 8 or 4, as
 * wide as the registers of the processor they are for) and TARGET (the attribute that lets the
 * compiler use them) and include this once. Everything is inlined into the caller, and vectors go
 * by address, so that no calling convention matters. */
#ifndef LANES
#error "LANES must be defined"
#endif

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WT_INLINE TARGET static inline __attribute__((always_inline, unused))

typedef float wt_lanes __attribute__((vector_size(4 * LANES)));
typedef int32_t wt_int_lanes __attribute__((vector_size(4 * LANES)));
typedef uint32_t wt_word_lanes __attribute__((vector_size(4 * LANES)));

/* a where the mask is set, b elsewhere */
#define WT_SELECT(mask, a, b)                                                                      \
    ((wt_lanes)(((wt_int_lanes)(a) & (mask)) | ((wt_int_lanes)(b) & ~(mask))))

WT_INLINE void wt_load(wt_lanes *out, const float *from) {
    memcpy(out, from, sizeof *out);
}
WT_INLINE void wt_store(float *to, const wt_lanes *in) {
    memcpy(to, in, sizeof *in);
}

/* Half of the lanes onto the other half, until two are left. */
WT_INLINE float wt_lanes_sum(const wt_lanes *x) {
    typedef float four __attribute__((vector_size(16)));
#if LANES == 4
    four c = *x;
#else
    typedef float eight __attribute__((vector_size(32)));
#if LANES == 8
    eight b = *x;
#else
    eight b = __builtin_shufflevector(*x, *x, 0, 1, 2, 3, 4, 5, 6, 7) +
              __builtin_shufflevector(*x, *x, 8, 9, 10, 11, 12, 13, 14, 15);
#endif
    four c = __builtin_shufflevector(b, b, 0, 1, 2, 3) + __builtin_shufflevector(b, b, 4, 5, 6, 7);
#endif
    return (c[0] + c[2]) + (c[1] + c[3]);
}

/* A NaN in x stays, one in y is passed over. */
WT_INLINE void wt_lanes_max(wt_lanes *x, const wt_lanes *y) {
    wt_int_lanes above = *y > *x;
    *x = WT_SELECT(above, *y, *x);
}

/* exp x for x <= 88; below -87 the answer is that of -87, and that of NaN is NaN. x = n log 2 + r,
 * |r| <= log(2)/2, and a polynomial in r (scripts/network_polynomials.py): within 2e-7 of the
 * value. */
WT_INLINE void wt_lanes_exp(wt_lanes *x) {
    const float magic = 12582912; /* 1.5 * 2^23: adding it rounds to an integer */
    wt_lanes least = {0}, value = *x;
    least -= 87.0F;
    wt_lanes_max(&value, &least);
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
