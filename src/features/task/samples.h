/* Samples read a part at a time, from memory or drawn on the fly. */
#ifndef WT_FEATURES_TASK_SAMPLES_H
#define WT_FEATURES_TASK_SAMPLES_H

#include "base/context.h"
#include "features/task/sets.h"

typedef struct wt_samples {
    size_t samples, keys, dim, outputs;
    const wt_sets *sets;       /* in memory, or */
    const wt_problem *problem; /* drawn: samples 0 .. samples-1 */
    wt_sets buffer;            /* of a drawn part */
} wt_samples;

wt_samples wt_samples_of_sets(const wt_sets *sets);
/* Reads at most `most` samples at a time. */
wt_status wt_samples_of_problem(wt_context *context, const wt_problem *problem, size_t samples,
                                size_t most, wt_samples *out);
void wt_samples_free(wt_samples *source);

/* Samples begin .. end-1, borrowed until the next call. */
wt_status wt_samples_read(wt_context *context, wt_samples *source, size_t begin, size_t end,
                          wt_sets *out);

#endif
