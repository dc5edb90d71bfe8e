/* Two figures with something of everything. */
#ifndef TESTS_REPORT_FIGURES_H
#define TESTS_REPORT_FIGURES_H

#include "report/figure.h"

/* Two panels of two models, with intervals; five points each. */
enum { POINTS = 5 };
static const double sizes[POINTS] = {16, 32, 64, 128, 256};
static const double errors[POINTS] = {1, 0.5, 0.2, 0.1, 0.03};
static const double low[POINTS] = {0.9, 0.4, 0.1, -0.05, 0.02};
static const double high[POINTS] = {1.1, 0.6, 0.3, 0.2, 0.05};
static const wt_series curves[] = {
    {"rfa", WT_MARK_POINTS, 0, POINTS, sizes, errors, low, high, NULL},
    {"brfa", WT_MARK_POINTS, 1, POINTS, sizes, high, NULL, NULL, NULL},
};
static const wt_panel curve_panels[] = {
    {.title = "mean-power:2",
     .x = {.label = "n", .log = true},
     .y = {.label = "error", .log = true},
     .series = curves,
     .series_count = 2},
    {.title = "corr-power:3",
     .x = {.label = "n", .log = true},
     .y = {.label = "error", .log = true},
     .series = curves,
     .series_count = 2},
};
static const wt_figure curve_figure = {WT_FIGURE_SIZES, .title = "learning curves",
                                       .panels = curve_panels, .panel_count = 2, .share_y = true};

static const double matrix[] = {3, 0, -1, 0, 3, 0, 0.5, 0, 3};
static const wt_panel heat_panel = {
    .title = "theta", .heat = matrix, .heat_rows = 3, .heat_columns = 3};
static const wt_figure heat_figure = {WT_FIGURE_SIZES, .panels = &heat_panel, .panel_count = 1,
                                      .heat_limit = 4};

#endif
