/* Ranges and ticks of the axes of a panel. */
#ifndef WT_REPORT_AXIS_H
#define WT_REPORT_AXIS_H

#include "report/script.h"
#include "wattle/report.h"

/* A range that grows to hold values; empty while low > high. */
typedef struct wt_extent {
    bool log;
    double low, high;
} wt_extent;

wt_extent wt_extent_empty(bool log);
/* Values the axis cannot show are passed over. */
void wt_extent_hold(wt_extent *extent, double value);
/* Room around the data by the given share of the axis on both sides; a single value gets a range
 * around it. */
void wt_extent_pad(wt_extent *extent, double share);
/* Whether the axis can show the value, in range or not. */
bool wt_extent_can_show(const wt_extent *extent, double value);

/* Writes the range, scale and ticks of axis `letter` ('x' or 'y'), with at most `most` labels;
 * `labelled` = false leaves the ticks without. `plain` spells 10^{-3} as 1e-3. */
void wt_axis_script(wt_script *script, char letter, const wt_extent *extent, int most,
                    bool labelled, bool plain);

#endif
