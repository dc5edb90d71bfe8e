/* What results say: settings, metrics, which of them fit words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "lab/results.h"

size_t wt_results_done(const wt_results *results) {
    return results->done.count;
}

size_t wt_results_failed(const wt_results *results) {
    return results->lost.count;
}

const wt_result *wt_results_cell(const wt_results *results, size_t index) {
    const wt_result *done = results->done.items, *lost = results->lost.items;
    return index < results->done.count ? &done[index] : &lost[index - results->done.count];
}

void wt_results_pass(const wt_results *results, size_t index) {
    wt_shelf_pass(&results->done, index);
    wt_shelf_pass(&results->lost, index);
    wt_shelf_pass(&results->metrics, index);
}

uint32_t wt_results_experiment(const wt_results *results, const char *experiment) {
    for (size_t i = 0; i < results->tally_count; i++)
        if (strcmp(results->tallies[i].name, experiment) == 0)
            return (uint32_t)i;
    return WT_NO_TEXT;
}

const uint32_t *wt_setting_names(const wt_results *results, uint32_t setting, size_t *count) {
    const wt_shape *shape = &results->shapes[results->settings[setting].shape];
    *count = shape->count;
    return results->names + shape->first;
}

const uint32_t *wt_setting_values(const wt_results *results, uint32_t setting) {
    return results->values + results->settings[setting].first;
}

uint32_t wt_setting_value(const wt_results *results, uint32_t setting, uint32_t name) {
    size_t count;
    const uint32_t *names = wt_setting_names(results, setting, &count);
    for (size_t i = 0; i < count && name != WT_NO_TEXT; i++)
        if (names[i] == name)
            return wt_setting_values(results, setting)[i];
    return WT_NO_TEXT;
}

double wt_result_metric(const wt_results *results, const wt_result *cell, uint32_t name,
                        double otherwise) {
    const wt_metric *metrics = (const wt_metric *)results->metrics.items + cell->first_metric;
    for (size_t i = 0; i < cell->metric_count; i++)
        if (metrics[i].name == name)
            return metrics[i].value;
    return otherwise;
}

double wt_result_number(const wt_results *results, const wt_result *cell, const char *name) {
    uint32_t text = wt_results_name(results, name);
    uint32_t value = wt_setting_value(results, cell->setting, text);
    double otherwise = NAN;
    if (value != WT_NO_TEXT)
        otherwise = results->texts[value].number;
    else if (strcmp(name, "rep") == 0)
        otherwise = (double)cell->rep;
    else if (strcmp(name, "seed") == 0)
        otherwise = (double)cell->seed;
    return wt_result_metric(results, cell, text, otherwise);
}

const char *wt_text_words(const wt_results *results, uint32_t text, char *out, size_t size) {
    out[0] = '\0';
    if (text == WT_NO_TEXT)
        return out;
    const wt_text *value = &results->texts[text];
    if (value->kind == WT_FLAT_WORDS)
        wt_flat_spell(results->letters + value->at + 1, value->length - 2, out, size);
    else if (value->kind == WT_FLAT_TRUE || value->kind == WT_FLAT_FALSE)
        snprintf(out, size, "%s", value->kind == WT_FLAT_TRUE ? "true" : "false");
    else if (value->kind != WT_FLAT_NULL)
        snprintf(out, size, "%.10g", value->number);
    return out;
}

/* Whether the words fit one of the alternatives of a pattern `length` long. */
static bool fits_one(const char *words, const char *pattern, size_t length) {
    while (true) {
        const char *bar = memchr(pattern, '|', length);
        size_t here = bar == NULL ? length : (size_t)(bar - pattern);
        bool open = here > 0 && pattern[here - 1] == '*';
        size_t fixed = open ? here - 1 : here;
        if (strncmp(words, pattern, fixed) == 0 && (open || words[fixed] == '\0'))
            return true;
        if (bar == NULL)
            return false;
        length -= here + 1;
        pattern = bar + 1;
    }
}

/* Whether a value is a number that is not below the limit. */
static bool reaches(const wt_results *results, uint32_t value, const char *limit, size_t length) {
    char text[WT_VALUE_TEXT];
    double least;
    snprintf(text, sizeof text, "%.*s", (int)length, limit);
    return value != WT_NO_TEXT && wt_real_parse(text, &least) &&
           results->texts[value].number >= least;
}

bool wt_setting_fits(const wt_results *results, uint32_t setting, const char *where) {
    char name[WT_VALUE_TEXT], words[WT_VALUE_TEXT];
    for (; where != NULL && *where != '\0'; where += *where == ' ') {
        size_t whole = strcspn(where, " "), left = strcspn(where, "!>=");
        if (left >= whole || left >= sizeof name)
            return false;
        bool other = where[left] == '!', least = where[left] == '>';
        size_t begin = left + (other || least ? 2 : 1);
        snprintf(name, sizeof name, "%.*s", (int)left, where);
        uint32_t value = wt_setting_value(results, setting, wt_results_name(results, name));
        wt_text_words(results, value, words, sizeof words);
        if (least ? !reaches(results, value, where + begin, whole - begin)
                  : fits_one(words, where + begin, whole - begin) == other)
            return false;
        where += whole;
    }
    return true;
}

size_t wt_results_fitting(const wt_results *results, const char *experiment, const char *where,
                          const char *or_else) {
    uint32_t wanted = wt_results_experiment(results, experiment);
    size_t count = 0;
    for (uint32_t i = 0; i < results->setting_count; i++)
        if (results->settings[i].experiment == wanted &&
            (wt_setting_fits(results, i, where) ||
             (or_else != NULL && wt_setting_fits(results, i, or_else))))
            count += results->settings[i].cells;
    return count;
}
