/* Memory on a budget. Every block is aligned to 64 bytes and counted on its context's account. */
#ifndef WT_BASE_MEMORY_H
#define WT_BASE_MEMORY_H

#include "base/context.h"

/* count * size into *product; false when it does not fit a size_t. */
bool wt_multiply(size_t count, size_t size, size_t *product);
bool wt_add(size_t a, size_t b, size_t *sum);
/* a b, or SIZE_MAX where that does not fit: more than wt_allocate ever gives. */
size_t wt_product(size_t a, size_t b);

/* Sets the pointer at `slot` to `count` elements of `size` bytes, uninitialised; to NULL on
 * failure, with a sentence that says what the memory was for. count = 0 gives a block that may
 * be released and not touched. */
wt_status wt_allocate(wt_context *context, void *slot, size_t count, size_t size, const char *what);
/* The same, cleared. */
wt_status wt_allocate_zero(wt_context *context, void *slot, size_t count, size_t size,
                           const char *what);
/* Releases what wt_allocate gave; accepts NULL. */
void wt_release(void *block);

/* Room for one more element behind `count` of them: the block at `slot`, of *room elements, gives
 * way to one twice as large where it is full. What is not used yet is cleared. */
wt_status wt_grow(wt_context *context, void *slot, size_t count, size_t *room, size_t size,
                  const char *what);

/* For pointers with a type: WT_NEW(context, &rows, count, "rows"). WT_NEW2 and WT_NEW3 multiply the
 * sides of an array themselves, with a check for overflow. */
#define WT_NEW(context, pointer, count, what)                                                      \
    wt_allocate(context, pointer, count, sizeof **(pointer), what)
#define WT_NEW_ZERO(context, pointer, count, what)                                                 \
    wt_allocate_zero(context, pointer, count, sizeof **(pointer), what)

#define WT_NEW2(context, pointer, a, b, what) WT_NEW(context, pointer, wt_product(a, b), what)
#define WT_NEW3(context, pointer, a, b, c, what)                                                   \
    WT_NEW(context, pointer, wt_product(wt_product(a, b), c), what)
#define WT_NEW2_ZERO(context, pointer, a, b, what)                                                 \
    WT_NEW_ZERO(context, pointer, wt_product(a, b), what)
#define WT_NEW3_ZERO(context, pointer, a, b, c, what)                                              \
    WT_NEW_ZERO(context, pointer, wt_product(wt_product(a, b), c), what)

#define WT_GROW(context, pointer, count, room, what)                                               \
    wt_grow(context, pointer, count, room, sizeof **(pointer), what)

/* A copy of the text, to be released with wt_release. */
wt_status wt_copy_text(wt_context *context, char **out, const char *text, const char *what);

/* Bytes that another library holds for us, on the context's account: WT_MEMORY when they do not fit
 * the budget. Taken off by wt_uncount_memory, also when the context is gone. */
typedef struct wt_counted {
    wt_account *account; /* NULL = nothing */
    size_t bytes;
} wt_counted;
wt_status wt_count_memory(wt_context *context, size_t bytes, const char *what, wt_counted *out);
void wt_uncount_memory(wt_counted *counted);

/* The context's part in its account; the last owner frees it. */
void wt_account_leave(wt_account *account);

#endif
