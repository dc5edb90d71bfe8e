#include "wattle/network.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "network/model/network_dropout.h"
#include "network/model/network_kind.h"
#include "wattle/random.h"

static const wt_network_kind *const kinds[] = {&wt_kind_transformer, &wt_kind_head, &wt_kind_mlp};
enum {
    KINDS = sizeof kinds / sizeof *kinds,
    PIECE = 512, /* numbers drawn at a time; even, for normals come in pairs */
};

void wt_network_spec_init(wt_network_spec *spec, size_t size) {
    const wt_network_spec full = {.kind = wt_kind_transformer.name,
                                  .length = 100,
                                  .dim = 64,
                                  .heads = 16,
                                  .embedding_drop = 0.1,
                                  .attention_drop = 0.1,
                                  .block_drop = 0.1};
    spec->size = size;
    wt_sized_write(spec, &full, sizeof full);
}

static wt_status find_kind(wt_context *context, const char *name, const wt_network_kind **out) {
    for (size_t i = 0; i < KINDS; i++)
        if (name != NULL && strcmp(name, kinds[i]->name) == 0) {
            *out = kinds[i];
            return WT_OK;
        }
    return wt_fail(context, WT_USAGE, "there is no network '%s': transformer, head or mlp",
                   name == NULL ? "" : name);
}

static wt_status find_activation(wt_context *context, wt_network *network) {
    const char *const *known = network->kind->activations, *wanted = network->spec.activation;
    if (wanted == NULL)
        wanted = known[0];
    for (size_t i = 0; known[i] != NULL; i++)
        if (strcmp(wanted, known[i]) == 0) {
            network->activation = wt_nonlinearity_find(known[i]);
            network->spec.activation = known[i];
            return WT_OK;
        }
    return wt_fail(context, WT_USAGE, "a network '%s' has no activation '%s'; its own is %s",
                   network->kind->name, wanted, known[0]);
}

static wt_status check_spec(wt_context *context, const wt_network_spec *spec) {
    const struct {
        const char *name;
        double value;
    } drops[] = {{"embedding", spec->embedding_drop},
                 {"attention", spec->attention_drop},
                 {"block", spec->block_drop}};
    if (spec->length == 0)
        return wt_fail(context, WT_USAGE, "a network needs sequences of 1 bit or more");
    for (size_t i = 0; i < sizeof drops / sizeof *drops; i++)
        if (!(drops[i].value >= 0 && drops[i].value < 1))
            return wt_fail(context, WT_USAGE,
                           "the %s dropout must be at least 0 and below 1, not %g", drops[i].name,
                           drops[i].value);
    return WT_OK;
}

wt_status wt_network_new(wt_context *context, const wt_network_spec *given, wt_network **out) {
    wt_network_spec spec;
    wt_network *network = NULL;
    wt_status status;
    *out = NULL;
    WT_INIT(wt_network_spec, &spec);
    WT_TRY(wt_sized_read(context, "wt_network_spec", given, &spec, sizeof spec));
    WT_TRY(check_spec(context, &spec));
    WT_TRY(WT_NEW_ZERO(context, &network, 1, "a network"));
    network->spec = spec;
    WT_TRY(find_kind(context, spec.kind, &network->kind));
    network->spec.kind = network->kind->name;
    WT_TRY(find_activation(context, network));
    WT_TRY(network->kind->layout(context, network));
    *out = network;
    network = NULL;
done:
    wt_network_free(network);
    return status;
}

void wt_network_free(wt_network *network) {
    if (network == NULL)
        return;
    if (network->kind != NULL)
        network->kind->close(network->work);
    wt_release(network);
}

wt_status wt_network_add(wt_context *context, wt_network *network, const char *name, size_t rows,
                         size_t columns, wt_network_law law, bool fixed) {
    size_t count, end, bytes, at = network->tensor_count;
    if (at == WT_NETWORK_TENSORS)
        return wt_fail(context, WT_INTERNAL, "a network of more than %d tensors",
                       WT_NETWORK_TENSORS);
    wt_network_tensor *tensor = &network->tensors[at];
    *tensor = (wt_network_tensor){.name = name,
                                  .rows = rows == 0 ? 1 : rows,
                                  .columns = columns,
                                  .vector = rows == 0,
                                  .offset = network->size,
                                  .fixed = fixed};
    if (!wt_multiply(tensor->rows, columns, &count) || !wt_add(network->size, count, &end) ||
        !wt_multiply(end, sizeof(double), &bytes))
        return wt_fail(context, WT_MEMORY, "%s of %zu x %zu numbers does not fit in memory", name,
                       tensor->rows, columns);
    network->laws[at] = law;
    network->size = end;
    network->tensor_count++;
    return WT_OK;
}

const wt_network_spec *wt_network_get_spec(const wt_network *network) {
    return &network->spec;
}

size_t wt_network_size(const wt_network *network) {
    return network->size;
}

const wt_network_tensor *wt_network_tensor_at(const wt_network *network, size_t index) {
    return index < network->tensor_count ? &network->tensors[index] : NULL;
}

static void draw_normal(wt_stream stream, double spread, size_t count, float *out) {
    double piece[PIECE];
    for (size_t first = 0; first < count; first += PIECE) {
        size_t batch = count - first < PIECE ? count - first : PIECE;
        wt_random_normal(stream, first, batch, piece);
        for (size_t i = 0; i < batch; i++)
            out[first + i] = (float)(spread * piece[i]);
    }
}

/* A normal vector brought to the radius has a uniform direction. */
static void set_radius(double radius, size_t rows, size_t columns, float *out) {
    for (size_t r = 0; r < rows; r++) {
        float *row = out + r * columns;
        double square = 0;
        for (size_t i = 0; i < columns; i++)
            square += (double)row[i] * row[i];
        double scale = radius / sqrt(square);
        for (size_t i = 0; i < columns; i++)
            row[i] = (float)(scale * row[i]);
    }
}

void wt_network_draw(const wt_network *network, uint64_t seed, float *parameters) {
    for (size_t i = 0; i < network->tensor_count; i++) {
        const wt_network_tensor *tensor = &network->tensors[i];
        wt_network_law law = network->laws[i];
        size_t count = tensor->rows * tensor->columns;
        float *out = parameters + tensor->offset;
        wt_stream stream = wt_stream_for(seed, "parameters", i);
        if (law.radius > 0) {
            draw_normal(stream, 1, count, out);
            set_radius(law.radius, tensor->rows, tensor->columns, out);
        } else if (law.spread > 0)
            draw_normal(stream, law.spread, count, out);
        else
            for (size_t j = 0; j < count; j++)
                out[j] = (float)law.fill;
    }
}

/* Bits are indices into tables later on. */
static wt_status check_batch(wt_context *context, const wt_network *network, const wt_bits *batch) {
    uint8_t bits = 0, labels = 0;
    if (batch->length != network->spec.length)
        return wt_fail(context, WT_USAGE, "samples of %zu bits given to a network for %zu",
                       batch->length, network->spec.length);
    if (batch->samples == 0)
        return wt_fail(context, WT_USAGE, "a batch needs 1 sample or more");
    for (size_t i = 0; i < batch->samples * batch->length; i++)
        bits |= batch->bit[i];
    for (size_t i = 0; i < batch->samples; i++)
        labels |= batch->label[i];
    if (bits > 1 || labels > 1)
        return wt_fail(context, WT_DATA, "bits and labels must be 0 or 1");
    return WT_OK;
}

wt_status wt_network_gradient(wt_context *context, wt_network *network, const float *parameters,
                              const wt_bits *batch, uint64_t seed, uint64_t step, float *gradient,
                              wt_network_result *result) {
    return wt_network_gradient_keyed(context, network, parameters, batch,
                                     wt_dropout_key(seed, step), gradient, result);
}

wt_status wt_network_gradient_keyed(wt_context *context, wt_network *network,
                                    const float *parameters, const wt_bits *batch, uint64_t key,
                                    float *gradient, wt_network_result *result) {
    wt_network_result full = {0};
    WT_PASS(wt_sized_check(context, "wt_network_result", result, sizeof full));
    WT_PASS(check_batch(context, network, batch));
    WT_PASS(network->kind->gradient(context, network, parameters, batch, key, gradient, &full));
    wt_sized_write(result, &full, sizeof full);
    for (size_t i = 0; i < network->tensor_count; i++)
        if (network->tensors[i].fixed)
            memset(gradient + network->tensors[i].offset, 0,
                   network->tensors[i].rows * network->tensors[i].columns * sizeof *gradient);
    return WT_OK;
}

wt_status wt_network_evaluate(wt_context *context, wt_network *network, const float *parameters,
                              const wt_bits *batch, size_t max_errors, wt_network_result *result) {
    wt_network_result full = {0};
    WT_PASS(wt_sized_check(context, "wt_network_result", result, sizeof full));
    WT_PASS(check_batch(context, network, batch));
    WT_PASS(network->kind->evaluate(context, network, parameters, batch, max_errors, &full));
    wt_sized_write(result, &full, sizeof full);
    return WT_OK;
}

wt_status wt_network_predict(wt_context *context, wt_network *network, const float *parameters,
                             const wt_bits *batch, float *out) {
    wt_network_result ignored = {0};
    WT_PASS(check_batch(context, network, batch));
    network->answers = out;
    wt_status status =
        network->kind->evaluate(context, network, parameters, batch, SIZE_MAX, &ignored);
    network->answers = NULL;
    return status;
}

wt_status wt_network_attention(wt_context *context, wt_network *network, const float *parameters,
                               const wt_bits *batch, float *out) {
    WT_PASS(check_batch(context, network, batch));
    if (network->kind->attention == NULL)
        return wt_fail(context, WT_USAGE, "a network '%s' does not attend", network->kind->name);
    return network->kind->attention(context, network, parameters, batch, out);
}
