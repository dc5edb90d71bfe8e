/* The series of a panel as gnuplot reads them: data blocks and the plot command. */
#ifndef WT_REPORT_SERIES_H
#define WT_REPORT_SERIES_H

#include "report/axis.h"

/* Data blocks of series `number`: $S<number> with lines "x y low high"; $A<number> with an arrow
 * "x from to" for every end that is open or runs out of the axis; $O<number> with the points that
 * are bounds alone. */
void wt_series_data(wt_script *script, const wt_series *series, size_t number, const wt_extent *x,
                    const wt_extent *y);
/* "with linespoints ..": how the series is drawn, also in the legend. */
void wt_series_style(wt_script *script, const wt_series *series);
/* The plot command of all series of the panel. Those with bars are set a little apart along x, so
 * that bars at one x do not cover each other; less on a linear axis, from which x is read. */
void wt_series_plot(wt_script *script, const wt_panel *panel, const wt_extent *x);

#endif
