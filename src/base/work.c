#include "base/work.h"

void wt_work_add(wt_context *context, double flops) {
    /* whole numbers, so that the order in which threads add does not matter */
    atomic_fetch_add_explicit(&context->work, (uint_fast64_t)flops, memory_order_relaxed);
}

double wt_work_done(const wt_context *context) {
    return (double)atomic_load_explicit(&context->work, memory_order_relaxed);
}
