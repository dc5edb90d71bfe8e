/* safetensors: 8 bytes with the length of the header, the header in JSON, the values.
 * What is refused, and why:
 *  1. a header longer than 100 MB or than the file;
 *  2. JSON that is damaged, names a key twice, or has more brackets and commas than entries need;
 *  3. an entry with other keys than dtype, shape and data_offsets;
 *  4. a type we cannot read, a shape that overflows or has more than WT_MAX_RANK dimensions;
 *  5. offsets that do not fit the shape and type, or lie outside the file;
 *  6. values that overlap, leave holes, or stop before the file does. */
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/file.h"
#include "io/types.h"

#define HEADER_MOST  100000000
#define LENGTH_BYTES 8
/* The shortest entry, "":{"dtype":"U8","shape":[],"data_offsets":[0,0]}, has 48 bytes for 3
 * brackets; the densest, of 8 dimensions, 64 for 11 commas. Text that is denser is no header, and
 * would cost up to 78 times its bytes to parse; a header costs up to 18 times (both measured). */
#define BRACKET_BYTES 16
#define COMMA_BYTES   5
#define NODE_FACTOR   20 /* what jansson may take for a byte of text; no budget counts it */

static bool recognise(const uint8_t *head, size_t bytes) {
    return bytes > LENGTH_BYTES && head[LENGTH_BYTES] == '{';
}

/* WT_DATA, led in by the file and the tensor. */
__attribute__((format(printf, 4, 5))) static wt_status
refuse(wt_context *context, const wt_file *file, const char *name, const char *format, ...) {
    char reason[WT_MESSAGE_BYTES], shown[WT_QUOTED_BYTES];
    va_list values;
    va_start(values, format);
    vsnprintf(reason, sizeof reason, format, values);
    va_end(values);
    return wt_fail(context, WT_DATA, "%s: tensor '%s': %s", file->source.shown,
                   wt_quote(name, shown, sizeof shown), reason);
}

/* Rule 1. */
static wt_status read_length(wt_context *context, wt_file *file, wt_input *input, size_t *out) {
    uint64_t length = 0;
    *out = 0;
    WT_PASS(wt_input_read(context, input, &length, sizeof length));
    uint64_t left = file->source.bytes - LENGTH_BYTES;
    if (length > HEADER_MOST)
        return wt_input_fail(context, input,
                             "bytes 0 to 7 give the header %" PRIu64 " bytes, more than %d", length,
                             HEADER_MOST);
    if (length > left)
        return wt_input_fail(context, input,
                             "bytes 0 to 7 give the header %" PRIu64 " bytes, but only %" PRIu64
                             " follow",
                             length, left);
    *out = (size_t)length;
    return WT_OK;
}

static wt_status check_budget(wt_context *context, const wt_file *file, size_t length) {
    size_t budget = wt_context_memory(context), used = wt_context_memory_used(context);
    if (budget == 0 || (used <= budget && length <= (budget - used) / NODE_FACTOR))
        return WT_OK;
    char need[WT_BYTES_TEXT], limit[WT_BYTES_TEXT];
    return wt_fail(context, WT_MEMORY,
                   "%s: the header may need %s once parsed, over the memory budget of %s",
                   file->source.shown, wt_bytes_format(length * NODE_FACTOR, need),
                   wt_bytes_format(budget, limit));
}

/* Brackets and commas outside of strings. */
static bool is_dense(const char *text, size_t bytes) {
    enum { SLACK = 64 }; /* for the outer braces and the metadata's */
    size_t brackets = 0, commas = 0;
    bool quoted = false;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '"')
            quoted = !quoted;
        else if (quoted && text[i] == '\\')
            i++;
        else if (!quoted) {
            brackets += text[i] == '{' || text[i] == '[';
            commas += text[i] == ',';
        }
    }
    return brackets * BRACKET_BYTES > bytes + SLACK || commas * COMMA_BYTES > bytes + SLACK;
}

/* Rule 2. */
static wt_status read_header(wt_context *context, wt_file *file, json_t **out, uint64_t *end) {
    wt_input input = {.source = &file->source};
    char *text = NULL, shown[WT_QUOTED_BYTES];
    size_t length;
    json_error_t error;
    wt_status status;
    WT_TRY(read_length(context, file, &input, &length));
    WT_TRY(check_budget(context, file, length));
    WT_TRY(WT_NEW(context, &text, length, "a safetensors header"));
    WT_TRY(wt_input_read(context, &input, text, length));
    *end = input.position;
    if (is_dense(text, length))
        WT_TRY(wt_input_fail(context, &input,
                             "the header has more brackets or commas than its %zu bytes of tensors "
                             "can need",
                             length));
    *out = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (*out == NULL && json_error_code(&error) == json_error_out_of_memory)
        WT_TRY(wt_fail(context, WT_MEMORY, "no memory for a safetensors header"));
    if (*out == NULL)
        WT_TRY(wt_input_fail(context, &input, "header, byte %" PRIu64 ": %s",
                             (uint64_t)error.position + LENGTH_BYTES,
                             wt_quote(error.text, shown, sizeof shown)));
    if (!json_is_object(*out))
        WT_TRY(wt_input_fail(context, &input, "the header is no JSON object"));
done:
    wt_release(text);
    return status;
}

static wt_status read_metadata(wt_context *context, wt_file *file, json_t *metadata) {
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        return wt_fail(context, WT_DATA, "%s: the __metadata__ is no object", file->source.shown);
    WT_PASS(WT_NEW_ZERO(context, &file->metadata, json_object_size(metadata), "metadata"));
    json_object_foreach(metadata, key, value) {
        char shown[WT_QUOTED_BYTES];
        if (!json_is_string(value))
            WT_PASS(wt_fail(context, WT_DATA, "%s: __metadata__: the value of '%s' is no string",
                            file->source.shown, wt_quote(key, shown, sizeof shown)));
        wt_metadata *pair = &file->metadata[file->metadata_count++];
        WT_PASS(wt_copy_text(context, (char **)&pair->key, key, "metadata"));
        WT_PASS(wt_copy_text(context, (char **)&pair->value, json_string_value(value), "metadata"));
    }
    return WT_OK;
}

static wt_status read_shape(wt_context *context, const wt_file *file, json_t *shape,
                            wt_array *array) {
    if (!json_is_array(shape) || json_array_size(shape) > WT_MAX_RANK)
        return refuse(context, file, array->name, "the shape is no list of at most %d numbers",
                      WT_MAX_RANK);
    array->rank = json_array_size(shape);
    for (size_t i = 0; i < array->rank; i++) {
        json_t *dimension = json_array_get(shape, i);
        if (!json_is_integer(dimension) || json_integer_value(dimension) < 0)
            return refuse(context, file, array->name,
                          "dimension %zu of the shape is no whole number of 0 or more", i);
        array->shape[i] = (size_t)json_integer_value(dimension);
    }
    return WT_OK;
}

/* Rule 5; `start` is where the values begin in the file. */
static wt_status read_offsets(wt_context *context, const wt_file *file, json_t *offsets,
                              uint64_t start, wt_array *array) {
    json_t *first = json_array_get(offsets, 0), *last = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(last))
        return refuse(context, file, array->name, "data_offsets are not two whole numbers");
    json_int_t begin = json_integer_value(first), end = json_integer_value(last);
    uint64_t room = file->source.bytes - start;
    if (begin < 0 || end < begin || (uint64_t)end > room)
        return refuse(context, file, array->name,
                      "data_offsets %lld to %lld do not lie within the %" PRIu64 " bytes of values",
                      (long long)begin, (long long)end, room);
    if ((uint64_t)(end - begin) != array->bytes)
        return refuse(context, file, array->name,
                      "data_offsets give %lld bytes, but shape and type ask for %zu",
                      (long long)(end - begin), array->bytes);
    array->offset = start + (uint64_t)begin;
    return WT_OK;
}

/* Rules 3 to 5. */
static wt_status read_tensor(wt_context *context, const wt_file *file, json_t *entry,
                             uint64_t start, wt_array *array) {
    json_t *type = json_object_get(entry, "dtype"), *shape = json_object_get(entry, "shape");
    json_t *offsets = json_object_get(entry, "data_offsets");
    if (!json_is_string(type) || shape == NULL || offsets == NULL || json_object_size(entry) != 3)
        return refuse(context, file, array->name,
                      "the entry is not made of dtype, shape and data_offsets");
    if (!wt_type_from_safetensors(json_string_value(type), &array->type)) {
        char shown[WT_QUOTED_BYTES];
        return refuse(context, file, array->name,
                      "type '%s' is none of F64 F32 F16 BF16 I64 I32 U8 BOOL",
                      wt_quote(json_string_value(type), shown, sizeof shown));
    }
    WT_PASS(read_shape(context, file, shape, array));
    if (!wt_array_measure(array))
        return refuse(context, file, array->name, "the shape overflows: no memory holds that many");
    return read_offsets(context, file, offsets, start, array);
}

static int compare_offsets(const void *a, const void *b) {
    const wt_array *left = ((const wt_reference *)a)->array;
    const wt_array *right = ((const wt_reference *)b)->array;
    if (left->offset != right->offset)
        return left->offset < right->offset ? -1 : 1;
    /* Arrays without values come before the one that starts at the same place. */
    return left->bytes < right->bytes ? -1 : left->bytes > right->bytes;
}

/* Rule 6. */
static wt_status check_cover(wt_context *context, const wt_file *file, uint64_t start) {
    wt_reference *sorted = NULL;
    uint64_t covered = start;
    wt_status status;
    WT_TRY(WT_NEW(context, &sorted, file->count, "the order of the tensors"));
    for (size_t i = 0; i < file->count; i++)
        sorted[i].array = &file->arrays[i];
    qsort(sorted, file->count, sizeof *sorted, compare_offsets);
    for (size_t i = 0; i < file->count; i++) {
        const wt_array *array = sorted[i].array;
        if (array->offset != covered)
            WT_TRY(refuse(context, file, array->name,
                          array->offset < covered
                              ? "the values at byte %" PRIu64 " overlap others, which end at "
                                "byte %" PRIu64
                              : "the values at byte %" PRIu64 " leave a hole after byte %" PRIu64,
                          array->offset, covered));
        covered += array->bytes;
    }
    if (covered != file->source.bytes)
        WT_TRY(wt_fail(context, WT_DATA,
                       "%s: the values end at byte %" PRIu64 ", but the file goes on to %" PRIu64,
                       file->source.shown, covered, file->source.bytes));
done:
    wt_release(sorted);
    return status;
}

static wt_status open_safetensors(wt_context *context, wt_file *file) {
    json_t *header = NULL, *entry;
    const char *name;
    uint64_t start;
    size_t next = 0;
    wt_status status;
    WT_TRY(read_header(context, file, &header, &start));
    json_t *metadata = json_object_get(header, "__metadata__");
    WT_TRY(wt_file_reserve(context, file, json_object_size(header) - (metadata != NULL)));
    if (metadata != NULL)
        WT_TRY(read_metadata(context, file, metadata));
    json_object_foreach(header, name, entry) {
        if (entry == metadata)
            continue;
        wt_array *array = &file->arrays[next++];
        WT_TRY(wt_copy_text(context, (char **)&array->name, name, "a name"));
        WT_TRY(read_tensor(context, file, entry, start, array));
    }
    WT_TRY(check_cover(context, file, start));
done:
    json_decref(header);
    return status;
}

const wt_format wt_format_safetensors = {"safetensors", recognise, open_safetensors,
                                         wt_file_begin_plain};
