/* The BLAS in use: which one it is, and who chose its kernels. */
#ifndef WATTLE_BLAS_H
#define WATTLE_BLAS_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Who chose the kernels of the BLAS in use. */
typedef enum wt_blas_choice {
    WT_BLAS_CHOICE_PROCESSOR,    /* wattle, by what the processor can do */
    WT_BLAS_CHOICE_USER,         /* OPENBLAS_CORETYPE was set */
    WT_BLAS_CHOICE_LIBRARY,      /* OpenBLAS, which chooses the best kernels by itself */
    WT_BLAS_CHOICE_LOADED_BEFORE /* whoever loaded OpenBLAS into this process before */
} wt_blas_choice;
/* "chosen by what the processor can do" and the like; "?" for no choice. */
WT_API const char *wt_blas_choice_name(wt_blas_choice choice);

typedef struct wt_blas {
    size_t size;        /* WT_SIZED(wt_blas) */
    const char *config; /* version and flags, in its own words */
    const char *core;   /* "SkylakeX": the name of a core type of OpenBLAS */
    const char *best;   /* those for what the processor can do; NULL when the library knows best */
    wt_blas_choice choice;
    int parallel;     /* built for 1 = POSIX threads, 2 = OpenMP */
    char remedy[256]; /* how to get better kernels; "" when these are fine */
} wt_blas;

/* Opens OpenBLAS (libopenblas.so.0) unless that is done, and says which it is. Kernels are chosen
 * by what the processor can do, so that a library older than the processor runs at full speed too.
 * An OpenBLAS that the process has loaded before is used as it is.
 *
 * An OPENBLAS_CORETYPE in the environment takes precedence. While OpenBLAS is being loaded, that
 * variable and OPENBLAS_NUM_THREADS=1 are set, and restored afterwards: where other threads use the
 * environment, call this before they start. WT_UNAVAILABLE when there is no OpenBLAS, WT_INTERNAL
 * when it was built without threads, WT_CONFIG when OPENBLAS_CORETYPE asks for kernels that the
 * processor cannot run; every later call that needs it says the same. */
WT_API wt_status wt_blas_open(wt_context *context, wt_blas *out);

#ifdef __cplusplus
}
#endif
#endif
