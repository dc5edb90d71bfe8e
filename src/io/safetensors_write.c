#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/tensor.h"

#define HEADER_MOST 100000000 /* readers refuse longer ones */

/* Values in the file: all of WT_TYPE_F64, then all of WT_TYPE_F32. */
static const wt_type order[] = {WT_TYPE_F64, WT_TYPE_F32};
enum { ORDER_COUNT = sizeof order / sizeof *order };

static json_t *entry_of(const wt_array *array, uint64_t *offset) {
    json_t *shape = json_array();
    for (size_t i = 0; i < array->rank; i++)
        if (json_array_append_new(shape, json_integer((json_int_t)array->shape[i])) != 0) {
            json_decref(shape);
            return NULL;
        }
    uint64_t begin = *offset;
    *offset += array->bytes;
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", wt_type_name(array->type), "shape", shape,
                     "data_offsets", (json_int_t)begin, (json_int_t)*offset);
}

static bool add_metadata(json_t *header, const wt_metadata *metadata, size_t count) {
    json_t *pairs = json_object();
    bool good = pairs != NULL;
    for (size_t i = 0; good && i < count; i++)
        good = json_object_set_new(pairs, metadata[i].key, json_string(metadata[i].value)) == 0;
    if (!good) {
        json_decref(pairs);
        return false;
    }
    return json_object_set_new(header, "__metadata__", pairs) == 0;
}

/* NULL without memory. */
static json_t *make_header(wt_context *context, const wt_tensor *tensors, size_t count,
                           const wt_metadata *metadata, size_t metadata_count) {
    json_t *header = json_object();
    uint64_t offset = 0;
    bool good = header != NULL;
    if (good && metadata_count > 0)
        good = add_metadata(header, metadata, metadata_count);
    for (size_t k = 0; k < ORDER_COUNT; k++)
        for (size_t i = 0; good && i < count; i++) {
            wt_array array;
            if (tensors[i].type != order[k])
                continue;
            good = wt_tensor_measure(context, &tensors[i], &array) == WT_OK &&
                   json_object_set_new(header, tensors[i].name, entry_of(&array, &offset)) == 0;
        }
    if (good)
        return header;
    json_decref(header);
    return NULL;
}

static wt_status check(wt_context *context, const wt_tensor *tensors, size_t count,
                       const wt_metadata *metadata, size_t metadata_count) {
    wt_status status = wt_tensors_check(context, tensors, count);
    for (size_t i = 0; status == WT_OK && i < count; i++)
        if (strcmp(tensors[i].name, "__metadata__") == 0)
            status = wt_fail(context, WT_USAGE, "no tensor may be named __metadata__");
    for (size_t i = 0; status == WT_OK && i < metadata_count; i++) {
        char shown[WT_QUOTED_BYTES];
        wt_quote(metadata[i].key, shown, sizeof shown);
        if (!wt_utf8_valid(metadata[i].key) || !wt_utf8_valid(metadata[i].value))
            status = wt_fail(context, WT_USAGE, "metadata '%s' is not UTF-8", shown);
        for (size_t j = 0; status == WT_OK && j < i; j++)
            if (strcmp(metadata[i].key, metadata[j].key) == 0)
                status = wt_fail(context, WT_USAGE, "metadata '%s' is given twice", shown);
    }
    return status;
}

/* The length and the text, padded with blanks to a multiple of 8. */
static wt_status write_header(wt_context *context, wt_output *output, const char *text) {
    size_t length = strlen(text), padding = (8 - length % 8) % 8;
    uint64_t stored = length + padding;
    if (stored > HEADER_MOST)
        return wt_fail(context, WT_USAGE, "a header of %zu bytes is over the %d readers accept",
                       length, HEADER_MOST);
    wt_output_write(output, &stored, sizeof stored);
    wt_output_write(output, text, length);
    return wt_output_write(output, "       ", padding);
}

static wt_status write_values(wt_context *context, wt_output *output, const wt_tensor *tensors,
                              size_t count) {
    for (size_t k = 0; k < ORDER_COUNT; k++)
        for (size_t i = 0; i < count; i++) {
            wt_array array;
            if (tensors[i].type != order[k])
                continue;
            WT_PASS(wt_tensor_measure(context, &tensors[i], &array));
            WT_PASS(wt_output_values(output, order[k], tensors[i].values, array.count));
        }
    return WT_OK;
}

wt_status wt_safetensors_write(wt_context *context, const char *path, const wt_tensor *tensors,
                               size_t count, const wt_metadata *metadata, size_t metadata_count) {
    wt_output *output = NULL;
    json_t *header = NULL;
    char *text = NULL;
    wt_status status;
    WT_TRY(check(context, tensors, count, metadata, metadata_count));
    header = make_header(context, tensors, count, metadata, metadata_count);
    text = header == NULL ? NULL : json_dumps(header, JSON_COMPACT);
    if (text == NULL) {
        status = wt_fail(context, WT_MEMORY, "no memory for a safetensors header");
        goto done;
    }
    WT_TRY(wt_output_open(context, path, &output));
    WT_TRY(write_header(context, output, text));
    WT_TRY(write_values(context, output, tensors, count));
    WT_TRY(wt_output_commit(output));
done:
    wt_output_free(output);
    free(text);
    json_decref(header);
    return status;
}
