/* How cells are made again: the sweeps that were run into the store. */
#ifndef WT_REPORT_RERUN_H
#define WT_REPORT_RERUN_H

#include "report/chart.h"

/* Notes number + 1 for the cells of the results (count) that a sweep ("experiment=curve
 * n=16:512:x2 ..") makes, by their names, where there is 0: none where this version does not
 * understand the sweep any more. */
wt_status wt_rerun_makes(wt_context *context, const char *sweep, const wt_results *results,
                         uint32_t number, uint32_t *out);
/* The different values of a parameter over the settings of an experiment, "a, b, c" in rising
 * order, cut short with "..." after WT_LEAST of them. Returns how many there are, WT_LEAST + 1 for
 * more. */
size_t wt_rerun_values(wt_script *out, const wt_results *results, uint32_t experiment,
                       uint32_t name);
/* The same of numbers that were gathered. */
size_t wt_rerun_numbers(wt_script *out, const wt_least_numbers *numbers);

#endif
