/* Counter-based random numbers: a stream is a value, and any part of it can be drawn by index.
 *
 * Word i of stream (seed, stream) is word i of NumPy's Philox(key=[seed, stream]).random_raw().
 * Nothing here has state, so that any thread can draw its part and always finds the same bits. */
#ifndef WATTLE_RANDOM_H
#define WATTLE_RANDOM_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wt_stream {
    uint64_t seed;
    uint64_t stream;
} wt_stream;

/* The stream for one purpose ("query", "weights") and index (sample, head, repetition). Different
 * (seed, purpose, index) give unrelated streams. */
WT_API wt_stream wt_stream_for(uint64_t seed, const char *purpose, uint64_t index);
/* A seed for a part of the work, to key its own streams: (seed, "rep", 3) and so on. */
WT_API uint64_t wt_seed_for(uint64_t seed, const char *purpose, uint64_t index);

/* Words first .. first+count-1 of the stream. */
WT_API void wt_random_words(wt_stream stream, uint64_t first, size_t count, uint64_t *out);
/* Uniform on [0, 1): (word >> 11) / 2^53, one word per value. */
WT_API void wt_random_uniform(wt_stream stream, uint64_t first, size_t count, double *out);
/* N(0,1) by Box and Muller: with u1 = (w_2j >> 11) / 2^53 and u2 = (w_2j+1 >> 11) / 2^53, values
 * 2j and 2j+1 are sqrt(-2 log(1 - u1)) times cos(2 pi u2) and sin(2 pi u2). */
WT_API void wt_random_normal(wt_stream stream, uint64_t first, size_t count, double *out);
/* Vectors first .. first+count-1, uniform on the unit sphere of R^dim, rows of out (count, dim).
 * Vector i is made of the normals that start at i * (dim rounded up to even). */
WT_API void wt_random_sphere(wt_stream stream, uint64_t first, size_t count, size_t dim,
                             double *out);
/* +1 or -1 by the top bit of the word (set: -1), one word per value. */
WT_API void wt_random_sign(wt_stream stream, uint64_t first, size_t count, double *out);
/* 1 with the given probability, else 0: uniform < probability. */
WT_API void wt_random_bernoulli(wt_stream stream, uint64_t first, size_t count, double probability,
                                uint8_t *out);
/* The stream's permutation of 0 .. count-1 (Fisher and Yates, word i for position i). */
WT_API void wt_random_permutation(wt_stream stream, size_t count, size_t *out);
/* `chosen` different numbers below count, in increasing order; every subset is as likely as any
 * other (Floyd's method, word i for the i-th). WT_USAGE on the context if chosen > count. */
WT_API wt_status wt_random_subset(wt_context *context, wt_stream stream, size_t count,
                                  size_t chosen, size_t *out);

#ifdef __cplusplus
}
#endif
#endif
