/* Plain C over vectors of eight doubles, compiled once for each kind of processor and picked at run
 * time. This file is built with -ffp-contract=fast: products and sums fuse where the processor
 * can. */
#include "linalg/thin_loops.h"

#include <stdbool.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
enum { LANES = 8 };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

INLINE void load(lanes *out, const double *from) {
    memcpy(out, from, sizeof *out);
}

/* With `columns` a constant, the sums stay in registers. */
INLINE void gather_columns(size_t columns, size_t rows, const double *p, size_t p_stride,
                           const double *a, size_t a_stride, double *sums) {
    lanes low[WT_THIN_COLUMNS], high[WT_THIN_COLUMNS];
    for (size_t c = 0; c < columns; c++) {
        load(&low[c], sums + c * WT_THIN_GROUP);
        load(&high[c], sums + c * WT_THIN_GROUP + LANES);
    }
    for (size_t i = 0; i < rows; i++) {
        lanes x, y;
        load(&x, p + i * p_stride);
        load(&y, p + i * p_stride + LANES);
        for (size_t c = 0; c < columns; c++) {
            low[c] += x * a[i * a_stride + c];
            high[c] += y * a[i * a_stride + c];
        }
    }
    for (size_t c = 0; c < columns; c++) {
        memcpy(sums + c * WT_THIN_GROUP, &low[c], sizeof *low);
        memcpy(sums + c * WT_THIN_GROUP + LANES, &high[c], sizeof *high);
    }
}

INLINE double total(const lanes *x) {
    double sum = 0;
    for (int i = 0; i < LANES; i++)
        sum += (*x)[i];
    return sum;
}

/* Two rows share every vector of V. */
INLINE void spread_two(size_t columns, size_t width, const double *p, const double *q,
                       const double *vt, size_t vt_stride, double *f, double *g) {
    lanes first[WT_THIN_COLUMNS], second[WT_THIN_COLUMNS];
    memset(first, 0, columns * sizeof *first);
    memset(second, 0, columns * sizeof *second);
    for (size_t j = 0; j < width; j += LANES) {
        lanes x, y, v;
        load(&x, p + j);
        load(&y, q + j);
        for (size_t c = 0; c < columns; c++) {
            load(&v, vt + c * vt_stride + j);
            first[c] += x * v;
            second[c] += y * v;
        }
    }
    for (size_t c = 0; c < columns; c++) {
        f[c] += total(&first[c]);
        if (g != f)
            g[c] += total(&second[c]);
    }
}

INLINE void spread_columns(size_t columns, size_t rows, size_t width, const double *p,
                           size_t p_stride, const double *vt, size_t vt_stride, double *f,
                           size_t f_stride) {
    for (size_t i = 0; i < rows; i += 2) {
        size_t next = i + 1 < rows ? i + 1 : i; /* an odd last row goes with itself */
        spread_two(columns, width, p + i * p_stride, p + next * p_stride, vt, vt_stride,
                   f + i * f_stride, f + next * f_stride);
    }
}

#define GATHER_CASE(n)                                                                             \
    case n:                                                                                        \
        gather_columns(n, rows, p, p_stride, a, a_stride, sums);                                   \
        break;
#define SPREAD_CASE(n)                                                                             \
    case n:                                                                                        \
        spread_columns(n, rows, width, p, p_stride, vt, vt_stride, f, f_stride);                   \
        break;
#define ALL_CASES(one) one(1) one(2) one(3) one(4) one(5) one(6) one(7) one(8)

#define VERSION(kind, words, attribute)                                                            \
    attribute static void kind##_gather(size_t columns, size_t rows, const double *p,              \
                                        size_t p_stride, const double *a, size_t a_stride,         \
                                        double *sums) {                                            \
        switch (columns) {                                                                         \
            ALL_CASES(GATHER_CASE)                                                                 \
        default:                                                                                   \
            break;                                                                                 \
        }                                                                                          \
    }                                                                                              \
    attribute static void kind##_spread(size_t columns, size_t rows, size_t width,                 \
                                        const double *p, size_t p_stride, const double *vt,        \
                                        size_t vt_stride, double *f, size_t f_stride) {            \
        switch (columns) {                                                                         \
            ALL_CASES(SPREAD_CASE)                                                                 \
        default:                                                                                   \
            break;                                                                                 \
        }                                                                                          \
    }                                                                                              \
    static const wt_thin_loops kind = {words, kind##_gather, kind##_spread};

VERSION(plain, "plain", )
#if defined(__x86_64__)
VERSION(avx2, "avx2", __attribute__((target("avx2,fma"))))
VERSION(avx512, "avx512", __attribute__((target("avx512f,avx2,fma"))))
#endif

size_t wt_thin_able(const wt_thin_loops **out, size_t most) {
    const wt_thin_loops *able[3];
    size_t count = 0;
    able[count++] = &plain;
#if defined(__x86_64__)
    bool fused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (fused)
        able[count++] = &avx2;
    if (fused && __builtin_cpu_supports("avx512f"))
        able[count++] = &avx512;
#endif
    for (size_t i = 0; i < count && i < most; i++)
        out[i] = able[i];
    return count < most ? count : most;
}
