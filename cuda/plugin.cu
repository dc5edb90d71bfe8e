/* The plugin's door: opens a GPU and says which engines it has. */
#include "plugin.h"

#include <stdio.h>

wt_status cuda_fail(wt_context *context, const wt_device *device, const char *what,
                    const char *words) {
    char sentence[512];
    snprintf(sentence, sizeof sentence, "%s failed in %s: %s", device->name, what, words);
    return device->services->fail(context, WT_UNAVAILABLE, sentence);
}

wt_status cuda_check(wt_context *context, const wt_device *device, cudaError_t error,
                     const char *what) {
    if (error == cudaSuccess)
        return WT_OK;
    (void)cudaGetLastError(); /* one that does not stick is over */
    return cuda_fail(context, device, what, cudaGetErrorString(error));
}

wt_status cuda_enter(wt_context *context, const wt_device *device) {
    int index = (int)(size_t)device->state;
    return cuda_check(context, device, cudaSetDevice(index), "choosing the GPU");
}

void cuda_trim(const wt_device *device) {
    cudaMemPool_t pool;
    (void)cudaGetLastError();
    (void)cudaDeviceSynchronize(); /* what other lanes gave back comes free with their work */
    if (cudaDeviceGetDefaultMemPool(&pool, (int)(size_t)device->state) == cudaSuccess)
        (void)cudaMemPoolTrimTo(pool, 0);
}

cudaError_t cuda_malloc(const wt_device *device, size_t bytes, void **out) {
    cudaError_t error = cudaMalloc(out, bytes == 0 ? 1 : bytes);
    if (error != cudaErrorMemoryAllocation)
        return error;
    cuda_trim(device);
    return cudaMalloc(out, bytes == 0 ? 1 : bytes);
}

wt_status cuda_take(wt_context *context, wt_device *device, size_t bytes, const char *what,
                    cuda_block *out) {
    *out = cuda_block{NULL, 0};
    CUDA_PASS(device->services->hold(context, device, bytes, what));
    cudaError_t error = cuda_malloc(device, bytes, &out->data);
    if (error == cudaSuccess) {
        out->bytes = bytes;
        return WT_OK;
    }
    device->services->release(device, bytes);
    return cuda_refuse(context, device, error, bytes, what);
}

wt_status cuda_refuse(wt_context *context, const wt_device *device, cudaError_t error, size_t bytes,
                      const char *what) {
    (void)cudaGetLastError();
    if (error != cudaErrorMemoryAllocation)
        return cuda_fail(context, device, what, cudaGetErrorString(error));
    char sentence[512];
    size_t left = 0, all = 0;
    (void)cudaMemGetInfo(&left, &all);
    snprintf(sentence, sizeof sentence, "%s needs %.3g GB on %s, which has %.3g GB left of %.3g",
             what, (double)bytes / 1e9, device->name, (double)left / 1e9, (double)all / 1e9);
    return device->services->fail(context, WT_MEMORY, sentence);
}

void cuda_give(wt_device *device, cuda_block *block) {
    if (block->data == NULL)
        return;
    (void)cudaFree(block->data);
    device->services->release(device, block->bytes);
    *block = cuda_block{NULL, 0};
}

static wt_status open_gpu(wt_context *context, int index, wt_device *out) {
    int count = 0, driver = 0;
    cudaDeviceProp about;
    char sentence[256];
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || index >= count) {
        (void)cudaDriverGetVersion(&driver);
        if (driver == 0)
            snprintf(sentence, sizeof sentence,
                     "no GPU can be used: this machine has no driver of NVIDIA's");
        else if (error != cudaSuccess)
            snprintf(sentence, sizeof sentence, "no GPU can be used: %s",
                     cudaGetErrorString(error));
        else
            snprintf(sentence, sizeof sentence, "there is no %s: this machine has %d GPU%s",
                     out->name, count, count == 1 ? "" : "s");
        (void)cudaGetLastError();
        return out->services->fail(context, WT_UNAVAILABLE, sentence);
    }
    CUDA_PASS(
        cuda_check(context, out, cudaGetDeviceProperties(&about, index), "asking what it is"));
    snprintf(out->product, sizeof out->product, "%.63s", about.name);
    out->memory = about.totalGlobalMem;
    out->state = (void *)(size_t)index;
    out->ridge = &cuda_ridge;
    out->fleet = &cuda_fleet_engine;
    out->recover = &cuda_recover_engine;
    return cuda_enter(context, out);
}

extern "C" __attribute__((visibility("default"))) const wt_device_plugin wattle_device_plugin;
const wt_device_plugin wattle_device_plugin = {WT_DEVICE_VERSION, open_gpu};
