/* What the engines of the plugin share: a device, its memory, and sentences for its failures. */
#ifndef WATTLE_CUDA_PLUGIN_H
#define WATTLE_CUDA_PLUGIN_H

#include <cuda_runtime.h>

#include "device/device.h"

extern const struct wt_ridge_engine cuda_ridge;

/* In functions that return a wt_status and have nothing to free. */
#define CUDA_PASS(call)                                                                            \
    do {                                                                                           \
        wt_status status_of_call = (call);                                                         \
        if (status_of_call != WT_OK)                                                               \
            return status_of_call;                                                                 \
    } while (0)

/* WT_OK, or WT_UNAVAILABLE with the driver's words: "cuda:0 failed in WHAT: ...". */
wt_status cuda_check(wt_context *context, const wt_device *device, cudaError_t error,
                     const char *what);
/* The same with words of another library. */
wt_status cuda_fail(wt_context *context, const wt_device *device, const char *what,
                    const char *words);
/* WT_MEMORY with the bytes after an allocation that failed for want of them. */
wt_status cuda_refuse(wt_context *context, const wt_device *device, cudaError_t error, size_t bytes,
                      const char *what);
/* Gives back what the device's pool keeps, once all work there is done. */
void cuda_trim(const wt_device *device);
/* With that, where the memory does not do. */
cudaError_t cuda_malloc(const wt_device *device, size_t bytes, void **out);
/* Makes the device that of the calling thread. */
wt_status cuda_enter(wt_context *context, const wt_device *device);

/* Memory of the device, on its account. */
typedef struct cuda_block {
    void *data;
    size_t bytes;
} cuda_block;
/* WT_MEMORY with the bytes where they do not fit. */
wt_status cuda_take(wt_context *context, wt_device *device, size_t bytes, const char *what,
                    cuda_block *out);
/* Accepts a block of zeros. */
void cuda_give(wt_device *device, cuda_block *block);

/* The engines. */
extern const struct wt_fleet_engine cuda_fleet_engine;
extern const struct wt_recover_engine cuda_recover_engine;

#endif
