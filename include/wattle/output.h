/* Files that appear complete or not at all.
 *
 *     WT_TRY(wt_output_open(context, "table.csv", &output));
 *     WT_TRY(wt_output_print(output, "%g,%g\n", x, y));
 *     WT_TRY(wt_output_commit(output));
 * done:
 *     wt_output_free(output);
 *
 * The target is untouched before wt_output_commit; after any failure the temporary file is gone. */
#ifndef WATTLE_OUTPUT_H
#define WATTLE_OUTPUT_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wt_output wt_output;

/* A temporary file in the directory of the target. A target that is a symbolic link is written
 * where it points to. WT_CANNOT_CREATE when the target or its directory cannot be written, or the
 * target is no regular file, or an SQLite database. The context must outlive the output. */
WT_API wt_status wt_output_open(wt_context *context, const char *path, wt_output **out);

/* Whether it would open: for long work, to fail before it and not after. A path of NULL is fine.
 * Nothing remains. */
WT_API wt_status wt_output_check(wt_context *context, const char *path);

/* A temporary output without a target: in memory while it is small, then in an unnamed file of the
 * directory. wt_output_walk takes the place of a commit. */
WT_API wt_status wt_output_spool(wt_context *context, const char *directory, wt_output **out);

/* After one failure every further call returns the same status. */
WT_API wt_status wt_output_write(wt_output *output, const void *bytes, size_t count);
__attribute__((format(printf, 2, 3))) WT_API wt_status wt_output_print(wt_output *output,
                                                                       const char *format, ...);
/* WT_OK, or how writing failed. */
WT_API wt_status wt_output_status(const wt_output *output);

/* All that was written to a spool, in blocks; what `take` returns other than WT_OK ends it. */
typedef wt_status (*wt_output_block_fn)(void *user, const void *bytes, size_t count);
WT_API wt_status wt_output_walk(wt_output *output, wt_output_block_fn take, void *user);

/* Flushes to the disk and renames to the target. */
WT_API wt_status wt_output_commit(wt_output *output);
/* Accepts NULL. Without a commit before it, nothing remains. */
WT_API void wt_output_free(wt_output *output);

/* A lock on a target that is read, added to and written again: one holder at a time. */
typedef struct wt_lock wt_lock;
/* WT_CANNOT_CREATE when another has it, in this process or another, or its directory cannot be
 * written. */
WT_API wt_status wt_lock_open(wt_context *context, const char *target, wt_lock **out);
/* Accepts NULL. Nothing remains beside the target. */
WT_API void wt_lock_free(wt_lock *hold);

#ifdef __cplusplus
}
#endif
#endif
