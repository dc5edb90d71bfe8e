#include "io/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/types.h"

static const wt_format *const formats[] = {&wt_format_npy, &wt_format_npz, &wt_format_safetensors,
                                           NULL};
enum { HEAD_BYTES = 16 };

static wt_status recognise(wt_context *context, wt_file *file) {
    uint8_t head[HEAD_BYTES];
    int64_t got = wt_source_read(&file->source, 0, head, sizeof head);
    if (got < 0)
        return wt_fail(context, WT_IO, "%s: cannot be read: %s", file->source.shown,
                       strerror(errno));
    if (got == 0)
        return wt_fail(context, WT_DATA, "%s: is empty", file->source.shown);
    for (size_t i = 0; formats[i] != NULL; i++)
        if (formats[i]->recognise(head, (size_t)got)) {
            file->format = formats[i];
            return WT_OK;
        }
    char bytes[3 * HEAD_BYTES + 1] = "";
    for (int64_t i = 0; i < got; i++)
        snprintf(bytes + 3 * i, 4, " %02x", head[i]);
    return wt_fail(context, WT_DATA, "%s: is not npy, npz or safetensors (its first bytes are%s)",
                   file->source.shown, bytes);
}

static int compare_names(const void *a, const void *b) {
    const wt_reference *left = a, *right = b;
    return strcmp(left->array->name, right->array->name);
}

static wt_status index_names(wt_context *context, wt_file *file) {
    WT_PASS(WT_NEW(context, &file->by_name, file->count, "the index of a file"));
    for (size_t i = 0; i < file->count; i++)
        file->by_name[i].array = &file->arrays[i];
    qsort(file->by_name, file->count, sizeof *file->by_name, compare_names);
    for (size_t i = 1; i < file->count; i++)
        if (compare_names(&file->by_name[i - 1], &file->by_name[i]) == 0) {
            char name[WT_QUOTED_BYTES];
            return wt_fail(context, WT_DATA, "%s: holds two arrays named '%s'", file->source.shown,
                           wt_quote(file->by_name[i].array->name, name, sizeof name));
        }
    return WT_OK;
}

wt_status wt_file_open(wt_context *context, const char *path, wt_file **out) {
    wt_file *file;
    wt_status status;
    *out = NULL;
    WT_PASS(WT_NEW_ZERO(context, &file, 1, "a file"));
    WT_TRY(wt_source_open(context, path, &file->source));
    WT_TRY(recognise(context, file));
    WT_TRY(file->format->open(context, file));
    WT_TRY(index_names(context, file));
    *out = file;
    return WT_OK;
done:
    wt_file_free(file);
    return status;
}

void wt_file_free(wt_file *file) {
    if (file == NULL)
        return;
    for (size_t i = 0; file->arrays != NULL && i < file->count; i++)
        wt_release((char *)file->arrays[i].name);
    for (size_t i = 0; file->metadata != NULL && i < file->metadata_count; i++) {
        wt_release((char *)file->metadata[i].key);
        wt_release((char *)file->metadata[i].value);
    }
    wt_release(file->arrays);
    wt_release(file->by_name);
    wt_release(file->metadata);
    if (file->archive != NULL)
        zip_discard(file->archive); /* it reads from the source: first */
    wt_source_close(&file->source);
    wt_release(file);
}

wt_status wt_file_reserve(wt_context *context, wt_file *file, size_t count) {
    file->count = count;
    return WT_NEW_ZERO(context, &file->arrays, count, "the arrays of a file");
}

wt_status wt_file_begin_plain(wt_context *context, const wt_file *file, const wt_array *array,
                              wt_input *out) {
    (void)context;
    *out = (wt_input){.source = &file->source, .position = array->offset};
    return WT_OK;
}

const char *wt_file_format(const wt_file *file) {
    return file->format->name;
}

const char *wt_file_path(const wt_file *file) {
    return file->source.path;
}

uint64_t wt_file_bytes(const wt_file *file) {
    return file->source.bytes;
}

size_t wt_file_count(const wt_file *file) {
    return file->count;
}

const wt_array *wt_file_at(const wt_file *file, size_t index) {
    return index < file->count ? &file->arrays[index] : NULL;
}

const wt_array *wt_file_find(const wt_file *file, const char *name) {
    wt_array wanted = {.name = name};
    const wt_reference key = {&wanted};
    const wt_reference *found =
        bsearch(&key, file->by_name, file->count, sizeof *file->by_name, compare_names);
    return found == NULL ? NULL : found->array;
}

wt_status wt_file_expect(wt_context *context, const wt_file *file, const char *wanted,
                         const wt_array **out) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(wanted, " "), wanted);
    *out = wt_file_find(file, name);
    if (*out == NULL)
        return wt_fail(context, WT_DATA, "%s has no array '%s': %s is expected", wt_file_path(file),
                       name, wanted);
    for (const char *at = wanted; (at = strchr(at, '(')) != NULL;) {
        size_t rank = 1;
        for (; *at != ')' && *at != '\0'; at++)
            rank += *at == ',';
        if (rank == (*out)->rank)
            return WT_OK;
    }
    return wt_fail(context, WT_DATA, "%s: '%s' has %zu dimensions: %s is expected",
                   wt_file_path(file), name, (*out)->rank, wanted);
}

const char *wt_file_metadata(const wt_file *file, const char *key) {
    for (size_t i = 0; i < file->metadata_count; i++)
        if (strcmp(file->metadata[i].key, key) == 0)
            return file->metadata[i].value;
    return NULL;
}

size_t wt_file_metadata_count(const wt_file *file) {
    return file->metadata_count;
}

const wt_metadata *wt_file_metadata_at(const wt_file *file, size_t index) {
    return index < file->metadata_count ? &file->metadata[index] : NULL;
}
