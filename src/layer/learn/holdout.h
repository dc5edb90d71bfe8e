/* Which sequences judge a recovery: a part drawn by the seed, moved to the end. */
#ifndef WT_LAYER_LEARN_HOLDOUT_H
#define WT_LAYER_LEARN_HOLDOUT_H

#include "layer/task/sequences.h"
#include "wattle/recover.h"

/* The data with its held-out sequences last, each part in the order of the file. Files are often
 * sorted, and their end is then like nothing before it. */
typedef struct wt_holdout {
    const wt_sequences *data; /* the given one where nothing is held out */
    wt_sequences *own;
} wt_holdout;

wt_status wt_holdout_split(wt_context *context, const wt_sequences *data,
                           const wt_recover_options *options, wt_holdout *out);
/* Accepts a cleared struct. */
void wt_holdout_free(wt_holdout *holdout);

#endif
