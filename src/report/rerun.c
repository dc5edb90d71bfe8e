#include "report/rerun.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/plan.h"

/* Flags before numbers before words. */
static int rank(const json_t *value) {
    return json_is_string(value) ? 2 : json_is_number(value);
}

/* Numbers by size, words by letters, no before yes. */
static int compare(const json_t *a, const json_t *b) {
    if (json_is_number(a) && json_is_number(b)) {
        double left = json_number_value(a), right = json_number_value(b);
        return (left > right) - (left < right);
    }
    if (json_is_string(a) && json_is_string(b))
        return strcmp(json_string_value(a), json_string_value(b));
    if (json_is_boolean(a) && json_is_boolean(b))
        return json_is_true(a) - json_is_true(b);
    return rank(a) - rank(b);
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

/* Length of a key with "=" behind it, 0 = there is none: what else has a "=" is part of a value
 * with blanks in it. */
static size_t key_length(const char *text) {
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return text[length] == '=' ? length : 0;
}

/* Length of the value that starts here, up to the blank before the next key. */
static size_t value_length(const char *text) {
    size_t length = 0;
    while (text[length] != '\0' && (text[length] != ' ' || key_length(text + length + 1) == 0))
        length++;
    return length;
}

static wt_status read_spec(wt_context *context, const char *sweep, wt_spec *out) {
    char *text = NULL;
    wt_status status;
    WT_TRY(wt_copy_text(context, &text, sweep, "a sweep"));
    for (char *at = text; *at != '\0';) {
        size_t key = key_length(at), whole = key > 0 ? key + 1 + value_length(at + key + 1) : 0;
        if (whole == 0) {
            status = WT_USAGE;
            break;
        }
        char *next = at + whole + (at[whole] == ' ');
        at[whole] = '\0';
        WT_TRY(wt_spec_set(context, out, at));
        at = next;
    }
done:
    wt_release(text);
    return status;
}

static bool fits_line(const wt_spec_entry *entry) {
    return strlen(entry->key) + strlen(" = ") + strlen(entry->text) <= WT_SPEC_LINE;
}

/* What is no sweep of ours any more is written as far as it can be read. */
static void each_entry(wt_script *out, const char *sweep,
                       void (*take)(wt_script *out, const wt_spec_entry *entry)) {
    wt_spec spec = {0};
    if (read_spec(out->context, sweep, &spec) == WT_MEMORY)
        out->status = WT_MEMORY;
    for (size_t i = 0; i < spec.count; i++)
        take(out, &spec.entries[i]);
    wt_spec_free(&spec);
}

static void add_line(wt_script *out, const wt_spec_entry *entry) {
    if (fits_line(entry))
        wt_script_add(out, "%s = %s\n", entry->key, entry->text);
    else
        wt_script_add(out, "; %s is too long for a line: it comes by --set\n", entry->key);
}

void wt_rerun_spec(wt_script *out, const char *sweep) {
    wt_script_add(out, "[sweep]\n");
    each_entry(out, sweep, add_line);
}

static void add_word(wt_script *out, const wt_spec_entry *entry) {
    if (fits_line(entry))
        return;
    wt_script_add(out, " --set %s=", entry->key);
    wt_script_word(out, entry->text);
}

void wt_rerun_words(wt_script *out, const char *sweep) {
    each_entry(out, sweep, add_word);
}

static int by_hash(const void *key, const void *element) {
    return strcmp(key, ((const wt_result *)element)->hash);
}

wt_status wt_rerun_makes(wt_context *context, const char *sweep, const wt_results *results,
                         bool *out) {
    wt_spec spec = {0};
    wt_plan plan = {0};
    wt_status status;
    memset(out, 0, results->count * sizeof *out);
    WT_TRY(read_spec(context, sweep, &spec));
    WT_TRY(wt_plan_make(context, &spec, (wt_shard){0, 1}, &plan));
    for (size_t i = 0; i < plan.cell_count && results->count > 0; i++) {
        const wt_result *cell = bsearch(plan.cells[i].hash, results->cells, results->count,
                                        sizeof *results->cells, by_hash);
        if (cell != NULL)
            out[cell - results->cells] = true;
    }
done:
    wt_plan_free(&plan);
    wt_spec_free(&spec);
    /* A sweep of another version is none of ours; anything else is a failure. */
    return status == WT_USAGE || status == WT_CONFIG || status == WT_DATA ? WT_OK : status;
}
