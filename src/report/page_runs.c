/* What was run: for each experiment its cells, settings, versions and machines; commands; failures.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/html.h"
#include "report/page.h"
#include "report/rerun.h"

#define FAILURES_SHOWN 20
#define VALUES_SHOWN   12
#define COMMANDS_SHOWN 50

typedef const char *(*text_fn)(const wt_result *cell);

static const char *version_of(const wt_result *cell) {
    return cell->version;
}

static const char *machine_of(const wt_result *cell) {
    return cell->machine;
}

static const char *experiment_of(const wt_result *cell) {
    return cell->experiment;
}

#define NO_CELL ((size_t)-1)

/* The cell whose text comes next after that of cell `last` (NO_CELL = the first of all), of one
 * experiment or of all (NULL); NO_CELL past the end. */
static size_t next_text(const wt_results *results, const char *experiment, size_t last,
                        text_fn text) {
    size_t next = NO_CELL;
    for (size_t i = 0; i < results->count; i++) {
        const wt_result *cell = &results->cells[i];
        if ((experiment == NULL || strcmp(cell->experiment, experiment) == 0) &&
            (last == NO_CELL || strcmp(text(cell), text(&results->cells[last])) > 0) &&
            (next == NO_CELL || strcmp(text(cell), text(&results->cells[next])) < 0))
            next = i;
    }
    return next;
}

/* The different texts of an experiment's cells, with ", " between. */
static void add_texts(wt_page *page, const char *experiment, text_fn text) {
    size_t last = NO_CELL;
    for (size_t shown = 0; shown < VALUES_SHOWN; shown++) {
        last = next_text(page->results, experiment, last, text);
        if (last == NO_CELL)
            return;
        wt_script_add(&page->html, "%s", shown > 0 ? ", " : "");
        wt_html_text(&page->html, text(&page->results->cells[last]));
    }
}

/* "n = 16,32,64; model = brfa,rfa": parameters with several values first, then the others. */
static void add_settings(wt_page *page, const wt_result *first) {
    wt_script *html = &page->html;
    for (int varied = 1; varied >= 0; varied--) {
        const char *key;
        json_t *value;
        wt_script_add(html, "%s", varied ? "<p>Varied: " : "<p>Fixed: ");
        bool any = false;
        json_object_foreach(first->parameters, key, value) {
            wt_script values = {.context = page->context};
            size_t count =
                wt_rerun_values(&values, page->results, first->experiment, key, VALUES_SHOWN);
            html->status = html->status == WT_OK ? values.status : html->status;
            if (values.text != NULL && (count > 1) == (varied == 1)) {
                wt_script_add(html, "%s", any ? "; " : "");
                wt_html_text(html, key);
                wt_script_add(html, " = ");
                wt_html_text(html, values.text);
                any = true;
            }
            wt_script_free(&values);
        }
        wt_script_add(html, "%s.</p>\n", any ? "" : "nothing");
    }
}

static void add_experiment(wt_page *page, const wt_result *first) {
    wt_script *html = &page->html;
    size_t done = 0, failed = 0;
    double seconds = 0;
    for (size_t i = 0; i < page->results->count; i++) {
        const wt_result *cell = &page->results->cells[i];
        if (strcmp(cell->experiment, first->experiment) != 0)
            continue;
        done += !cell->failed;
        failed += cell->failed;
        seconds += cell->wall_seconds;
    }
    wt_script_add(html, "<h4>");
    wt_html_text(html, first->experiment);
    wt_script_add(html, "</h4>\n<p>%zu cells done, %zu failed, ", done, failed);
    wt_html_number(html, seconds);
    wt_script_add(html, " seconds of computing in all. Seeds: ");
    wt_rerun_seeds(html, page->results, first->experiment, VALUES_SHOWN);
    wt_script_add(html, ". Version: ");
    add_texts(page, first->experiment, version_of);
    wt_script_add(html, ", results version %lld. Machine: ", (long long)first->result_version);
    add_texts(page, first->experiment, machine_of);
    wt_script_add(html, ".</p>\n");
    add_settings(page, first);
}

static void add_commands(wt_page *page) {
    wt_script *html = &page->html;
    const wt_results *results = page->results;
    if (results->command_count == 0)
        return;
    wt_script_add(html, "<h4>Commands that wrote to the store</h4>\n<pre>");
    for (size_t i = 0; i < results->command_count && i < COMMANDS_SHOWN; i++) {
        wt_html_text(html, results->commands[i]);
        wt_script_add(html, "\n");
    }
    if (results->command_count > COMMANDS_SHOWN)
        wt_script_add(html, "... and %zu more\n", results->command_count - COMMANDS_SHOWN);
    wt_script_add(html, "</pre>\n");
}

static void add_failures(wt_page *page) {
    wt_script *html = &page->html;
    size_t failed = 0;
    for (size_t i = 0; i < page->results->count; i++) {
        const wt_result *cell = &page->results->cells[i];
        if (!cell->failed || failed++ >= FAILURES_SHOWN)
            continue;
        if (failed == 1)
            wt_script_add(html, "<h4>Cells that failed</h4>\n<ul>\n");
        wt_script_add(html, "<li>");
        wt_html_code(html, cell->hash);
        wt_script_add(html, " (");
        wt_html_text(html, cell->experiment);
        wt_script_add(html, "): ");
        wt_html_text(html, cell->message);
        wt_script_add(html, "</li>\n");
    }
    if (failed > FAILURES_SHOWN)
        wt_script_add(html, "<li>and %zu more</li>\n", failed - FAILURES_SHOWN);
    if (failed > 0)
        wt_script_add(html, "</ul>\n");
}

wt_status wt_page_runs(wt_page *page) {
    size_t cell = NO_CELL;
    wt_script_add(&page->html, "<h2 id=\"runs\">What was run</h2>\n");
    while ((cell = next_text(page->results, NULL, cell, experiment_of)) != NO_CELL)
        add_experiment(page, &page->results->cells[cell]);
    add_commands(page);
    add_failures(page);
    return page->html.status;
}
