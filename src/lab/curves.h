/* The inside of learning curves. */
#ifndef WT_LAB_CURVES_H
#define WT_LAB_CURVES_H

#include "base/memory.h"
#include "lab/curve_cell.h"
#include "lab/engine.h"
#include "lab/kept.h"
#include "wattle/curve.h"

/* Words between commas. */
typedef struct {
    const char **words;
    size_t count;
} wt_words;

struct wt_curves {
    wt_arena arena; /* of all that follows */
    wt_words models, targets, activations;
    const char *tokens;
    uint64_t seed;
    size_t count, reps, size_count;
    wt_curve_line *lines;        /* (count): settings, and of each the targets */
    wt_curve_point *points;      /* (count, reps, sizes); n = 0 where it was not run */
    wt_curve_summary *summaries; /* (count, sizes) */
};

static inline wt_curve_point *wt_curves_at(const wt_curves *curves, size_t line, size_t rep,
                                           size_t size) {
    return &curves->points[(line * curves->reps + rep) * curves->size_count + size];
}

/* A model with its sizes, and a run of all of them. */
typedef struct {
    wt_model_spec model;
    size_t dim, keys;
} wt_curve_variant;

typedef struct {
    wt_curves *curves;
    const wt_curve_options *options;
    wt_curve_setting base; /* what all cells share */
    wt_ridge_options ridge;
    wt_curve_variant *variants;
    double *costs; /* of a cell of each */
    size_t variant_count;
    wt_engine engine;
    wt_kept kept;
} wt_curves_job;

/* Checks the options and lists what is to be run. */
wt_status wt_curves_prepare(wt_context *context, wt_curves_job *work);
/* The cell of a unit; its points go to those of the lines. */
wt_curve_setting wt_curves_setting(const wt_curves_job *work, size_t unit);

/* Means, ratios and rates of curves that are complete. */
wt_status wt_curves_summarise(wt_context *context, const wt_curves *curves);
/* All points there are, as CSV. */
wt_status wt_curves_write(wt_context *context, const wt_curves *curves, const char *path);

#endif
