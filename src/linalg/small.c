/* Plain C over vectors, compiled once for each kind of processor and picked at run time. This file
 * is built with -ffp-contract=fast: products and sums fuse where the processor can. */
#include "linalg/small.h"

#include <string.h>

/* Up to here these are as fast as BLAS is alone, and where BLAS is not alone it waits. */
enum { ROWS = 4, MOST_TERMS = 64, MOST_PRODUCTS = 2048 };

bool wt_small_fits(size_t m, size_t n, size_t k) {
    return n > 1 && m <= MOST_PRODUCTS && n <= MOST_PRODUCTS && k <= MOST_TERMS &&
           m * n * k <= MOST_PRODUCTS;
}

#define JOIN_WORDS(a, b) a##b
#define JOIN(a, b)       JOIN_WORDS(a, b)

#define TARGET
#define BYTES 16
#define REAL  double
#define GEMM  plain_real64
#include "linalg/small_body.h"
#undef REAL
#undef GEMM
#define REAL float
#define GEMM plain_real32
#include "linalg/small_body.h"
#undef REAL
#undef GEMM
#undef TARGET
#undef BYTES

#if defined(__x86_64__)
#define TARGET __attribute__((target("avx2,fma")))
#define BYTES  32
#define REAL   double
#define GEMM   avx2_real64
#include "linalg/small_body.h"
#undef REAL
#undef GEMM
#define REAL float
#define GEMM avx2_real32
#include "linalg/small_body.h"
#endif

static const wt_small_routines routines[] = {
    {"plain", plain_real64, plain_real32},
#if defined(__x86_64__)
    {"avx2", avx2_real64, avx2_real32},
#endif
};

static size_t able(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return 2;
#endif
    return 1;
}

const wt_small_routines *wt_small_at(size_t index) {
    return index < able() ? &routines[index] : NULL;
}

const wt_small_routines *wt_small(void) {
    return &routines[able() - 1];
}
