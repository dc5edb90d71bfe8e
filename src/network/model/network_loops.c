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

static const struct {
    const wt_network_loops *network;
    const wt_transformer_loops *transformer;
} versions[] = {
    {&wt_network_loops_plain, &wt_transformer_loops_plain},
#if defined(__x86_64__)
    {&wt_network_loops_avx2, &wt_transformer_loops_avx2},
    {&wt_network_loops_avx512, &wt_transformer_loops_avx512},
#endif
};

size_t wt_network_able(const wt_network_loops **out, size_t most) {
    size_t count = count_able();
    for (size_t i = 0; i < count && i < most; i++)
        out[i] = versions[i].network;
    return count < most ? count : most;
}

const wt_network_loops *wt_network_best(void) {
    return versions[count_able() - 1].network;
}

size_t wt_transformer_able(const wt_transformer_loops **out, size_t most) {
    size_t count = count_able();
    for (size_t i = 0; i < count && i < most; i++)
        out[i] = versions[i].transformer;
    return count < most ? count : most;
}

const wt_transformer_loops *wt_transformer_best(void) {
    return versions[count_able() - 1].transformer;
}
