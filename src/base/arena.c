#include <string.h>

#include "base/memory.h"

enum { LINK = 64 }; /* in front of a piece, so that it stays aligned: the piece before it */

wt_arena wt_arena_start(wt_context *context, const char *what) {
    return (wt_arena){.context = context, .what = what};
}

void *wt_arena_take(wt_arena *arena, size_t size, bool clear, const size_t *sides, size_t count) {
    size_t elements = 1, bytes;
    for (size_t i = 0; i < count; i++)
        elements = wt_product(elements, sides[i]);
    if (arena->status != WT_OK)
        return NULL;
    /* more than fits is left as it is, for wt_allocate to refuse */
    bytes = wt_product(elements, size);
    if (!wt_add(bytes, LINK, &bytes))
        bytes = SIZE_MAX;
    char *block;
    arena->status = clear ? wt_allocate_zero(arena->context, &block, bytes, 1, arena->what)
                          : wt_allocate(arena->context, &block, bytes, 1, arena->what);
    if (arena->status != WT_OK)
        return NULL;
    *(void **)(void *)block = arena->last;
    arena->last = block;
    return block + LINK;
}

char *wt_arena_copy(wt_arena *arena, const char *text) {
    const size_t bytes = strlen(text) + 1;
    char *copy = WT_TAKE(arena, char, bytes);
    return copy == NULL ? NULL : memcpy(copy, text, bytes);
}

void wt_arena_free(wt_arena *arena) {
    while (arena->last != NULL) {
        void *block = arena->last;
        arena->last = *(void **)block;
        wt_release(block);
    }
}
