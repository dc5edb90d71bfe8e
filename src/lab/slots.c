#include "lab/slots.h"

#include "base/memory.h"

uint32_t wt_slots_hash(uint32_t before, const void *bytes, size_t count) {
    const unsigned char *from = bytes;
    uint64_t hash = 0xcbf29ce484222325 ^ before;
    for (size_t i = 0; i < count; i++) /* FNV-1a */
        hash = (hash ^ from[i]) * 0x100000001b3;
    return (uint32_t)(hash ^ hash >> 32);
}

size_t wt_slots_start(const wt_slots *table, uint32_t hash) {
    return table->room == 0 ? 0 : hash & (table->room - 1);
}

bool wt_slots_next(const wt_slots *table, uint32_t hash, size_t *cursor, uint32_t *number) {
    while (table->room > 0 && table->slots[*cursor].next != 0) {
        const wt_slot *slot = &table->slots[*cursor];
        *cursor = (*cursor + 1) & (table->room - 1);
        if (slot->hash == hash) {
            *number = slot->next - 1;
            return true;
        }
    }
    return false;
}

static void put(wt_slots *table, wt_slot slot) {
    size_t at = wt_slots_start(table, slot.hash);
    while (table->slots[at].next != 0)
        at = (at + 1) & (table->room - 1);
    table->slots[at] = slot;
}

wt_status wt_slots_add(wt_context *context, wt_slots *table, uint32_t hash, uint32_t number) {
    if (number == UINT32_MAX)
        return wt_fail(context, WT_MEMORY, "there are more than %u of a kind", UINT32_MAX);
    if (2 * (table->used + 1) > table->room) {
        wt_slots larger = {.room = table->room == 0 ? 64 : 2 * table->room};
        WT_PASS(WT_NEW_ZERO(context, &larger.slots, larger.room, "a table"));
        for (size_t i = 0; i < table->room; i++)
            if (table->slots[i].next != 0)
                put(&larger, table->slots[i]);
        larger.used = table->used;
        wt_release(table->slots);
        *table = larger;
    }
    put(table, (wt_slot){hash, number + 1});
    table->used++;
    return WT_OK;
}

void wt_slots_free(wt_slots *table) {
    wt_release(table->slots);
    *table = (wt_slots){0};
}
