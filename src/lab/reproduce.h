/* The sweeps of `wattle reproduce`: what is run for the claims of each line, at each scale. */
#ifndef WT_LAB_REPRODUCE_H
#define WT_LAB_REPRODUCE_H

#include "lab/spec.h"
#include "lab/store.h"

typedef struct wt_reproduction {
    const char *line;  /* "rfa", "recover", "sparse" */
    const char *scale; /* "tiny", "quick", "paper" */
    const char *what;  /* "learning curves", for the progress line */
    const char *sweep; /* "experiment=curve n=16:512:x2 .." */
} wt_reproduction;

/* NULL past the end. */
const wt_reproduction *wt_reproduction_at(size_t index);
/* The specification of its sweep with that seed. To be freed in any case. */
wt_status wt_reproduction_spec(wt_context *context, const wt_reproduction *reproduction,
                               uint64_t seed, wt_spec *out);

/* The command that the sweeps are noted with in their store, as it was given; `only` may be NULL.
 */
void wt_reproduction_command(const char *scale, const char *only, uint64_t seed, const char *folder,
                             char *out, size_t size);
/* WT_USAGE when the commands of the store are of another scale: claims would pool the two. The
 * sentence names the folder. */
wt_status wt_reproduction_check(wt_context *context, wt_store *store, const char *scale,
                                const char *folder);

#endif
