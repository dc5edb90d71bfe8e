/* Which of OpenBLAS's kernels a processor should run: by what it can do. A library that is older
 * than the processor does not know its model and takes the slowest kernels it has. */
#ifndef WT_LINALG_CORES_H
#define WT_LINALG_CORES_H

#include "linalg/linalg.h"

/* What a processor, and the system on it, can do; those that kernels are written for first, from
 * the oldest to the newest. */
typedef enum wt_cpu_feature {
    WT_CPU_SSE3 = 1 << 0,
    WT_CPU_SSE42 = 1 << 1,
    WT_CPU_AVX = 1 << 2,
    WT_CPU_AVX2 = 1 << 3,   /* with FMA */
    WT_CPU_AVX512 = 1 << 4, /* F, CD, DQ, BW and VL */
    WT_CPU_BF16 = 1 << 5,
    WT_CPU_FMA4 = 1 << 6, /* AMD's processors before Zen alone have it */
    WT_CPU_AMD = 1 << 7
} wt_cpu_feature;

/* Of the processor at hand; 0 on one that is no x86-64. */
unsigned wt_cpu_features(void);

/* A core type of OpenBLAS, as OPENBLAS_CORETYPE and openblas_get_corename() spell it. */
typedef struct wt_core {
    const char *name;
    unsigned needs;
} wt_core;

/* From the oldest to the newest; NULL past the last. */
const wt_core *wt_core_at(size_t index);
/* Upper and lower case are the same, as they are to OpenBLAS; NULL when it is not in the table. */
const wt_core *wt_core_named(const char *name);
/* Whether a processor with these features can run it. */
bool wt_core_runs(const wt_core *core, unsigned features);

/* The core type to ask for; NULL: OpenBLAS chooses as well as we do. */
const wt_core *wt_core_for(unsigned features);

/* Fills blas->best and, where its kernels are poorer than those, blas->remedy. */
void wt_core_judge(unsigned features, wt_blas *blas);

#endif
