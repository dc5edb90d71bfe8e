/* Memory on the context's budget, as the library takes it: blocks, and arenas for scratch space.
 *
 * Every block is aligned to 64 bytes and counted on its context's account. What the library gives
 * to be "released" is released by wt_release. */
#ifndef WATTLE_MEMORY_H
#define WATTLE_MEMORY_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the pointer at `slot` to `count` elements of `size` bytes, uninitialised; to NULL on
 * failure, with a sentence that says what the memory was for. count = 0 gives a block that may
 * be released and not touched. */
WT_API wt_status wt_allocate(wt_context *context, void *slot, size_t count, size_t size,
                             const char *what);
/* The same, cleared. */
WT_API wt_status wt_allocate_zero(wt_context *context, void *slot, size_t count, size_t size,
                                  const char *what);
/* Releases what wt_allocate gave; accepts NULL. */
WT_API void wt_release(void *block);

/* Makes room for one more element behind `count` of them: where the block at `slot`, of *room
 * elements, is full, it is replaced by one twice as large. New elements are cleared. */
WT_API wt_status wt_grow(wt_context *context, void *slot, size_t count, size_t *room, size_t size,
                         const char *what);

/* a b, or SIZE_MAX where that does not fit: more than wt_allocate ever gives. */
WT_API size_t wt_product(size_t a, size_t b);

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
WT_API wt_status wt_copy_text(wt_context *context, char **out, const char *text, const char *what);

/* An arena holds the scratch arrays of one call and gives them back at once.
 *
 *     wt_arena arena = wt_arena_start(context, "the gradient");
 *     double *rows = WT_TAKE(&arena, double, count, width);
 *     size_t *order = WT_TAKE(&arena, size_t, count);
 *     WT_TRY(arena.status);
 *     ...
 * done:
 *     wt_arena_free(&arena);
 *
 * Sizes are multiplied with overflow checks. After a failure every further piece is NULL, so that
 * checking the status once, after the last piece, is enough. */
typedef struct wt_arena {
    wt_context *context;
    const char *what; /* in the sentence of a failure */
    wt_status status;
    void *last; /* piece; each knows the one before it */
} wt_arena;

WT_API wt_arena wt_arena_start(wt_context *context, const char *what);
/* The product of `count` sides, times `size` bytes, aligned to 64 bytes; NULL after a failure. */
WT_API void *wt_arena_take(wt_arena *arena, size_t size, bool clear, const size_t *sides,
                           size_t count);
/* Accepts an arena of zeros. */
WT_API void wt_arena_free(wt_arena *arena);

#define WT_SIDES(...)                                                                              \
    (const size_t[]){__VA_ARGS__}, sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t)
/* An array of a x b x .. elements, uninitialised or cleared. */
#define WT_TAKE(arena, type, ...)                                                                  \
    ((type *)wt_arena_take(arena, sizeof(type), false, WT_SIDES(__VA_ARGS__)))
#define WT_TAKE_ZERO(arena, type, ...)                                                             \
    ((type *)wt_arena_take(arena, sizeof(type), true, WT_SIDES(__VA_ARGS__)))

#ifdef __cplusplus
}
#endif
#endif
