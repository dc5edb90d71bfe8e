/* The whole report: one page, and a folder of figures beside it. */
#include "report/page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "io/output.h"
#include "report/figure.h"
#include "report/html.h"
#include "report/look.h"

#define FOLDER "-figures"

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* "report.html" has its figures in "report-figures". */
static void name_folder(wt_page *page) {
    const char *name = file_name(page->output), *dot = strrchr(name, '.');
    size_t stem = (size_t)((dot == NULL || dot == name ? name + strlen(name) : dot) - page->output);
    page->folder = WT_TAKE(&page->arena, char, stem + sizeof FOLDER);
    if (page->folder == NULL)
        return;
    memcpy(page->folder, page->output, stem);
    memcpy(page->folder + stem, FOLDER, sizeof FOLDER);
    page->folder_name = file_name(page->folder);
}

static char *shell_word(wt_page *page, const char *path) {
    size_t bytes = path == NULL ? 0 : wt_shell_word(path, NULL, 0) + 1;
    char *word = WT_TAKE(&page->arena, char, bytes);
    if (word != NULL)
        (void)wt_shell_word(path, word, bytes);
    return word;
}

/* Commands on the page name files as this one did: they run where it ran. */
static wt_status spell_paths(wt_page *page, const char *store) {
    name_folder(page);
    page->store_word = shell_word(page, store);
    page->output_word = shell_word(page, page->output);
    page->folder_word = shell_word(page, page->folder);
    return page->arena.status;
}

static wt_status make_folder(wt_page *page) {
    char shown[WT_QUOTED_BYTES];
    struct stat about;
    if (mkdir(page->folder, 0777) == 0 ||
        (errno == EEXIST && stat(page->folder, &about) == 0 && S_ISDIR(about.st_mode)))
        return WT_OK;
    return wt_fail(page->context, WT_CANNOT_CREATE, "cannot make the folder %s: %s",
                   wt_quote(page->folder, shown, sizeof shown), strerror(errno));
}

static bool is_reproduction(const wt_results *results) {
    static const char command[] = "wattle reproduce ";
    for (size_t i = 0; i < results->commands.count; i++)
        if (strncmp(results->commands.texts[i], command, sizeof command - 1) == 0)
            return true;
    return false;
}

static void add_head(wt_page *page) {
    wt_script *html = &page->html;
    const wt_results *results = page->results;
    char hash[WT_HTML_HASH];
    wt_script_add(html, "<!DOCTYPE html>\n<html lang=\"en\"");
    if (page->again > 0)
        wt_script_add(html, " data-again=\"%u\"", page->again);
    wt_script_add(html,
                  ">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "img-src data:; style-src 'unsafe-inline'; script-src 'sha256-%s'\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"generator\" content=\"wattle %s\">\n<title>Wattle report</title>\n"
                  "<link rel=\"icon\" href=\"data:,\">\n",
                  wt_html_hash(wt_page_script, hash), wt_version());
    if (page->again > 0)
        wt_script_add(html, "<noscript><meta http-equiv=\"refresh\" content=\"%u\"></noscript>\n",
                      page->again);
    wt_script_add(html, "<style>\n");
    wt_script_add(html, "%s", wt_page_style);
    wt_look_rules(html);
    wt_html_add(html,
                "</style>\n</head>\n<body>\n<main>\n<h1>%t</h1>\n<p>%z cells of %c, %z of them "
                "failed",
                page->own ? page->store : "What attention learns",
                results->done.count + results->lost.count, page->store, results->lost.count);
    if (results->first_date != NULL)
        wt_html_add(html, ", finished from %t to %t", results->first_date, results->last_date);
    if (page->again > 0)
        wt_script_add(html, ", and a sweep may add to them: this page is written anew meanwhile");
    wt_script_add(html, ". <a href=\"#runs\">What was run</a>, <a href=\"#reading\">how to read "
                        "this</a>.</p>\n");
}

/* What stands behind verdicts and effects. */
static void add_rules(wt_script *html) {
    wt_script_add(
        html,
        "<p>For every claim there is an effect, one number, and the side of a boundary that the "
        "claim stands for. A 95%% interval wholly on that side: reproduced. Wholly on the other: "
        "not reproduced. Neither: undecided, and the page says how many cells would settle it. "
        "Beside every effect stands that of a rival, the same test where the claim is false: if "
        "the rival passes too, there is no test. A claim of several parts is reproduced when all "
        "of them are. Rules have a version, and only seeds drawn after it count: cells of others "
        "are explored, and decide nothing. docs/reproduction.md has their history. Measured means: "
        "at the sizes of this store, not for all sizes, and no measurement proves a theorem.</p>\n"
        "<p>Log ratios compare two models on the same draws; the interval is Student's t over "
        "repetitions. Exponents are slopes of log against log, one a repetition, with the same "
        "interval; settings that share draws are averaged first, and count once. Exponents of gaps "
        "are slopes of their means, with repetitions resampled. Rates are of repetitions, which "
        "fail when one of their settings does, or a cell of them failed, with exact intervals "
        "(Clopper and Pearson). Costs are the price of an attempt over the chance that it finds, "
        "and runs that were given up bound them from below. Critical sizes are by "
        "likelihood.</p>\n");
}

static void add_reading(wt_page *page) {
    wt_script *html = &page->html;
    wt_script_add(html, "<h2 id=\"reading\">How to read this</h2>\n");
    if (wt_page_has_claims(page, NULL))
        add_rules(html);
    wt_script_add(
        html,
        "<p>A point is the cells that differ in their repetition alone. Series with bars are set a "
        "little apart along x, so that bars do not cover each other. All that is drawn has fixed "
        "seeds: the same command on the same store gives the same page, byte for byte.</p>\n"
        "<p class=\"live\">On a screen, point at a mark for its numbers, drag over a part of a "
        "figure to enlarge it and double-click to see all again, press a name to switch its series "
        "off and on, and a heading of a table to sort by it. With the keyboard: Tab to a figure, "
        "arrow keys from point to point, + and - to zoom, 0 for all. Printed, and where scripts do "
        "not run, the figures stand still.</p>\n");
    wt_page_no_claims(page);
    wt_html_add(html, "<p>Made again by</p>\n<pre>wattle report %t -o %t", page->store_word,
                page->output_word);
    for (size_t i = 0; page->options != NULL && i < page->options->checkpoint_count; i++) {
        const char *word = shell_word(page, page->options->checkpoints[i]);
        if (word != NULL)
            wt_html_add(html, " --checkpoint %t", word);
    }
    wt_html_add(html, "</pre>\n</main>\n<script>%s</script>\n</body>\n</html>\n", wt_page_script);
}

/* The claims of each paper and the charts that belong to them. */
static wt_status add_papers(wt_page *page) {
    wt_script *html = &page->html;
    const wt_paper *paper;
    if (wt_page_has_claims(page, NULL))
        wt_page_summary(page);
    for (size_t i = 0; (paper = wt_paper_at(i)) != NULL; i++) {
        size_t before = html->length, figures = page->figures;
        wt_html_add(html, "<h2>%s. %t</h2>\n<p class=\"soft\">%t: %t (%t).</p>\n", paper->number,
                    paper->subject, paper->authors, paper->title, paper->where);
        wt_page_claims(page, paper);
        WT_PASS(wt_page_charts(page, paper));
        if (!wt_page_has_claims(page, paper) && page->figures == figures)
            html->length = before; /* there is nothing of it */
    }
    return WT_OK;
}

/* A user's own sweep: its figures first, then what it says to the claims, if anything. */
static wt_status add_own(wt_page *page) {
    WT_PASS(wt_page_charts(page, NULL));
    WT_PASS(wt_page_own_charts(page));
    if (!wt_page_has_claims(page, NULL))
        return WT_OK;
    wt_script_add(&page->html, "<h2>What the papers claim, on these cells</h2>\n");
    wt_page_summary(page);
    wt_page_claims(page, NULL);
    return WT_OK;
}

static wt_status save(wt_page *page) {
    wt_output *output = NULL;
    wt_status status;
    WT_TRY(page->html.status);
    WT_TRY(wt_output_open(page->context, page->output, &output));
    WT_TRY(wt_output_write(output, page->html.text, page->html.length));
    WT_TRY(wt_output_commit(output));
done:
    wt_output_free(output);
    return status;
}

wt_status wt_page_write(wt_context *context, const wt_results *results, const wt_findings *findings,
                        const char *store, const char *output, const wt_report_options *options,
                        unsigned again, wt_report_summary *out) {
    wt_page page = {.context = context,
                    .arena = wt_arena_start(context, "a report"),
                    .html = {.context = context},
                    .results = results,
                    .findings = findings,
                    .options = options,
                    .store = file_name(store),
                    .output = output,
                    .again = again,
                    .own = !is_reproduction(results)};
    size_t charts = 0, own_charts = 0;
    wt_chart_own ignored;
    wt_status status;
    status = wt_figure_possible(context);
    page.drawing = status == WT_OK;
    WT_TRY(status == WT_UNAVAILABLE ? WT_OK : status);
    *out = (wt_report_summary){.size = sizeof *out,
                               .cells = results->done.count + results->lost.count,
                               .drawn = page.drawing};
    if (!page.drawing) {
        snprintf(out->why, sizeof out->why, "%s", wt_context_message(context));
        wt_remark(context, "the report has no figures for paper: %s", out->why);
    }
    add_head(&page);
    if (!page.drawing)
        wt_html_add(&page.html,
                    "<p><strong>Figures are drawn by the page alone, and not on paper: "
                    "%t.</strong></p>\n",
                    out->why);
    WT_TRY(spell_paths(&page, store));
    WT_TRY(make_folder(&page));
    WT_TRY(wt_page_sweeps(&page));
    while (wt_chart_spec_at(charts) != NULL)
        charts++;
    while (wt_chart_own_at(own_charts, &ignored))
        own_charts++;
    page.drawn = WT_TAKE_ZERO(&page.arena, bool, charts);
    page.own_drawn = WT_TAKE_ZERO(&page.arena, bool, own_charts);
    WT_TRY(page.arena.status);
    WT_TRY(wt_page_find_claims(&page));
    WT_TRY(page.own ? add_own(&page) : add_papers(&page));
    WT_TRY(wt_page_models(&page));
    WT_TRY(wt_page_runs(&page));
    add_reading(&page);
    WT_TRY(page.arena.status);
    WT_TRY(save(&page));
    wt_page_tidy(&page); /* last: the page that stood here before may have linked to them */
    out->figures = page.figures;
done:
    wt_script_free(&page.html);
    wt_reruns_free(&page.reruns);
    wt_arena_free(&page.arena);
    return status;
}

void wt_report_options_init(wt_report_options *options, size_t size) {
    const wt_report_options full = {0};
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

wt_status wt_report_make(wt_context *context, const char *store, const char *output,
                         const wt_report_options *options, unsigned again, wt_findings **findings,
                         wt_report_summary *out) {
    wt_results results = {0};
    wt_findings *own = NULL;
    wt_report_summary summary;
    wt_report_options chosen = {0};
    wt_status status;
    if (findings != NULL)
        *findings = NULL;
    WT_TRY(wt_sized_check(context, "wt_report_summary", out, sizeof *out));
    if (options != NULL)
        WT_TRY(wt_sized_read(context, "wt_report_options", options, &chosen, sizeof chosen));
    WT_TRY(wt_output_check(context, output)); /* before the folder of figures is made */
    WT_TRY(wt_findings_want(context, &results));
    WT_TRY(wt_charts_want(context, &results));
    WT_TRY(wt_results_read_file(context, store, &results));
    WT_TRY(wt_findings_measure(context, &results, &own));
    WT_TRY(wt_page_write(context, &results, own, store, output, &chosen, again, &summary));
    wt_sized_write(out, &summary, sizeof summary);
    if (findings != NULL) {
        *findings = own;
        own = NULL;
    }
done:
    wt_findings_free(own);
    wt_results_clear(&results);
    return status;
}

wt_status wt_report_write(wt_context *context, const char *store, const char *output,
                          const wt_report_options *options, wt_findings **findings,
                          wt_report_summary *out) {
    return wt_report_make(context, store, output, options, 0, findings, out);
}
