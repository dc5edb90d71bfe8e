/* Sets of tokens for tests of the kernels: one table of shapes, drawn with fixed seeds. */
#ifndef TESTS_FEATURES_KERNEL_CASES_H
#define TESTS_FEATURES_KERNEL_CASES_H

#include "check.h"
#include "features/task/sets.h"
#include "wattle/fit.h"
#include "wattle/random.h"

typedef struct {
    const char *name;
    size_t samples, keys, dim;
    double scale;  /* tokens are N(0, scale^2 I / d) */
    bool masked;   /* about half of the keys */
    bool repeated; /* sample 1 is sample 0, sample 2 its opposite, and keys repeat */
} kernel_case;

static const kernel_case kernel_cases[] = {
    {"plain", 37, 5, 4, 1, false, false},
    {"one dimension", 20, 3, 1, 1, false, false},
    {"one key", 70, 1, 6, 1, false, false},
    {"one of everything", 1, 1, 1, 1, false, false},
    {"masked", 30, 7, 3, 1, true, false},
    {"repeated", 12, 6, 5, 1, false, true},
    {"repeated and masked", 12, 6, 2, 3, true, true},
    {"large tokens", 15, 4, 5, 30, false, true},
    {"small tokens", 15, 4, 5, 1e-3, false, true},
    {"more keys than a step of rows", 3, 150, 3, 1, true, false},
    {"more keys than a tile", 2, 1100, 6, 1, false, false},
    {"several tiles", 150, 16, 4, 1, true, false},
};
enum { KERNEL_CASES = sizeof kernel_cases / sizeof *kernel_cases };

static const wt_model_kind kernel_kinds[] = {WT_MODEL_KIND_RFA_INF, WT_MODEL_KIND_BRFA_INF,
                                             WT_MODEL_KIND_RFMLP_INF};
enum { KERNEL_KINDS = 3 };

static inline void case_repeat(wt_sets *sets) {
    size_t query = sets->dim, keys = sets->keys * sets->dim;
    for (size_t j = 0; j < query; j++) {
        sets->query[query + j] = sets->query[j];
        sets->query[2 * query + j] = -sets->query[j];
    }
    for (size_t j = 0; j < keys; j++) {
        sets->key[keys + j] = sets->key[j];
        sets->key[2 * keys + j] = -sets->key[j];
        sets->key[3 * keys + j] = sets->key[3 * keys + j % sets->dim];
    }
    sets->key[4 * keys] = 0;
}

static inline wt_sets case_draw(wt_context *context, const kernel_case *shape, uint64_t seed) {
    wt_sets sets;
    CHECK_OK(context, wt_sets_open(context, shape->samples, shape->keys, shape->dim, 0,
                                   shape->masked, &sets));
    size_t queries = shape->samples * shape->dim, keys = queries * shape->keys;
    wt_random_normal(wt_stream_for(seed, "query", 0), 0, queries, sets.query);
    wt_random_normal(wt_stream_for(seed, "keys", 0), 0, keys, sets.key);
    for (size_t i = 0; i < queries; i++)
        sets.query[i] *= shape->scale / sqrt((double)shape->dim);
    for (size_t i = 0; i < keys; i++)
        sets.key[i] *= shape->scale / sqrt((double)shape->dim);
    if (shape->masked) {
        wt_random_bernoulli(wt_stream_for(seed, "mask", 0), 0, shape->samples * shape->keys, 0.5,
                            sets.mask);
        for (size_t s = 0; s < shape->samples; s++)
            sets.mask[s * shape->keys + s % shape->keys] = 7;
    }
    if (shape->repeated)
        case_repeat(&sets);
    return sets;
}

static inline wt_model_spec case_spec(const kernel_case *shape, wt_model_kind kind, double bias) {
    return (wt_model_spec){.size = sizeof(wt_model_spec),
                           .kind = kind,
                           .bias = bias,
                           .dim = shape->dim,
                           .keys = shape->keys};
}

#endif
