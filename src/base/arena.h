/* Memory that is given back all at once: scratch arrays of one call.
 *
 *     wt_arena arena = wt_arena_on(context, "the gradient");
 *     double *rows = WT_TAKE(&arena, double, count, width);
 *     size_t *order = WT_TAKE(&arena, size_t, count);
 *     WT_TRY(arena.status);
 *     ...
 * done:
 *     wt_arena_free(&arena);
 *
 * Sizes are multiplied with overflow checks. After a failure every further piece is NULL, so that
 * one look at the status behind the last piece is enough. */
#ifndef WT_BASE_ARENA_H
#define WT_BASE_ARENA_H

#include "base/memory.h"

typedef struct wt_arena {
    wt_context *context;
    const char *what; /* in the sentence of a failure */
    wt_status status;
    void *last; /* piece; each knows the one before it */
} wt_arena;

static inline wt_arena wt_arena_on(wt_context *context, const char *what) {
    return (wt_arena){.context = context, .what = what};
}
/* The product of `count` sides, times `size` bytes, aligned to 64 bytes; NULL after a failure. */
void *wt_arena_take(wt_arena *arena, size_t size, bool clear, const size_t *sides, size_t count);
/* Accepts an arena of zeros. */
void wt_arena_free(wt_arena *arena);

#define WT_SIDES(...)                                                                              \
    (const size_t[]){__VA_ARGS__}, sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t)
/* An array of a x b x .. elements, uninitialised or cleared. */
#define WT_TAKE(arena, type, ...)                                                                  \
    ((type *)wt_arena_take(arena, sizeof(type), false, WT_SIDES(__VA_ARGS__)))
#define WT_TAKE_ZERO(arena, type, ...)                                                             \
    ((type *)wt_arena_take(arena, sizeof(type), true, WT_SIDES(__VA_ARGS__)))

#endif
