/* Shapes that the networks are tried on, and what every test of them needs. */
#ifndef TESTS_NETWORK_NETWORK_CASES_H
#define TESTS_NETWORK_NETWORK_CASES_H

#include "base/memory.h"
#include "check.h"
#include "network/plain/network_plain.h"
#include "wattle/random.h"

/* Among them: the recipe's shape, one token, heads and widths that fill no vector, more heads than
 * one vector holds, and lengths around multiples of four and eight. */
static const wt_network_spec network_cases[] = {
    {.kind = "transformer", .length = 7, .dim = 6, .heads = 3, .hidden = 5},
    {.kind = "transformer", .length = 1, .dim = 1, .heads = 1},
    {.kind = "transformer", .length = 4, .dim = 20, .heads = 1, .hidden = 33},
    {.kind = "transformer", .length = 8, .dim = 40, .heads = 20, .hidden = 8},
    {.kind = "transformer", .length = 37, .dim = 64, .heads = 16},
    {.kind = "transformer", .length = 18, .dim = 96, .heads = 8, .hidden = 40},
    {.kind = "head", .length = 6, .dim = 5, .activation = "tanh"},
    {.kind = "head", .length = 3, .dim = 4, .activation = "gelu"},
    {.kind = "head", .length = 5, .dim = 3, .activation = "identity"},
    {.kind = "head", .length = 40, .dim = 16},
    {.kind = "mlp", .length = 6, .hidden = 7, .activation = "gelu"},
    {.kind = "mlp", .length = 33, .hidden = 20},
};
enum { NETWORK_CASES = sizeof network_cases / sizeof *network_cases };

static inline wt_network *open_network(wt_context *context, const wt_network_spec *spec) {
    wt_network *network;
    wt_network_spec own = *spec;
    own.size = sizeof own;
    CHECK_OK(context, wt_network_new(context, &own, &network));
    return network;
}

static inline void draw_bits(wt_context *context, size_t samples, size_t length, uint64_t seed,
                             wt_bits **out) {
    CHECK_OK(context, wt_bits_new(context, samples, length, out));
    wt_random_bernoulli(wt_stream_for(seed, "bits", 0), 0, samples * length, 0.6, (*out)->bit);
    wt_random_bernoulli(wt_stream_for(seed, "labels", 0), 0, samples, 0.5, (*out)->label);
}

/* Parameters far from the start, so that no term is small; exact in float. */
static inline double *far_parameters(wt_context *context, const wt_network *network,
                                     double spread) {
    size_t size = wt_network_size(network);
    double *out;
    CHECK_OK(context, WT_NEW(context, &out, size, "parameters"));
    wt_random_normal(wt_stream_for(3, "far", 0), 0, size, out);
    for (size_t i = 0; i < size; i++)
        out[i] = (float)(spread * out[i]);
    return out;
}

static inline float *narrowed(wt_context *context, const double *values, size_t count) {
    float *out;
    CHECK_OK(context, WT_NEW(context, &out, count, "floats"));
    for (size_t i = 0; i < count; i++)
        out[i] = (float)values[i];
    return out;
}

#endif
