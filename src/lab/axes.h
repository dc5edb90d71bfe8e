/* The values a sweep gives to each parameter: the grids of a specification, parsed. */
#ifndef WT_LAB_AXES_H
#define WT_LAB_AXES_H

#include "base/memory.h"
#include "lab/experiment.h"
#include "lab/spec.h"

typedef struct wt_axes {
    const wt_experiment *experiment;
    wt_arena arena;      /* holds all values and texts */
    wt_list *parameters; /* one a parameter; the grouped one increasing, each value once */
    wt_list seeds;
    size_t reps;
} wt_axes;

/* Every key must be known (else the sentence offers the nearest one) and every value make sense.
 * To be freed in any case. */
wt_status wt_axes_read(wt_context *context, const wt_sweep_spec *spec, wt_axes *out);
void wt_axes_free(wt_axes *axes);

#endif
