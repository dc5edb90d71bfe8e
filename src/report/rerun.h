/* How cells are made again: the sweeps that were run into the store. */
#ifndef WT_REPORT_RERUN_H
#define WT_REPORT_RERUN_H

#include "lab/axes.h"
#include "report/chart.h"

/* The cells that each of the results' sweeps ("experiment=curve n=16:512:x2 ..") makes: those of
 * some settings with these seeds and repetitions. */
typedef struct wt_rerun {
    bool *makes;  /* (settings) */
    wt_axes axes; /* seeds and repetitions */
} wt_rerun;
struct wt_reruns {
    wt_arena arena;
    size_t count;
    wt_rerun *sweeps; /* none makes a cell where this version does not understand it any more */
};
/* To be freed in any case. */
wt_status wt_reruns_find(wt_context *context, const wt_results *results, wt_reruns *out);
void wt_reruns_free(wt_reruns *reruns);
/* Notes in used (count) the first sweep that makes a cell, if one does. */
void wt_reruns_mark(const wt_reruns *reruns, uint32_t setting, int64_t seed, int64_t rep,
                    bool *used);
/* The different values of a parameter over the settings of an experiment, "a, b, c" in rising
 * order, cut short with "..." after WT_LEAST of them. Returns how many there are, WT_LEAST + 1 for
 * more. */
size_t wt_rerun_values(wt_script *out, const wt_results *results, uint32_t experiment,
                       uint32_t name);
/* The same of numbers that were gathered. */
size_t wt_rerun_numbers(wt_script *out, const wt_least_numbers *numbers);

#endif
