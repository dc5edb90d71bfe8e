/* Fitted models in .safetensors files. The metadata says what the tensors are:
 *   wattle = format version, kind, activation, heads, bias, dim, keys
 * Random features: W (M,d+1,d+1) with the bias added and v (M,d+1,q), or w (P,(N+1)d+1) and
 * v (P,q). Kernels: query (n,d), keys (n,N,d), mask (n,N) if any, alpha (n,q). Where labels were
 * standardised, y_mean (q) and y_scale (q) too. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "features/model/fitted.h"
#include "io/tensor.h"
#include "wattle/io.h"

#define FORMAT_VERSION 1
#define TEXT_BYTES     32

typedef struct {
    char version[TEXT_BYTES], heads[TEXT_BYTES], bias[TEXT_BYTES], dim[TEXT_BYTES],
        keys[TEXT_BYTES];
} texts;

enum { METADATA = 7, MOST_TENSORS = 6 };

static void describe(const wt_model_spec *spec, texts *words, wt_metadata out[METADATA]) {
    snprintf(words->version, TEXT_BYTES, "%d", FORMAT_VERSION);
    snprintf(words->heads, TEXT_BYTES, "%zu", wt_model_kind_infinite(spec->kind) ? 0 : spec->heads);
    snprintf(words->bias, TEXT_BYTES, "%.17g", spec->bias);
    snprintf(words->dim, TEXT_BYTES, "%zu", spec->dim);
    snprintf(words->keys, TEXT_BYTES, "%zu", spec->keys);
    const wt_metadata pairs[METADATA] = {{"wattle", words->version},
                                         {"kind", wt_model_kind_name(spec->kind)},
                                         {"activation", wt_activation_name(spec->activation)},
                                         {"heads", words->heads},
                                         {"bias", words->bias},
                                         {"dim", words->dim},
                                         {"keys", words->keys}};
    memcpy(out, pairs, sizeof pairs);
}

/* Tensors of random features; v is a copy of the value vectors in file order. */
static size_t feature_tensors(const wt_fitted *fitted, const double *v, wt_tensor *out) {
    const wt_features *features = &fitted->model.features;
    size_t side = features->width, units = features->units, q = fitted->outputs;
    if (fitted->model.spec.kind == WT_MODEL_KIND_RFMLP) {
        out[0] = (wt_tensor){.name = "w", .rank = 2, .shape = {units, features->inputs}};
        out[1] = (wt_tensor){.name = "v", .rank = 2, .shape = {units, q}};
    } else {
        out[0] = (wt_tensor){.name = "W", .rank = 3, .shape = {units, side, side}};
        out[1] = (wt_tensor){.name = "v", .rank = 3, .shape = {units, side, q}};
    }
    out[0].values = features->weights;
    out[1].values = v;
    return 2;
}

static size_t kernel_tensors(const wt_fitted *fitted, const double *mask, wt_tensor *out) {
    const wt_sets *train = &fitted->train;
    size_t n = train->samples, count = 0;
    out[count++] =
        (wt_tensor){.name = "query", .rank = 2, .shape = {n, train->dim}, .values = train->query};
    out[count++] = (wt_tensor){
        .name = "keys", .rank = 3, .shape = {n, train->keys, train->dim}, .values = train->key};
    if (mask != NULL)
        out[count++] =
            (wt_tensor){.name = "mask", .rank = 2, .shape = {n, train->keys}, .values = mask};
    out[count++] = (wt_tensor){
        .name = "alpha", .rank = 2, .shape = {n, fitted->outputs}, .values = fitted->alpha};
    return count;
}

static bool standardised(const wt_fitted *fitted) {
    for (size_t o = 0; o < fitted->outputs; o++)
        if (fitted->shift[o] != 0 || fitted->scale[o] != 1)
            return true;
    return false;
}

wt_status wt_fitted_save(wt_context *context, const wt_fitted *fitted, const char *path) {
    const wt_features *features = &fitted->model.features;
    wt_metadata metadata[METADATA];
    wt_tensor tensors[MOST_TENSORS];
    texts words;
    double *copy = NULL; /* v in file order, or the mask as numbers */
    size_t count, q = fitted->outputs;
    wt_status status;
    describe(&fitted->model.spec, &words, metadata);
    if (fitted->v != NULL) {
        WT_TRY(WT_NEW2(context, &copy, wt_features_count(features), q, "value vectors"));
        wt_features_to_file_order(features, fitted->v, q, copy);
        count = feature_tensors(fitted, copy, tensors);
    } else {
        size_t slots = fitted->train.samples * fitted->train.keys;
        if (fitted->train.mask != NULL) {
            WT_TRY(WT_NEW(context, &copy, slots, "mask"));
            for (size_t i = 0; i < slots; i++)
                copy[i] = fitted->train.mask[i] != 0;
        }
        count = kernel_tensors(fitted, copy, tensors);
    }
    if (standardised(fitted)) {
        tensors[count++] =
            (wt_tensor){.name = "y_mean", .rank = 1, .shape = {q}, .values = fitted->shift};
        tensors[count++] =
            (wt_tensor){.name = "y_scale", .rank = 1, .shape = {q}, .values = fitted->scale};
    }
    WT_TRY(wt_safetensors_write(context, path, tensors, count, metadata, METADATA));
done:
    wt_release(copy);
    return status;
}

static wt_status read_number(wt_context *context, const wt_file *file, const char *key,
                             size_t *out) {
    const char *text = wt_file_metadata(file, key);
    uint64_t value;
    if (text == NULL || !wt_unsigned_parse(text, &value))
        return wt_fail(context, WT_DATA, "%s is no fitted model: its metadata has no number '%s'",
                       wt_file_path(file), key);
    *out = (size_t)value;
    return WT_OK;
}

static wt_status read_spec(wt_context *context, const wt_file *file, wt_model_spec *spec) {
    const char *path = wt_file_path(file), *kind = wt_file_metadata(file, "kind");
    const char *bias = wt_file_metadata(file, "bias");
    const char *activation = wt_file_metadata(file, "activation");
    size_t version = 0;
    *spec = (wt_model_spec){.size = sizeof *spec};
    WT_PASS(read_number(context, file, "wattle", &version));
    if (version != FORMAT_VERSION)
        return wt_fail(context, WT_DATA, "%s is of format version %zu, this wattle reads %d", path,
                       version, FORMAT_VERSION);
    if (kind == NULL || wt_model_kind_parse(context, kind, &spec->kind) != WT_OK)
        return wt_fail(context, WT_DATA, "%s is no fitted model of sets: its kind is '%s'", path,
                       kind == NULL ? "" : kind);
    WT_PASS(read_number(context, file, "heads", &spec->heads));
    WT_PASS(read_number(context, file, "dim", &spec->dim));
    WT_PASS(read_number(context, file, "keys", &spec->keys));
    if (bias == NULL || !wt_real_parse(bias, &spec->bias))
        return wt_fail(context, WT_DATA, "%s: the metadata has no bias", path);
    if (activation == NULL || wt_activation_parse(context, activation, &spec->activation) != WT_OK)
        return wt_fail(context, WT_DATA, "%s: the activation is '%s', not relu or softmax", path,
                       activation == NULL ? "" : activation);
    return WT_OK;
}

/* The sentence of a check, as one about the file: what would be bad usage elsewhere is bad data
 * there. */
static wt_status blame(wt_context *context, const wt_file *file, wt_status status) {
    if (status == WT_OK)
        return WT_OK;
    return wt_fail(context, WT_DATA, "%s: %s", wt_file_path(file), wt_context_message(context));
}

static wt_status misfit(wt_context *context, const wt_file *file) {
    return wt_fail(context, WT_DATA, "%s: its tensors do not fit its metadata", wt_file_path(file));
}

/* The tensor of the name, which must have this shape; finite values into out. */
static wt_status read_tensor(wt_context *context, const wt_file *file, const char *name,
                             size_t rank, const size_t *shape, double *out) {
    const wt_array *array = wt_file_find(file, name);
    if (array == NULL || array->rank != rank ||
        memcmp(array->shape, shape, rank * sizeof *shape) != 0) {
        char wanted[WT_SHAPE_TEXT];
        return wt_fail(context, WT_DATA,
                       "%s: tensor '%s' is missing or of another shape: %s is expected",
                       wt_file_path(file), name, wt_shape_format(rank, shape, wanted));
    }
    WT_PASS(wt_file_read(context, file, array, out));
    return blame(context, file, wt_values_check_finite(context, name, out, rank, shape));
}

/* Dimension `at` of a tensor, told before its shape is checked. */
static size_t size_of(const wt_file *file, const char *name, size_t at) {
    const wt_array *array = wt_file_find(file, name);
    return array == NULL || array->rank <= at ? 0 : array->shape[at];
}

static wt_status read_features(wt_context *context, const wt_file *file, wt_fitted *fitted) {
    wt_model_spec *spec = &fitted->model.spec;
    wt_features *features = &fitted->model.features;
    bool neurons = spec->kind == WT_MODEL_KIND_RFMLP;
    double *copy = NULL;
    wt_status status;
    if (neurons)
        spec->width = size_of(file, "w", 0);
    fitted->outputs = size_of(file, "v", neurons ? 1 : 2);
    WT_TRY(blame(context, file, wt_features_shape(context, spec, features)));
    /* The file must hold as many numbers as its metadata says before room is made for them. */
    const wt_array *weights = wt_file_find(file, neurons ? "w" : "W"), *v = wt_file_find(file, "v");
    size_t units = features->units, side = features->width, q = fitted->outputs, values;
    if (!neurons && weights != NULL && size_of(file, "W", 0) != units)
        return wt_fail(context, WT_DATA, "%s: 'W' holds %zu heads, the metadata says %zu",
                       wt_file_path(file), size_of(file, "W", 0), units);
    if (weights == NULL || weights->count != units * features->inputs || v == NULL || q == 0 ||
        !wt_multiply(wt_features_count(features), q, &values) || v->count != values)
        return misfit(context, file);
    WT_TRY(wt_features_new(context, spec, features));
    WT_TRY(
        read_tensor(context, file, weights->name, neurons ? 2 : 3,
                    neurons ? (size_t[]){units, features->inputs} : (size_t[]){units, side, side},
                    features->weights));
    WT_TRY(WT_NEW2(context, &copy, wt_features_count(features), q, "value vectors"));
    WT_TRY(WT_NEW2(context, &fitted->v, wt_features_count(features), q, "value vectors"));
    WT_TRY(read_tensor(context, file, "v", neurons ? 2 : 3,
                       neurons ? (size_t[]){units, q} : (size_t[]){units, side, q}, copy));
    wt_features_to_block_order(features, copy, q, fitted->v);
done:
    wt_release(copy);
    return status;
}

static wt_status read_kernel(wt_context *context, const wt_file *file, wt_fitted *fitted) {
    const wt_model_spec *spec = &fitted->model.spec;
    size_t n = size_of(file, "query", 0), slots = size_of(file, "keys", 1);
    wt_sets *train = &fitted->train;
    bool masked = wt_file_find(file, "mask") != NULL;
    double *mask = NULL;
    wt_status status;
    fitted->outputs = size_of(file, "alpha", 1);
    WT_TRY(blame(context, file, wt_model_check(context, spec)));
    if (size_of(file, "keys", 0) != n || size_of(file, "keys", 2) != spec->dim || n == 0 ||
        slots == 0 || size_of(file, "alpha", 0) != n || fitted->outputs == 0)
        return misfit(context, file);
    WT_TRY(wt_sets_open(context, n, slots, spec->dim, 0, masked, train));
    WT_TRY(read_tensor(context, file, "query", 2, (size_t[]){n, spec->dim}, train->query));
    WT_TRY(read_tensor(context, file, "keys", 3, (size_t[]){n, slots, spec->dim}, train->key));
    if (masked) {
        WT_TRY(WT_NEW2(context, &mask, n, slots, "mask"));
        WT_TRY(read_tensor(context, file, "mask", 2, (size_t[]){n, slots}, mask));
        for (size_t i = 0; i < n * slots; i++)
            train->mask[i] = mask[i] != 0;
    }
    WT_TRY(WT_NEW2(context, &fitted->alpha, n, fitted->outputs, "dual weights"));
    WT_TRY(read_tensor(context, file, "alpha", 2, (size_t[]){n, fitted->outputs}, fitted->alpha));
    WT_TRY(wt_sets_check(context, train, wt_file_path(file)));
    WT_TRY(wt_model_check_sets(context, spec, wt_file_path(file), train));
done:
    wt_release(mask);
    return status;
}

/* y_mean and y_scale, both or none. */
static wt_status read_scale(wt_context *context, const wt_file *file, wt_fitted *fitted) {
    size_t shape[] = {fitted->outputs};
    if (wt_file_find(file, "y_mean") == NULL && wt_file_find(file, "y_scale") == NULL)
        return WT_OK;
    WT_PASS(read_tensor(context, file, "y_mean", 1, shape, fitted->shift));
    WT_PASS(read_tensor(context, file, "y_scale", 1, shape, fitted->scale));
    for (size_t o = 0; o < fitted->outputs; o++)
        if (!(fitted->scale[o] > 0))
            return wt_fail(context, WT_DATA, "%s: y_scale[%zu] is %g, not above 0",
                           wt_file_path(file), o, fitted->scale[o]);
    return WT_OK;
}

wt_status wt_fitted_load(wt_context *context, const char *path, wt_fitted **out) {
    wt_file *file = NULL;
    wt_fitted *fitted = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_file_open(context, path, &file));
    WT_TRY(WT_NEW_ZERO(context, &fitted, 1, "fitted model"));
    WT_TRY(read_spec(context, file, &fitted->model.spec));
    if (wt_model_kind_infinite(fitted->model.spec.kind))
        WT_TRY(read_kernel(context, file, fitted));
    else
        WT_TRY(read_features(context, file, fitted));
    WT_TRY(wt_fitted_standardize(context, NULL, false, fitted));
    WT_TRY(read_scale(context, file, fitted));
    *out = fitted;
    fitted = NULL;
done:
    wt_file_free(file);
    wt_fitted_free(fitted);
    return status;
}
