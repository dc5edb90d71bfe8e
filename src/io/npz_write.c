/* npz through libzip, which writes into our output: it knows checksums and ZIP64, we know how a
 * file appears whole. Members are streamed; no second copy of the values is made. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zip.h>

#include "base/memory.h"
#include "io/tensor.h"

/* ---- the archive: what libzip writes goes to the output ---------------------------------------*/

typedef struct {
    wt_output *output;
    uint64_t end; /* bytes written so far */
    zip_error_t error;
} archive_sink;

static zip_int64_t sink_result(archive_sink *sink, wt_status status, zip_int64_t result) {
    if (status == WT_OK)
        return result;
    zip_error_set(&sink->error, ZIP_ER_WRITE, 0);
    return -1;
}

static zip_int64_t sink_write(archive_sink *sink, const void *data, zip_uint64_t bytes) {
    wt_status status = wt_output_write(sink->output, data, (size_t)bytes);
    uint64_t position = wt_output_position(sink->output);
    if (position > sink->end)
        sink->end = position;
    return sink_result(sink, status, (zip_int64_t)bytes);
}

static zip_int64_t sink_seek(archive_sink *sink, void *data, zip_uint64_t bytes) {
    zip_int64_t to = zip_source_seek_compute_offset(wt_output_position(sink->output), sink->end,
                                                    data, bytes, &sink->error);
    return to < 0 ? -1 : sink_result(sink, wt_output_seek(sink->output, (uint64_t)to), 0);
}

/* Before it is written there is no archive; libzip wants to hear it in these words. */
static zip_int64_t sink_missing(archive_sink *sink) {
    zip_error_set(&sink->error, ZIP_ER_READ, ENOENT);
    return -1;
}

static zip_int64_t answer_archive(void *user, void *data, zip_uint64_t bytes,
                                  zip_source_cmd_t command) {
    archive_sink *sink = user;
    switch (command) {
    case ZIP_SOURCE_WRITE:
        return sink_write(sink, data, bytes);
    case ZIP_SOURCE_SEEK_WRITE:
        return sink_seek(sink, data, bytes);
    case ZIP_SOURCE_TELL_WRITE:
        return (zip_int64_t)wt_output_position(sink->output);
    case ZIP_SOURCE_OPEN:
    case ZIP_SOURCE_READ:
    case ZIP_SOURCE_SEEK:
    case ZIP_SOURCE_TELL:
    case ZIP_SOURCE_STAT:
        return sink_missing(sink);
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&sink->error, data, bytes);
    case ZIP_SOURCE_FREE: /* the sink lives on the caller's stack */
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_BEGIN_WRITE:
    case ZIP_SOURCE_COMMIT_WRITE:
    case ZIP_SOURCE_ROLLBACK_WRITE: /* wt_output_commit decides, not libzip */
        return 0;
    case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_WRITABLE;
    default:
        zip_error_set(&sink->error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
}

/* ---- a member: the npy head and the values, made as libzip asks for them ----------------------*/

typedef struct {
    const wt_tensor *tensor;
    size_t head_bytes, value_bytes; /* of the head, and of all values as stored */
    size_t position;
    char head[WT_NPY_HEAD_BYTES];
    zip_error_t error;
} member_reader;

/* Whole values only, but for the last few bytes of room, which go through a value of their own. */
static size_t read_values(member_reader *member, uint8_t *out, size_t bytes) {
    const wt_tensor *tensor = member->tensor;
    size_t size = wt_type_bytes(tensor->type), at = member->position - member->head_bytes;
    if (at % size == 0 && bytes >= size) {
        size_t count = (bytes < member->value_bytes - at ? bytes : member->value_bytes - at) / size;
        wt_values_encode(tensor->type, tensor->values + at / size, count, out);
        return count * size;
    }
    uint8_t value[sizeof(double)];
    size_t part = size - at % size < bytes ? size - at % size : bytes;
    wt_values_encode(tensor->type, tensor->values + at / size, 1, value);
    memcpy(out, value + at % size, part);
    return part;
}

static zip_int64_t member_read(member_reader *member, uint8_t *out, zip_uint64_t room) {
    size_t bytes = (size_t)room, done = 0;
    while (done < bytes && member->position < member->head_bytes + member->value_bytes) {
        size_t part;
        if (member->position < member->head_bytes) {
            part = member->head_bytes - member->position;
            part = part < bytes - done ? part : bytes - done;
            memcpy(out + done, member->head + member->position, part);
        } else
            part = read_values(member, out + done, bytes - done);
        member->position += part;
        done += part;
    }
    return (zip_int64_t)done;
}

static zip_int64_t answer_member(void *user, void *data, zip_uint64_t bytes,
                                 zip_source_cmd_t command) {
    member_reader *member = user;
    switch (command) {
    case ZIP_SOURCE_OPEN:
        member->position = 0;
        return 0;
    case ZIP_SOURCE_READ:
        return member_read(member, data, bytes);
    case ZIP_SOURCE_STAT: {
        zip_stat_t *about = ZIP_SOURCE_GET_ARGS(zip_stat_t, data, bytes, &member->error);
        if (about == NULL)
            return -1;
        zip_stat_init(about);
        about->valid = ZIP_STAT_SIZE;
        about->size = member->head_bytes + member->value_bytes;
        return sizeof *about;
    }
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&member->error, data, bytes);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE: /* members live in the writer's array */
        return 0;
    case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_READABLE;
    default:
        zip_error_set(&member->error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
}

/* ---- the writer -------------------------------------------------------------------------------*/

static wt_status add_member(wt_context *context, zip_t *archive, const wt_tensor *tensor,
                            member_reader *member) {
    enum { DOS_DATE_1980 = 1 << 5 | 1 }; /* 1 January: the same bytes whenever it is written */
    wt_array array;
    char *name = NULL;
    zip_source_t *source = NULL;
    size_t bytes = strlen(tensor->name) + sizeof ".npy";
    wt_status status;
    WT_TRY(wt_tensor_measure(context, tensor, &array));
    WT_TRY(WT_NEW(context, &name, bytes, "the name of a member"));
    snprintf(name, bytes, "%s.npy", tensor->name);
    member->tensor = tensor;
    member->head_bytes = wt_npy_head(tensor, member->head);
    member->value_bytes = array.bytes;
    zip_error_init(&member->error);
    source = zip_source_function(archive, answer_member, member);
    zip_int64_t index = source == NULL ? -1 : zip_file_add(archive, name, source, ZIP_FL_ENC_UTF_8);
    if (index >= 0)
        source = NULL; /* the archive's now */
    if (index < 0 || zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive, (zip_uint64_t)index, 0, DOS_DATE_1980, 0) != 0)
        /* a name that libzip does not take is the caller's */
        WT_TRY(wt_fail(context,
                       zip_error_code_zip(zip_get_error(archive)) == ZIP_ER_INVAL ? WT_USAGE
                                                                                  : WT_MEMORY,
                       "member '%s' cannot be made: %s", tensor->name, zip_strerror(archive)));
done:
    zip_source_free(source);
    wt_release(name);
    return status;
}

static wt_status open_archive(wt_context *context, archive_sink *sink, zip_t **out) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_function_create(answer_archive, sink, &error);
    *out = source == NULL ? NULL : zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error);
    wt_status status = WT_OK;
    if (*out == NULL) {
        zip_source_free(source);
        status =
            wt_fail(context, WT_MEMORY, "no memory for an archive: %s", zip_error_strerror(&error));
    }
    zip_error_fini(&error);
    return status;
}

/* Here libzip reads the members and writes the archive. */
static wt_status close_archive(wt_context *context, const archive_sink *sink, zip_t **archive) {
    if (zip_close(*archive) == 0) {
        *archive = NULL;
        return WT_OK;
    }
    if (wt_output_status(sink->output) != WT_OK)
        return wt_output_status(sink->output); /* with its own sentence */
    return wt_fail(context, WT_IO, "the archive could not be written: %s", zip_strerror(*archive));
}

/* libzip writes no archive without members; this is one. */
static wt_status write_empty(wt_output *output) {
    static const char end[22] = "PK\5\6";
    return wt_output_write(output, end, sizeof end);
}

wt_status wt_npz_write(wt_context *context, const char *path, const wt_tensor *tensors,
                       size_t count) {
    archive_sink sink = {0};
    member_reader *members = NULL;
    zip_t *archive = NULL;
    wt_status status;
    WT_TRY(wt_tensors_check(context, tensors, count));
    WT_TRY(WT_NEW_ZERO(context, &members, count, "the members of an archive"));
    WT_TRY(wt_output_open(context, path, &sink.output));
    zip_error_init(&sink.error);
    if (count == 0)
        WT_TRY(write_empty(sink.output));
    else {
        WT_TRY(open_archive(context, &sink, &archive));
        for (size_t i = 0; i < count; i++)
            WT_TRY(add_member(context, archive, &tensors[i], &members[i]));
        WT_TRY(close_archive(context, &sink, &archive));
    }
    WT_TRY(wt_output_commit(sink.output));
done:
    if (archive != NULL)
        zip_discard(archive);
    wt_output_free(sink.output);
    wt_release(members);
    return status;
}
