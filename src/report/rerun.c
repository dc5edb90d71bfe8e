#include "report/rerun.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

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
                       const char *name, size_t most) {
    char last[WT_VALUE_TEXT] = "", next[WT_VALUE_TEXT], here[WT_VALUE_TEXT];
    size_t found = 0;
    /* The least value above the last one, until there is none: no list is kept. */
    while (true) {
        next[0] = '\0';
        for (size_t i = 0; i < results->count; i++) {
            if (strcmp(results->cells[i].experiment, experiment) != 0)
                continue;
            value_of(&results->cells[i], name, here);
            bool above = here[0] != '\0' && (found == 0 || compare(here, last) > 0);
            if (above && (next[0] == '\0' || compare(here, next) < 0))
                snprintf(next, sizeof next, "%s", here);
        }
        if (next[0] == '\0')
            return found;
        if (found < most)
            wt_script_add(out, "%s%s", found > 0 ? "," : "", next);
        else if (found == most)
            wt_script_add(out, ",...");
        snprintf(last, sizeof last, "%s", next);
        found++;
    }
}

bool wt_rerun_is(const char *sweep, const char *experiment) {
    static const char key[] = "experiment=";
    const char *found = strstr(sweep, key);
    size_t length = strlen(experiment);
    if (found == NULL || strncmp(found + sizeof key - 1, experiment, length) != 0)
        return false;
    char after = found[sizeof key - 1 + length];
    return after == '\0' || after == ' ';
}

void wt_rerun_spec(wt_script *out, const char *sweep) {
    wt_script_add(out, "[sweep]\n");
    while (*sweep != '\0') {
        size_t whole = strcspn(sweep, " "), left = strcspn(sweep, "=");
        if (left < whole)
            wt_script_add(out, "%.*s = %.*s\n", (int)left, sweep, (int)(whole - left - 1),
                          sweep + left + 1);
        sweep += whole + (sweep[whole] == ' ');
    }
}
