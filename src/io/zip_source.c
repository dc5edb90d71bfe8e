#include "io/zip_source.h"

#include <errno.h>

#include "base/memory.h"

typedef struct {
    const wt_source *source;
    uint64_t position;
    zip_error_t error;
} reading;

static zip_int64_t read_bytes(reading *at, void *data, zip_uint64_t bytes) {
    int64_t got = wt_source_read(at->source, at->position, data, (size_t)bytes);
    if (got < 0)
        zip_error_set(&at->error, ZIP_ER_READ, errno);
    else
        at->position += (uint64_t)got;
    return got;
}

static zip_int64_t seek(reading *at, void *data, zip_uint64_t bytes) {
    zip_int64_t to =
        zip_source_seek_compute_offset(at->position, at->source->bytes, data, bytes, &at->error);
    if (to < 0)
        return -1;
    at->position = (uint64_t)to;
    return 0;
}

static zip_int64_t tell_size(reading *at, void *data, zip_uint64_t bytes) {
    zip_stat_t *about = ZIP_SOURCE_GET_ARGS(zip_stat_t, data, bytes, &at->error);
    if (about == NULL)
        return -1;
    zip_stat_init(about);
    about->valid = ZIP_STAT_SIZE;
    about->size = at->source->bytes;
    return sizeof *about;
}

static zip_int64_t answer(void *user, void *data, zip_uint64_t bytes, zip_source_cmd_t command) {
    reading *at = user;
    switch (command) {
    case ZIP_SOURCE_OPEN:
        at->position = 0;
        return 0;
    case ZIP_SOURCE_READ:
        return read_bytes(at, data, bytes);
    case ZIP_SOURCE_SEEK:
        return seek(at, data, bytes);
    case ZIP_SOURCE_TELL:
        return (zip_int64_t)at->position;
    case ZIP_SOURCE_STAT:
        return tell_size(at, data, bytes);
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&at->error, data, bytes);
    case ZIP_SOURCE_CLOSE:
        return 0;
    case ZIP_SOURCE_FREE:
        zip_error_fini(&at->error);
        wt_release(at);
        return 0;
    case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_SEEKABLE;
    default:
        zip_error_set(&at->error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
}

zip_source_t *wt_zip_source_new(wt_context *context, const wt_source *source) {
    reading *at;
    if (WT_NEW_ZERO(context, &at, 1, "the reader of an archive") != WT_OK)
        return NULL;
    at->source = source;
    zip_error_init(&at->error);
    zip_source_t *made = zip_source_function_create(answer, at, NULL);
    if (made == NULL) {
        wt_release(at);
        wt_fail(context, WT_MEMORY, "no memory for the reader of an archive");
    }
    return made;
}
