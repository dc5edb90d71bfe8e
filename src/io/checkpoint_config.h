/* A config.json, or the metadata of a file: numbers and words by name. */
#ifndef WT_IO_CHECKPOINT_CONFIG_H
#define WT_IO_CHECKPOINT_CONFIG_H

#include <jansson.h>

#include "io/checkpoint.h"

typedef struct wt_teller {
    const char *path;
    const json_t *config, *part; /* `part` is asked first; NULL = there is none */
    const wt_file *file;         /* whose metadata are asked last; NULL = none */
} wt_teller;

wt_teller wt_teller_for(const wt_checkpoint *checkpoint, const char *stem);
const json_t *wt_teller_value(const wt_teller *from, const char *name);
/* The first of the names that there is, *found, as a number, NaN = none. What stands there and is
 * none, but for null, is refused. */
wt_status wt_teller_number(wt_context *context, const wt_teller *from, const char *const *names,
                           const char **found, double *out);
const char *wt_teller_word(const wt_teller *from, const char *name);

/* What the layers have that no layer of ours has, by config and names of tensors: fills positions,
 * beyond, left_out, window and rope. */
wt_status wt_checkpoint_leave_out(wt_context *context, wt_checkpoint *checkpoint);

#endif
