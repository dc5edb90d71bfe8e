#define _GNU_SOURCE /* mkostemp */
#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/beside.h"
#include "io/types.h"

enum { SHOWN_BYTES = 256 };

struct wt_output {
    wt_context *context;
    wt_status status;
    char *target, *temporary; /* temporary is NULL once there is no such file */
    bool spool;               /* the target is a directory */
    char shown[SHOWN_BYTES];  /* the target as sentences show it */
    int file;                 /* -1 = none yet */
    uint64_t limit;           /* the largest file this process may write (RLIMIT_FSIZE) */
    uint64_t position;        /* in the file, of the first byte of the buffer */
    size_t used;
    uint8_t buffer[WT_BLOCK_BYTES];
    uint8_t stored[WT_BLOCK_BYTES]; /* values on their way */
};

static wt_status fail_create(wt_output *output, const char *reason) {
    return wt_fail(output->context, WT_CANNOT_CREATE, "%s: cannot be created: %s", output->shown,
                   reason);
}

static wt_status fail_write(wt_output *output, const char *reason) {
    return output->status = wt_fail(
               output->context, WT_IO, "%s: could not be written past byte %" PRIu64 ": %s; %s",
               output->shown, output->position, reason,
               output->spool ? "it was to hold what is printed (TMPDIR names another place)"
                             : "what was there before is unchanged");
}

/* A store of results holds hours of work: no other file takes its place. */
static bool is_database(const char *path) {
    static const char mark[] = "SQLite format 3"; /* with its 0 */
    char head[sizeof mark];
    int file = wt_descriptor_move(open(path, O_RDONLY | O_CLOEXEC));
    bool found = file >= 0 && pread(file, head, sizeof head, 0) == (ssize_t)sizeof head &&
                 memcmp(head, mark, sizeof mark) == 0;
    if (file >= 0)
        close(file);
    return found;
}

/* The target, with links followed; it may not exist, but if it does it must be a writable file. */
static wt_status find_target(wt_output *output, const char *path) {
    struct stat about;
    char *real = NULL;
    wt_status status = WT_OK;
    if (*path == '\0')
        return fail_create(output, "the path is empty");
    if (lstat(path, &about) == 0 && S_ISLNK(about.st_mode)) {
        real = realpath(path, NULL);
        if (real == NULL)
            return fail_create(output, "it is a symbolic link to nothing");
    }
    const char *target = real == NULL ? path : real;
    bool exists = stat(target, &about) == 0;
    if (exists && !S_ISREG(about.st_mode))
        status = fail_create(output, S_ISDIR(about.st_mode) ? "it is a directory"
                                                            : "it is not a regular file");
    else if (exists && access(target, W_OK) != 0)
        status = fail_create(output, strerror(errno));
    else if (exists && is_database(target))
        status = fail_create(output, "it is an SQLite database, perhaps a store of results");
    if (status == WT_OK)
        status = wt_copy_text(output->context, &output->target, target, "the path of a file");
    free(real);
    return status;
}

/* A new file beside the target. It has the permissions of the target, or those of any new file. */
static wt_status make_temporary(wt_output *output) {
    struct stat about;
    wt_status status =
        wt_beside_temporary(output->context, output->target, &output->temporary, &output->file);
    if (status != WT_OK)
        return status;
    if (output->file < 0)
        return fail_create(output, strerror(errno));
    if (stat(output->target, &about) == 0 && fchmod(output->file, about.st_mode & 0777) != 0)
        return fail_create(output, strerror(errno));
    return WT_OK;
}

static uint64_t largest_file(void) {
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return limited ? (uint64_t)limit.rlim_cur : UINT64_MAX;
}

/* An output without files. */
static wt_status make_output(wt_context *context, const char *path, wt_output **out) {
    wt_output *output;
    WT_PASS(WT_NEW(context, &output, 1, "an output file"));
    output->context = context;
    output->status = WT_OK;
    output->target = output->temporary = NULL;
    output->spool = false;
    output->file = -1;
    output->limit = largest_file();
    output->position = output->used = 0;
    wt_quote(path, output->shown, sizeof output->shown);
    *out = output;
    return WT_OK;
}

wt_status wt_output_open(wt_context *context, const char *path, wt_output **out) {
    wt_output *output = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(make_output(context, path, &output));
    WT_TRY(find_target(output, path));
    WT_TRY(make_temporary(output));
    *out = output;
    return WT_OK;
done:
    wt_output_free(output);
    return status;
}

wt_status wt_output_spool(wt_context *context, const char *directory, wt_output **out) {
    wt_output *output = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(make_output(context, directory, &output));
    output->spool = true;
    WT_TRY(wt_copy_text(context, &output->target, directory, "the path of a directory"));
    *out = output;
    return WT_OK;
done:
    wt_output_free(output);
    return status;
}

/* The file of a spool, without a name from the start. */
static wt_status make_nameless(wt_output *output) {
    char *path = NULL;
    size_t bytes = strlen(output->target) + sizeof "/wattle-XXXXXX";
    wt_status status;
    WT_TRY(WT_NEW(output->context, &path, bytes, "the path of a file"));
    snprintf(path, bytes, "%s/wattle-XXXXXX", output->target);
    output->file = wt_descriptor_move(mkostemp(path, O_CLOEXEC));
    if (output->file < 0)
        status = fail_write(output, strerror(errno));
    else
        unlink(path);
done:
    wt_release(path);
    return status;
}

/* The one function through which bytes reach the file. */
static wt_status flush(wt_output *output) {
    size_t done = 0;
    if (output->used == 0 || output->status != WT_OK)
        return output->status;
    if (wt_fault_due(&output->context->write_to_fail))
        return fail_write(output, strerror(ENOSPC));
    /* Past RLIMIT_FSIZE a write would raise SIGXFSZ, which ends the program. */
    if (output->position + output->used > output->limit)
        return fail_write(output, strerror(EFBIG));
    if (output->file < 0 && (output->status = make_nameless(output)) != WT_OK)
        return output->status;
    while (done < output->used) {
        ssize_t wrote = pwrite(output->file, output->buffer + done, output->used - done,
                               (off_t)output->position);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return fail_write(output, strerror(wrote < 0 ? errno : EIO));
        done += (size_t)wrote;
        output->position += (uint64_t)wrote;
    }
    output->used = 0;
    return WT_OK;
}

wt_status wt_output_write(wt_output *output, const void *bytes, size_t count) {
    const uint8_t *from = bytes;
    while (count > 0 && output->status == WT_OK) {
        size_t room = sizeof output->buffer - output->used;
        size_t part = count < room ? count : room;
        memcpy(output->buffer + output->used, from, part);
        output->used += part;
        from += part;
        count -= part;
        if (output->used == sizeof output->buffer)
            flush(output);
    }
    return output->status;
}

wt_status wt_output_print(wt_output *output, const char *format, ...) {
    char line[512], *text = line;
    va_list values;
    va_start(values, format);
    int length = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    if (output->status != WT_OK)
        return output->status;
    if (length < 0)
        return fail_write(output, strerror(errno));
    if ((size_t)length >= sizeof line) {
        output->status = WT_NEW(output->context, &text, (size_t)length + 1, "a line of output");
        if (output->status != WT_OK)
            return output->status;
        va_start(values, format);
        vsnprintf(text, (size_t)length + 1, format, values);
        va_end(values);
    }
    wt_output_write(output, text, (size_t)length);
    if (text != line)
        wt_release(text);
    return output->status;
}

wt_status wt_output_values(wt_output *output, wt_type type, const double *values, size_t count) {
    size_t size = wt_type_bytes(type), most = sizeof output->stored / size;
    for (size_t done = 0; done < count && output->status == WT_OK;) {
        size_t part = count - done < most ? count - done : most;
        wt_values_encode(type, values + done, part, output->stored);
        wt_output_write(output, output->stored, part * size);
        done += part;
        if (output->status == WT_OK)
            output->status = wt_context_check_cancelled(output->context);
    }
    return output->status;
}

uint64_t wt_output_position(const wt_output *output) {
    return output->position + output->used;
}

wt_status wt_output_seek(wt_output *output, uint64_t position) {
    if (flush(output) == WT_OK)
        output->position = position;
    return output->status;
}

wt_status wt_output_status(const wt_output *output) {
    return output->status;
}

wt_status wt_output_walk(wt_output *output, wt_output_block_fn take, void *user) {
    uint64_t at = 0;
    WT_PASS(output->status);
    while (at < output->position) {
        ssize_t got = pread(output->file, output->stored, sizeof output->stored, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return wt_fail(output->context, WT_IO,
                           "%s: could not be read past byte %" PRIu64 ": %s", output->shown, at,
                           got < 0 ? strerror(errno) : "it became shorter");
        WT_PASS(wt_context_check_cancelled(output->context));
        WT_PASS(take(user, output->stored, (size_t)got));
        at += (uint64_t)got;
    }
    return take(user, output->buffer, output->used);
}

/* So that the new name survives a power cut as well. The file is in its place already. */
static wt_status flush_directory(wt_output *output) {
    size_t bytes = wt_directory_bytes(output->target);
    output->target[bytes] = '\0';
    int directory = wt_descriptor_move(
        open(bytes == 0 ? "." : output->target, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    /* A directory that may be written but not read, or a file system without fsync for
     * directories, is none of the caller's faults. */
    bool failed = directory >= 0 && fsync(directory) != 0 && errno != EINVAL;
    int reason = errno;
    if (directory >= 0)
        close(directory);
    if (failed)
        return wt_fail(output->context, WT_IO,
                       "%s: is written, but its directory could not be flushed to the disk: %s",
                       output->shown, strerror(reason));
    return WT_OK;
}

wt_status wt_output_commit(wt_output *output) {
    wt_context *context = output->context;
    if (flush(output) != WT_OK)
        return output->status;
    if (wt_fault_due(&context->write_to_fail))
        return fail_write(output, strerror(EIO));
    if (fsync(output->file) != 0)
        return fail_write(output, strerror(errno));
    if (wt_fault_due(&context->write_to_fail))
        return fail_write(output, strerror(EIO));
    /* Open until it has its name: without its lock it would look like one that was left. What a
     * close could tell of the bytes, fsync has told. */
    if (rename(output->temporary, output->target) != 0)
        return fail_write(output, strerror(errno));
    close(output->file);
    output->file = -1;
    wt_release(output->temporary);
    output->temporary = NULL;
    return flush_directory(output);
}

void wt_output_free(wt_output *output) {
    if (output == NULL)
        return;
    if (output->temporary != NULL)
        unlink(output->temporary);
    if (output->file >= 0)
        close(output->file);
    wt_release(output->temporary);
    wt_release(output->target);
    wt_release(output);
}

wt_status wt_output_check(wt_context *context, const char *path) {
    wt_output *output = NULL;
    wt_status status = path == NULL ? WT_OK : wt_output_open(context, path, &output);
    wt_output_free(output);
    return status;
}
