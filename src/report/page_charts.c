/* Charts on the page: drawings, tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/figure.h"
#include "report/html.h"
#include "report/page.h"

enum { ROWS_SHOWN = 400 }; /* of a table */

static void add_end(wt_script *html, double value, bool open) {
    if (open)
        wt_script_add(html, "?");
    else
        wt_html_number(html, value);
}

/* "0.31 (0.28, 0.34)"; "> 96" for a bound alone, "?" for an end that was not measured. */
static void add_value(wt_script *html, const wt_chart_series *series, size_t k) {
    unsigned open = series->open[k];
    if ((open & WT_OPEN_VALUE) != 0)
        wt_script_add(html, (open & WT_OPEN_HIGH) != 0 ? "&gt; " : "&lt; ");
    wt_html_number(html, series->y[k]);
    if ((open & WT_OPEN_VALUE) != 0 || series->cells[k] <= 1)
        return;
    wt_script_add(html, " <small>(");
    add_end(html, series->low[k], (open & WT_OPEN_LOW) != 0);
    wt_script_add(html, ", ");
    add_end(html, series->high[k], (open & WT_OPEN_HIGH) != 0);
    wt_script_add(html, ")</small>");
}

static void add_heading(wt_script *html, const wt_chart *chart, size_t first, size_t count) {
    const wt_chart_series *series = chart->series + first;
    wt_html_add(html, "<div class=\"scroll\"><table><caption>%t</caption>\n<thead><tr><th>%t</th>",
                series->panel[0] != '\0' ? series->panel : chart->spec->y_label,
                chart->spec->x_label);
    for (size_t s = 0; s < count; s++)
        if (!series[s].line)
            wt_html_add(html, "<th class=\"number\">%t</th>",
                        series[s].name[0] != '\0' ? series[s].name : chart->spec->y_label);
    wt_script_add(html, "</tr></thead>\n<tbody>\n");
}

/* Numbers of one panel: a row an x, a column a series. */
static void add_table(wt_script *html, const wt_chart *chart, size_t first, size_t count) {
    const wt_chart_series *series = chart->series + first;
    size_t rows = 0;
    double last = -INFINITY;
    add_heading(html, chart, first, count);
    while (true) {
        double next = INFINITY;
        for (size_t s = 0; s < count; s++)
            for (size_t k = 0; k < series[s].count && !series[s].line; k++)
                if (series[s].x[k] > last)
                    next = fmin(next, series[s].x[k]);
        if (isinf(next))
            break;
        if (rows++ == ROWS_SHOWN) {
            wt_script_add(html, "<tr><td>...</td></tr>\n");
            break;
        }
        wt_html_add(html, "<tr><td class=\"number\">%n</td>", next);
        for (size_t s = 0; s < count; s++) {
            if (series[s].line)
                continue;
            wt_script_add(html, "<td class=\"number\">");
            for (size_t k = 0; k < series[s].count; k++)
                if (series[s].x[k] == next)
                    add_value(html, &series[s], k);
            wt_script_add(html, "</td>");
        }
        wt_script_add(html, "</tr>\n");
        last = next;
    }
    wt_script_add(html, "</tbody></table></div>\n");
}

/* Every panel as a drawing of its own, so that a narrow screen sets them below each other. */
static wt_status add_drawings(wt_page *page, const wt_chart *chart, const wt_figure *figure) {
    wt_script *html = &page->html;
    char *svg = NULL, prefix[64], label[2 * WT_CHART_NAME];
    wt_status status = WT_OK;
    wt_script_add(html, "<div class=\"panels\">\n");
    for (size_t p = 0; p < figure->panel_count; p++) {
        wt_figure one = {WT_FIGURE_SIZES, .panels = figure->panels + p, .panel_count = 1};
        WT_TRY(wt_figure_inline(page->context, &one, &svg));
        const char *title = figure->panels[p].title;
        snprintf(prefix, sizeof prefix, "%s-%zu-", chart->spec->id, p);
        snprintf(label, sizeof label, "%s%s%s", chart->spec->title, title != NULL ? ": " : "",
                 title != NULL ? title : "");
        wt_utf8_trim(label);
        wt_html_drawing(html, svg, prefix, label);
        wt_release(svg);
        svg = NULL;
    }
    wt_script_add(html, "</div>\n");
done:
    wt_release(svg);
    return status;
}

/* "12 of 40 panels", with what goes before it. */
static void add_part(wt_script *html, bool *any, size_t shown, size_t of, const char *what) {
    if (shown == of)
        return;
    wt_script_add(html, "%s%zu of %zu %s", *any ? ", " : "", shown, of, what);
    *any = true;
}

static void add_omission(wt_script *html, const wt_chart_shown *shown) {
    bool any = false;
    if (wt_chart_shown_whole(shown))
        return;
    wt_script_add(html, "<p class=\"soft\">Too many for a page. Drawn and listed here, evenly "
                        "spread: ");
    add_part(html, &any, shown->panels, shown->panels_of, "panels");
    add_part(html, &any, shown->series, shown->series_of, "lines in the fullest panel");
    add_part(html, &any, shown->points, shown->points_of, "points on the longest line");
    wt_script_add(html, ". The file %s.csv has all of them.</p>\n", shown->chart.spec->id);
}

/* The shown part of the chart as a figure. */
static wt_status add_shown(wt_page *page, const wt_chart *chart, const wt_chart_shown *shown) {
    wt_script *html = &page->html;
    wt_arena arena = wt_arena_start(page->context, "a figure");
    wt_panel *panels = WT_TAKE_ZERO(&arena, wt_panel, shown->chart.series_count);
    wt_series *series = WT_TAKE_ZERO(&arena, wt_series, shown->chart.series_count);
    wt_status status;
    WT_TRY(arena.status);
    wt_figure figure = wt_chart_figure(&shown->chart, panels, series);
    WT_TRY(wt_page_write_chart(page, chart, &figure));
    wt_html_add(html, "<figure id=\"%s\"%s><h4>%t</h4>\n<figcaption>%p</figcaption>\n",
                chart->spec->id, figure.panel_count > 1 ? " class=\"wide\"" : "",
                chart->spec->title, chart->spec->caption);
    add_omission(html, shown);
    if (page->drawing)
        WT_TRY(add_drawings(page, &shown->chart, &figure));
    wt_script_add(html, "<details%s><summary>Numbers, files, commands</summary>\n",
                  page->drawing ? "" : " open");
    for (size_t first = 0, count; first < shown->chart.series_count; first += count) {
        count = wt_chart_panel(&shown->chart, first);
        add_table(html, &shown->chart, first, count);
    }
    wt_page_links(page, chart);
    wt_script_add(html, "</details>\n");
    if (page->drawing) /* tables are shut on paper: what they hold is told */
        wt_page_paper(page, chart);
    wt_script_add(html, "</figure>\n");
    page->figures++;
done:
    wt_arena_free(&arena);
    return status;
}

static wt_status add_chart(wt_page *page, const wt_chart *chart) {
    wt_chart_shown shown;
    wt_status status = wt_chart_show(page->context, chart, &shown);
    if (status == WT_OK)
        status = add_shown(page, chart, &shown);
    wt_chart_free(&shown.chart);
    return status;
}

wt_status wt_page_charts(wt_page *page, const wt_paper *paper) {
    const wt_chart_spec *spec;
    wt_status status = WT_OK;
    wt_script_add(&page->html, "<div class=\"charts\">\n");
    for (size_t i = 0; (spec = wt_chart_spec_at(i)) != NULL; i++) {
        wt_chart chart;
        if (strcmp(spec->paper, paper->number) != 0)
            continue;
        status = wt_chart_build(page->context, page->results, spec, &chart);
        page->drawn[i] = status == WT_OK && chart.series_count > 0;
        if (page->drawn[i])
            status = add_chart(page, &chart);
        wt_chart_free(&chart);
        WT_TRY(status);
    }
    wt_script_add(&page->html, "</div>\n");
done:
    return status;
}
