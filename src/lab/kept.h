/* Finished units of a job in a file beside its output, OUTPUT.part: the same job goes on from them
 * after an interrupt or a kill. The file goes when the job is done.
 *
 * A unit is a row of numbers, which the job hands over and takes back by two functions. */
#ifndef WT_LAB_KEPT_H
#define WT_LAB_KEPT_H

#include "base/memory.h"
#include "io/script.h"
#include "wattle/output.h"
#include "wattle/store.h"

typedef void (*wt_kept_fn)(void *user, size_t unit, double *values);

typedef struct wt_kept {
    wt_context *context;
    wt_kept_fn give; /* fills in the numbers of a finished unit */
    wt_kept_fn take; /* sets a unit from its numbers */
    void *user;
    size_t units, width; /* of the job; numbers a unit has */

    wt_arena arena;
    wt_lock *lock;
    char *path;                 /* NULL = no output: nothing is kept */
    char setting[WT_HASH_TEXT]; /* names all that the units depend on */
    bool *done;                 /* (units) */
    size_t count;               /* of them */
    double saved, cost;         /* when it was written last, by wt_clock, and how long that took */
} wt_kept;

/* Takes what an earlier run of the same setting has left; `setting` says in words all that a unit
 * depends on. A file of another setting is replaced, with a remark. WT_CANNOT_CREATE when another
 * run has the output. To be closed in any case. */
wt_status wt_kept_open(wt_kept *kept, const char *output, const wt_script *setting);
/* Whether the unit was finished before. */
static inline bool wt_kept_has(const wt_kept *kept, size_t unit) {
    return kept->done != NULL && kept->done[unit];
}
/* One unit more; writes the file when that takes a twentieth of the time at most. */
wt_status wt_kept_add(wt_kept *kept, size_t unit);
/* Writes the file now. */
wt_status wt_kept_save(wt_kept *kept);
/* The job is done: the file goes. */
void wt_kept_drop(const wt_kept *kept);
void wt_kept_close(wt_kept *kept);

#endif
