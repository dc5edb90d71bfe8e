/* The teachers and the runs of the experiment `recover`. */
#ifndef WT_LAB_RECOVER_CELL_H
#define WT_LAB_RECOVER_CELL_H

#include "base/context.h"
#include "layer/model/layer.h"
#include "layer/task/sequences.h"
#include "wattle/recover.h"
#include "wattle/sculpt.h"

/* What is asked of a method. */
typedef struct wt_recovery {
    const wt_layer *teacher;
    const wt_sequences *data; /* NULL for a method that asks */
    double noise;             /* of every answer */
    wt_recover_options options;
} wt_recovery;

/* What it did; the costs are there also where it says WT_MISSED. */
typedef struct wt_recovered {
    wt_layer *layer; /* NULL where it says so */
    bool recovered;  /* by its own judgement */
    size_t heads;
    double train_error, holdout_error; /* NaN = none */
    double starts, steps, flops;
    double sequences;        /* examples given, or questions asked */
    bool sculpted;           /* the layer was found, from sculpt's start */
    wt_sculpt_report stages; /* of sculpt alone */
} wt_recovered;

/* By the method of the options. */
wt_status wt_recovery_run(wt_context *context, const wt_recovery *job, wt_recovered *out);

/* Makes a random teacher degenerate, unless the way is "no".
 * `parallel`: every Theta is that of the first head plus NEAR_PARALLEL of its own, of the old norm;
 * `equal-w`: every W is that of the first; `zero-sum`: the W sum to 0. */
void wt_teacher_degenerate(const char *way, wt_layer *teacher);

#endif
