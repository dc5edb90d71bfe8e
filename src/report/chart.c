#include "report/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/rerun.h"

enum { LOOKED_AT = 1000 };

/* One piece of the arena: charts of large stores have many series. */
wt_chart_series *wt_chart_series_open(wt_chart *chart, size_t points) {
    wt_chart_series *series = &chart->series[chart->series_count];
    size_t bytes = 4 * sizeof *series->x + sizeof *series->cells + sizeof *series->open;
    double *x = (double *)(void *)WT_TAKE_ZERO(&chart->arena, unsigned char, points, bytes);
    if (x == NULL)
        return NULL;
    *series =
        (wt_chart_series){.x = x, .y = x + points, .low = x + 2 * points, .high = x + 3 * points};
    series->cells = (size_t *)(void *)(x + 4 * points);
    series->open = (unsigned char *)(series->cells + points);
    chart->series_count++;
    return series;
}

void wt_chart_free(wt_chart *chart) {
    wt_arena_free(&chart->arena);
    *chart = (wt_chart){0};
}

wt_status wt_chart_build(wt_context *context, const wt_results *results, const wt_reruns *reruns,
                         const wt_chart_spec *spec, wt_chart *out) {
    *out = (wt_chart){.spec = spec, .reruns = reruns, .arena = wt_arena_start(context, "a chart")};
    if (reruns != NULL)
        out->used = WT_TAKE_ZERO(&out->arena, bool, reruns->count);
    WT_PASS(out->arena.status);
    return spec->build(context, results, spec, out);
}

void wt_chart_note(wt_chart *chart, uint32_t setting, int64_t seed, int64_t rep) {
    if (chart->reruns != NULL)
        wt_reruns_mark(chart->reruns, setting, seed, rep, chart->used);
    chart->cells++;
}

static wt_status add_series(wt_context *context, const wt_lines *lines, size_t index,
                            double *values, wt_chart *out) {
    const wt_line *line = &lines->lines[index];
    const wt_line_point *points = lines->points + line->first;
    wt_chart_series *series = wt_chart_series_open(out, line->different_x);
    if (series == NULL)
        return out->arena.status;
    for (size_t begin = 0, end; begin < line->count; begin = end) {
        for (end = begin; end < line->count && points[end].x == points[begin].x; end++) {
            values[end - begin] = points[end].y;
            wt_chart_note(out, points[end].setting, points[end].seed, points[end].rep);
            wt_shelf_pass(&lines->shelf, end);
        }
        wt_interval at = wt_line_summary(out->spec->rule, values, end - begin);
        size_t k = series->count++;
        series->x[k] = points[begin].x;
        series->y[k] = at.value;
        series->low[k] = isnan(at.low) ? at.value : at.low; /* drawn without a bar */
        series->high[k] = isnan(at.high) ? at.value : at.high;
        series->cells[k] = end - begin;
    }
    return wt_context_check_cancelled(context);
}

static int by_place(const void *left, const void *right) {
    const wt_chart_series *a = left, *b = right;
    int order = wt_words_compare(a->panel, b->panel);
    return order != 0 ? order : wt_words_compare(a->name, b->name);
}

static const char *const usual_names[] = {"rfa",     "brfa",     "rfmlp",
                                          "rfa-inf", "brfa-inf", "rfmlp-inf"};
static const char *const usual_methods[] = {"refine", "adam", "sculpt"};

static size_t usual_look(const char *name) {
    for (size_t i = 0; i < sizeof usual_names / sizeof *usual_names; i++)
        if (strcmp(usual_names[i], name) == 0)
            return i;
    for (size_t i = 0; i < sizeof usual_methods / sizeof *usual_methods; i++)
        if (strcmp(usual_methods[i], name) == 0)
            return i;
    return WT_LOOKS;
}

/* Quadratic: of many series few are shown, and those are chosen looks for again. */
void wt_chart_looks(wt_chart *chart) {
    bool taken[WT_LOOKS] = {false};
    size_t next = 0;
    for (size_t i = 0; i < chart->series_count; i++)
        if (usual_look(chart->series[i].name) < WT_LOOKS)
            taken[usual_look(chart->series[i].name)] = true;
    for (size_t i = 0; i < chart->series_count; i++) {
        size_t before = 0, look = usual_look(chart->series[i].name);
        while (before < i && strcmp(chart->series[before].name, chart->series[i].name) != 0)
            before++;
        if (before < i)
            look = chart->series[before].look;
        else if (look == WT_LOOKS) {
            for (size_t k = 0; k < WT_LOOKS && taken[next % WT_LOOKS]; k++)
                next++;
            look = next++ % WT_LOOKS;
        }
        chart->series[i].look = look;
    }
}

/* The most cells of one line: no point of it is made of more. */
static size_t most_values(const wt_lines *lines) {
    size_t most = 0;
    for (size_t i = 0; i < lines->line_count; i++)
        most = lines->lines[i].count > most ? lines->lines[i].count : most;
    return most;
}

wt_status wt_chart_lines(wt_context *context, const wt_results *results, const wt_chart_spec *spec,
                         wt_chart *out) {
    wt_lines_query query = {.experiment = spec->experiment,
                            .where = spec->where,
                            .x = spec->x,
                            .y = spec->y,
                            .apart = spec->apart};
    wt_lines lines;
    wt_status status;
    WT_TRY(wt_lines_find(context, results, &query, &lines));
    if (lines.line_count == 0)
        goto done;
    double *values = WT_TAKE(&out->arena, double, most_values(&lines));
    out->series = WT_TAKE(&out->arena, wt_chart_series, lines.line_count);
    WT_TRY(out->arena.status);
    for (size_t i = 0; i < lines.line_count; i++)
        WT_TRY(add_series(context, &lines, i, values, out));
    WT_TRY(wt_chart_names(&lines, spec, out));
    qsort(out->series, out->series_count, sizeof *out->series, by_place);
    if (out->series_count <= LOOKED_AT)
        wt_chart_looks(out);
done:
    wt_lines_free(&lines);
    return status;
}

size_t wt_chart_panel(const wt_chart *chart, size_t first) {
    size_t count = 1;
    while (first + count < chart->series_count &&
           strcmp(chart->series[first + count].panel, chart->series[first].panel) == 0)
        count++;
    return count;
}

wt_figure wt_chart_figure(const wt_chart *chart, wt_panel *panels, wt_series *series) {
    const wt_chart_spec *spec = chart->spec;
    size_t panel_count = 0;
    for (size_t i = 0; i < chart->series_count; i++) {
        const wt_chart_series *from = &chart->series[i];
        series[i] = (wt_series){.name = from->name[0] != '\0' ? from->name : NULL,
                                .mark = from->line     ? WT_MARK_LINE
                                        : from->parted ? WT_MARK_DOTS
                                                       : WT_MARK_POINTS,
                                .look = from->look,
                                .count = from->count,
                                .x = from->x,
                                .y = from->y,
                                .low = from->line ? NULL : from->low,
                                .high = from->line ? NULL : from->high,
                                .open = from->parted ? from->open : NULL};
    }
    for (size_t first = 0, count; first < chart->series_count; first += count) {
        count = wt_chart_panel(chart, first);
        bool rate = spec->rule == WT_TABLE_RULE_RATE;
        panels[panel_count++] = (wt_panel){
            .title = chart->series[first].panel[0] != '\0' ? chart->series[first].panel : NULL,
            .x = {.label = spec->x_label, .log = spec->log_x},
            .y = {.label = spec->y_label,
                  .log = spec->log_y,
                  .low = rate ? -0.03 : 0,
                  .high = rate ? 1.03 : 0},
            .series = series + first,
            .series_count = count};
    }
    return (wt_figure){WT_FIGURE_SIZES, .title = spec->title, .panels = panels,
                       .panel_count = panel_count, .share_y = true};
}

static void csv_number(wt_script *out, double value) {
    if (isfinite(value))
        wt_script_add(out, ",%.17g", value);
    else
        wt_script_add(out, ",");
}

static const char *known_words(unsigned open) {
    static const char *const words[] = {"", "high", "low", "value"};
    if ((open & WT_OPEN_VALUE) != 0)
        return (open & WT_OPEN_HIGH) != 0 ? "above" : "below";
    return words[open & (WT_OPEN_LOW | WT_OPEN_HIGH)];
}

void wt_chart_csv(wt_script *out, const wt_chart *chart, size_t index) {
    const wt_chart_spec *spec = chart->spec;
    const wt_chart_series *series = &chart->series[index];
    bool critical = spec->build == wt_chart_critical;
    if (index == 0)
        wt_script_add(out, "%s,series,%s,%s,low,high,cells%s\n",
                      spec->panel != NULL ? spec->panel : "panel", spec->x, spec->y,
                      critical ? ",known" : "");
    for (size_t k = 0; k < series->count; k++) {
        unsigned open = series->open[k];
        bool bare = series->cells[k] <= 1 || (open & WT_OPEN_VALUE) != 0;
        wt_script_csv(out, series->panel);
        wt_script_add(out, ",");
        wt_script_csv(out, series->name);
        csv_number(out, series->x[k]);
        csv_number(out, series->y[k]);
        csv_number(out, bare || (open & WT_OPEN_LOW) != 0 ? NAN : series->low[k]);
        csv_number(out, bare || (open & WT_OPEN_HIGH) != 0 ? NAN : series->high[k]);
        wt_script_add(out, ",%zu%s%s\n", series->cells[k], critical ? "," : "",
                      critical ? known_words(open) : "");
    }
}
