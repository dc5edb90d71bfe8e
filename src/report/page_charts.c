/* Charts on the page, and beside it as .svg, .pdf and .csv; sweeps that make the cells as .ini. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/output.h"
#include "report/figure.h"
#include "report/html.h"
#include "report/page.h"
#include "report/rerun.h"

/* Numbers of one panel: a row an x, a column a series. */
static void add_table(wt_script *html, const wt_chart *chart, size_t first, size_t count) {
    const wt_chart_series *series = chart->series + first;
    wt_script_add(html, "<div class=\"scroll\"><table><caption>");
    wt_html_text(html, series->panel[0] != '\0' ? series->panel : chart->spec->y_label);
    wt_script_add(html, "</caption>\n<thead><tr><th>");
    wt_html_text(html, chart->spec->x_label);
    wt_script_add(html, "</th>");
    for (size_t s = 0; s < count; s++)
        if (!series[s].line) {
            wt_script_add(html, "<th class=\"number\">");
            wt_html_text(html, series[s].name[0] != '\0' ? series[s].name : chart->spec->y_label);
            wt_script_add(html, "</th>");
        }
    wt_script_add(html, "</tr></thead>\n<tbody>\n");
    double last = -INFINITY;
    while (true) {
        double next = INFINITY;
        for (size_t s = 0; s < count; s++)
            for (size_t k = 0; k < series[s].count && !series[s].line; k++)
                if (series[s].x[k] > last)
                    next = fmin(next, series[s].x[k]);
        if (isinf(next))
            break;
        wt_script_add(html, "<tr><td class=\"number\">");
        wt_html_number(html, next);
        wt_script_add(html, "</td>");
        for (size_t s = 0; s < count; s++) {
            if (series[s].line)
                continue;
            wt_script_add(html, "<td class=\"number\">");
            for (size_t k = 0; k < series[s].count; k++)
                if (series[s].x[k] == next)
                    wt_html_interval(html,
                                     (wt_interval){series[s].y[k],
                                                   series[s].cells[k] > 1 ? series[s].low[k] : NAN,
                                                   series[s].high[k]});
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
        wt_figure one = {.panels = figure->panels + p, .panel_count = 1};
        WT_TRY(wt_figure_inline(page->context, &one, &svg));
        const char *title = figure->panels[p].title;
        snprintf(prefix, sizeof prefix, "%s-%zu-", chart->spec->id, p);
        snprintf(label, sizeof label, "%s%s%s", chart->spec->title, title != NULL ? ": " : "",
                 title != NULL ? title : "");
        wt_html_drawing(html, svg, prefix, label);
        wt_release(svg);
        svg = NULL;
    }
    wt_script_add(html, "</div>\n");
done:
    wt_release(svg);
    return status;
}

static wt_status write_text(wt_context *context, const char *path, const wt_script *text) {
    wt_output *output = NULL;
    wt_status status;
    WT_TRY(text->status);
    WT_TRY(wt_output_open(context, path, &output));
    WT_TRY(wt_output_write(output, text->text, text->length));
    WT_TRY(wt_output_commit(output));
done:
    wt_output_free(output);
    return status;
}

/* id.csv, and the pictures where they can be drawn. */
static wt_status write_files(wt_page *page, const wt_chart *chart, const wt_figure *figure) {
    wt_context *context = page->context;
    wt_script csv = {.context = context};
    char path[4096];
    wt_status status;
    static const char *const pictures[] = {"svg", "pdf"};
    for (size_t i = 0; i < 2 && page->drawing; i++) {
        snprintf(path, sizeof path, "%s/%s.%s", page->folder, chart->spec->id, pictures[i]);
        WT_TRY(wt_figure_write(context, figure, path));
    }
    wt_chart_csv(&csv, chart);
    snprintf(path, sizeof path, "%s/%s.csv", page->folder, chart->spec->id);
    WT_TRY(write_text(context, path, &csv));
done:
    wt_script_free(&csv);
    return status;
}

wt_status wt_page_sweeps(wt_page *page) {
    wt_script spec = {.context = page->context};
    char path[4096];
    wt_status status = WT_OK;
    for (size_t i = 0; i < page->results->sweep_count; i++) {
        wt_rerun_spec(&spec, page->results->sweeps[i]);
        snprintf(path, sizeof path, "%s/sweep-%zu.ini", page->folder, i + 1);
        WT_TRY(write_text(page->context, path, &spec));
        wt_script_free(&spec);
    }
done:
    wt_script_free(&spec);
    return status;
}

/* Links to the files, and the commands that make the cells and the figure again. */
static void add_links(wt_page *page, const wt_chart *chart) {
    static const char *const kinds[] = {"svg", "pdf", "csv"};
    const wt_results *results = page->results;
    wt_script *html = &page->html;
    wt_script_add(html, "<p class=\"soft\">Files:");
    for (size_t i = page->drawing ? 0 : 2; i < 3; i++) {
        wt_script_add(html, "%s <a href=\"", i == 0 || !page->drawing ? "" : ",");
        wt_html_text(html, page->folder_name);
        wt_script_add(html, "/%s.%s\">%s.%s</a>", chart->spec->id, kinds[i], chart->spec->id,
                      kinds[i]);
    }
    wt_script_add(html, ". From %zu cells. Made by</p>\n<pre>", chart->cells);
    for (size_t i = 0; i < results->sweep_count; i++) {
        if (!wt_rerun_is(results->sweeps[i], chart->spec->experiment))
            continue;
        wt_script_add(html, "wattle sweep run ");
        wt_html_text(html, page->folder_name);
        wt_script_add(html, "/sweep-%zu.ini --store ", i + 1);
        wt_html_text(html, page->store);
        wt_script_add(html, "\n");
    }
    wt_script_add(html, "wattle report ");
    wt_html_text(html, page->store);
    wt_script_add(html, " -o ");
    wt_html_text(html, page->name);
    wt_script_add(html, "</pre>\n");
}

static wt_status add_chart(wt_page *page, const wt_chart *chart) {
    wt_script *html = &page->html;
    wt_panel *panels = NULL;
    wt_series *series = NULL;
    wt_status status;
    WT_TRY(WT_NEW_ZERO(page->context, &panels, chart->series_count, "a figure"));
    WT_TRY(WT_NEW_ZERO(page->context, &series, chart->series_count, "a figure"));
    wt_figure figure = wt_chart_figure(chart, panels, series);
    WT_TRY(write_files(page, chart, &figure));
    wt_script_add(html, "<figure id=\"%s\"%s><h4>", chart->spec->id,
                  figure.panel_count > 1 ? " class=\"wide\"" : "");
    wt_html_text(html, chart->spec->title);
    wt_script_add(html, "</h4>\n<figcaption>");
    wt_html_text(html, chart->spec->caption);
    wt_script_add(html, "</figcaption>\n");
    if (page->drawing)
        WT_TRY(add_drawings(page, chart, &figure));
    wt_script_add(html, "<details%s><summary>Numbers, files, commands</summary>\n",
                  page->drawing ? "" : " open");
    for (size_t first = 0, count; first < chart->series_count; first += count) {
        count = wt_chart_panel(chart, first);
        add_table(html, chart, first, count);
    }
    add_links(page, chart);
    wt_script_add(html, "</details></figure>\n");
    page->figures++;
done:
    wt_release(panels);
    wt_release(series);
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
        if (status == WT_OK && chart.series_count > 0)
            status = add_chart(page, &chart);
        wt_chart_free(&chart);
        WT_TRY(status);
    }
    wt_script_add(&page->html, "</div>\n");
done:
    return status;
}
