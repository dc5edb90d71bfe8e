/* An array that may grow larger than memory should: from a few MiB on it lies in a temporary file
 * without a name, mapped, and who walks along it lets go of the pages behind. The file has the room
 * before it is written to, so that a full disk is a status and no signal; nobody else can cut it
 * short. */
#ifndef WT_LAB_SHELF_H
#define WT_LAB_SHELF_H

#include "base/context.h"

typedef struct wt_shelf {
    const char *folder; /* of the file; NULL = all in memory */
    const char *what;   /* in sentences */
    size_t size;        /* of an item */
    size_t count, room;
    void *items; /* they move when it grows */
    bool mapped;
    int file; /* that is mapped */
} wt_shelf;

/* Started as {.folder, .what, .size}. Adds a copy of the item. */
wt_status wt_shelf_add(wt_context *context, wt_shelf *shelf, const void *item);
/* In the order of `compare`, which tells any two items apart. */
wt_status wt_shelf_sort(wt_context *context, wt_shelf *shelf,
                        int (*compare)(const void *left, const void *right));
/* Lets go of the pages; they come back when they are read. */
void wt_shelf_rest(const wt_shelf *shelf);
/* The same at every so many items of a walk: at item `index`. */
static inline void wt_shelf_pass(const wt_shelf *shelf, size_t index) {
    if (shelf->mapped && (index & 0x3fff) == 0x3fff)
        wt_shelf_rest(shelf);
}
void wt_shelf_free(wt_shelf *shelf);

#endif
