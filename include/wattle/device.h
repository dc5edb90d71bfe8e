/* Where the heavy work runs: on the host, or on a GPU or on many processes through a plugin that is
 * loaded at run time. */
#ifndef WATTLE_DEVICE_H
#define WATTLE_DEVICE_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where fits, curves and trainings with this context run from now on: "host", "cuda" (the first
 * GPU), "cuda:1", "mpi", or "auto": the first GPU, or the host where there is none. A context
 * starts on the host.
 *
 * A GPU needs the plugin libwattle_cuda.so beside the library or in its installed folder, and a
 * driver. Where one of them is missing, "cuda" is WT_UNAVAILABLE with a sentence that says which;
 * "auto" is WT_OK then, and the same sentence is the context's message. WT_USAGE for another word.
 *
 * "mpi" needs the plugin libwattle_mpi.so and a program that was started by mpirun, or is alone. On
 * the process of rank 0 the call returns; on all others it does not: they work for that one, and
 * exit with its code when it does. All that follows the call is so run by rank 0 alone.
 *
 * The memory budget of the context is that of the device too: each has its own account. */
WT_API wt_status wt_context_set_device(wt_context *context, const char *name);
/* "host", "cuda:0"; valid as long as the process. */
WT_API const char *wt_context_device(const wt_context *context);

typedef struct wt_device_info {
    size_t size;         /* WT_SIZED(wt_device_info) */
    const char *name;    /* "cuda:0" */
    const char *product; /* "NVIDIA H200"; "" for the host */
    size_t memory;       /* bytes it has; 0 for the host */
    size_t used, peak;   /* bytes of them held by this process, now and at most */
    /* Of "mpi", else 0: processes, and the most that any of them did since the start. */
    size_t ranks;
    double flops;           /* of matrix products, factors and triangular solves */
    double bytes, messages; /* from rank to rank */
} wt_device_info;
WT_API wt_status wt_context_device_info(wt_context *context, wt_device_info *out);

#define WT_MACHINE_TEXT 320
/* "AMD EPYC 9354, 32 processors, cuda:0 NVIDIA H200" into out[WT_MACHINE_TEXT]: what the records of
 * a sweep say of the machine, with the device unless it is the host. */
WT_API wt_status wt_context_machine(wt_context *context, char *out);

#ifdef __cplusplus
}
#endif
#endif
