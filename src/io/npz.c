/* npz: a zip archive of npy members. What is refused, and why:
 *  1. a member that is neither stored nor deflated, or is encrypted: NumPy writes none;
 *  2. a member that declares more than its compressed bytes can hold (a zip bomb);
 *  3. members that together have more compressed bytes than the archive: they share bytes;
 *  4. a name that is no UTF-8, does not end in ".npy", or comes twice;
 *  5. a member whose values do not end where it ends, or whose checksum is wrong. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/file.h"
#include "io/npy.h"
#include "io/zip_source.h"

/* Deflate spends at least 2 bits on a copy of at most 258 bytes. */
#define DEFLATE_RATIO 1032

static bool recognise(const uint8_t *head, size_t bytes) {
    /* The first member, or the end record of an archive without any. */
    return bytes >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

static wt_status open_archive(wt_context *context, wt_file *file, int flags) {
    zip_source_t *source = wt_zip_source_new(context, &file->source);
    if (source == NULL)
        return WT_MEMORY;
    zip_error_t error;
    zip_error_init(&error);
    file->archive = zip_open_from_source(source, flags, &error);
    int code = zip_error_code_zip(&error);
    wt_status status = WT_OK;
    if (file->archive == NULL) {
        zip_source_free(source);
        status = wt_fail(context, code == ZIP_ER_MEMORY ? WT_MEMORY : WT_DATA,
                         "%s: the directory at the end of the archive is damaged or cut off: %s",
                         file->source.shown, zip_error_strerror(&error));
    }
    zip_error_fini(&error);
    /* libzip has found a name twice but does not say which; wt_file_open will. */
    return code == ZIP_ER_EXISTS ? open_archive(context, file, ZIP_RDONLY) : status;
}

/* Rules 1 to 3; total is the sum of the compressed bytes so far. */
static wt_status check_member(wt_context *context, const wt_input *input, const zip_stat_t *about,
                              uint64_t *total) {
    const zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if ((about->valid & wanted) != wanted)
        return wt_input_fail(context, input, "has no size in the directory of the archive");
    if ((about->valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && about->encryption_method != ZIP_EM_NONE)
        return wt_input_fail(context, input, "is encrypted");
    if (about->comp_method != ZIP_CM_STORE && about->comp_method != ZIP_CM_DEFLATE)
        return wt_input_fail(context, input, "compression method %d is neither stored nor deflated",
                             (int)about->comp_method);
    uint64_t file_bytes = input->source->bytes, most;
    if (about->comp_size > file_bytes - *total)
        return wt_input_fail(context, input,
                             "the members up to this one declare more compressed bytes than the "
                             "%" PRIu64 " of the file",
                             file_bytes);
    *total += about->comp_size;
    if (about->comp_method == ZIP_CM_STORE)
        most = about->comp_size;
    else if (__builtin_mul_overflow(about->comp_size, DEFLATE_RATIO, &most))
        most = UINT64_MAX;
    if (about->size > most)
        return wt_input_fail(context, input,
                             "declares %" PRIu64 " bytes, more than its %" PRIu64
                             " compressed bytes can hold",
                             (uint64_t)about->size, (uint64_t)about->comp_size);
    return WT_OK;
}

/* Rule 4, but for names that come twice, which wt_file_open finds for every format. */
static wt_status copy_name(wt_context *context, const wt_input *input, wt_array *array) {
    size_t length = strlen(input->place);
    if (!wt_utf8_valid(input->place))
        return wt_input_fail(context, input, "the name is not UTF-8");
    if (length <= 4 || strcmp(input->place + length - 4, ".npy") != 0)
        return wt_input_fail(context, input, "is no array: its name does not end in .npy");
    char *name;
    WT_PASS(WT_NEW(context, &name, length - 3, "a name"));
    memcpy(name, input->place, length - 4);
    name[length - 4] = '\0';
    array->name = name;
    return WT_OK;
}

static wt_status open_member(wt_context *context, const wt_file *file, uint64_t index,
                             wt_input *out) {
    const char *name = zip_get_name(file->archive, index, ZIP_FL_ENC_GUESS);
    *out = (wt_input){.source = &file->source, .place = name};
    if (name == NULL)
        return wt_fail(context, WT_DATA, "%s: member %" PRIu64 " has no readable name: %s",
                       file->source.shown, index, zip_strerror(file->archive));
    out->member = zip_fopen_index(file->archive, index, 0);
    if (out->member == NULL)
        return wt_input_fail(context, out, "cannot be opened: %s", zip_strerror(file->archive));
    return WT_OK;
}

static wt_status describe_member(wt_context *context, const wt_file *file, uint64_t index,
                                 uint64_t *total, wt_array *array) {
    wt_input input;
    zip_stat_t about;
    zip_stat_init(&about);
    wt_status status;
    WT_TRY(open_member(context, file, index, &input));
    if (zip_stat_index(file->archive, index, 0, &about) != 0)
        WT_TRY(wt_input_fail(context, &input, "cannot be read: %s", zip_strerror(file->archive)));
    WT_TRY(check_member(context, &input, &about, total));
    WT_TRY(copy_name(context, &input, array));
    array->member = index;
    WT_TRY(wt_npy_read_head(context, &input, about.size, array));
done:
    wt_input_close(&input);
    return status;
}

static wt_status open_npz(wt_context *context, wt_file *file) {
    uint64_t total = 0;
    WT_PASS(open_archive(context, file, ZIP_RDONLY | ZIP_CHECKCONS));
    zip_int64_t count = zip_get_num_entries(file->archive, 0);
    WT_PASS(wt_file_reserve(context, file, (size_t)count));
    for (size_t i = 0; i < file->count; i++)
        WT_PASS(describe_member(context, file, i, &total, &file->arrays[i]));
    return WT_OK;
}

/* A member can only be read from its start. */
static wt_status begin(wt_context *context, const wt_file *file, const wt_array *array,
                       wt_input *out) {
    wt_status status = open_member(context, file, array->member, out);
    uint8_t skipped[512];
    while (status == WT_OK && out->position < array->offset) {
        uint64_t left = array->offset - out->position;
        status = wt_input_read(context, out, skipped,
                               left < sizeof skipped ? (size_t)left : sizeof skipped);
    }
    return status;
}

const wt_format wt_format_npz = {"npz", recognise, open_npz, begin};
