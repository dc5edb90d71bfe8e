/* One block cut into aligned pieces: counted first without a block, then cut. */
#ifndef WT_NETWORK_MODEL_NETWORK_ARENA_H
#define WT_NETWORK_MODEL_NETWORK_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct wt_floats {
    float *block; /* NULL while counting */
    size_t used;  /* floats, a multiple of 16 */
} wt_floats;

static inline float *wt_take(wt_floats *arena, size_t floats) {
    float *piece = arena->block == NULL ? NULL : arena->block + arena->used;
    arena->used += (floats + 15) / 16 * 16;
    return piece;
}

/* Words are as wide as floats, and the block is only memory. */
static inline uint32_t *wt_take_words(wt_floats *arena, size_t words) {
    return (uint32_t *)(void *)wt_take(arena, words);
}

#endif
