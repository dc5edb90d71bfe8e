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
    bool *makes;
} making;

static wt_status note_setting(void *user, const wt_experiment *experiment, const char *parameters) {
    const making *work = user;
    uint32_t setting = wt_results_setting(work->results, experiment->name, parameters);
    if (setting != UINT32_MAX) {
        uint32_t number = work->results->settings[setting].experiment;
        work->makes[setting] =
            work->results->tallies[number].result_version == experiment->result_version;
    }
    return WT_OK;
}

static wt_status find_sweep(wt_context *context, const wt_results *results, const char *sweep,
                            wt_rerun *out) {
    making work = {results, out->makes};
    wt_sweep_spec *spec = NULL;
    wt_status status;
    WT_TRY(wt_sweep_spec_parse(context, sweep, &spec));
    WT_TRY(wt_plan_walk(context, spec, &out->axes, note_setting, &work));
done:
    wt_sweep_spec_free(spec);
    if (status != WT_USAGE && status != WT_CONFIG && status != WT_DATA)
        return status;
    /* A sweep of another version is none of ours; anything else is a failure. */
    memset(out->makes, 0, results->setting_count * sizeof *out->makes);
    return WT_OK;
}

wt_status wt_reruns_find(wt_context *context, const wt_results *results, wt_reruns *out) {
    *out = (wt_reruns){.arena = wt_arena_start(context, "sweeps")};
    out->sweeps = WT_TAKE_ZERO(&out->arena, wt_rerun, results->sweeps.count);
    WT_PASS(out->arena.status);
    for (; out->count < results->sweeps.count; out->count++) {
        wt_rerun *next = &out->sweeps[out->count];
        next->makes = WT_TAKE_ZERO(&out->arena, bool, results->setting_count);
        WT_PASS(out->arena.status);
        wt_status status = find_sweep(context, results, results->sweeps.texts[out->count], next);
        if (status != WT_OK) {
            wt_axes_free(&next->axes);
            return status;
        }
    }
    return WT_OK;
}

void wt_reruns_free(wt_reruns *reruns) {
    for (size_t i = 0; i < reruns->count; i++)
        wt_axes_free(&reruns->sweeps[i].axes);
    wt_arena_free(&reruns->arena);
    *reruns = (wt_reruns){0};
}

static bool makes(const wt_rerun *sweep, uint32_t setting, int64_t seed, int64_t rep) {
    const wt_list *seeds = &sweep->axes.seeds;
    if (!sweep->makes[setting] || rep < 0 || (uint64_t)rep >= sweep->axes.reps)
        return false;
    for (size_t i = 0; i < seeds->count; i++)
        if ((int64_t)seeds->values[i].number == seed)
            return true;
    return false;
}

void wt_reruns_mark(const wt_reruns *reruns, uint32_t setting, int64_t seed, int64_t rep,
                    bool *used) {
    for (size_t i = 0; i < reruns->count; i++)
        if (makes(&reruns->sweeps[i], setting, seed, rep)) {
            used[i] = true;
            return;
        }
}
