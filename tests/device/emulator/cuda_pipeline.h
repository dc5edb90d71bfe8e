/* Copies into shared memory that are waited for. */
#ifndef EMULATOR_CUDA_PIPELINE_H
#define EMULATOR_CUDA_PIPELINE_H

#include "cuda_runtime.h"

static inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes) {
    emulator::copy_later(to, from, bytes);
}
static inline void __pipeline_commit() {
}
static inline void __pipeline_wait_prior(int) {
    emulator::wait_copies();
}

#endif
