/* Charts on the page: drawings, tables. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/figure.h"
#include "report/html.h"
#include "report/page.h"

/* Every panel as a drawing of its own, so that a narrow screen sets them below each other; title
 * and legend are the page's, and all are of one height. */
static wt_status add_drawing(wt_page *page, const wt_chart *chart, const wt_figure *figure,
                             size_t number) {
    wt_panel panel = figure->panels[number];
    wt_series *series = NULL;
    char *svg = NULL, prefix[64], label[256];
    wt_status status;
    WT_TRY(WT_NEW(page->context, &series, panel.series_count, "a figure"));
    for (size_t i = 0; i < panel.series_count; i++) {
        series[i] = panel.series[i];
        series[i].name = NULL;
    }
    panel.series = series;
    panel.title = NULL;
    wt_figure one = {WT_FIGURE_SIZES, .panels = &panel, .panel_count = 1};
    WT_TRY(wt_figure_inline(page->context, &one, &svg));
    const char *title = figure->panels[number].title;
    snprintf(prefix, sizeof prefix, "%s-%zu-", chart->spec->id, number);
    snprintf(label, sizeof label, "%s%s%s", chart->spec->title, title != NULL ? ": " : "",
             title != NULL ? title : "");
    wt_utf8_trim(label);
    wt_html_drawing(&page->html, svg, prefix, label);
done:
    wt_release(series);
    wt_release(svg);
    return status;
}

static wt_status add_panels(wt_page *page, const wt_chart *chart, const wt_figure *figure) {
    wt_script *html = &page->html;
    wt_script_add(html, "<div class=\"panels\">\n");
    for (size_t p = 0; p < figure->panel_count; p++) {
        wt_script_add(html, "<div class=\"panel\">");
        if (figure->panels[p].title != NULL)
            wt_html_add(html, "<p>%t</p>", figure->panels[p].title);
        if (page->drawing)
            WT_PASS(add_drawing(page, chart, figure, p));
        wt_script_add(html, "</div>\n");
    }
    wt_script_add(html, "</div>\n");
    return WT_OK;
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
    wt_html_add(html, "<figure id=\"%s\" class=\"%s%s\"><h4>%t</h4>\n<figcaption>%p</figcaption>\n",
                chart->spec->id, page->drawing ? "drawn" : "",
                figure.panel_count == 1       ? " only"
                : figure.panel_count % 2 == 1 ? " odd"
                                              : "",
                chart->spec->title, chart->spec->caption);
    add_omission(html, shown);
    wt_script_add(html, "<div class=\"view\"><div class=\"drawings\">\n");
    wt_page_legend(page, &figure);
    WT_TRY(add_panels(page, &shown->chart, &figure));
    wt_script_add(html, "</div>\n");
    wt_page_table(page, &shown->chart);
    wt_script_add(html, "</div>\n<details%s><summary>Files, commands</summary>\n",
                  page->drawing ? "" : " open");
    wt_page_links(page, chart);
    wt_script_add(html, "</details>\n");
    if (page->drawing) /* tables do not print: what they hold is told */
        wt_page_paper(page, chart);
    wt_page_points(page, &shown->chart, &figure);
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

/* Builds the chart and adds it, where it has anything to show. */
static wt_status add_spec(wt_page *page, const wt_chart_spec *spec, bool *drawn) {
    wt_chart chart;
    wt_status status = wt_chart_build(page->context, page->results, &page->reruns, spec, &chart);
    *drawn = status == WT_OK && chart.series_count > 0;
    if (*drawn)
        status = add_chart(page, &chart);
    wt_chart_free(&chart);
    return status;
}

wt_status wt_page_charts(wt_page *page, const wt_paper *paper) {
    const wt_chart_spec *spec;
    wt_script_add(&page->html, "<div class=\"charts\">\n");
    for (size_t i = 0; (spec = wt_chart_spec_at(i)) != NULL; i++)
        if (paper == NULL || strcmp(spec->paper, paper->number) == 0)
            WT_PASS(add_spec(page, spec, &page->drawn[i]));
    wt_script_add(&page->html, "</div>\n");
    return WT_OK;
}

/* Whether the page has a chart of the experiment against that parameter. */
static bool is_drawn(const wt_page *page, const wt_chart_spec *like) {
    const wt_chart_spec *spec;
    for (size_t i = 0; (spec = wt_chart_spec_at(i)) != NULL; i++)
        if (page->drawn[i] && strcmp(spec->experiment, like->experiment) == 0 &&
            strcmp(spec->x, like->x) == 0)
            return true;
    return false;
}

wt_status wt_page_own_charts(wt_page *page) {
    wt_chart_own own;
    wt_script_add(&page->html, "<div class=\"charts\">\n");
    for (size_t i = 0; wt_chart_own_at(i, &own); i++)
        if (!is_drawn(page, &own.spec) && wt_chart_own_varies(page->results, &own))
            WT_PASS(add_spec(page, &own.spec, &page->own_drawn[i]));
    wt_script_add(&page->html, "</div>\n");
    if (page->figures == 0)
        wt_script_add(&page->html,
                      "<p>No cells differ in a number alone, so that there is nothing to draw; "
                      "<code>wattle sweep export</code> has their table.</p>\n");
    return WT_OK;
}
