/* Trained models on the page: the diagonals of their query-key products, head by head. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "lab/statistics.h"
#include "report/html.h"
#include "report/page.h"
#include "wattle/inspect.h"

/* Colours are full where a diagonal is so many standard errors from 0. */
#define FULL 20.0
/* Beyond this a sign is no chance, at the usual 95%. */
#define CLEAR 1.96

typedef struct {
    size_t heads, above, clear_above, clear_below;
} tally;

static void count(tally *sum, const wt_head_summary *head) {
    sum->heads++;
    sum->above += head->diagonal_mean > 0;
    sum->clear_above += head->standard_errors > CLEAR;
    sum->clear_below += head->standard_errors < -CLEAR;
}

/* Orange above 0, blue below: the colours of the heat maps. */
static void add_cell(wt_script *html, const wt_head_summary *head) {
    double strength = fmin(1, fabs(head->standard_errors) / FULL);
    wt_script_add(html, "<td style=\"background:rgba(%s,%.2f)\">",
                  head->standard_errors > 0 ? "230,159,0" : "0,114,178",
                  isfinite(strength) ? 0.75 * strength : 0);
    wt_html_number(html, round(10 * head->standard_errors) / 10);
    wt_script_add(html, "</td>");
}

static size_t most_heads(const wt_head_summary *heads, size_t n) {
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = heads[i].head + 1 > most ? heads[i].head + 1 : most;
    return most;
}

static void add_grid(wt_script *html, const wt_head_summary *heads, size_t n) {
    size_t columns = most_heads(heads, n);
    wt_script_add(html, "<div class=\"scroll\"><table class=\"heads\">\n<tr><th>layer</th>");
    for (size_t i = 0; i < columns; i++)
        wt_html_add(html, "<th>head %z</th>", i);
    wt_script_add(html, "<th>above 0</th></tr>\n");
    for (size_t i = 0; i < n;) {
        tally row = {0};
        size_t layer = heads[i].layer;
        wt_html_add(html, "<tr><th>%z</th>", layer);
        for (; i < n && heads[i].layer == layer; i++) {
            add_cell(html, &heads[i]);
            count(&row, &heads[i]);
        }
        for (size_t k = row.heads; k < columns; k++)
            wt_script_add(html, "<td></td>");
        wt_html_add(html, "<td>%z of %z</td></tr>\n", row.above, row.heads);
    }
    wt_script_add(html, "</table></div>\n");
}

static wt_status add_model(wt_page *page, const char *path) {
    wt_script *html = &page->html;
    wt_inspect_options options;
    wt_inspection *all = NULL;
    wt_head_summary *heads = NULL;
    tally sum = {0};
    wt_status status;
    const char *slash = strrchr(path, '/');
    WT_INIT(wt_inspect_options, &options);
    WT_TRY(wt_inspection_open(page->context, path, &options, &all));
    size_t n = wt_inspection_count(all);
    WT_TRY(WT_NEW(page->context, &heads, n, "the heads of a model"));
    for (size_t i = 0; i < n; i++) {
        heads[i] = (wt_head_summary)WT_SIZED(wt_head_summary);
        WT_TRY(wt_inspection_at(page->context, all, i, &heads[i]));
        count(&sum, &heads[i]);
    }
    wt_html_add(html, "<h3>%t</h3>\n<p>Above 0 in %z of %z heads, ",
                slash == NULL ? path : slash + 1, sum.above, sum.heads);
    wt_html_interval(html, wt_rate_interval(sum.above, sum.heads));
    wt_html_add(
        html, "; more than two standard errors above in %z, below in %z. In standard errors:</p>\n",
        sum.clear_above, sum.clear_below);
    add_grid(html, heads, n);
done:
    wt_release(heads);
    wt_inspection_free(all);
    return status;
}

wt_status wt_page_models(wt_page *page) {
    const wt_report_options *options = page->options;
    if (options == NULL || options->checkpoint_count == 0)
        return WT_OK;
    wt_script_add(
        &page->html,
        "<h2 id=\"models\">Diagonals of trained query-key products</h2>\n"
        "<p>Weights with a multiple of the identity added are motivated by trained layers whose "
        "query-key product has a positive diagonal. Here it is counted, and nothing is judged: "
        "heads of one model are no independent draws, so that the intervals, which take them for "
        "such, are too narrow. A standard error is the spread of the entries off the diagonal over "
        "&radic;d: the error of the diagonal's mean if it were made as the rest is.</p>\n");
    for (size_t i = 0; i < options->checkpoint_count; i++)
        WT_PASS(add_model(page, options->checkpoints[i]));
    return WT_OK;
}
