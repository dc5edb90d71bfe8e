/* What of a chart a reader can take in: as many panels, lines and points as fit a page. Where there
 * are more, some are chosen, evenly spread over all; the file of numbers has the rest. */
#include "report/chart.h"

/* Lines of a panel: WT_LOOKS, so that no two look alike. Points of a line, and of all lines while
 * no line has more than LEAST_POINTS. */
enum { PANELS = 12, POINTS = 200, ALL_POINTS = 2000, LEAST_POINTS = 8 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The index-th of `shown` things chosen of `count`, the first and the last among them. */
static size_t chosen(size_t index, size_t shown, size_t count) {
    return shown < 2 ? 0 : index * (count - 1) / (shown - 1);
}

static size_t count_panels(const wt_chart *chart, size_t *most) {
    size_t panels = 0;
    *most = 0;
    for (size_t first = 0, count; first < chart->series_count; first += count, panels++) {
        count = wt_chart_panel(chart, first);
        *most = count > *most ? count : *most;
    }
    return panels;
}

/* Points a line, so that all lines together have not too many. */
static size_t cap_points(const wt_chart *chart) {
    for (size_t cap = POINTS; cap > LEAST_POINTS; cap--) {
        size_t all = 0;
        for (size_t i = 0; i < chart->series_count; i++)
            all += least(chart->series[i].count, cap);
        if (all <= ALL_POINTS)
            return cap;
    }
    return LEAST_POINTS;
}

static size_t most_points(const wt_chart *chart) {
    size_t most = 0;
    for (size_t i = 0; i < chart->series_count; i++)
        most = chart->series[i].count > most ? chart->series[i].count : most;
    return most;
}

/* A copy of the series with the points that are shown. */
static void copy_series(const wt_chart_series *from, size_t cap, wt_chart *out) {
    size_t count = least(from->count, cap);
    wt_chart_series *series = wt_chart_series_open(out, count), room;
    if (series == NULL)
        return;
    room = *series;
    *series = *from;
    series->count = count;
    series->x = room.x, series->y = room.y, series->low = room.low, series->high = room.high;
    series->cells = room.cells, series->open = room.open;
    for (size_t i = 0; i < count; i++) {
        size_t k = chosen(i, count, from->count);
        series->x[i] = from->x[k];
        series->y[i] = from->y[k];
        series->low[i] = from->low[k];
        series->high[i] = from->high[k];
        series->cells[i] = from->cells[k];
        series->open[i] = from->open[k];
    }
}

wt_status wt_chart_show(wt_context *context, const wt_chart *chart, wt_chart_shown *out) {
    size_t panels, at = 0, next = 0;
    *out = (wt_chart_shown){
        .chart = {.spec = chart->spec, .arena = wt_arena_start(context, "a chart")},
        .points_of = most_points(chart)};
    out->panels_of = panels = count_panels(chart, &out->series_of);
    out->panels = least(panels, PANELS);
    out->series = least(out->series_of, WT_LOOKS);
    out->chart.series = WT_TAKE(&out->chart.arena, wt_chart_series, out->panels, out->series);
    WT_PASS(out->chart.arena.status);
    for (size_t first = 0; first < chart->series_count; first += wt_chart_panel(chart, first)) {
        if (at++ != chosen(next, out->panels, panels))
            continue;
        next++;
        size_t count = wt_chart_panel(chart, first), shown = least(count, WT_LOOKS);
        for (size_t i = 0; i < shown; i++)
            out->chart.series[out->chart.series_count++] =
                chart->series[first + chosen(i, shown, count)];
    }
    size_t lines = out->chart.series_count, cap = cap_points(&out->chart);
    out->points = least(out->points_of, cap);
    out->chart.series_count = 0;
    for (size_t i = 0; i < lines; i++) {
        wt_chart_series from = out->chart.series[i];
        copy_series(&from, cap, &out->chart);
    }
    WT_PASS(out->chart.arena.status);
    if (out->chart.series_count < chart->series_count && chart->spec->build == wt_chart_lines)
        wt_chart_looks(&out->chart);
    return WT_OK;
}

bool wt_chart_shown_whole(const wt_chart_shown *shown) {
    return shown->panels == shown->panels_of && shown->series == shown->series_of &&
           shown->points == shown->points_of;
}
