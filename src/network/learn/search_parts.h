/* The parts of the search over positions. Samples are bits of words: column t of the data is one
 * row of `words` words. */
#ifndef WT_NETWORK_LEARN_SEARCH_PARTS_H
#define WT_NETWORK_LEARN_SEARCH_PARTS_H

#include "network/learn/search_states.h"
#include "wattle/search.h"

/* Positions in the order they are tried for a bit: those whose values alone cost fewest errors
 * first. Bits that may change places share a list. */
typedef struct wt_search_list {
    size_t *position; /* (T) */
    size_t *cost;     /* (T) samples wrong whatever the other bits are; increasing */
} wt_search_list;

typedef struct wt_search_columns {
    size_t samples, length, words;
    uint64_t *column; /* (T, words) */
    uint64_t *label;  /* (words) */
    uint64_t *every;  /* (words) a one for every sample */
} wt_search_columns;

/* All arrays are of the arena, and so for the functions below. */
wt_status wt_search_pack(wt_arena *arena, const wt_bits *data, wt_search_columns *out);

size_t wt_count_ones(uint64_t word);

wt_status wt_search_list_fill(wt_arena *arena, const wt_search_columns *data,
                              const uint8_t decides[2], wt_search_list *out);

/* Columns by their content, to find the last position where all of it is known. */
typedef struct wt_search_table {
    size_t slots;  /* a power of two */
    size_t *first; /* (slots) index in the list of the first such column, SIZE_MAX = none */
    size_t *after; /* (T) index of the next in the same slot, increasing; SIZE_MAX = none */
} wt_search_table;

wt_status wt_search_table_fill(wt_arena *arena, const wt_search_columns *data,
                               const wt_search_list *list, wt_search_table *out);
size_t wt_search_slot(const wt_search_table *table, const uint64_t *column, size_t words);

#endif
