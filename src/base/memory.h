/* The account beneath wattle/memory.h. */
#ifndef WT_BASE_MEMORY_H
#define WT_BASE_MEMORY_H

#include "base/context.h"
#include "wattle/memory.h"

/* count * size into *product; false when it does not fit a size_t. */
bool wt_multiply(size_t count, size_t size, size_t *product);
bool wt_add(size_t a, size_t b, size_t *sum);

/* Bytes that another library holds for us, on the context's account: WT_MEMORY when they do not fit
 * the budget. Taken off by wt_uncount_memory, also when the context is gone. */
typedef struct wt_counted {
    wt_account *account; /* NULL = nothing */
    size_t bytes;
} wt_counted;
wt_status wt_count_memory(wt_context *context, size_t bytes, const char *what, wt_counted *out);
void wt_uncount_memory(wt_counted *counted);

/* A copy of the text that lives as long as the arena; NULL after a failure. */
char *wt_arena_copy(wt_arena *arena, const char *text);

/* The context's part in its account; the last owner frees it. */
void wt_account_leave(wt_account *account);

#endif
