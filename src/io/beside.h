/* Files of ours beside a target: what is being written, and locks.
 *
 * Their names come from the target's alone, so that the next run finds what a killed one has left.
 * Whoever uses one holds a lock on it, which ends with the process however that ends; a file that
 * can be locked is nobody's. Links are never followed. */
#ifndef WT_IO_BESIDE_H
#define WT_IO_BESIDE_H

#include "base/context.h"
#include "wattle/output.h"

/* Bytes of the directory part of the path, its last slash included. */
size_t wt_directory_bytes(const char *path);

/* A new, empty file for what will become the target, with the lock on it; its path is to be
 * released. Files that dead runs of the same target left are removed. Where none can be made *file
 * is -1, with errno, and *path NULL; the status is that of memory alone. */
wt_status wt_beside_temporary(wt_context *context, const char *target, char **path, int *file);

#endif
