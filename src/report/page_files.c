/* What lies beside the page: charts as .svg, .pdf and .csv, sweeps that make the cells as .ini. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/output.h"
#include "lab/spec.h"
#include "report/figure.h"
#include "report/html.h"
#include "report/page.h"
#include "report/rerun.h"

enum { CSV = 2, KINDS };
static const char *const kinds[KINDS] = {"svg", "pdf", "csv"};

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

/* All points, series by series. */
static wt_status write_csv(wt_context *context, const wt_chart *chart, const char *path) {
    wt_script rows = {.context = context};
    wt_output *output = NULL;
    wt_status status;
    WT_TRY(wt_output_open(context, path, &output));
    for (size_t i = 0; i < chart->series_count; i++) {
        rows.length = 0;
        wt_chart_csv(&rows, chart, i);
        WT_TRY(rows.status);
        WT_TRY(wt_output_write(output, rows.text, rows.length));
    }
    WT_TRY(wt_output_commit(output));
done:
    wt_output_free(output);
    wt_script_free(&rows);
    return status;
}

/* id.csv, and the pictures where they can be drawn. */
wt_status wt_page_write_chart(wt_page *page, const wt_chart *chart, const wt_figure *figure) {
    wt_context *context = page->context;
    char path[4096];
    for (size_t i = 0; i < CSV && page->drawing; i++) {
        snprintf(path, sizeof path, "%s/%s.%s", page->folder, chart->spec->id, kinds[i]);
        WT_PASS(wt_figure_write(context, figure, path));
    }
    snprintf(path, sizeof path, "%s/%s.csv", page->folder, chart->spec->id);
    return write_csv(context, chart, path);
}

wt_status wt_page_sweeps(wt_page *page) {
    wt_script spec = {.context = page->context};
    char path[4096];
    const wt_results *results = page->results;
    wt_status status;
    WT_TRY(wt_reruns_find(page->context, results, &page->reruns));
    for (size_t i = 0; i < results->sweeps.count; i++) {
        wt_sweep_spec_write(&spec, results->sweeps.texts[i]);
        snprintf(path, sizeof path, "%s/sweep-%zu.ini", page->folder, i + 1);
        WT_TRY(write_text(page->context, path, &spec));
        wt_script_free(&spec);
    }
done:
    wt_script_free(&spec);
    return status;
}

/* The commands that make the cells of the chart, and the figure, again: every sweep that is named
 * makes a cell that those before it do not. */
static void add_commands(wt_page *page, const wt_chart *chart) {
    wt_script *html = &page->html;
    wt_script_add(html, "<pre>");
    for (size_t i = 0; i < page->results->sweeps.count; i++) {
        if (!chart->used[i])
            continue;
        /* the folder's last quote, if it has one, stands before the name of the file */
        wt_script words = {.context = page->context};
        wt_sweep_spec_words(&words, page->results->sweeps.texts[i]);
        if (words.status != WT_OK)
            html->status = words.status;
        wt_html_add(html, "wattle sweep run %t/sweep-%z.ini%t --store %t\n", page->folder_word,
                    i + 1, words.text == NULL ? "" : words.text, page->store_word);
        wt_script_free(&words);
    }
    wt_html_add(html, "wattle report %t -o %t</pre>\n", page->store_word, page->output_word);
}

void wt_page_links(wt_page *page, const wt_chart *chart) {
    wt_script *html = &page->html;
    wt_script_add(html, "<p class=\"soft\">Files:");
    for (size_t i = page->drawing ? 0 : CSV; i < KINDS; i++) {
        wt_html_add(html, "%s <a href=\"%t/%s.%s\">%s.%s</a>", i == 0 || !page->drawing ? "" : ",",
                    page->folder_name, chart->spec->id, kinds[i], chart->spec->id, kinds[i]);
    }
    wt_script_add(html, ". From %zu cells. Made by</p>\n", chart->cells);
    add_commands(page, chart);
}

void wt_page_paper(wt_page *page, const wt_chart *chart) {
    wt_script *html = &page->html;
    wt_html_add(
        html,
        "<div class=\"paper\"><p class=\"soft\">The numbers are in %t/%s.csv, the figure in "
        "%s.svg and %s.pdf beside it. From %z cells. Made by</p>\n",
        page->folder_name, chart->spec->id, chart->spec->id, chart->spec->id, chart->cells);
    add_commands(page, chart);
    wt_script_add(html, "</div>\n");
}

/* Whether there was such a file. */
static bool remove_file(wt_page *page, const char *name) {
    char path[4096], shown[WT_QUOTED_BYTES];
    snprintf(path, sizeof path, "%s/%s", page->folder, name);
    if (unlink(path) == 0)
        return true;
    if (errno != ENOENT)
        wt_remark(page->context, "%s is of an earlier report and cannot be removed: %s",
                  wt_quote(path, shown, sizeof shown), strerror(errno));
    return false;
}

static void tidy_chart(wt_page *page, const char *id, bool drawn) {
    char name[256];
    for (size_t k = 0; k < KINDS; k++) {
        if (drawn && (page->drawing || k == CSV))
            continue;
        snprintf(name, sizeof name, "%s.%s", id, kinds[k]);
        (void)remove_file(page, name);
    }
}

void wt_page_tidy(wt_page *page) {
    const wt_chart_spec *spec;
    wt_chart_own own;
    char name[256];
    for (size_t i = 0; (spec = wt_chart_spec_at(i)) != NULL; i++)
        tidy_chart(page, spec->id, page->drawn[i]);
    for (size_t i = 0; wt_chart_own_at(i, &own); i++)
        tidy_chart(page, own.id, page->own_drawn[i]);
    size_t number = page->results->sweeps.count;
    do
        snprintf(name, sizeof name, "sweep-%zu.ini", ++number);
    while (remove_file(page, name));
}
