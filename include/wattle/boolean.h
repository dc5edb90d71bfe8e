/* Sparse Boolean functions: s relevant bits among T, and labelled samples of them. */
#ifndef WATTLE_BOOLEAN_H
#define WATTLE_BOOLEAN_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WT_BOOLEAN_MOST_BITS 16

/* A function of s bits as its truth table. Entry r is the value where the first relevant bit is the
 * most significant one of r. */
typedef struct wt_boolean {
    size_t bits; /* s */
    bool symmetric;
    uint8_t *value; /* (2^s) 0 or 1 */
} wt_boolean;

/* From "and:3", "or:2", "majority:5" (more ones than zeros), "parity:4", "symmetric:0001" (s + 1
 * values by the number of ones) or "table:0110" (2^s values). WT_USAGE when the text is none. */
WT_API wt_status wt_boolean_open(wt_context *context, const char *text, wt_boolean *out);
WT_API void wt_boolean_free(wt_boolean *function);

/* P(f = 1) when every bit is 1 with the given probability, independently. */
WT_API double wt_boolean_mean(const wt_boolean *function, double probability);
/* The smallest probability of a one at which P(f = 1) = 1/2, to the last bit; 1/2 itself where that
 * is one; where there is none, that of P(f = 1) nearest to 1/2. A constant function gives 1/2. */
WT_API double wt_boolean_balance(const wt_boolean *function);

/* Samples of T bits with their labels. */
typedef struct wt_bits {
    size_t samples, length; /* n, T */
    uint8_t *bit;           /* (n, T) 0 or 1 */
    uint8_t *label;         /* (n) 0 or 1 */
} wt_bits;

WT_API wt_status wt_bits_new(wt_context *context, size_t samples, size_t length, wt_bits *out);
WT_API void wt_bits_free(wt_bits *bits);
/* From a file (.npz) with `bits` (n, T) and `labels` (n), of any type, all 0 or 1. */
WT_API wt_status wt_bits_load(wt_context *context, const char *path, wt_bits *out);

/* A function, where its bits are, and the law of the inputs. */
typedef struct wt_sparse_task {
    wt_boolean function;
    size_t length;
    size_t *relevant;   /* (s) different positions below length; the first is most significant */
    double probability; /* of a one, all bits independent */
    double noise;       /* probability that a label is turned, 0 <= noise < 1/2 */
    uint64_t seed;
} wt_sparse_task;

typedef struct wt_sparse_spec {
    const char *function;   /* as wt_boolean_open reads it */
    size_t length;          /* T >= s */
    const size_t *relevant; /* (relevant_count); NULL = a uniform subset by the seed, increasing */
    size_t relevant_count;  /* must be s when relevant is given */
    double probability;     /* of a one; NaN = balanced */
    double noise;
    uint64_t seed;
} wt_sparse_spec;

WT_API wt_status wt_sparse_open(wt_context *context, const wt_sparse_spec *spec,
                                wt_sparse_task *out);
WT_API void wt_sparse_free(wt_sparse_task *task);

/* Samples first .. first + out->samples - 1 of the task's stream of this purpose ("train",
 * "validate"). A sample depends on (seed, purpose, its index) alone. Labels carry the task's noise
 * when `noisy` is set, whatever the purpose. */
WT_API wt_status wt_sparse_draw(wt_context *context, const wt_sparse_task *task,
                                const char *purpose, uint64_t first, bool noisy, wt_bits *out);

/* The clean label of one input (T). */
WT_API uint8_t wt_sparse_label(const wt_sparse_task *task, const uint8_t *bit);

#ifdef __cplusplus
}
#endif
#endif
