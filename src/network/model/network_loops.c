#include "network/model/network_loops.h"

#include <stdbool.h>

#include "network/model/transformer_loops.h"

/* From the most general to the fastest. */
static size_t count_able(void) {
#if defined(__x86_64__)
    bool fused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (fused && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return 3;
    if (fused)
        return 2;
#endif
    return 1;
}

static const wt_loops_version versions[] = {
    {&wt_network_loops_plain, &wt_transformer_loops_plain},
#if defined(__x86_64__)
    {&wt_network_loops_avx2, &wt_transformer_loops_avx2},
    {&wt_network_loops_avx512, &wt_transformer_loops_avx512},
#endif
};

const wt_loops_version *wt_loops_able(size_t *count) {
    *count = count_able();
    return versions;
}

const wt_loops_version *wt_loops_best(void) {
    return &versions[count_able() - 1];
}
