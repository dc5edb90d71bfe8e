/* The inside of learning curves. */
#ifndef WT_LAB_CURVES_H
#define WT_LAB_CURVES_H

#include "base/memory.h"
#include "lab/curve_cell.h"
#include "lab/table.h"
#include "wattle/curve.h"

/* The lists of the options. */
enum {
    WT_CURVE_KINDS,
    WT_CURVE_HEADS,
    WT_CURVE_BIASES,
    WT_CURVE_ACTIVATIONS,
    WT_CURVE_TARGETS,
    WT_CURVE_DIMS,
    WT_CURVE_KEYS,
    WT_CURVE_SIZES,
    WT_CURVE_LISTS
};

struct wt_curves {
    wt_arena arena; /* of all that follows */
    wt_list lists[WT_CURVE_LISTS];
    const char **targets; /* (target_count) */
    size_t target_count;
    const char *tokens;
    uint64_t seed;
    size_t count, reps, size_count;
    wt_curve_line *lines;        /* (count): settings, and of each the targets */
    wt_curve_point *points;      /* (count, reps, sizes) */
    wt_curve_summary *summaries; /* (count, sizes) */
};

static inline wt_curve_point *wt_curves_at(const wt_curves *curves, size_t line, size_t rep,
                                           size_t size) {
    return &curves->points[(line * curves->reps + rep) * curves->size_count + size];
}

/* A run: a setting of each model with its sizes. */
typedef struct {
    wt_curves *curves;
    const wt_curve_options *options;
    wt_ridge_options ridge;
    wt_grid path;               /* of the ridge */
    size_t *sizes;              /* in the curves' arena */
    wt_curve_setting *settings; /* (setting_count), repetition 0 of each */
    double *costs;              /* of a cell of each */
    size_t setting_count;
    pthread_mutex_t *turn; /* of drawing, where cells run side by side on a device */
} wt_curves_job;

/* Checks the options and lists what is to be run. */
wt_status wt_curves_prepare(wt_context *context, wt_curves_job *work);

/* Means, ratios and rates of curves that are complete. */
wt_status wt_curves_summarise(wt_context *context, const wt_curves *curves);

#endif
