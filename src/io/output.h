/* Writing a file so that it appears whole or not at all.
 *
 * Invariants, cited by the tests:
 *  1. until wt_output_commit returns WT_OK or says otherwise, the target is untouched;
 *  2. after any failure the temporary file is gone;
 *  3. every byte goes through one function, where tests make the k-th write fail; flushing to the
 *     disk and renaming count as writes too. */
#ifndef WT_IO_OUTPUT_H
#define WT_IO_OUTPUT_H

#include "base/context.h"
#include "wattle/io.h"

typedef struct wt_output wt_output;

/* A temporary file in the directory of the target. A target that is a symbolic link is written
 * where it points to. WT_CANNOT_CREATE when the target or its directory cannot be written, or the
 * target is no regular file, or an SQLite database. The context must outlive the output. */
wt_status wt_output_open(wt_context *context, const char *path, wt_output **out);

/* Whether it would open: for long work, to fail before it and not after. NULL will do. Nothing
 * remains. */
wt_status wt_output_try(wt_context *context, const char *path);

/* What must not be seen before all of it is known: in memory while it is little, then in a file of
 * the directory that has no name. wt_output_pour takes the place of a commit. */
wt_status wt_output_spool(wt_context *context, const char *directory, wt_output **out);

/* After one failure every further call returns the same status. */
wt_status wt_output_write(wt_output *output, const void *bytes, size_t count);
__attribute__((format(printf, 2, 3))) wt_status wt_output_print(wt_output *output,
                                                                const char *format, ...);
/* The values as the type stores them (WT_F64 or WT_F32). */
wt_status wt_output_values(wt_output *output, wt_type type, const double *values, size_t count);

/* Where the next byte goes, and going elsewhere within what is written (archives do). */
uint64_t wt_output_position(const wt_output *output);
wt_status wt_output_seek(wt_output *output, uint64_t position);

/* WT_OK, or how writing failed. */
wt_status wt_output_status(const wt_output *output);

/* All that was written to a spool, in blocks; what `take` returns other than WT_OK ends it. */
typedef wt_status (*wt_block_fn)(void *user, const void *bytes, size_t count);
wt_status wt_output_pour(wt_output *output, wt_block_fn take, void *user);

/* Flushes to the disk and renames to the target. */
wt_status wt_output_commit(wt_output *output);
/* Accepts NULL. Without a commit before it, nothing remains. */
void wt_output_free(wt_output *output);

#endif
