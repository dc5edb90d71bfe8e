/* What there is of each experiment, noted while results are read. */
#include <string.h>

#include "lab/results.h"

static void add_least(wt_least_numbers *to, int64_t number) {
    size_t place = 0;
    while (place < to->count && to->numbers[place] < number)
        place++;
    if (place < to->count && to->numbers[place] == number)
        return;
    to->more |= to->count == WT_LEAST;
    if (place == WT_LEAST)
        return;
    size_t moved = to->count - place - (to->count == WT_LEAST);
    memmove(to->numbers + place + 1, to->numbers + place, moved * sizeof *to->numbers);
    to->numbers[place] = number;
    to->count += to->count < WT_LEAST;
}

static wt_status add_least_text(wt_context *context, wt_least_texts *to, const char *text) {
    size_t place = 0;
    int order = -1;
    char *copy;
    while (place < to->count && (order = strcmp(to->texts[place], text)) < 0)
        place++;
    if (place < to->count && order == 0)
        return WT_OK;
    to->more |= to->count == WT_LEAST;
    if (place == WT_LEAST)
        return WT_OK;
    wt_status status = wt_copy_text(context, &copy, text, "a result");
    if (status != WT_OK)
        return status;
    if (to->count == WT_LEAST)
        wt_release(to->texts[--to->count]);
    memmove(to->texts + place + 1, to->texts + place, (to->count - place) * sizeof *to->texts);
    to->texts[place] = copy;
    to->count++;
    return WT_OK;
}

/* Cells of one experiment mostly come one after the other, or there are few experiments. */
wt_status wt_tally_keep(wt_context *context, wt_results *results, const wt_record *record,
                        uint32_t *out) {
    wt_status status = WT_OK;
    *out = wt_results_experiment(results, record->experiment);
    if (*out != WT_NO_TEXT)
        return status;
    WT_TRY(
        WT_GROW(context, &results->tallies, results->tally_count, &results->tally_room, "results"));
    *out = (uint32_t)results->tally_count;
    WT_TRY(wt_results_copy(context, results, record->experiment, &results->tallies[*out].name));
    results->tally_count++;
done:
    return status;
}

wt_status wt_tally_fail(wt_context *context, wt_results *results, const wt_record *record,
                        const wt_result *cell) {
    WT_PASS(WT_GROW(context, &results->lost, results->failed, &results->failed_room, "results"));
    if (results->failed < WT_FAILURES_KEPT) {
        wt_failure *failure = &results->failures[results->failed];
        WT_PASS(wt_results_copy(context, results, record->hash, &failure->hash));
        WT_PASS(wt_results_copy(context, results, record->experiment, &failure->experiment));
        WT_PASS(wt_results_copy(context, results, record->message, &failure->message));
    }
    results->settings[cell->setting].lost++;
    results->lost[results->failed] = *cell;
    results->lost[results->failed++].metric_count = 0;
    return WT_OK;
}

/* The text in place of the one at `slot`. */
static wt_status replace(wt_context *context, char **slot, const char *text) {
    char *copy;
    wt_status status = wt_copy_text(context, &copy, text, "a result");
    if (status != WT_OK)
        return status;
    wt_release(*slot);
    *slot = copy;
    return WT_OK;
}

static wt_status note_date(wt_context *context, wt_results *results, const char *date) {
    if (results->first_date == NULL || strcmp(date, results->first_date) < 0)
        WT_PASS(replace(context, &results->first_date, date));
    if (results->last_date == NULL || strcmp(date, results->last_date) > 0)
        WT_PASS(replace(context, &results->last_date, date));
    return WT_OK;
}

wt_status wt_tally_note(wt_context *context, wt_results *results, const wt_record *record,
                        uint32_t experiment, const wt_result *cell, bool repeats) {
    wt_tally *tally = &results->tallies[experiment];
    if (tally->done + tally->failed == 0) {
        tally->first_setting = cell->setting;
        tally->result_version = record->result_version;
    }
    WT_PASS(add_least_text(context, &tally->versions, record->version));
    WT_PASS(add_least_text(context, &tally->machines, record->machine));
    WT_PASS(note_date(context, results, record->finished_date));
    add_least(&tally->seeds, record->seed);
    if (repeats)
        add_least(&tally->reps, cell->rep);
    tally->repeats |= repeats;
    tally->wall_seconds += record->wall_seconds;
    *(record->failed ? &tally->failed : &tally->done) += 1;
    return WT_OK;
}
