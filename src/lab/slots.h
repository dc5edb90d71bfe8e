/* Finding things by hash: a table of their numbers, open addressing, half empty. */
#ifndef WT_LAB_SLOTS_H
#define WT_LAB_SLOTS_H

#include "base/context.h"

typedef struct wt_slot {
    uint32_t hash, next; /* number of the thing + 1; 0 = free */
} wt_slot;

typedef struct wt_slots {
    wt_slot *slots; /* room is a power of two */
    size_t room, used;
} wt_slots;

/* Of so many bytes, behind what was hashed before (0 = nothing). */
uint32_t wt_slots_hash(uint32_t before, const void *bytes, size_t count);

/* The numbers kept under the hash, and others by chance: from *cursor = wt_slots_start on, until
 * false. */
size_t wt_slots_start(const wt_slots *table, uint32_t hash);
bool wt_slots_next(const wt_slots *table, uint32_t hash, size_t *cursor, uint32_t *number);
/* Keeps one more. */
wt_status wt_slots_add(wt_context *context, wt_slots *table, uint32_t hash, uint32_t number);
void wt_slots_free(wt_slots *table);

#endif
