/* What was run: for each experiment its cells, settings, versions and machines; commands; failures.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/html.h"
#include "report/page.h"
#include "report/rerun.h"

#define COMMANDS_SHOWN    50
#define EXPERIMENTS_SHOWN 50

/* Texts with ", " between. */
static void add_texts(wt_script *html, const wt_least_texts *texts) {
    for (size_t i = 0; i < texts->count; i++)
        wt_html_add(html, "%s%t", i > 0 ? ", " : "", texts->texts[i]);
}

/* "; n = 16,32,64" where the parameter has several values, or one, as is asked. */
static void add_values(wt_page *page, const char *name, const wt_script *values, bool fits,
                       bool *any) {
    wt_script *html = &page->html;
    html->status = html->status == WT_OK ? values->status : html->status;
    if (values->text == NULL || !fits)
        return;
    wt_html_add(html, "%s%t = %t", *any ? "; " : "", name, values->text);
    *any = true;
}

/* Parameters of an experiment, the repetition among them in the order of names. */
static void add_parameters(wt_page *page, uint32_t experiment, bool varied, bool *any) {
    const wt_results *results = page->results;
    const wt_tally *tally = &results->tallies[experiment];
    size_t count;
    const uint32_t *names = wt_setting_names(results, tally->first_setting, &count);
    bool told = !tally->repeats;
    for (size_t i = 0; i <= count; i++) {
        char name[2 * WT_VALUE_TEXT] = "";
        wt_script values = {.context = page->context};
        uint32_t text = i < count ? names[i] : WT_NO_TEXT;
        wt_text_words(results, text, name, sizeof name);
        if (!told && (i == count || strcmp(name, "rep") > 0)) {
            size_t different = wt_rerun_numbers(&values, &tally->reps);
            add_values(page, "rep", &values, (different > 1) == varied, any);
            wt_script_free(&values);
            told = true;
        }
        if (i == count)
            break;
        size_t different = wt_rerun_values(&values, results, experiment, text);
        add_values(page, name, &values, (different > 1) == varied, any);
        wt_script_free(&values);
    }
}

/* "n = 16,32,64; model = brfa,rfa": parameters with several values first, then the others. */
static void add_settings(wt_page *page, uint32_t experiment) {
    wt_script *html = &page->html;
    for (int varied = 1; varied >= 0; varied--) {
        bool any = false;
        wt_script_add(html, "%s", varied ? "<p>Varied: " : "<p>Fixed: ");
        add_parameters(page, experiment, varied == 1, &any);
        wt_script_add(html, "%s.</p>\n", any ? "" : "nothing");
    }
}

static void add_experiment(wt_page *page, uint32_t experiment) {
    wt_script *html = &page->html;
    const wt_tally *tally = &page->results->tallies[experiment];
    wt_html_add(html,
                "<h4>%t</h4>\n<p>%z cells done, %z failed, %n seconds of computing in all. Seeds: ",
                tally->name, tally->done, tally->failed, tally->wall_seconds);
    (void)wt_rerun_numbers(html, &tally->seeds);
    wt_script_add(html, ". Version: ");
    add_texts(html, &tally->versions);
    wt_script_add(html, ", results version %lld. Machine: ", (long long)tally->result_version);
    add_texts(html, &tally->machines);
    wt_script_add(html, ".</p>\n");
    add_settings(page, experiment);
}

static void add_commands(wt_page *page) {
    wt_script *html = &page->html;
    const wt_results *results = page->results;
    if (results->commands.count == 0)
        return;
    wt_script_add(html, "<h4>Commands that wrote to the store</h4>\n<pre>");
    for (size_t i = 0; i < results->commands.count && i < COMMANDS_SHOWN; i++)
        wt_html_add(html, "%t\n", results->commands.texts[i]);
    if (results->commands.count > COMMANDS_SHOWN)
        wt_script_add(html, "... and %zu more\n", results->commands.count - COMMANDS_SHOWN);
    wt_script_add(html, "</pre>\n");
}

static void add_failures(wt_page *page) {
    wt_script *html = &page->html;
    size_t failed = page->results->lost.count;
    if (failed == 0)
        return;
    wt_script_add(html, "<h4>Cells that failed</h4>\n<ul>\n");
    for (size_t i = 0; i < failed && i < WT_FAILURES_KEPT; i++) {
        const wt_failure *failure = &page->results->failures[i];
        wt_html_add(html, "<li>%c (%t): %t</li>\n", failure->hash, failure->experiment,
                    failure->message);
    }
    if (failed > WT_FAILURES_KEPT)
        wt_script_add(html, "<li>and %zu more</li>\n", failed - WT_FAILURES_KEPT);
    wt_script_add(html, "</ul>\n");
}

static void add_disputes(wt_page *page) {
    if (page->results->disputed > 0)
        wt_html_add(
            &page->html,
            "<h4>Cells with other numbers elsewhere</h4>\n<p>%z cells were computed by another "
            "program or on another machine too, and differ there by more than rounding. This "
            "page shows the first; <code>wattle sweep disputes</code> shows both.</p>\n",
            page->results->disputed);
}

/* Experiments by their names. */
wt_status wt_page_runs(wt_page *page) {
    const wt_results *results = page->results;
    const char *last = NULL;
    wt_script_add(&page->html, "<h2 id=\"runs\">What was run</h2>\n");
    for (size_t shown = 0; shown < results->tally_count && shown < EXPERIMENTS_SHOWN; shown++) {
        uint32_t next = WT_NO_TEXT;
        for (uint32_t i = 0; i < results->tally_count; i++)
            if ((last == NULL || strcmp(results->tallies[i].name, last) > 0) &&
                (next == WT_NO_TEXT ||
                 strcmp(results->tallies[i].name, results->tallies[next].name) < 0))
                next = i;
        last = results->tallies[next].name;
        add_experiment(page, next);
    }
    if (results->tally_count > EXPERIMENTS_SHOWN)
        wt_script_add(&page->html, "<p>... and %zu more experiments.</p>\n",
                      results->tally_count - EXPERIMENTS_SHOWN);
    add_commands(page);
    add_failures(page);
    add_disputes(page);
    return page->html.status;
}
