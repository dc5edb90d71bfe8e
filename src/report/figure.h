/* A figure as gnuplot reads it. */
#ifndef WT_REPORT_FIGURE_H
#define WT_REPORT_FIGURE_H

#include "base/memory.h"
#include "io/script.h"
#include "report/axis.h"
#include "wattle/report.h"

#define WT_LETTER 0.066 /* width of a letter, about, with what is between them */

/* Inches. */
typedef struct wt_layout {
    size_t columns, rows, legend_columns;
    double width, height;
    double title, top;           /* below the title; below the title and the legend */
    double edge;                 /* at the left of the paper, before the first cell */
    double cell, box;            /* widths of a panel with and without its margins */
    double left, right;          /* beside the box of a panel */
    double above, below;         /* title of a panel; ticks and label of x */
    double series_box, heat_box; /* heights of the boxes of the two kinds of panel */
    double heat_scale;           /* at the right edge, for the colours of heat maps */
} wt_layout;

/* The caller's figure with panels and series as this library knows them, in the arena where they
 * are others. */
wt_status wt_figure_read(wt_arena *arena, const wt_figure *given, wt_figure *out);
/* The figure must hold together: sizes, looks, something to draw in every panel. */
wt_status wt_figure_check(wt_context *context, const wt_figure *figure);
wt_layout wt_figure_layout(const wt_figure *figure);
/* Whether a heat map has colours of its own. */
static inline bool wt_panel_own_heat(const wt_panel *panel) {
    return panel->heat != NULL && panel->heat_low < panel->heat_high;
}
/* Neither series nor heat map: an empty place in the grid. */
bool wt_panel_blank(const wt_panel *panel);
/* Height of a row of panels with its margins. */
double wt_layout_row(const wt_layout *layout, const wt_figure *figure, size_t row);

/* The index-th different name of the legend, with the series that bears it first; NULL past the
 * end. */
const char *wt_figure_entry(const wt_figure *figure, size_t index, const wt_series **series);

/* The figure as an SVG without background, for a page; *out is to be released with wt_release. */
wt_status wt_figure_inline(wt_context *context, const wt_figure *figure, char **out);
/* WT_UNAVAILABLE, with what to install, when figures cannot be drawn here. */
wt_status wt_figure_possible(wt_context *context);

/* The script that draws the whole figure; the terminal ("svg size ...") is set in front of it. */
void wt_figure_script(wt_script *script, const wt_figure *figure, const wt_layout *layout);
/* Runs gnuplot on a script; what it prints is to be released. */
wt_status wt_gnuplot_run(wt_context *context, const wt_script *script, char **out, size_t *bytes);
/* Ranges of a panel's axes, and the values that x has. */
void wt_figure_extents(const wt_figure *figure, const wt_panel *panel, wt_extent *x, wt_extent *y);

#endif
