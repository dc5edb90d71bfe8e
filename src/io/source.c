#define _POSIX_C_SOURCE 200809L
#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/memory.h"
#include "base/text.h"

static const char *kind_of(mode_t mode) {
    return S_ISDIR(mode)    ? "a directory"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
           : S_ISCHR(mode)  ? "a device"
           : S_ISBLK(mode)  ? "a device"
                            : "something else";
}

wt_status wt_source_open(wt_context *context, const char *path, wt_source *out) {
    struct stat about;
    *out = (wt_source){.file = -1};
    wt_quote(path, out->shown, sizeof out->shown);
    WT_PASS(wt_copy_text(context, &out->path, path, "the path of a file"));
    /* O_NONBLOCK: a pipe in place of the file must not hold us up. */
    out->file = wt_descriptor_move(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (out->file < 0 && (errno == ENOENT || errno == ENOTDIR))
        return wt_fail(context, WT_NO_INPUT, "%s: there is no such file", out->shown);
    if (out->file < 0 || fstat(out->file, &about) != 0)
        return wt_fail(context, WT_DATA, "%s: cannot be opened: %s", out->shown, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return wt_fail(context, WT_DATA, "%s: is %s, not a file", out->shown,
                       kind_of(about.st_mode));
    out->bytes = (uint64_t)about.st_size;
    return WT_OK;
}

void wt_source_close(wt_source *source) {
    if (source->file >= 0)
        close(source->file);
    wt_release(source->path);
    *source = (wt_source){.file = -1};
}

int64_t wt_source_read(const wt_source *source, uint64_t offset, void *out, size_t bytes) {
    if (offset >= source->bytes)
        return 0;
    if (bytes > source->bytes - offset)
        bytes = (size_t)(source->bytes - offset);
    size_t done = 0;
    while (done < bytes) {
        ssize_t got = pread(source->file, (char *)out + done, bytes - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (int64_t)done;
}

static void lead_in(const wt_input *input, char out[WT_MESSAGE_BYTES]) {
    if (input->place == NULL) {
        snprintf(out, WT_MESSAGE_BYTES, "%s", input->source->shown);
        return;
    }
    char member[WT_QUOTED_BYTES];
    wt_quote(input->place, member, sizeof member);
    snprintf(out, WT_MESSAGE_BYTES, "%s: member '%s'", input->source->shown, member);
}

wt_status wt_input_fail(wt_context *context, const wt_input *input, const char *format, ...) {
    char lead[WT_MESSAGE_BYTES], reason[WT_MESSAGE_BYTES];
    lead_in(input, lead);
    va_list values;
    va_start(values, format);
    vsnprintf(reason, sizeof reason, format, values);
    va_end(values);
    return wt_fail(context, WT_DATA, "%s: %s", lead, reason);
}

static wt_status read_plain(wt_context *context, wt_input *input, void *out, size_t bytes) {
    int64_t got = wt_source_read(input->source, input->position, out, bytes);
    if (got < 0)
        return wt_fail(context, WT_IO, "%s: cannot be read at byte %" PRIu64 ": %s",
                       input->source->shown, input->position, strerror(errno));
    input->position += (uint64_t)got;
    if ((size_t)got < bytes)
        return wt_input_fail(context, input, "ends at byte %" PRIu64 ", where %zu more are wanted",
                             input->position, bytes - (size_t)got);
    return WT_OK;
}

wt_status wt_input_read(wt_context *context, wt_input *input, void *out, size_t bytes) {
    if (input->member == NULL)
        return read_plain(context, input, out, bytes);
    size_t done = 0;
    while (done < bytes) {
        zip_int64_t got = zip_fread(input->member, (char *)out + done, bytes - done);
        if (got < 0)
            return wt_input_fail(context, input, "is damaged after byte %" PRIu64 ": %s",
                                 input->position, zip_file_strerror(input->member));
        if (got == 0)
            return wt_input_fail(context, input,
                                 "ends at byte %" PRIu64 ", where %zu more are wanted",
                                 input->position, bytes - done);
        done += (size_t)got;
        input->position += (uint64_t)got;
    }
    return WT_OK;
}

wt_status wt_input_finish(wt_context *context, wt_input *input) {
    if (input->member == NULL)
        return WT_OK;
    char more;
    zip_int64_t got = zip_fread(input->member, &more, 1);
    if (got < 0)
        return wt_input_fail(context, input, "is damaged: %s", zip_file_strerror(input->member));
    if (got > 0)
        return wt_input_fail(context, input, "goes on past its %" PRIu64 " bytes", input->position);
    return WT_OK;
}

void wt_input_close(wt_input *input) {
    if (input->member != NULL)
        zip_fclose(input->member);
    input->member = NULL;
}
