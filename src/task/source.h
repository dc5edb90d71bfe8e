/* Samples read a part at a time, from memory or drawn on the fly. */
#ifndef WT_TASK_SOURCE_H
#define WT_TASK_SOURCE_H

#include "base/context.h"
#include "wattle/task.h"

typedef struct wt_source {
    size_t samples, keys, dim, outputs;
    const wt_sets *sets;       /* in memory, or */
    const wt_problem *problem; /* drawn: samples 0 .. samples-1 */
    wt_sets buffer;            /* of a drawn part */
} wt_source;

wt_source wt_source_sets(const wt_sets *sets);
/* Reads at most `most` samples at a time. */
wt_status wt_source_problem(wt_context *context, const wt_problem *problem, size_t samples,
                            size_t most, wt_source *out);
void wt_source_free(wt_source *source);

/* Samples begin .. end-1, borrowed until the next call. */
wt_status wt_source_read(wt_context *context, wt_source *source, size_t begin, size_t end,
                         wt_sets *out);

#endif
