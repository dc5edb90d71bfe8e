#include "report/rerun.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static bool counts(const wt_result *cell, const char *experiment, const char *where) {
    return strcmp(cell->experiment, experiment) == 0 && wt_result_fits(cell, where);
}

static const char *value_of(const wt_result *cell, const char *name, char *out) {
    if (strcmp(name, "seed") == 0)
        snprintf(out, WT_VALUE_TEXT, "%lld", (long long)cell->seed);
    else
        wt_result_words(cell->parameters, name, out, WT_VALUE_TEXT);
    return out;
}

static int compare(const char *a, const char *b) {
    double left, right;
    if (wt_parse_real(a, &left) && wt_parse_real(b, &right) && left != right)
        return left > right ? 1 : -1;
    return strcmp(a, b);
}

size_t wt_rerun_values(wt_script *out, const wt_results *results, const char *experiment,
                       const char *where, const char *name, size_t most) {
    char last[WT_VALUE_TEXT] = "", next[WT_VALUE_TEXT], here[WT_VALUE_TEXT];
    size_t found = 0;
    /* The least value above the last one, until there is none: no list is kept. */
    while (true) {
        next[0] = '\0';
        for (size_t i = 0; i < results->count; i++) {
            if (!counts(&results->cells[i], experiment, where))
                continue;
            value_of(&results->cells[i], name, here);
            bool above = here[0] != '\0' && (found == 0 || compare(here, last) > 0);
            if (above && (next[0] == '\0' || compare(here, next) < 0))
                snprintf(next, sizeof next, "%s", here);
        }
        if (next[0] == '\0')
            return found;
        if (most == 0 || found < most)
            wt_script_add(out, "%s%s", found > 0 ? "," : "", next);
        else if (found == most)
            wt_script_add(out, ",...");
        snprintf(last, sizeof last, "%s", next);
        found++;
    }
}

void wt_rerun_spec(wt_script *out, const wt_results *results, const wt_chart_spec *chart) {
    const wt_result *first = NULL;
    for (size_t i = 0; i < results->count && first == NULL; i++)
        if (counts(&results->cells[i], chart->experiment, chart->where))
            first = &results->cells[i];
    if (first == NULL)
        return;
    double reps = 0;
    for (size_t i = 0; i < results->count; i++)
        if (counts(&results->cells[i], chart->experiment, chart->where)) {
            double rep = wt_result_number(&results->cells[i], "rep");
            reps = rep + 1 > reps ? rep + 1 : reps;
        }
    wt_script_add(out, "[sweep]\nexperiment = %s\n", chart->experiment);
    const char *key;
    json_t *value;
    json_object_foreach(first->parameters, key, value) {
        if (strcmp(key, "rep") == 0)
            continue;
        wt_script_add(out, "%s = ", key);
        wt_rerun_values(out, results, chart->experiment, chart->where, key, 0);
        wt_script_add(out, "\n");
    }
    wt_script_add(out, "reps = %.0f\nseed = ", reps);
    wt_rerun_values(out, results, chart->experiment, chart->where, "seed", 0);
    wt_script_add(out, "\n");
}
