/* OpenBLAS by pointers: it is opened at first use and not linked, so that its kernels can be chosen
 * before it loads, and so that a process with another BLAS in it calls the right one. */
#ifndef WT_LINALG_OPENBLAS_H
#define WT_LINALG_OPENBLAS_H

#include <cblas.h>

#include "base/context.h"
#include "linalg/lapack.h"

/* All that is called of it. */
#define WT_OPENBLAS_CALLS(CALL)                                                                    \
    CALL(cblas_dgemm)                                                                              \
    CALL(cblas_dgemv)                                                                              \
    CALL(cblas_dsyrk)                                                                              \
    CALL(cblas_dtrsm)                                                                              \
    CALL(cblas_dtrsv)                                                                              \
    CALL(cblas_sgemm)                                                                              \
    CALL(cblas_sgemv)                                                                              \
    CALL(cblas_ssyrk)                                                                              \
    CALL(cblas_strsm)                                                                              \
    CALL(cblas_strsv)                                                                              \
    CALL(dpotrf_)                                                                                  \
    CALL(spotrf_)                                                                                  \
    CALL(dsyevd_)                                                                                  \
    CALL(dgesdd_)                                                                                  \
    CALL(dgelsd_)                                                                                  \
    CALL(openblas_get_config)                                                                      \
    CALL(openblas_get_corename)                                                                    \
    CALL(openblas_get_num_threads)                                                                 \
    CALL(openblas_get_parallel)                                                                    \
    CALL(openblas_set_num_threads)

typedef struct wt_openblas_calls {
#define WT_OPENBLAS_POINTER(name) __typeof__(&(name)) name;
    WT_OPENBLAS_CALLS(WT_OPENBLAS_POINTER)
#undef WT_OPENBLAS_POINTER
} wt_openblas_calls;

/* Filled by the first wt_openblas_open that ends well. */
extern wt_openblas_calls wt_openblas;

/* Opens it, and sees to work space for as many threads as may enter it from here: those of the
 * context, or of the parallel loop around the caller. */
wt_status wt_openblas_open(wt_context *context);

/* WT_INTERNAL for an OpenBLAS of which openblas_get_parallel() says 0: built without threads. */
wt_status wt_openblas_check_flavour(wt_context *context, int parallel, const char *config);

#endif
