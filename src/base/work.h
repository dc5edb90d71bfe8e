/* Counted work: the floating-point operations that calls on a context have done.
 *
 * Every product, factorisation and decomposition of linalg adds what its shape asks for, and so do
 * the loops of the learners of layers that multiply by hand. The count follows from shapes and from
 * how often things were done alone: neither threads, nor tiles, nor the clock change it. A
 * multiplication and an addition are two; exponentials, copies and sorting are not counted. */
#ifndef WT_BASE_WORK_H
#define WT_BASE_WORK_H

#include "base/context.h"

/* From any thread. */
void wt_work_add(wt_context *context, double flops);
/* All so far: what a call did is the difference of two of these. */
double wt_work_done(const wt_context *context);

/* A (m, k) times B (k, n). */
static inline double wt_work_product(size_t m, size_t n, size_t k) {
    return 2 * (double)m * (double)n * (double)k;
}

#endif
