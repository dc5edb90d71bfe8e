/* What is dropped, by (seed, step, sample, place). */
#ifndef WT_NETWORK_MODEL_NETWORK_DROPOUT_H
#define WT_NETWORK_MODEL_NETWORK_DROPOUT_H

#include <stddef.h>
#include <stdint.h>

#include "network/model/network_loops.h"
#include "wattle/network.h"

enum wt_drop_place { WT_DROP_TOKENS, WT_DROP_WEIGHTS, WT_DROP_BLOCKS, WT_DROP_PLACES };

/* Kept with probability keep / 65536 exactly, times 65536 / keep. */
typedef struct wt_dropout {
    uint64_t key;
    uint32_t keep[WT_DROP_PLACES];
    float scale[WT_DROP_PLACES];
} wt_dropout;

uint64_t wt_dropout_key(uint64_t seed, uint64_t step);
wt_dropout wt_dropout_for(const wt_network_spec *spec, uint64_t key);
/* Nothing is dropped. */
wt_dropout wt_dropout_none(void);

/* Words enough for `draws` draws of 16 bits, rounded up to whole batches. */
size_t wt_dropout_words(size_t draws);
/* The sample's words at the place; out has room for wt_dropout_words(draws). */
void wt_dropout_draw(const wt_dropout *dropout, const wt_network_loops *loops, uint64_t sample,
                     enum wt_drop_place place, size_t draws, uint32_t *out);

#endif
