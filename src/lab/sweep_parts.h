/* The inside of a sweep that runs. */
#ifndef WT_LAB_SWEEP_PARTS_H
#define WT_LAB_SWEEP_PARTS_H

#include "lab/engine.h"
#include "lab/plan.h"
#include "lab/sweep.h"

/* A group, or the first of those that are computed together, with a wanted cell. */
typedef struct wt_sweep_unit {
    const wt_plan *plan;
    size_t group; /* its number */
    double cost;  /* of a wanted cell */
} wt_sweep_unit;

typedef struct wt_sweep_job {
    wt_context *context;
    wt_store *store;
    const wt_sweep_options *options;
    wt_sweep_report *report;
    wt_engine engine;
    wt_sweep_unit *units;
    size_t unit_count;
    wt_store_engines engines;
    bool noted;             /* whose cells these are, with the first of them */
    double unsaved;         /* seconds of computing not committed yet */
    wt_sweep_report stored; /* what of the report was committed */
    char what[64];          /* "cells" or "cells, 2 failed," */
} wt_sweep_job;

/* Cells begin .. end-1 of each group of a unit, to be kept. */
typedef struct wt_sweep_outcome {
    wt_sweep_job *work;
    wt_context *context;
    const wt_sweep_unit *of;
    size_t begin, end, wanted; /* of the cells */
    const double *metrics;     /* (groups, end, metrics); NULL when it failed */
    const char *message;
    double seconds;
} wt_sweep_outcome;

static inline wt_plan_group wt_sweep_group(const wt_sweep_unit *unit) {
    return wt_plan_at(unit->plan, unit->group);
}

/* For wt_engine_keep: puts the cells of a wt_sweep_outcome. */
wt_status wt_sweep_put(void *outcome);

/* Runs the units that can be in fleets on the context's device, fleet by fleet, and takes them off
 * the list. Where there is no device it does nothing. */
wt_status wt_sweep_run_fleets(wt_sweep_job *work);

#endif
