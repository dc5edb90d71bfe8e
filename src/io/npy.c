#include "io/npy.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "io/file.h"
#include "io/types.h"

/* The length of the header text, from the bytes after the magic. */
static wt_status read_length(wt_context *context, wt_input *input, size_t *out) {
    uint8_t head[WT_NPY_MAGIC_BYTES + 2], length[4] = {0};
    *out = 0;
    wt_status status = wt_input_read(context, input, head, sizeof head);
    if (status != WT_OK)
        return status;
    if (memcmp(head, WT_NPY_MAGIC, WT_NPY_MAGIC_BYTES) != 0)
        return wt_input_fail(context, input, "is no npy array: it does not start with \\x93NUMPY");
    unsigned major = head[WT_NPY_MAGIC_BYTES], minor = head[WT_NPY_MAGIC_BYTES + 1];
    if (major < 1 || major > 3 || minor != 0)
        return wt_input_fail(context, input, "npy version %u.%u is none of 1.0, 2.0 and 3.0", major,
                             minor);
    status = wt_input_read(context, input, length, major == 1 ? 2 : 4);
    *out = (size_t)length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 |
           (size_t)length[3] << 24;
    return status;
}

static wt_status read_literal(wt_context *context, wt_input *input, uint64_t total, size_t bytes,
                              wt_array *out) {
    uint64_t start = input->position;
    if (bytes > WT_NPY_HEADER_BYTES)
        return wt_input_fail(context, input, "the header is said to have %zu bytes, more than %d",
                             bytes, WT_NPY_HEADER_BYTES);
    if (start > total || bytes > total - start)
        return wt_input_fail(context, input,
                             "the header is said to have %zu bytes after byte %" PRIu64
                             ", past the end at byte %" PRIu64,
                             bytes, start, total);
    char *text = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &text, bytes, "an npy header"));
    WT_TRY(wt_input_read(context, input, text, bytes));
    WT_TRY(wt_npy_parse(context, input, text, bytes, start, out));
done:
    wt_release(text);
    return status;
}

wt_status wt_npy_read_head(wt_context *context, wt_input *input, uint64_t total, wt_array *out) {
    size_t length;
    WT_PASS(read_length(context, input, &length));
    WT_PASS(read_literal(context, input, total, length, out));
    if (!wt_array_measure(out))
        WT_PASS(wt_input_fail(context, input, "the shape overflows: no memory holds that many"));
    out->offset = input->position;
    if (out->bytes != total - out->offset)
        WT_PASS(wt_input_fail(context, input,
                              "the shape asks for %zu bytes of values, but %" PRIu64
                              " follow byte %" PRIu64,
                              out->bytes, total - out->offset, out->offset));
    return WT_OK;
}

static bool recognise(const uint8_t *head, size_t bytes) {
    return bytes >= WT_NPY_MAGIC_BYTES && memcmp(head, WT_NPY_MAGIC, WT_NPY_MAGIC_BYTES) == 0;
}

static wt_status open_npy(wt_context *context, wt_file *file) {
    wt_input input = {.source = &file->source};
    WT_PASS(wt_file_reserve(context, file, 1));
    WT_PASS(wt_copy_text(context, (char **)&file->arrays[0].name, "array", "a name"));
    return wt_npy_read_head(context, &input, file->source.bytes, &file->arrays[0]);
}

const wt_format wt_format_npy = {"npy", recognise, open_npy, wt_file_begin_plain};
