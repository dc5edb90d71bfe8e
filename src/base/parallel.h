/* The one loop that spawns threads. */
#ifndef WT_BASE_PARALLEL_H
#define WT_BASE_PARALLEL_H

#include "base/context.h"

/* Works on items begin .. end-1. `worker` is below the context's number of threads and owned by
 * the running thread: use it to index scratch space, never to decide what is computed. */
typedef wt_status (*wt_body_fn)(void *argument, size_t begin, size_t end, int worker);

/* Cuts 0 .. count-1 into chunks of `grain` items (the last may be shorter) and runs the body on
 * each. The cuts depend on count and grain alone, so results cannot depend on the number of
 * threads. Stops early when a chunk fails, and returns the failure of the first one by index;
 * stops with WT_INTERRUPTED between chunks when the context is cancelled. Inside a chunk, further
 * loops run on the same thread, unless they are those of a context of the chunk's own with several
 * threads. */
wt_status wt_parallel_for(wt_context *context, size_t count, size_t grain, wt_body_fn body,
                          void *argument);

/* Whether loops of this context run on the calling thread alone, which is in a chunk. */
bool wt_parallel_alone(const wt_context *context);

/* How many threads may run the same code as the caller at a time: those of the loop it is in, else
 * those that a loop of the context would have. */
int wt_parallel_width(const wt_context *context);

#endif
