#include "features/model/features.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "wattle/random.h"

#define BLOCK_COLUMNS   544
#define WEIGHTS_A_CHUNK 4096
#define HEAD_DEVIATION                                                                             \
    0.5 /* of entries of W: tokens of norm 1 give pre-activations of variance 1 */

size_t wt_features_count(const wt_features *features) {
    return features->units * features->width;
}

double wt_features_norm(const wt_features *features) {
    return (double)features->units;
}

size_t wt_features_block_units(const wt_features *features) {
    size_t units = BLOCK_COLUMNS / features->width;
    return units == 0 ? 1 : units;
}

size_t wt_features_block_columns(const wt_features *features) {
    size_t units = wt_features_block_units(features);
    return (units < features->units ? units : features->units) * features->width;
}

size_t wt_features_blocks(const wt_features *features) {
    size_t most = wt_features_block_units(features);
    return (features->units - 1) / most + 1;
}

void wt_features_block_at(const wt_features *features, size_t b, size_t *first, size_t *count) {
    size_t most = wt_features_block_units(features);
    *first = b * most;
    *count = features->units - *first < most ? features->units - *first : most;
}

wt_status wt_features_shape(wt_context *context, const wt_model_spec *spec, wt_features *out) {
    *out = (wt_features){.spec = *spec};
    WT_PASS(wt_model_check(context, spec));
    size_t side, tokens, total;
    bool fits = wt_add(spec->dim, 1, &side);
    if (spec->kind == WT_MODEL_KIND_RFMLP) {
        out->width = 1;
        out->units = spec->width;
        fits = fits && (spec->width > 0 || wt_multiply(spec->heads, side, &out->units)) &&
               wt_add(spec->keys, 1, &tokens) && wt_multiply(tokens, spec->dim, &out->inputs) &&
               wt_add(out->inputs, 1, &out->inputs);
    } else {
        out->width = side;
        out->units = spec->heads;
        fits = fits && wt_multiply(side, side, &out->inputs);
    }
    if (!fits || !wt_multiply(out->units, out->inputs, &total) ||
        !wt_multiply(out->units, out->width, &total))
        return wt_fail(context, WT_MEMORY, "%zu heads in %zu dimensions are too many", spec->heads,
                       spec->dim);
    return WT_OK;
}

wt_status wt_features_new(wt_context *context, const wt_model_spec *spec, wt_features *out) {
    WT_PASS(wt_features_shape(context, spec, out));
    return WT_NEW2(context, &out->weights, out->units, out->inputs, "frozen weights");
}

static wt_status draw_weights(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    wt_features *features = argument;
    const wt_model_spec *spec = &features->spec;
    double deviation =
        spec->kind == WT_MODEL_KIND_RFMLP ? 1 / sqrt((double)spec->keys + 2) : HEAD_DEVIATION;
    double *out = features->weights + begin;
    wt_random_normal(wt_stream_for(spec->seed, "weights", 0), begin, end - begin, out);
    for (size_t i = 0; i < end - begin; i++)
        out[i] *= deviation;
    return WT_OK;
}

wt_status wt_features_draw(wt_context *context, const wt_model_spec *spec, wt_features *out) {
    wt_status status;
    WT_TRY(wt_features_new(context, spec, out));
    WT_TRY(wt_parallel_for(context, out->units * out->inputs, WEIGHTS_A_CHUNK, draw_weights, out));
    for (size_t u = 0; spec->kind == WT_MODEL_KIND_BRFA && u < out->units; u++)
        for (size_t j = 0; j < spec->dim; j++)
            out->weights[u * out->inputs + j * (spec->dim + 1) + j] += spec->bias;
done:
    if (status != WT_OK)
        wt_features_free(out);
    return status;
}

void wt_features_free(wt_features *features) {
    if (features == NULL)
        return;
    wt_release(features->weights);
    *features = (wt_features){0};
}

/* Copies rows between the two orders; forward = from block order to file order. */
static void reorder(const wt_features *features, const double *in, size_t columns, double *out,
                    bool forward) {
    for (size_t b = 0; b < wt_features_blocks(features); b++) {
        size_t first, count;
        wt_features_block_at(features, b, &first, &count);
        for (size_t u = 0; u < count; u++)
            for (size_t j = 0; j < features->width; j++) {
                size_t block = first * features->width + j * count + u;
                size_t file = (first + u) * features->width + j;
                memcpy(out + (forward ? file : block) * columns,
                       in + (forward ? block : file) * columns, columns * sizeof *out);
            }
    }
}

void wt_features_to_file_order(const wt_features *features, const double *in, size_t columns,
                               double *out) {
    reorder(features, in, columns, out, true);
}

void wt_features_to_block_order(const wt_features *features, const double *in, size_t columns,
                                double *out) {
    reorder(features, in, columns, out, false);
}

wt_status wt_model_check_sets(wt_context *context, const wt_model_spec *spec, const char *name,
                              const wt_sets *sets) {
    if (sets->dim != spec->dim)
        return wt_fail(context, WT_DATA, "%s has tokens of %zu dimensions, the model wants %zu",
                       name, sets->dim, spec->dim);
    bool flat = spec->kind == WT_MODEL_KIND_RFMLP || spec->kind == WT_MODEL_KIND_RFMLP_INF;
    if (flat && sets->keys != spec->keys)
        return wt_fail(context, WT_DATA, "%s has %zu keys a sample, %s wants %zu", name, sets->keys,
                       wt_model_kind_name(spec->kind), spec->keys);
    return WT_OK;
}
