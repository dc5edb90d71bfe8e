/* A trained network from its model file. */
#include <string.h>

#include "base/memory.h"
#include "network/model/network_kind.h"
#include "wattle/io.h"
#include "wattle/text.h"

static wt_status read_count(wt_context *context, const wt_file *file, const char *key,
                            size_t *out) {
    const char *text = wt_file_metadata(file, key);
    uint64_t count;
    if (text == NULL || !wt_unsigned_parse(text, &count))
        return wt_fail(context, WT_DATA, "%s is no network: its metadata have no number '%s'",
                       wt_file_path(file), key);
    *out = (size_t)count;
    return WT_OK;
}

static wt_status read_spec(wt_context *context, const wt_file *file, wt_network_spec *out) {
    WT_INIT(wt_network_spec, out);
    const char *activation = wt_file_metadata(file, "activation");
    out->kind = wt_file_metadata(file, "kind");
    out->embedding_drop = out->attention_drop = out->block_drop = 0;
    out->activation = activation == NULL || activation[0] == '\0' ? NULL : activation;
    WT_PASS(read_count(context, file, "length", &out->length));
    WT_PASS(read_count(context, file, "dim", &out->dim));
    WT_PASS(read_count(context, file, "heads", &out->heads));
    return read_count(context, file, "hidden", &out->hidden);
}

static wt_status read_tensor(wt_context *context, const wt_file *file,
                             const wt_network_tensor *tensor, double *room, float *out) {
    size_t count = tensor->rows * tensor->columns;
    const wt_array *array = wt_file_find(file, tensor->name);
    if (array == NULL || array->rank != (tensor->vector ? 1 : 2) || array->count != count ||
        array->shape[array->rank - 1] != tensor->columns)
        return wt_fail(context, WT_DATA, "%s has no '%s' of %zu x %zu numbers", wt_file_path(file),
                       tensor->name, tensor->rows, tensor->columns);
    WT_PASS(wt_file_read(context, file, array, room));
    if (wt_values_check_finite(context, tensor->name, room, array->rank, array->shape) != WT_OK)
        return wt_fail(context, WT_DATA, "%s: %s", wt_file_path(file), wt_context_message(context));
    for (size_t i = 0; i < count; i++)
        out[i] = (float)room[i];
    return WT_OK;
}

wt_status wt_network_load(wt_context *context, const char *path, wt_network **out,
                          float **parameters) {
    wt_network_spec spec;
    wt_network *network = NULL;
    wt_file *file = NULL;
    float *numbers = NULL;
    double *room = NULL;
    wt_status status;
    *out = NULL;
    *parameters = NULL;
    WT_TRY(wt_file_open(context, path, &file));
    WT_TRY(read_spec(context, file, &spec));
    status = wt_network_new(context, &spec, &network);
    if (status == WT_USAGE)
        status = wt_fail(context, WT_DATA, "%s: %s", path, wt_context_message(context));
    WT_TRY(status);
    WT_TRY(WT_NEW(context, &numbers, network->size, "the parameters of a network"));
    WT_TRY(WT_NEW(context, &room, network->size, "the parameters of a network"));
    for (size_t i = 0; i < network->tensor_count; i++)
        WT_TRY(read_tensor(context, file, &network->tensors[i], room,
                           numbers + network->tensors[i].offset));
    *out = network;
    *parameters = numbers;
    network = NULL;
    numbers = NULL;
done:
    wt_file_free(file);
    wt_network_free(network);
    wt_release(numbers);
    wt_release(room);
    return status;
}

bool wt_network_in_file(wt_context *context, const char *path) {
    static const char *const kinds[] = {"transformer", "head", "mlp"};
    wt_file *file = NULL;
    bool found = false;
    if (wt_file_open(context, path, &file) != WT_OK)
        return false; /* a folder, or what is said when it is read as a layer */
    const char *kind = wt_file_metadata(file, "kind");
    for (size_t i = 0; kind != NULL && i < sizeof kinds / sizeof *kinds; i++)
        found = found || strcmp(kind, kinds[i]) == 0;
    wt_file_free(file);
    return found;
}
