/* The inside of functions, samples and tasks. */
#ifndef WT_NETWORK_TASK_BOOLEAN_H
#define WT_NETWORK_TASK_BOOLEAN_H

#include "base/context.h"
#include "wattle/boolean.h"
#include "wattle/random.h"

struct wt_boolean {
    size_t bits; /* s */
    bool symmetric;
    uint8_t value[]; /* (2^s) 0 or 1 */
};

struct wt_bits {
    size_t samples, length; /* n, T */
    uint8_t *bit;           /* (n, T) 0 or 1 */
    uint8_t *label;         /* (n) 0 or 1 */
};

/* A copy; sample `sample` of one set as sample `at` of another of the same length. */
wt_status wt_bits_copy(wt_context *context, const wt_bits *from, wt_bits **out);
void wt_bits_take(const wt_bits *from, size_t sample, wt_bits *to, size_t at);

struct wt_sparse_task {
    wt_boolean *function;
    size_t length;
    size_t relevant[WT_BOOLEAN_MAX_BITS]; /* (s) */
    double probability, noise;
    uint64_t seed;
};

/* Bit t of sample i is 1 when half-word t of the sample's words is below this: probability 2^32. */
uint64_t wt_sparse_task_threshold(const wt_sparse_task *task);
/* wt_sparse_task_draw with the streams of a purpose: of bits, and of flipped labels. */
wt_status wt_sparse_task_draw_from(wt_context *context, const wt_sparse_task *task,
                                   wt_stream inputs, wt_stream flips, uint64_t first, bool noisy,
                                   wt_bits *out);

#endif
