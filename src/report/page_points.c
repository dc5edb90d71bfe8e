/* The points of a chart on the page: the table that everybody reads, and JSON for the script. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/figure.h"
#include "report/html.h"
#include "report/look.h"
#include "report/page.h"

enum { NAME_SHORT = 16 }; /* letters */

static bool has_interval(const wt_chart_series *series, size_t k) {
    return series->cells[k] > 1 && (series->open[k] & WT_OPEN_VALUE) == 0;
}

/* An end of an interval: "?" for one that was not measured, nothing where there is none. */
static void add_end(wt_script *html, const wt_chart_series *series, size_t k, bool high) {
    wt_script_add(html, "<td class=\"number\">");
    if (has_interval(series, k) && (series->open[k] & (high ? WT_OPEN_HIGH : WT_OPEN_LOW)) != 0)
        wt_script_add(html, "?");
    else if (has_interval(series, k))
        wt_html_number(html, high ? series->high[k] : series->low[k]);
    wt_script_add(html, "</td>");
}

/* Short names stand on one line. */
static void add_name(wt_script *html, const char *name) {
    wt_html_add(html, strlen(name) > NAME_SHORT ? "<td class=\"long\">%t</td>" : "<td>%t</td>",
                name);
}

/* "0.31"; "> 96" for a bound alone. */
static void add_row(wt_script *html, const wt_chart_series *series, size_t k, bool panels,
                    bool names) {
    unsigned open = series->open[k];
    wt_script_add(html, "<tr>");
    if (panels)
        add_name(html, series->panel);
    if (names)
        add_name(html, series->name);
    wt_html_add(html, "<td class=\"number\">%n</td><td class=\"number\">%s%n</td>", series->x[k],
                (open & WT_OPEN_VALUE) == 0  ? ""
                : (open & WT_OPEN_HIGH) != 0 ? "&gt; "
                                             : "&lt; ",
                series->y[k]);
    add_end(html, series, k, false);
    add_end(html, series, k, true);
    wt_html_add(html, "<td class=\"number\">%z</td></tr>\n", series->cells[k]);
}

static void add_heading(wt_script *html, const wt_chart_spec *spec, bool panels, bool names) {
    static const char word[] = "<th scope=\"col\" data-key=\"%s\">%t</th>";
    static const char number[] = "<th scope=\"col\" class=\"number\" data-key=\"%s\">%t</th>";
    wt_html_add(html,
                "<div class=\"side-table\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                "aria-label=\"Numbers: %t\">\n<table class=\"points\"><caption>%t against %t, with "
                "95%% intervals</caption>\n<thead><tr>",
                spec->title, spec->y_label, spec->x_label);
    if (panels)
        wt_html_add(html, word, "panel", spec->panel != NULL ? spec->panel : "panel");
    if (names)
        wt_html_add(html, word, "series", "series");
    wt_html_add(html, number, "x", spec->x_label);
    wt_html_add(html, number, "y", spec->y_label);
    wt_html_add(html, number, "low", "low");
    wt_html_add(html, number, "high", "high");
    wt_html_add(html, number, "cells", "cells");
    wt_script_add(html, "</tr></thead>\n<tbody>\n");
}

void wt_page_table(wt_page *page, const wt_chart *chart) {
    wt_script *html = &page->html;
    bool panels = false, names = false;
    for (size_t i = 0; i < chart->series_count; i++) {
        panels |= strcmp(chart->series[i].panel, chart->series[0].panel) != 0;
        names |= !chart->series[i].line && chart->series[i].name[0] != '\0';
    }
    add_heading(html, chart->spec, panels, names);
    for (size_t i = 0; i < chart->series_count; i++)
        for (size_t k = 0; k < chart->series[i].count && !chart->series[i].line; k++)
            add_row(html, &chart->series[i], k, panels, names);
    wt_script_add(html, "</tbody></table></div></div>\n");
}

void wt_page_legend(wt_page *page, const wt_figure *figure) {
    wt_script *html = &page->html;
    const wt_series *series;
    const char *name;
    wt_script_add(html, "<ul class=\"legend\">");
    for (size_t i = 0; (name = wt_figure_entry(figure, i, &series)) != NULL; i++) {
        wt_script_add(html, "<li>");
        wt_look_key(html, series->mark, series->look);
        wt_html_add(html, "%t</li>", name);
    }
    wt_script_add(html, "</ul>\n");
}

/* As JSON that may stand in a page: no letter of it ends the script. */
static void add_words(wt_script *html, const char *words) {
    wt_script json = {.context = html->context};
    wt_script_json(&json, words);
    html->status = html->status == WT_OK ? json.status : html->status;
    for (const char *at = json.text; at != NULL && *at != '\0'; at++)
        if (*at == '<' || *at == '>' || *at == '&')
            wt_script_add(html, "\\u%04X", (unsigned)*at);
        else
            wt_script_bytes(html, at, 1);
    wt_script_free(&json);
}

/* The shortest digits that are read back as the same number. */
static void add_number(wt_script *html, double value, const char *after) {
    char text[32];
    if (!isfinite(value)) {
        wt_script_add(html, "null%s", after);
        return;
    }
    for (int digits = 6; digits <= 17; digits += digits < 15 ? 9 : 2) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    wt_script_add(html, "%s%s", text, after);
}

/* [x, y, low, high, cells, open], low and high null where there is no interval. */
static void add_point(wt_script *html, const wt_chart_series *series, size_t k) {
    bool interval = has_interval(series, k);
    wt_script_add(html, k > 0 ? ",[" : "[");
    add_number(html, series->x[k], ",");
    add_number(html, series->y[k], ",");
    add_number(html, interval ? series->low[k] : NAN, ",");
    add_number(html, interval ? series->high[k] : NAN, ",");
    wt_script_add(html, "%zu,%u]", series->cells[k], (unsigned)series->open[k]);
}

static void add_series(wt_script *html, const wt_chart_series *series, const wt_series *drawn) {
    wt_script_add(html, "{\"name\":");
    add_words(html, series->name);
    wt_script_add(html, ",\"look\":%zu,\"kind\":\"%s\",\"mark\":\"%s\",\"full\":%s,\"dash\":\"",
                  series->look,
                  series->line     ? "line"
                  : series->parted ? "dots"
                                   : "points",
                  wt_look_path(series->look), wt_look_filled(series->look) ? "true" : "false");
    wt_look_dashes(html, drawn->mark, series->look);
    wt_script_add(html, "\",\"at\":[");
    for (size_t k = 0; k < series->count; k++)
        add_point(html, series, k);
    wt_script_add(html, "]}");
}

void wt_page_points(wt_page *page, const wt_chart *chart, const wt_figure *figure) {
    wt_script *html = &page->html;
    const wt_chart_spec *spec = chart->spec;
    const char *name;
    wt_script_add(html, "<script type=\"application/json\">{\"title\":");
    add_words(html, spec->title);
    wt_script_add(html, ",\"x\":");
    add_words(html, spec->x_label);
    wt_script_add(html, ",\"y\":");
    add_words(html, spec->y_label);
    wt_script_add(html, ",\"logX\":%s,\"logY\":%s,\"rate\":%s,\n\"names\":[",
                  spec->log_x ? "true" : "false", spec->log_y ? "true" : "false",
                  spec->rule == WT_TABLE_RULE_RATE ? "true" : "false");
    for (size_t i = 0; (name = wt_figure_entry(figure, i, NULL)) != NULL; i++) {
        wt_script_add(html, i > 0 ? "," : "");
        add_words(html, name);
    }
    wt_script_add(html, "],\n\"panels\":[");
    for (size_t p = 0, next = 0; p < figure->panel_count; p++) {
        wt_script_add(html, p > 0 ? ",\n{\"title\":" : "{\"title\":");
        add_words(html, chart->series[next].panel);
        wt_script_add(html, ",\"series\":[");
        for (size_t s = 0; s < figure->panels[p].series_count; s++, next++) {
            wt_script_add(html, s > 0 ? ",\n" : "\n");
            add_series(html, &chart->series[next], &figure->panels[p].series[s]);
        }
        wt_script_add(html, "]}");
    }
    wt_script_add(html, "]}</script>\n");
}
