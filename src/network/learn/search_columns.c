#include <string.h>

#include "network/learn/search_parts.h"

enum { WORD_BITS = 64 };

size_t wt_count_ones(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (size_t)(word * 0x0101010101010101 >> 56);
}

wt_status wt_search_pack(wt_arena *arena, const wt_bits *data, wt_search_columns *out) {
    size_t n = data->samples, length = data->length, words = (n + WORD_BITS - 1) / WORD_BITS;
    *out = (wt_search_columns){.samples = n,
                               .length = length,
                               .words = words,
                               .column = WT_TAKE_ZERO(arena, uint64_t, length, words),
                               .label = WT_TAKE_ZERO(arena, uint64_t, words),
                               .every = WT_TAKE_ZERO(arena, uint64_t, words)};
    if (arena->status != WT_OK)
        return arena->status;
    for (size_t i = 0; i < n; i++) {
        size_t word = i / WORD_BITS, shift = i % WORD_BITS;
        for (size_t t = 0; t < length; t++)
            out->column[t * words + word] |= (uint64_t)(data->bit[i * length + t] != 0) << shift;
        out->label[word] |= (uint64_t)(data->label[i] != 0) << shift;
        out->every[word] |= (uint64_t)1 << shift;
    }
    return WT_OK;
}

/* Samples whose label the position's value alone makes wrong. */
static size_t cost_of(const wt_search_columns *data, size_t position, const uint8_t decides[2]) {
    const uint64_t *column = data->column + position * data->words;
    size_t cost = 0;
    for (size_t w = 0; w < data->words; w++)
        for (size_t b = 0; b < 2; b++) {
            uint64_t with = b == 1 ? column[w] : column[w] ^ data->every[w];
            if (decides[b] < 2)
                cost += wt_count_ones(with & (decides[b] == 1 ? ~data->label[w] : data->label[w]));
        }
    return cost;
}

wt_status wt_search_list_fill(wt_arena *arena, const wt_search_columns *data,
                              const uint8_t decides[2], wt_search_list *out) {
    size_t length = data->length, *cost = WT_TAKE(arena, size_t, length);
    size_t *start = WT_TAKE_ZERO(arena, size_t, data->samples + 2);
    out->position = WT_TAKE(arena, size_t, length);
    out->cost = WT_TAKE(arena, size_t, length);
    if (arena->status != WT_OK)
        return arena->status;
    for (size_t t = 0; t < length; t++) {
        cost[t] = cost_of(data, t, decides);
        start[cost[t] + 1]++;
    }
    /* costs are 0 .. n: sorted by counting, equal ones in the order of positions */
    for (size_t c = 0; c < data->samples; c++)
        start[c + 1] += start[c];
    for (size_t t = 0; t < length; t++) {
        size_t place = start[cost[t]]++;
        out->position[place] = t;
        out->cost[place] = cost[t];
    }
    return WT_OK;
}

size_t wt_search_slot(const wt_search_table *table, const uint64_t *column, size_t words) {
    uint64_t mixed = 0;
    for (size_t w = 0; w < words; w++) {
        mixed = (mixed ^ column[w]) * 0x9e3779b97f4a7c15;
        mixed ^= mixed >> 32;
    }
    return (size_t)mixed & (table->slots - 1);
}

wt_status wt_search_table_fill(wt_arena *arena, const wt_search_columns *data,
                               const wt_search_list *list, wt_search_table *out) {
    out->slots = 1;
    while (out->slots < 2 * data->length)
        out->slots *= 2;
    out->first = WT_TAKE(arena, size_t, out->slots);
    out->after = WT_TAKE(arena, size_t, data->length);
    if (arena->status != WT_OK)
        return arena->status;
    memset(out->first, 0xff, out->slots * sizeof *out->first);
    for (size_t i = data->length; i-- > 0;) {
        size_t slot =
            wt_search_slot(out, data->column + list->position[i] * data->words, data->words);
        out->after[i] = out->first[slot];
        out->first[slot] = i;
    }
    return WT_OK;
}
