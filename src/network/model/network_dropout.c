#include "network/model/network_dropout.h"

#include <math.h>

#include "wattle/random.h"

static void set_place(wt_dropout *dropout, enum wt_drop_place place, double probability) {
    double keep = round((1 - probability) * WT_KEEP_ALL);
    keep = keep < 1 ? 1 : keep;
    dropout->keep[place] = (uint32_t)keep;
    dropout->scale[place] = (float)(WT_KEEP_ALL / keep);
}

uint64_t wt_dropout_key(uint64_t seed, uint64_t step) {
    return wt_seed_for(seed, "dropout", step);
}

wt_dropout wt_dropout_for(const wt_network_spec *spec, uint64_t key) {
    wt_dropout dropout = {.key = key};
    set_place(&dropout, WT_DROP_TOKENS, spec->embedding_drop);
    set_place(&dropout, WT_DROP_WEIGHTS, spec->attention_drop);
    set_place(&dropout, WT_DROP_BLOCKS, spec->block_drop);
    return dropout;
}

wt_dropout wt_dropout_none(void) {
    wt_dropout dropout = {0};
    for (int place = 0; place < WT_DROP_PLACES; place++)
        set_place(&dropout, (enum wt_drop_place)place, 0);
    return dropout;
}

size_t wt_dropout_words(size_t draws) {
    return (draws / 2 + draws % 2 + WT_WORDS - 1) / WT_WORDS * WT_WORDS;
}

void wt_dropout_draw(const wt_dropout *dropout, const wt_network_loops *loops, uint64_t sample,
                     enum wt_drop_place place, size_t draws, uint32_t *out) {
    const uint32_t counter[3] = {(uint32_t)(sample & UINT32_MAX), (uint32_t)(sample >> 32),
                                 (uint32_t)place};
    loops->words(dropout->key, counter, wt_dropout_words(draws) / WT_WORDS, out);
}
