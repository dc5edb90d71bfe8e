/* Sparse Boolean functions: s relevant bits among T, and labelled samples of them.
 *
 *     wt_sparse_spec spec;
 *     WT_INIT(wt_sparse_spec, &spec);
 *     spec.function = "majority:3";
 *     spec.length = 100;
 *     wt_sparse_task *task;
 *     wt_sparse_task_new(context, &spec, &task);
 *     wt_bits *samples;
 *     wt_bits_new(context, 500, 100, &samples);
 *     wt_sparse_task_draw(context, task, "train", 0, true, samples); */
#ifndef WATTLE_BOOLEAN_H
#define WATTLE_BOOLEAN_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WT_BOOLEAN_MAX_BITS 16

/* A function of s bits, by its truth table. */
typedef struct wt_boolean wt_boolean;

/* From "and:3", "or:2", "majority:5" (more ones than zeros), "parity:4", "symmetric:0001" (s + 1
 * values by the number of ones) or "table:0110" (2^s values). WT_USAGE when the text is none. */
WT_API wt_status wt_boolean_new(wt_context *context, const char *text, wt_boolean **out);
WT_API void wt_boolean_free(wt_boolean *function);
WT_API size_t wt_boolean_bits(const wt_boolean *function); /* s */
/* Whether the value depends on the number of ones alone. */
WT_API bool wt_boolean_symmetric(const wt_boolean *function);
/* Row r of the truth table, r < 2^s, 0 or 1; the first bit is the most significant one of r. */
WT_API uint8_t wt_boolean_value(const wt_boolean *function, size_t row);

/* P(f = 1) when every bit is 1 with the given probability, independently. */
WT_API double wt_boolean_mean(const wt_boolean *function, double probability);
/* The smallest probability of a one at which P(f = 1) = 1/2, to the last bit; 1/2 itself where that
 * is one; where there is none, that of P(f = 1) nearest to 1/2. A constant function gives 1/2. */
WT_API double wt_boolean_balance(const wt_boolean *function);

/* n samples of T bits with their labels, all 0 or 1. */
typedef struct wt_bits wt_bits;

/* Room for the samples, not yet set. */
WT_API wt_status wt_bits_new(wt_context *context, size_t samples, size_t length, wt_bits **out);
/* From bits (n, T) and labels (n), NULL = all 0: each of them all 0 or 1, or all -1 or 1. WT_DATA
 * with the place where they are not. */
WT_API wt_status wt_bits_new_from(wt_context *context, size_t samples, size_t length,
                                  const double *bits, const double *labels, wt_bits **out);
/* From a file (.npz) with `bits` (n, T) and `labels` or `y` (n), of any type: each of them all 0 or
 * 1, or all -1 or 1. */
WT_API wt_status wt_bits_load(wt_context *context, const char *path, wt_bits **out);
/* The same of a file that may have no labels: they are 0 then, and *labelled is false. */
WT_API wt_status wt_bits_load_inputs(wt_context *context, const char *path, bool *labelled,
                                     wt_bits **out);
/* Two new sets: a part of the samples, drawn by the seed, held out, and the others. Each has one
 * sample or more, else it is WT_USAGE. */
WT_API wt_status wt_bits_split(wt_context *context, const wt_bits *bits, double part, uint64_t seed,
                               wt_bits **others, wt_bits **held);
WT_API void wt_bits_free(wt_bits *bits);
WT_API size_t wt_bits_samples(const wt_bits *bits); /* n */
WT_API size_t wt_bits_length(const wt_bits *bits);  /* T */
/* The T bits of sample i, and the n labels, to be read and set. */
WT_API uint8_t *wt_bits_sample(wt_bits *bits, size_t index);
WT_API uint8_t *wt_bits_labels(wt_bits *bits);

/* A function, where its bits are, and the distribution of the inputs. */
typedef struct wt_sparse_task wt_sparse_task;

typedef struct wt_sparse_spec {
    size_t size;
    const char *function;   /* as wt_boolean_new reads it */
    size_t length;          /* T >= s */
    const size_t *relevant; /* (relevant_count) different positions, the first is most significant;
                             * NULL = a uniform subset by the seed, increasing */
    size_t relevant_count;  /* must be s when relevant is given */
    double probability;     /* of a one, all bits independent; NaN = balanced */
    double noise;           /* probability that a label is flipped, 0 <= noise < 1/2 */
    uint64_t seed;
} wt_sparse_spec;

/* and:3 of 300 bits, balanced, without noise. */
WT_API void wt_sparse_spec_init(wt_sparse_spec *spec, size_t size);

WT_API wt_status wt_sparse_task_new(wt_context *context, const wt_sparse_spec *spec,
                                    wt_sparse_task **out);
WT_API void wt_sparse_task_free(wt_sparse_task *task);
WT_API const wt_boolean *wt_sparse_task_function(const wt_sparse_task *task);
WT_API const size_t *wt_sparse_task_relevant(const wt_sparse_task *task); /* (s) */
WT_API double wt_sparse_task_probability(const wt_sparse_task *task);     /* of a one */

/* Samples first .. first + n - 1 of the task's stream of this purpose ("train", "validate") into
 * `bits`. A sample depends on (seed, purpose, its index) alone. Labels carry the task's noise when
 * `noisy` is set, whatever the purpose. */
WT_API wt_status wt_sparse_task_draw(wt_context *context, const wt_sparse_task *task,
                                     const char *purpose, uint64_t first, bool noisy,
                                     wt_bits *bits);

/* The clean label of one input (T). */
WT_API uint8_t wt_sparse_task_label(const wt_sparse_task *task, const uint8_t *bit);

#ifdef __cplusplus
}
#endif
#endif
