#include "report/rerun.h"

#include <string.h>

/* Numbers by size and before words, words by letters. */
static int compare(const json_t *a, const json_t *b) {
    if (json_is_number(a) && json_is_number(b)) {
        double left = json_number_value(a), right = json_number_value(b);
        return (left > right) - (left < right);
    }
    if (json_is_string(a) && json_is_string(b))
        return strcmp(json_string_value(a), json_string_value(b));
    return json_is_number(b) - json_is_number(a);
}

/* The least value above `last` (NULL = the least of all) over the cells of an experiment; NULL when
 * there is none. */
static const json_t *next_value(const wt_results *results, const char *experiment, const char *name,
                                const json_t *last) {
    const json_t *next = NULL;
    for (size_t i = 0; i < results->count; i++) {
        const wt_result *cell = &results->cells[i];
        if (strcmp(cell->experiment, experiment) != 0)
            continue;
        const json_t *here = json_object_get(cell->parameters, name);
        if (here != NULL && (last == NULL || compare(here, last) > 0) &&
            (next == NULL || compare(here, next) < 0))
            next = here;
    }
    return next;
}

size_t wt_rerun_values(wt_script *out, const wt_results *results, const char *experiment,
                       const char *name, size_t most) {
    size_t found = 0;
    const json_t *value = NULL;
    while (found <= most && (value = next_value(results, experiment, name, value)) != NULL) {
        if (found == most)
            wt_script_add(out, ", ...");
        else if (json_is_string(value))
            wt_script_add(out, "%s%s", found > 0 ? ", " : "", json_string_value(value));
        else if (json_is_boolean(value))
            wt_script_add(out, "%s%s", found > 0 ? ", " : "", json_is_true(value) ? "yes" : "no");
        else
            wt_script_add(out, "%s%.10g", found > 0 ? ", " : "", json_number_value(value));
        found++;
    }
    return found;
}

void wt_rerun_seeds(wt_script *out, const wt_results *results, const char *experiment,
                    size_t most) {
    bool any = false, more = true;
    int64_t last = 0;
    for (size_t found = 0; more && found <= most; found++) {
        int64_t next = 0;
        more = false;
        for (size_t i = 0; i < results->count; i++) {
            const wt_result *cell = &results->cells[i];
            if (strcmp(cell->experiment, experiment) == 0 && (!any || cell->seed > last) &&
                (!more || cell->seed < next)) {
                next = cell->seed;
                more = true;
            }
        }
        if (more && found < most)
            wt_script_add(out, "%s%lld", any ? ", " : "", (long long)next);
        else if (more)
            wt_script_add(out, ", ...");
        any = any || more;
        last = next;
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
