/* Figures, and the page of a store.
 *
 * Figures are panels of series with intervals, and heat maps, drawn by gnuplot run as a program.
 *
 * The same figure gives the same bytes of SVG. The first eight colours are those of Okabe and Ito,
 * which colour-blind readers can distinguish, and every look has its own mark; letters are 8 points
 * at the printed size: 3.4 inches for one panel in a row, 5.2 for two, 7 for more. */
#ifndef WATTLE_REPORT_H
#define WATTLE_REPORT_H

#include "wattle/claims.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wt_mark {
    WT_MARK_POINTS, /* points joined by a line, with bars from low to high where given */
    WT_MARK_LINE,   /* a line alone */
    WT_MARK_BAND,   /* a line on a shaded band from low to high */
    WT_MARK_DOTS    /* points that are not joined, with bars */
} wt_mark;

/* What of a point is not known: beyond an end that is open the interval goes on, which an arrow
 * says; a value that is open is a bound alone, lower (with WT_OPEN_HIGH) or upper (with
 * WT_OPEN_LOW), and drawn hollow. */
typedef enum wt_open { WT_OPEN_LOW = 1, WT_OPEN_HIGH = 2, WT_OPEN_VALUE = 4 } wt_open;

/* Points of one colour; series with bars are set a little apart along x: by up to 3% of a
 * logarithmic axis, 0.5% of a linear one. Values that are not finite, or not above 0 on a
 * logarithmic axis, are left out; an interval that runs out of a logarithmic axis ends at its edge,
 * with an arrow. */
typedef struct wt_series {
    const char *name; /* in the legend; NULL = not there. Series of one name share an entry */
    wt_mark mark;
    size_t look; /* colour and shape, 0 to WT_LOOKS-1 */
    size_t count;
    const double *x, *y;       /* (count) */
    const double *low, *high;  /* (count), or NULL */
    const unsigned char *open; /* (count), sums of WT_OPEN_.., or NULL */
} wt_series;

/* No two share a colour; from one to the next shapes and dashes differ too. */
#define WT_LOOKS 24

typedef struct wt_axis {
    const char *label; /* NULL = none */
    bool log;
    double low, high; /* the range; low = high finds it from the data */
} wt_axis;

/* Series, or a heat map where `heat` is not NULL: a matrix with row 0 at the top. A panel of
 * neither is an empty place in the grid; the first may not be. */
typedef struct wt_panel {
    const char *title; /* NULL = none */
    wt_axis x, y;
    const wt_series *series;
    size_t series_count;
    const double *heat; /* (heat_rows, heat_columns) */
    size_t heat_rows, heat_columns;
    /* Colours of this heat map alone, where heat_low < heat_high: from white at 0 where that is the
     * lower end, else from blue to orange. x.low and y.low are then the numbers of its first column
     * and row, entries that are NaN are left white, and in characters every entry is shown. */
    double heat_low, heat_high;
    const char *heat_legend; /* what they mean; NULL = no words */
} wt_panel;

/* To be set with WT_FIGURE_SIZES, which holds the sizes that the caller's headers knew:
 *
 *     wt_figure figure = {WT_FIGURE_SIZES, .panels = &panel, .panel_count = 1};
 */
typedef struct wt_figure {
    size_t size, panel_size, series_size;
    const char *title; /* NULL = none */
    const wt_panel *panels;
    size_t panel_count;
    size_t columns;     /* panels per row; 0 = at most 4 */
    bool share_y;       /* one range of y for all panels with series, labelled on the left only */
    double heat_limit;  /* colours of heat maps run from -heat_limit to heat_limit */
    const char *legend; /* what the colours of heat maps mean; NULL = no words */
    double heat_aspect; /* height of heat maps over their width; 0 = 1 */
} wt_figure;
#define WT_FIGURE_SIZES                                                                            \
    .size = sizeof(wt_figure), .panel_size = sizeof(wt_panel), .series_size = sizeof(wt_series)

/* Draws into a file, whose extension chooses the format: .svg, .pdf or .png. The file is either the
 * old one or the complete new one. WT_UNAVAILABLE when gnuplot is not installed, dies or hangs. */
WT_API wt_status wt_figure_write(wt_context *context, const wt_figure *figure, const char *path);
/* WT_USAGE unless wt_figure_write would take the extension: to be asked before long work. */
WT_API wt_status wt_figure_check_path(wt_context *context, const char *path);

/* Draws in characters, the panels below each other, for a terminal of the given width (20 to
 * 1000). *out is to be released with wt_release. */
WT_API wt_status wt_figure_text(wt_context *context, const wt_figure *figure, size_t width,
                                char **out);

typedef struct wt_report_summary {
    size_t size;    /* WT_SIZED(wt_report_summary) */
    size_t cells;   /* of the store */
    size_t figures; /* on the page */
    bool drawn;     /* false: gnuplot cannot, figures are drawn by the page alone */
    char why[1024]; /* it cannot; "" otherwise */
} wt_report_summary;

/* What a page has beside the cells of the store. */
typedef struct wt_report_options {
    size_t size;
    /* Files of trained models (wattle/inspect.h): the diagonals of their query-key products are
     * counted on the page. */
    const char *const *checkpoints;
    size_t checkpoint_count;
} wt_report_options;
/* Nothing. */
WT_API void wt_report_options_init(wt_report_options *options, size_t size);

/* Measures all claims on the store of that path and writes what it says as one page to `output`,
 * "report.html", and its figures into a folder beside it, "report-figures": a .svg, .pdf and .csv
 * each, and a .ini for every sweep that was run. The page comes last, and every file is complete
 * or not there. Options that are NULL are none. *findings are the caller's to free; NULL = not
 * wanted. */
WT_API wt_status wt_report_write(wt_context *context, const char *store, const char *output,
                                 const wt_report_options *options, wt_findings **findings,
                                 wt_report_summary *out);
/* The same again and again while others write to the store: whenever it has changed, five seconds
 * after the last page or later, until the context is cancelled. A store that is not there yet is
 * waited for. A page reads itself anew meanwhile; the last one, which is written after the cancel,
 * is as wt_report_write has it. Every page is told by a remark, *findings and *out are those of the
 * last. */
WT_API wt_status wt_report_watch(wt_context *context, const char *store, const char *output,
                                 const wt_report_options *options, wt_findings **findings,
                                 wt_report_summary *out);

#ifdef __cplusplus
}
#endif
#endif
