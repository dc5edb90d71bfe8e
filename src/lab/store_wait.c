/* Waiting for other processes. SQLite calls back each time it finds the file locked. */
#define _GNU_SOURCE
#include <poll.h>

#include "base/context.h"
#include "lab/store_file.h"

#define TELL_AFTER 3.0 /* seconds */
#define GRACE      5.0 /* seconds a writer goes on after Ctrl-C, for what is not stored yet */
#define LOOK_MS    20
#define LOOK_STEPS 10000 /* of SQLite's machine, about a millisecond */

static bool gives_up(wt_store *store, double now) {
    int cancels = atomic_load(&store->context->cancels);
    if (cancels == 0) {
        store->cancelled = 0;
        return false;
    }
    if (store->cancelled == 0)
        store->cancelled = now;
    return store->lock < 0 || cancels > 1 || now - store->cancelled > GRACE;
}

static int wait_a_little(void *user, int times) {
    wt_store *store = user;
    double now = wt_clock();
    if (times == 0) {
        store->since = now;
        store->told = false;
    }
    if (gives_up(store, now))
        return 0;
    if (!store->told && now - store->since >= TELL_AFTER) {
        wt_remark(store->context, "%s: another process %s it; waiting until it lets go",
                  store->shown, store->lock < 0 ? "writes to" : "reads");
        store->told = true;
    }
    poll(NULL, 0, LOOK_MS);
    return 1;
}

static int is_cancelled(void *user) {
    const wt_store *store = user;
    return store->context != NULL && wt_context_cancelled(store->context);
}

void wt_store_wait_patiently(wt_store *store) {
    sqlite3_busy_handler(store->base, wait_a_little, store);
    sqlite3_progress_handler(store->base, LOOK_STEPS, is_cancelled, store);
}

void wt_store_finish_writes(wt_store *store) {
    if (store->lock >= 0)
        sqlite3_progress_handler(store->base, 0, NULL, NULL);
}

wt_status wt_store_gave_up(wt_context *context, const wt_store *store) {
    if (atomic_load(&context->cancels) == 0)
        return wt_fail(context, WT_IO, "%s: another process holds it", store->shown);
    return wt_fail(context, WT_INTERRUPTED,
                   "interrupted while another process held %s; what was "
                   "stored before is kept",
                   store->shown);
}
