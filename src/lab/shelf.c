#define _GNU_SOURCE /* O_TMPFILE, mremap */
#include "lab/shelf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/memory.h"

enum {
    HELD = 1 << 20,  /* bytes in memory */
    STEP = 1 << 25,  /* bytes that a file grows by at most */
    SORTED = 1 << 19 /* bytes that are sorted at a time */
};

/* A file without a name; -1 with errno. */
static int open_file(const char *folder) {
    char path[PATH_MAX];
    int file = wt_descriptor_move(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return file;
    if (snprintf(path, sizeof path, "%s/wattle-XXXXXX", folder) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file = wt_descriptor_move(mkostemp(path, O_CLOEXEC));
    if (file >= 0)
        (void)unlink(path);
    return file;
}

static wt_status fail(wt_context *context, const wt_shelf *shelf, int code) {
    return wt_fail(context, WT_IO, "%s cannot be kept in a temporary file in %s (TMPDIR): %s",
                   shelf->what, shelf->folder, strerror(code));
}

/* Room for so many items in the file, mapped. */
static wt_status map(wt_context *context, wt_shelf *shelf, size_t room) {
    size_t bytes = room * shelf->size, before = shelf->room * shelf->size;
    int code = posix_fallocate(shelf->file, 0, (off_t)bytes);
    if (code != 0)
        return fail(context, shelf, code);
    void *items = shelf->mapped
                      ? mremap(shelf->items, before, bytes, MREMAP_MAYMOVE)
                      : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shelf->file, 0);
    if (items == MAP_FAILED)
        return fail(context, shelf, errno);
    if (!shelf->mapped) {
        memcpy(items, shelf->items, shelf->count * shelf->size);
        wt_release(shelf->items);
    }
    shelf->items = items;
    shelf->room = room;
    shelf->mapped = true;
    return WT_OK;
}

static wt_status grow(wt_context *context, wt_shelf *shelf) {
    size_t step = STEP / shelf->size;
    if (shelf->folder == NULL || 2 * shelf->room * shelf->size <= HELD)
        return wt_grow(context, &shelf->items, shelf->count, &shelf->room, shelf->size,
                       shelf->what);
    if (!shelf->mapped && (shelf->file = open_file(shelf->folder)) < 0)
        return fail(context, shelf, errno);
    wt_status status = map(context, shelf, shelf->room + (shelf->room < step ? shelf->room : step));
    if (!shelf->mapped)
        (void)close(shelf->file);
    return status;
}

wt_status wt_shelf_add(wt_context *context, wt_shelf *shelf, const void *item) {
    if (shelf->count == shelf->room)
        WT_PASS(grow(context, shelf));
    memcpy((char *)shelf->items + shelf->count * shelf->size, item, shelf->size);
    wt_shelf_pass(shelf, shelf->count++);
    return WT_OK;
}

void wt_shelf_rest(const wt_shelf *shelf) {
    if (shelf->mapped) /* of a file, so that nothing is lost */
        (void)madvise(shelf->items, shelf->room * shelf->size, MADV_DONTNEED);
}

void wt_shelf_free(wt_shelf *shelf) {
    if (shelf->mapped) {
        (void)munmap(shelf->items, shelf->room * shelf->size);
        (void)close(shelf->file);
    } else
        wt_release(shelf->items);
    *shelf = (wt_shelf){0};
}

/* ---- sorting --------------------------------------------------------------------------------- */

/* Sorted stretches of a shelf, of which the first items are merged. */
typedef struct {
    const wt_shelf *shelf;
    int (*compare)(const void *left, const void *right);
    size_t *at, *end; /* (count) of every stretch: its next item, and its end */
    size_t *heap;     /* (count) stretches; the one with the least next item is the first */
    size_t count;
} stretches;

static const void *next_of(const stretches *all, size_t place) {
    return (const char *)all->shelf->items + all->at[all->heap[place]] * all->shelf->size;
}

static void sink(stretches *all, size_t at) {
    for (size_t below; (below = 2 * at + 1) < all->count; at = below) {
        if (below + 1 < all->count &&
            all->compare(next_of(all, below + 1), next_of(all, below)) < 0)
            below++;
        if (all->compare(next_of(all, below), next_of(all, at)) >= 0)
            return;
        size_t kept = all->heap[at];
        all->heap[at] = all->heap[below];
        all->heap[below] = kept;
    }
}

/* All stretches as one, to another shelf. */
static wt_status merge(wt_context *context, stretches *all, wt_shelf *out) {
    for (size_t i = all->count; i-- > 0;)
        sink(all, i);
    for (size_t taken = 0; all->count > 0; taken++) {
        size_t first = all->heap[0];
        WT_PASS(wt_context_check_cancelled(context));
        WT_PASS(wt_shelf_add(context, out, next_of(all, 0)));
        wt_shelf_pass(all->shelf, taken);
        if (++all->at[first] == all->end[first])
            all->heap[0] = all->heap[--all->count];
        sink(all, 0);
    }
    return WT_OK;
}

wt_status wt_shelf_sort(wt_context *context, wt_shelf *shelf,
                        int (*compare)(const void *left, const void *right)) {
    size_t stretch = shelf->mapped ? SORTED / shelf->size : shelf->count;
    size_t count = shelf->count == 0 ? 0 : (shelf->count - 1) / stretch + 1;
    wt_shelf out = {.folder = shelf->folder, .what = shelf->what, .size = shelf->size};
    wt_arena arena = wt_arena_start(context, shelf->what);
    stretches all = {.shelf = shelf,
                     .compare = compare,
                     .at = WT_TAKE(&arena, size_t, count),
                     .end = WT_TAKE(&arena, size_t, count),
                     .heap = WT_TAKE(&arena, size_t, count),
                     .count = count};
    wt_status status;
    WT_TRY(arena.status);
    for (size_t i = 0; i < count; i++) {
        WT_TRY(wt_context_check_cancelled(context));
        all.heap[i] = i;
        all.at[i] = i * stretch;
        all.end[i] = i + 1 < count ? (i + 1) * stretch : shelf->count;
        qsort((char *)shelf->items + all.at[i] * shelf->size, all.end[i] - all.at[i], shelf->size,
              compare);
        wt_shelf_rest(shelf);
    }
    if (count < 2)
        goto done;
    WT_TRY(merge(context, &all, &out));
    wt_shelf_free(shelf);
    *shelf = out;
    out = (wt_shelf){0};
done:
    wt_shelf_free(&out);
    wt_arena_free(&arena);
    return status;
}
