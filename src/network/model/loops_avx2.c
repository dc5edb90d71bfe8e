/* The inner loops of networks for processors with AVX2 and FMA: see loops_plain.c. */
#if defined(__x86_64__)
#define LANES  8
#define TARGET __attribute__((target("avx2,fma")))
/* Compilers do not find the instruction for products of low halves, and multiply three times. */
#define WIDE_PRODUCT(x, m) ((wide_words)_mm256_mul_epu32((__m256i)(x), _mm256_set1_epi64x(m)))
#define NETWORK_TABLE      wt_network_loops_avx2
#define TRANSFORMER_TABLE  wt_transformer_loops_avx2

#include <immintrin.h>

#include "network/model/network_loops_body.h"
#include "network/model/transformer_absorbed_body.h"
#include "network/model/transformer_tables_body.h"
#else
typedef int wt_no_loops; /* a file needs a declaration */
#endif
