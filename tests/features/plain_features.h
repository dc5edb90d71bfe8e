/* Plain versions of the features, and what tests of models share: the formulas, one loop an index,
 * in long double so that what differs is the error of the code under test. Features here are in
 * the order of files, (unit, component). */
#ifndef TESTS_FEATURES_PLAIN_FEATURES_H
#define TESTS_FEATURES_PLAIN_FEATURES_H

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "check.h"
#include "features/model/features.h"
#include "wattle/io.h"
#include "wattle/random.h"

#define GOLDEN TEST_DATA "/golden/random_features.npz"

/* |got| <= bound, with the case named when not; NaN fails. */
#define CHECK_BELOW(got, bound, ...)                                                               \
    do {                                                                                           \
        double below_got = (got), below_bound = (bound);                                           \
        if (!(below_got <= below_bound)) {                                                         \
            char below_case[200];                                                                  \
            snprintf(below_case, sizeof below_case, __VA_ARGS__);                                  \
            fail_msg("%s: %s is %g, over %g", below_case, #got, below_got, below_bound);           \
        }                                                                                          \
    } while (0)

/* Zeroed doubles, to be released with wt_release. */
static inline double *doubles(wt_context *context, size_t count) {
    double *values;
    CHECK_OK(context, WT_NEW_ZERO(context, &values, count, "doubles"));
    return values;
}

/* All values of an array of a file, which must have `count` of them. */
static inline double *stored(wt_context *context, const char *path, const char *name,
                             size_t count) {
    wt_file *file;
    CHECK_OK(context, wt_file_open(context, path, &file));
    const wt_array *array = wt_file_find(file, name);
    assert_non_null(array);
    assert_int_equal(array->count, count);
    double *values = doubles(context, count);
    CHECK_OK(context, wt_file_read(context, file, array, values));
    wt_file_free(file);
    return values;
}

/* The largest |a - b| over the largest |b|; NaN is infinite. */
static inline double relative_difference(size_t count, const double *a, const double *b) {
    double largest = 0, scale = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = fabs(a[i] - b[i]);
        largest = difference <= largest ? largest : isnan(difference) ? INFINITY : difference;
        scale = fmax(scale, fabs(b[i]));
    }
    return scale > 0 ? largest / scale : largest;
}

/* Sets of N(0, 1/d) tokens and N(0, 1) labels; of every masked sample the first key is live, of
 * the others about half. Masked keys hold numbers too. */
static inline wt_sets draw_sets(wt_context *context, uint64_t seed, size_t n, size_t keys,
                                size_t dim, size_t outputs, bool masked) {
    wt_sets sets;
    CHECK_OK(context, wt_sets_open(context, n, keys, dim, outputs, masked, &sets));
    wt_random_normal(wt_stream_for(seed, "test query", 0), 0, n * dim, sets.query);
    wt_random_normal(wt_stream_for(seed, "test keys", 0), 0, n * keys * dim, sets.key);
    for (size_t i = 0; i < n * dim; i++)
        sets.query[i] /= sqrt((double)dim);
    for (size_t i = 0; i < n * keys * dim; i++)
        sets.key[i] /= sqrt((double)dim);
    if (outputs > 0)
        wt_random_normal(wt_stream_for(seed, "test labels", 0), 0, n * outputs, sets.y);
    if (masked)
        wt_random_bernoulli(wt_stream_for(seed, "test mask", 0), 0, n * keys, 0.5, sets.mask);
    for (size_t i = 0; masked && i < n; i++)
        sets.mask[i * keys] = 1;
    return sets;
}

/* Component a of [x; 1]. */
static inline long double extended(const double *token, size_t dim, size_t a) {
    return a < dim ? token[a] : 1;
}

static inline bool is_live(const wt_sets *sets, size_t sample, size_t key) {
    return sets->mask == NULL || sets->mask[sample * sets->keys + key] != 0;
}

/* x~0^T W x~i, W (d+1, d+1) */
static inline long double plain_score(const wt_sets *sets, size_t sample, size_t key,
                                      const double *w) {
    size_t dim = sets->dim, side = dim + 1;
    const double *x0 = sets->query + sample * dim;
    const double *xi = sets->key + (sample * sets->keys + key) * dim;
    long double sum = 0;
    for (size_t a = 0; a < side; a++)
        for (size_t b = 0; b < side; b++)
            sum += extended(x0, dim, a) * w[a * side + b] * extended(xi, dim, b);
    return sum;
}

enum { PLAIN_KEYS = 64 }; /* the most keys of the plain version */

/* The d+1 features of one head: sum_i weight_i x~i with weights relu(s_i)/N or softmax. */
static inline void plain_head(const wt_sets *sets, size_t sample, wt_activation activation,
                              const double *w, double *out) {
    size_t dim = sets->dim;
    long double weight[PLAIN_KEYS] = {0}, most = -HUGE_VALL, total = 0;
    assert_true(sets->keys <= PLAIN_KEYS);
    for (size_t i = 0; i < sets->keys; i++)
        if (is_live(sets, sample, i)) {
            weight[i] = plain_score(sets, sample, i, w);
            most = fmaxl(most, weight[i]);
        }
    for (size_t i = 0; i < sets->keys; i++)
        if (is_live(sets, sample, i)) {
            weight[i] =
                activation == WT_ACTIVATION_SOFTMAX ? expl(weight[i] - most) : fmaxl(weight[i], 0);
            total += activation == WT_ACTIVATION_SOFTMAX ? weight[i] : 1;
        }
    for (size_t j = 0; j <= dim; j++) {
        long double sum = 0;
        for (size_t i = 0; i < sets->keys; i++)
            sum +=
                weight[i] / total * extended(sets->key + (sample * sets->keys + i) * dim, dim, j);
        out[j] = (double)sum;
    }
}

/* relu(<w, [x0; x1; ..; xN; 1]>), masked keys zero */
static inline double plain_neuron(const wt_sets *sets, size_t sample, const double *w) {
    size_t dim = sets->dim;
    long double sum = w[(sets->keys + 1) * dim];
    for (size_t j = 0; j < dim; j++)
        sum += (long double)w[j] * sets->query[sample * dim + j];
    for (size_t i = 0; i < sets->keys; i++)
        for (size_t j = 0; is_live(sets, sample, i) && j < dim; j++)
            sum +=
                (long double)w[(i + 1) * dim + j] * sets->key[(sample * sets->keys + i) * dim + j];
    return (double)fmaxl(sum, 0);
}

/* Phi (n, f) from the weights of `features`. */
static inline double *plain_features(wt_context *context, const wt_features *features,
                                     const wt_sets *sets) {
    size_t f = wt_features_count(features);
    double *phi = doubles(context, sets->samples * f);
    for (size_t i = 0; i < sets->samples; i++)
        for (size_t u = 0; u < features->units; u++) {
            const double *w = features->weights + u * features->inputs;
            double *out = phi + i * f + u * features->width;
            if (features->spec.kind == WT_MODEL_KIND_RFMLP)
                *out = plain_neuron(sets, i, w);
            else
                plain_head(sets, i, features->spec.activation, w, out);
        }
    return phi;
}

/* Phi (n, f) as the library makes it, block after block, brought to the order of files. */
static inline double *library_features(wt_context *context, const wt_features *features,
                                       const wt_sets *sets) {
    size_t f = wt_features_count(features), n = sets->samples;
    double *blocks = doubles(context, n * f), *phi = doubles(context, n * f);
    for (size_t b = 0; b < wt_features_blocks(features); b++) {
        size_t first, count;
        wt_features_block_at(features, b, &first, &count);
        CHECK_OK(context, wt_features_block(context, features, sets, first, count,
                                            blocks + first * features->width, f));
    }
    for (size_t i = 0; i < n; i++)
        wt_features_to_file_order(features, blocks + i * f, 1, phi + i * f);
    wt_release(blocks);
    return phi;
}

/* Features with given weights (units, inputs). */
static inline wt_features features_with(wt_context *context, const wt_model_spec *spec,
                                        const double *weights) {
    wt_features features;
    CHECK_OK(context, wt_features_new(context, spec, &features));
    memcpy(features.weights, weights, features.units * features.inputs * sizeof *weights);
    return features;
}

/* The tokens of the golden file, with its labels, and with its mask or without. */
static inline wt_sets golden_sets(wt_context *context, bool masked) {
    enum { N_SAMPLES = 12, N_KEYS = 4, DIM = 5, OUTPUTS = 2 };
    wt_sets sets = {.samples = N_SAMPLES, .keys = N_KEYS, .dim = DIM, .outputs = OUTPUTS};
    sets.query = stored(context, GOLDEN, "query", N_SAMPLES * DIM);
    sets.key = stored(context, GOLDEN, "keys", N_SAMPLES * N_KEYS * DIM);
    sets.y = stored(context, GOLDEN, "y", N_SAMPLES * OUTPUTS);
    if (!masked)
        return sets;
    double *mask = stored(context, GOLDEN, "mask", N_SAMPLES * N_KEYS);
    CHECK_OK(context, WT_NEW(context, &sets.mask, N_SAMPLES * N_KEYS, "mask"));
    for (size_t i = 0; i < N_SAMPLES * N_KEYS; i++)
        sets.mask[i] = mask[i] != 0;
    wt_release(mask);
    return sets;
}

#endif
