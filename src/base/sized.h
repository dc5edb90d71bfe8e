/* Public structs that may grow start with `size_t size`, which the caller sets to the size its
 * headers knew. The library reads and writes no more than that. */
#ifndef WT_BASE_SIZED_H
#define WT_BASE_SIZED_H

#include "base/context.h"

/* Copies what the caller has of an options struct over `full`, which holds the defaults and is of
 * `bytes`. WT_USAGE when its size was not set, or is that of a later library. `what` names the
 * struct: "wt_fit_options". full's own size is `bytes` afterwards. */
wt_status wt_sized_read(wt_context *context, const char *what, const void *given, void *full,
                        size_t bytes);
/* The part of `full` that the caller's struct has room for; its size stays. */
void wt_sized_write(void *given, const void *full, size_t bytes);
/* WT_USAGE when the size of a struct to be written was not set. */
wt_status wt_sized_check(wt_context *context, const char *what, const void *given, size_t bytes);

#endif
