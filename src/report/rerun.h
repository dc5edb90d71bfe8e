/* The sweep that would make cells again. */
#ifndef WT_REPORT_RERUN_H
#define WT_REPORT_RERUN_H

#include "report/chart.h"

/* An INI file for `wattle sweep run`: the values that each parameter takes in the cells of a chart.
 * Where a chart's cells are no full grid it holds more of them. */
void wt_rerun_spec(wt_script *out, const wt_results *results, const wt_chart_spec *chart);

/* The different values of a parameter over the cells of an experiment that fit `where`, "a,b,c",
 * in rising order, cut short with "..." when longer than `most` of them (0 = all). Returns how many
 * there are. */
size_t wt_rerun_values(wt_script *out, const wt_results *results, const char *experiment,
                       const char *where, const char *name, size_t most);

#endif
