#include "report/rerun.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/plan.h"

/* Flags before numbers before words. */
static int rank(const wt_text *value) {
    return value->kind == WT_FLAT_WORDS
               ? 2
               : value->kind == WT_FLAT_WHOLE || value->kind == WT_FLAT_REAL;
}

/* Numbers by size, words by letters, no before yes. */
static int compare(const wt_results *results, uint32_t a, uint32_t b) {
    const wt_text *left = &results->texts[a], *right = &results->texts[b];
    char words[2][8 * WT_VALUE_TEXT];
    if (rank(left) != rank(right) || rank(left) == 2)
        return rank(left) != rank(right)
                   ? rank(left) - rank(right)
                   : strcmp(wt_text_words(results, a, words[0], sizeof words[0]),
                            wt_text_words(results, b, words[1], sizeof words[1]));
    if (rank(left) == 0)
        return (left->kind > right->kind) - (left->kind < right->kind);
    return (left->number > right->number) - (left->number < right->number);
}

/* The least values, of which many settings share each. */
typedef struct {
    uint32_t values[WT_LEAST + 1];
    size_t count;
} least;

static void add_value(const wt_results *results, least *to, uint32_t value) {
    size_t place = 0;
    int order = -1;
    for (size_t i = 0; i < to->count; i++)
        if (to->values[i] == value)
            return;
    while (place < to->count && (order = compare(results, to->values[place], value)) < 0)
        place++;
    if (place > WT_LEAST || (place < to->count && order == 0))
        return;
    size_t moved = to->count - place - (to->count > WT_LEAST);
    memmove(to->values + place + 1, to->values + place, moved * sizeof *to->values);
    to->values[place] = value;
    to->count += to->count <= WT_LEAST;
}

size_t wt_rerun_values(wt_script *out, const wt_results *results, uint32_t experiment,
                       uint32_t name) {
    least found = {0};
    for (uint32_t i = 0; i < results->setting_count; i++) {
        uint32_t value = results->settings[i].experiment == experiment
                             ? wt_setting_value(results, i, name)
                             : WT_NO_TEXT;
        if (value != WT_NO_TEXT)
            add_value(results, &found, value);
    }
    for (size_t i = 0; i < found.count; i++) {
        char words[16 * WT_VALUE_TEXT];
        const char *lead = i > 0 ? ", " : "";
        wt_flat_kind kind = results->texts[found.values[i]].kind;
        if (i == WT_LEAST)
            wt_script_add(out, ", ...");
        else if (kind == WT_FLAT_TRUE || kind == WT_FLAT_FALSE)
            wt_script_add(out, "%s%s", lead, kind == WT_FLAT_TRUE ? "yes" : "no");
        else
            wt_script_add(out, "%s%s", lead,
                          wt_text_words(results, found.values[i], words, sizeof words));
    }
    return found.count;
}

size_t wt_rerun_numbers(wt_script *out, const wt_least_numbers *numbers) {
    for (size_t i = 0; i < numbers->count; i++)
        wt_script_add(out, "%s%lld", i > 0 ? ", " : "", (long long)numbers->numbers[i]);
    if (numbers->more)
        wt_script_add(out, ", ...");
    return numbers->count + numbers->more;
}

typedef struct {
    const wt_results *results;
    uint32_t number, *out;
} making;

static int by_name(const void *key, const void *element) {
    return memcmp(key, ((const wt_result *)element)->name, WT_NAME_BYTES);
}

static wt_status note_cell(void *user, const char *hash) {
    making *work = user;
    const wt_results *results = work->results;
    unsigned char name[WT_NAME_BYTES];
    wt_result_name(hash, name);
    const wt_result *cell =
        bsearch(name, results->cells, results->count, sizeof *results->cells, by_name);
    if (cell != NULL && work->out[cell - results->cells] == 0)
        work->out[cell - results->cells] = work->number + 1;
    return WT_OK;
}

wt_status wt_rerun_makes(wt_context *context, const char *sweep, const wt_results *results,
                         uint32_t number, uint32_t *out) {
    making work = {results, number, out};
    wt_sweep_spec *spec = NULL;
    wt_status status;
    if (results->count == 0)
        return WT_OK;
    WT_TRY(wt_sweep_spec_parse(context, sweep, &spec));
    WT_TRY(wt_plan_walk(context, spec, note_cell, &work));
done:
    wt_sweep_spec_free(spec);
    /* A sweep of another version is none of ours; anything else is a failure. */
    return status == WT_USAGE || status == WT_CONFIG || status == WT_DATA ? WT_OK : status;
}
