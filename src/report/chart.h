/* Charts: what of a store is worth a figure, one row of a table each.
 *
 * A row says what runs along x, what is measured, what makes the panels and what names the series;
 * cells alike in everything else are repetitions and become a point with its interval. */
#ifndef WT_REPORT_CHART_H
#define WT_REPORT_CHART_H

#include "io/script.h"
#include "lab/claims.h"
#include "wattle/report.h"

typedef struct wt_chart wt_chart;
typedef struct wt_reruns wt_reruns; /* report/rerun.h */
typedef struct wt_chart_spec wt_chart_spec;
struct wt_chart_spec {
    const char *id;      /* file name of the figure, anchor in the page */
    const char *paper;   /* "1": the section it stands in */
    const char *title;   /* "Learning curves" */
    const char *caption; /* a sentence or two: what is shown, how intervals are made */
    /* Fills the chart from the cells; the usual one is wt_chart_lines. */
    wt_status (*build)(wt_context *context, const wt_results *results, const wt_chart_spec *spec,
                       wt_chart *out);
    const char *experiment, *where; /* as wt_lines_query */
    const char *x, *y, *apart;
    const char *panel; /* parameter a panel each; NULL = one panel */
    const char *name;  /* parameter that names the series first; NULL = all that differ */
    const char *x_label, *y_label;
    wt_table_rule rule;
    bool log_x, log_y;
};
/* NULL past the end. */
const wt_chart_spec *wt_chart_spec_at(size_t index);

/* How points and intervals are made, for captions. */
#define WT_CHART_MEAN "Points are means over repetitions, bars 95% intervals by Student's t."
#define WT_CHART_GEOMETRIC                                                                         \
    "Points are geometric means over repetitions, bars 95% intervals by Student's t of the logs."
#define WT_CHART_RATE "Points are shares of trials, bars exact 95% intervals (Clopper and Pearson)."

#define WT_CHART_NAME 96
typedef struct wt_chart_series {
    char panel[WT_CHART_NAME], name[WT_CHART_NAME];
    size_t look, count;
    bool line;   /* a fit: no points, no intervals */
    bool parted; /* points that no line joins */
    double *x, *y, *low, *high;
    size_t *cells;       /* that each point is made of */
    unsigned char *open; /* sums of WT_OPEN_..: ends that are those of a grid and not measured */
} wt_chart_series;

struct wt_chart {
    const wt_chart_spec *spec;
    wt_arena arena; /* holds what follows */
    size_t series_count;
    wt_chart_series *series; /* by panel, then name */
    size_t cells;
    const wt_reruns *reruns; /* NULL = not asked for */
    bool *used;              /* (sweeps): for each cell the first sweep that makes it */
};

/* A chart of the main result of an experiment against one of its parameters, "curve-by-noise";
 * false past the last. The spec points into *out. */
typedef struct wt_chart_own {
    wt_chart_spec spec;
    char id[WT_CHART_NAME], title[WT_CHART_NAME];
} wt_chart_own;
bool wt_chart_own_at(size_t index, wt_chart_own *out);
/* Whether the parameter varies over the cells; the axis of x is chosen by it. */
bool wt_chart_own_varies(const wt_results *results, wt_chart_own *own);

/* The metrics that charts show, for wt_results_want. */
wt_status wt_charts_want(wt_context *context, wt_results *results);

/* A chart with no series has nothing to show. `reruns` may be NULL. To be freed in any case. */
wt_status wt_chart_build(wt_context *context, const wt_results *results, const wt_reruns *reruns,
                         const wt_chart_spec *spec, wt_chart *out);
/* For those who build charts: one more cell. */
void wt_chart_note(wt_chart *chart, uint32_t setting, int64_t seed, int64_t rep);
void wt_chart_free(wt_chart *chart);

wt_status wt_chart_lines(wt_context *context, const wt_results *results, const wt_chart_spec *spec,
                         wt_chart *out);
/* Critical sizes against T with the three growth laws fitted to them. */
wt_status wt_chart_critical(wt_context *context, const wt_results *results,
                            const wt_chart_spec *spec, wt_chart *out);

/* Names the series of these lines, which stand in their order. */
wt_status wt_chart_names(const wt_lines *lines, const wt_chart_spec *spec, wt_chart *out);
/* Numbers by size, also within words, and the rest by letters: "length=50 m=9" before "length=50
 * m=10". */
int wt_words_compare(const char *a, const char *b);
/* Room for the points of the next series of the chart; NULL where there is none. */
wt_chart_series *wt_chart_series_open(wt_chart *chart, size_t points);
/* Series from `first` on that share its panel. */
size_t wt_chart_panel(const wt_chart *chart, size_t first);

/* The whole as a figure: panels (at most series_count) and series (series_count) are the caller's
 * room, and the figure is valid as long as they and the chart are. */
wt_figure wt_chart_figure(const wt_chart *chart, wt_panel *panels, wt_series *series);

/* What a page shows of a chart, a chart of its own. */
typedef struct wt_chart_shown {
    wt_chart chart;                                                 /* without cells */
    size_t panels, panels_of, series, series_of, points, points_of; /* at most, and of how many */
} wt_chart_shown;
/* out->chart is to be freed in any case. */
wt_status wt_chart_show(wt_context *context, const wt_chart *chart, wt_chart_shown *out);
/* Whether nothing is left out. */
bool wt_chart_shown_whole(const wt_chart_shown *shown);
/* Chooses the looks of the series. The usual names look alike in all charts, any other in all
 * panels of one; no two names of a chart do before all looks are used up. */
void wt_chart_looks(wt_chart *chart);

/* The rows of one series, a point each, and before those of the first the heading,
 * "target,series,n,test_error,low,high,cells". Critical sizes have a column
 * `known` more: "above" or "below" where the grid's end in the row is a bound alone, "low" or
 * "high" where that end of the interval alone is known, "value" where neither is. */
void wt_chart_csv(wt_script *out, const wt_chart *chart, size_t index);

#endif
