#define _DEFAULT_SOURCE /* madvise, posix_memalign */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/text.h"

#define ALIGNMENT 64
#define HUGE_PAGE ((size_t)2 << 20)

/* In front of every block, in one alignment unit of its own. */
typedef struct {
    wt_account *account;
    size_t bytes; /* of the whole allocation, header included */
} header;

bool wt_multiply(size_t count, size_t size, size_t *product) {
    return !__builtin_mul_overflow(count, size, product);
}

bool wt_add(size_t a, size_t b, size_t *sum) {
    return !__builtin_add_overflow(a, b, sum);
}

size_t wt_product(size_t a, size_t b) {
    size_t product;
    return wt_multiply(a, b, &product) ? product : SIZE_MAX;
}

void wt_account_leave(wt_account *account) {
    if (atomic_fetch_sub(&account->owners, 1) == 1)
        free(account);
}

/* Reserves bytes on the account, or says why not. */
static wt_status reserve(wt_context *context, size_t bytes, const char *what) {
    wt_account *account = context->account;
    size_t budget = atomic_load(&account->budget);
    size_t before = atomic_load(&account->used);
    do { /* a request that is refused must never count against one on another thread */
        if (budget != 0 && (before > budget || bytes > budget - before)) {
            char need[WT_BYTES_TEXT], have[WT_BYTES_TEXT], limit[WT_BYTES_TEXT];
            return wt_fail(context, WT_MEMORY,
                           "%s needs %s more, with %s in use and a memory budget of %s", what,
                           wt_bytes_format(bytes, need), wt_bytes_format(before, have),
                           wt_bytes_format(budget, limit));
        }
    } while (!atomic_compare_exchange_weak(&account->used, &before, before + bytes));
    size_t used = before + bytes;
    size_t peak = atomic_load(&account->peak);
    while (used > peak && !atomic_compare_exchange_weak(&account->peak, &peak, used))
        continue;
    return WT_OK;
}

/* Large blocks ask for huge pages: touching a gigabyte for the first time then takes 500 faults in
 * place of 250,000. Where the system has none, nothing changes. */
static void *take(size_t bytes) {
    if (bytes < 4 * HUGE_PAGE)
        return aligned_alloc(ALIGNMENT, bytes);
    void *block;
    if (posix_memalign(&block, HUGE_PAGE, bytes) != 0)
        return NULL;
    (void)madvise(block, bytes, MADV_HUGEPAGE);
    return block;
}

wt_status wt_allocate(wt_context *context, void *slot, size_t count, size_t size,
                      const char *what) {
    void *block = NULL;
    memcpy(slot, &block, sizeof block);
    size_t bytes;
    if (!wt_multiply(count, size, &bytes) || !wt_add(bytes, 2 * ALIGNMENT, &bytes) ||
        bytes > PTRDIFF_MAX)
        return wt_fail(context, WT_MEMORY, "%s of %zu times %zu bytes is beyond any memory", what,
                       count, size);
    bytes -= bytes % ALIGNMENT;
    WT_PASS(reserve(context, bytes, what));
    header *head = wt_fault_due(&context->allocation_to_fail) ? NULL : take(bytes);
    if (head == NULL) {
        atomic_fetch_sub(&context->account->used, bytes);
        char need[WT_BYTES_TEXT];
        return wt_fail(context, WT_MEMORY, "no memory for %s (%s)", what,
                       wt_bytes_format(bytes, need));
    }
    *head = (header){.account = context->account, .bytes = bytes};
    atomic_fetch_add(&context->account->owners, 1);
    block = (char *)head + ALIGNMENT;
    memcpy(slot, &block, sizeof block);
    return WT_OK;
}

wt_status wt_allocate_zero(wt_context *context, void *slot, size_t count, size_t size,
                           const char *what) {
    wt_status status = wt_allocate(context, slot, count, size, what);
    if (status == WT_OK) {
        void *block;
        memcpy(&block, slot, sizeof block);
        memset(block, 0, count * size);
    }
    return status;
}

wt_status wt_grow(wt_context *context, void *slot, size_t count, size_t *room, size_t size,
                  const char *what) {
    void *old, *larger;
    memcpy(&old, slot, sizeof old);
    if (count < *room)
        return WT_OK;
    size_t wanted = *room == 0 ? 64 : 2 * *room;
    WT_PASS(wt_allocate_zero(context, &larger, wanted, size, what));
    if (count > 0)
        memcpy(larger, old, count * size);
    wt_release(old);
    memcpy(slot, &larger, sizeof larger);
    *room = wanted;
    return WT_OK;
}

void wt_release(void *block) {
    if (block == NULL)
        return;
    header *head = (header *)(void *)((char *)block - ALIGNMENT);
    wt_account *account = head->account;
    atomic_fetch_sub(&account->used, head->bytes);
    free(head);
    wt_account_leave(account);
}

wt_status wt_count_memory(wt_context *context, size_t bytes, const char *what, wt_counted *out) {
    *out = (wt_counted){0};
    WT_PASS(reserve(context, bytes, what));
    atomic_fetch_add(&context->account->owners, 1);
    *out = (wt_counted){.account = context->account, .bytes = bytes};
    return WT_OK;
}

void wt_uncount_memory(wt_counted *counted) {
    if (counted->account == NULL)
        return;
    atomic_fetch_sub(&counted->account->used, counted->bytes);
    wt_account_leave(counted->account);
    *counted = (wt_counted){0};
}

wt_status wt_copy_text(wt_context *context, char **out, const char *text, const char *what) {
    size_t bytes = strlen(text) + 1;
    wt_status status = wt_allocate(context, out, bytes, 1, what);
    if (status == WT_OK)
        memcpy(*out, text, bytes);
    return status;
}
