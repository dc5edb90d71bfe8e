#define _GNU_SOURCE /* sincos */
#include "wattle/random.h"

#include <Random123/philox.h>
#include <math.h>

#include "base/context.h"

#define TWO_PI 6.283185307179586476925286766559

/* Four words of the stream: NumPy counts one up before its first block. A block is the index of a
 * word by four, so that the count never carries into the counter's second word. */
static void block_words(wt_stream stream, uint64_t block, uint64_t words[4]) {
    philox4x64_ctr_t counter = {{block + 1, 0, 0, 0}};
    philox4x64_key_t key = {{stream.seed, stream.stream}};
    philox4x64_ctr_t mixed = philox4x64(counter, key);
    for (int i = 0; i < 4; i++)
        words[i] = mixed.v[i];
}

void wt_random_words(wt_stream stream, uint64_t first, size_t count, uint64_t *out) {
    uint64_t words[4];
    for (size_t i = 0; i < count;) {
        uint64_t at = first + i;
        block_words(stream, at / 4, words);
        for (uint64_t j = at % 4; j < 4 && i < count; j++)
            out[i++] = words[j];
    }
}

/* The finaliser of SplitMix64: every input bit reaches every output bit. */
static uint64_t mix(uint64_t value) {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/* FNV-1a of the purpose, mixed with the index. */
static uint64_t stream_number(const char *purpose, uint64_t index) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *purpose != '\0'; purpose++)
        hash = (hash ^ (unsigned char)*purpose) * 0x100000001b3u;
    return mix(mix(hash) ^ index);
}

wt_stream wt_stream_for(uint64_t seed, const char *purpose, uint64_t index) {
    return (wt_stream){.seed = seed, .stream = stream_number(purpose, index)};
}

uint64_t wt_seed_for(uint64_t seed, const char *purpose, uint64_t index) {
    uint64_t word;
    wt_random_words(wt_stream_for(seed, purpose, index), 0, 1, &word);
    return word;
}

static double to_unit(uint64_t word) {
    return (double)(word >> 11) * 0x1p-53;
}

enum { BATCH = 256 }; /* words on the stack at a time; a multiple of 4 */

void wt_random_uniform(wt_stream stream, uint64_t first, size_t count, double *out) {
    uint64_t words[BATCH];
    for (size_t done = 0; done < count;) {
        size_t batch = count - done < BATCH ? count - done : BATCH;
        wt_random_words(stream, first + done, batch, words);
        for (size_t i = 0; i < batch; i++)
            out[done + i] = to_unit(words[i]);
        done += batch;
    }
}

/* Values 2j and 2j+1 from words 2j and 2j+1. */
static void normal_pair(const uint64_t words[2], double pair[2]) {
    double radius = sqrt(-2 * log(1 - to_unit(words[0])));
    double sine, cosine;
    sincos(TWO_PI * to_unit(words[1]), &sine, &cosine);
    pair[0] = radius * cosine;
    pair[1] = radius * sine;
}

void wt_random_normal(wt_stream stream, uint64_t first, size_t count, double *out) {
    uint64_t words[BATCH];
    double pair[2];
    for (size_t done = 0; done < count;) {
        uint64_t even = (first + done) & ~(uint64_t)1;
        size_t skip = (size_t)(first + done - even); /* 1 when the part starts inside a pair */
        size_t want = count - done + skip;
        size_t batch = want < BATCH ? (want + 1) & ~(size_t)1 : BATCH;
        wt_random_words(stream, even, batch, words);
        for (size_t i = 0; i < batch; i += 2) {
            normal_pair(words + i, pair);
            for (size_t j = i == 0 ? skip : 0; j < 2 && done < count; j++)
                out[done++] = pair[j];
        }
    }
}

void wt_random_sphere(wt_stream stream, uint64_t first, size_t count, size_t dim, double *out) {
    uint64_t stride = (uint64_t)dim + dim % 2;
    for (size_t i = 0; i < count; i++) {
        double *vector = out + i * dim;
        wt_random_normal(stream, (first + i) * stride, dim, vector);
        double square = 0;
        for (size_t j = 0; j < dim; j++)
            square += vector[j] * vector[j];
        double scale = 1 / sqrt(square);
        for (size_t j = 0; j < dim; j++)
            vector[j] *= scale;
    }
}

void wt_random_sign(wt_stream stream, uint64_t first, size_t count, double *out) {
    uint64_t words[BATCH];
    for (size_t done = 0; done < count;) {
        size_t batch = count - done < BATCH ? count - done : BATCH;
        wt_random_words(stream, first + done, batch, words);
        for (size_t i = 0; i < batch; i++)
            out[done + i] = words[i] >> 63 ? -1 : 1;
        done += batch;
    }
}

void wt_random_bernoulli(wt_stream stream, uint64_t first, size_t count, double probability,
                         uint8_t *out) {
    uint64_t words[BATCH];
    for (size_t done = 0; done < count;) {
        size_t batch = count - done < BATCH ? count - done : BATCH;
        wt_random_words(stream, first + done, batch, words);
        for (size_t i = 0; i < batch; i++)
            out[done + i] = to_unit(words[i]) < probability;
        done += batch;
    }
}

__extension__ typedef unsigned __int128 wide;

/* A number below `bound` from one word; the bias of bound / 2^64 is beyond any measurement. */
static size_t below(wt_stream stream, uint64_t index, size_t bound) {
    uint64_t word;
    wt_random_words(stream, index, 1, &word);
    return (size_t)(((wide)word * bound) >> 64);
}

void wt_random_permutation(wt_stream stream, size_t count, size_t *out) {
    for (size_t i = 0; i < count; i++) {
        size_t j = below(stream, i, i + 1);
        if (j != i)
            out[i] = out[j];
        out[j] = i;
    }
}

wt_status wt_random_subset(wt_context *context, wt_stream stream, size_t count, size_t chosen,
                           size_t *out) {
    if (chosen > count)
        return wt_fail(context, WT_USAGE, "cannot choose %zu different numbers of %zu", chosen,
                       count);
    for (size_t i = 0; i < chosen; i++) {
        size_t largest = count - chosen + i;
        size_t pick = below(stream, i, largest + 1);
        size_t at = i; /* where the pick belongs in the increasing prefix */
        while (at > 0 && out[at - 1] > pick)
            at--;
        if (at > 0 && out[at - 1] == pick) { /* taken: the largest number is free for sure */
            pick = largest;
            at = i;
        }
        for (size_t j = i; j > at; j--)
            out[j] = out[j - 1];
        out[at] = pick;
    }
    return WT_OK;
}
