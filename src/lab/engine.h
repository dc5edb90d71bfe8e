/* The one loop under sweeps, curves, searches, thresholds and reproductions: it runs units of work,
 * keeps their results and tells how far it has come.
 *
 *     wt_engine engine = {.context = context, .what = "cells", .workers = 4, .total = cells};
 *     WT_TRY(wt_engine_open(&engine));
 *     status = wt_engine_run(&engine, units, run_unit, &job);
 *     status = wt_engine_finish(&engine, status, save, &job);
 *     wt_engine_close(&engine);
 *
 * Where run_unit computes a unit and calls wt_engine_keep with what it found. When the context is
 * cancelled no further unit begins, and those in hand are finished and kept; when it is cancelled
 * twice they are left. */
#ifndef WT_LAB_ENGINE_H
#define WT_LAB_ENGINE_H

#include <pthread.h>

#include "base/context.h"

typedef struct wt_engine {
    wt_context *context;
    const char *what; /* is counted: "cells" */
    size_t workers;   /* units at a time, each on one thread; with 1 and not apart a unit has all
                         threads of the context */
    size_t threads;   /* that a unit has instead, where workers are apart; 0 = one */
    size_t units;     /* that a round has at most: more workers are not needed; 0 = not known */
    bool apart;       /* every worker has a context of its own with its part of the memory budget:
                         whether a unit fits does not depend on the others */
    double total;     /* things to do; 0 = not known */
    double cost;      /* of all of them, in any unit; 0 = not known. May change while it runs */

    double done, paid; /* things kept, and their cost */
    wt_context **contexts;
    wt_meter meter;
    pthread_mutex_t keeping; /* not mtx_t, which ThreadSanitizer does not know */
    bool open, broken;       /* broken: a result could not be kept, nor will others be */
} wt_engine;

/* WT_USAGE with more than WT_MAX_THREADS workers; 0 are as many as the context has threads. To be
 * closed in any case. */
wt_status wt_engine_open(wt_engine *engine);
void wt_engine_close(wt_engine *engine);

/* Computes one unit with the context of its worker. */
typedef wt_status (*wt_unit_fn)(void *user, wt_context *context, size_t unit);
/* Units 0 .. count-1; may be called again, for the next round. Ends with the failure of the first
 * unit that fails, by number, or with WT_INTERRUPTED. */
wt_status wt_engine_run(wt_engine *engine, size_t count, wt_unit_fn run, void *user);

/* Keeps a result, from within a unit: `keep` is called by one worker at a time. */
typedef wt_status (*wt_keep_fn)(void *user);
wt_status wt_engine_keep(wt_engine *engine, wt_keep_fn keep, void *user, double things,
                         double cost);

/* Whatever ended the run, what was kept is saved. Returns the status of the run, or that of saving
 * where the run was well or interrupted. */
wt_status wt_engine_finish(wt_engine *engine, wt_status status, wt_keep_fn save, void *user);

#endif
