#define _POSIX_C_SOURCE 200809L /* strcasecmp */
#include "linalg/cores.h"

#include <stdio.h>
#include <strings.h>

/* Cooperlake and SapphireRapids differ from SkylakeX in products of bfloat16 alone: they are never
 * asked for, as older libraries do not have them. */
static const wt_core cores[] = {
    {"Prescott", WT_CPU_SSE3},
    {"Nehalem", WT_CPU_SSE42},
    {"Sandybridge", WT_CPU_AVX},
    {"Haswell", WT_CPU_AVX2},
    {"Zen", WT_CPU_AVX2},
    {"SkylakeX", WT_CPU_AVX512},
    {"Cooperlake", WT_CPU_AVX512 | WT_CPU_BF16},
    {"SapphireRapids", WT_CPU_AVX512 | WT_CPU_BF16},
};

const wt_core *wt_core_at(size_t index) {
    return index < sizeof cores / sizeof *cores ? &cores[index] : NULL;
}

const wt_core *wt_core_named(const char *name) {
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        if (strcasecmp(cores[i].name, name) == 0)
            return &cores[i];
    return NULL;
}

bool wt_core_runs(const wt_core *core, unsigned features) {
    return (core->needs & ~features) == 0;
}

#if defined(__x86_64__)
unsigned wt_cpu_features(void) {
    unsigned found = 0;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse3"))
        found |= WT_CPU_SSE3;
    if (__builtin_cpu_supports("sse4.2"))
        found |= WT_CPU_SSE42;
    if (__builtin_cpu_supports("avx"))
        found |= WT_CPU_AVX;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        found |= WT_CPU_AVX2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        found |= WT_CPU_AVX512;
    if (__builtin_cpu_supports("avx512bf16"))
        found |= WT_CPU_BF16;
    if (__builtin_cpu_supports("fma4"))
        found |= WT_CPU_FMA4;
    if (__builtin_cpu_is("amd"))
        found |= WT_CPU_AMD;
    return found;
}
#else
unsigned wt_cpu_features(void) {
    return 0;
}
#endif

/* Processors without AVX2, and AMD's before Zen, are older than any library that is still in use:
 * it knows their models. */
const wt_core *wt_core_for(unsigned features) {
    if (features & WT_CPU_AVX512)
        return wt_core_named("SkylakeX");
    if ((features & WT_CPU_AVX2) && !(features & WT_CPU_FMA4))
        return wt_core_named(features & WT_CPU_AMD ? "Zen" : "Haswell");
    return NULL;
}

static const char *const words[] = {
    [WT_BLAS_CHOICE_PROCESSOR] = "chosen by what the processor can do",
    [WT_BLAS_CHOICE_USER] = "set by OPENBLAS_CORETYPE",
    [WT_BLAS_CHOICE_LIBRARY] = "chosen by OpenBLAS",
    [WT_BLAS_CHOICE_LOADED_BEFORE] = "of an OpenBLAS that the program had loaded before",
};

const char *wt_blas_choice_name(wt_blas_choice choice) {
    return (size_t)choice < sizeof words / sizeof *words ? words[choice] : "?";
}

void wt_core_judge(unsigned features, wt_blas *blas) {
    const wt_core *best = wt_core_for(features), *in_use = wt_core_named(blas->core);
    blas->best = best == NULL ? NULL : best->name;
    blas->remedy[0] = '\0';
    if (best == NULL || in_use == NULL || in_use->needs >= best->needs)
        return;
    const char *what = blas->choice == WT_BLAS_CHOICE_USER ? "unset OPENBLAS_CORETYPE"
                       : blas->choice == WT_BLAS_CHOICE_LOADED_BEFORE
                           ? "set OPENBLAS_CORETYPE before the program starts, or call "
                             "wt_blas_open before it loads another library that uses OpenBLAS"
                           : "install an OpenBLAS that has them (libopenblas0-pthread)";
    snprintf(blas->remedy, sizeof blas->remedy, "this processor can run the %s kernels: %s",
             best->name, what);
}
