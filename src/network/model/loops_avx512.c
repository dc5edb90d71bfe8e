/* The inner loops of networks for processors with AVX-512: see loops_plain.c. */
#if defined(__x86_64__)
#define LANES              16
#define TARGET             __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")))
#define WIDE_PRODUCT(x, m) ((wide_words)_mm512_mul_epu32((__m512i)(x), _mm512_set1_epi64(m)))
#define NETWORK_TABLE      wt_network_loops_avx512
#define TRANSFORMER_TABLE  wt_transformer_loops_avx512

#include <immintrin.h>

#include "network/model/network_loops_body.h"
#include "network/model/transformer_absorbed_body.h"
#include "network/model/transformer_tables_body.h"
#else
typedef int wt_no_loops; /* a file needs a declaration */
#endif
