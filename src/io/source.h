/* The bytes of an input file.
 *
 * Read with pread rather than mapped: a mapped file that another process cuts short kills the
 * reader with SIGBUS, which a library cannot catch with good manners, while pread tells the end.
 * Every value is converted to double on its way, so that a mapping would save no copy. */
#ifndef WT_IO_SOURCE_H
#define WT_IO_SOURCE_H

#include <zip.h>

#include "base/context.h"

#define WT_SHOWN_BYTES 256 /* a path in a sentence */

typedef struct wt_source {
    char *path;                 /* as given */
    char shown[WT_SHOWN_BYTES]; /* the path as sentences show it */
    int file;                   /* -1 = none */
    uint64_t bytes;             /* when it was opened */
} wt_source;

/* WT_NO_INPUT when there is no such file, WT_DATA when it cannot be opened or is no regular file.
 * To be closed in any case. */
wt_status wt_source_open(wt_context *context, const char *path, wt_source *out);
void wt_source_close(wt_source *source);

/* Reads up to `bytes` at the offset; less only at the end. -1 with errno when reading fails. */
int64_t wt_source_read(const wt_source *source, uint64_t offset, void *out, size_t bytes);

/* Bytes in their order, from one place of the file or from a member of an archive. */
typedef struct wt_input {
    const wt_source *source;
    zip_file_t *member; /* NULL: the file itself */
    const char *place;  /* the member as sentences show it; NULL for the file itself */
    uint64_t position;  /* of the next byte, in the file or the member */
} wt_input;

/* Reads exactly so many bytes; WT_DATA when there are fewer or they are damaged. */
wt_status wt_input_read(wt_context *context, wt_input *input, void *out, size_t bytes);
/* After the last byte: a member must end here, and its checksum must be right. */
wt_status wt_input_finish(wt_context *context, wt_input *input);
void wt_input_close(wt_input *input);

/* WT_DATA, the sentence led in by the file and the member: "a.npz: member 'x.npy': ...". */
__attribute__((format(printf, 3, 4))) wt_status
wt_input_fail(wt_context *context, const wt_input *input, const char *format, ...);

#endif
