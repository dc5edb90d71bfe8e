/* What there is of each experiment, noted while results are read. */
#include <string.h>

#include "lab/results.h"

static int by_number(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int by_text(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Makes room for a thing of `size` bytes among the least; NULL where it is one of them, or none. */
static void *place_among(void *least, size_t *count, bool *more, const void *thing, size_t size,
                         int (*compare)(const void *left, const void *right)) {
    char *place = least, *end = place + *count * size;
    int order = -1;
    while (place < end && (order = compare(place, thing)) < 0)
        place += size;
    if (place < end && order == 0)
        return NULL;
    *more |= *count == WT_LEAST;
    if (place == (char *)least + WT_LEAST * size)
        return NULL;
    *count += *count < WT_LEAST;
    memmove(place + size, place, (size_t)((char *)least + (*count - 1) * size - place));
    return place;
}

static void add_least(wt_least_numbers *to, int64_t number) {
    int64_t *place =
        place_among(to->numbers, &to->count, &to->more, &number, sizeof number, by_number);
    if (place != NULL)
        *place = number;
}

static wt_status add_least_text(wt_context *context, wt_results *results, wt_least_texts *to,
                                const char *text) {
    char **place = place_among(to->texts, &to->count, &to->more, &text, sizeof text, by_text);
    return place == NULL ? WT_OK : wt_results_copy(context, results, text, place);
}

/* Cells of one experiment mostly come one after the other, or there are few experiments. */
wt_status wt_tally_keep(wt_context *context, wt_results *results, const wt_record *record,
                        uint32_t *out) {
    *out = wt_results_experiment(results, record->experiment);
    if (*out != WT_NO_TEXT)
        return WT_OK;
    WT_PASS(
        WT_GROW(context, &results->tallies, results->tally_count, &results->tally_room, "results"));
    *out = (uint32_t)results->tally_count;
    WT_PASS(wt_results_copy(context, results, record->experiment, &results->tallies[*out].name));
    results->tally_count++;
    return WT_OK;
}

wt_status wt_tally_fail(wt_context *context, wt_results *results, const wt_record *record,
                        const wt_result *cell) {
    if (results->lost.count < WT_FAILURES_KEPT) {
        wt_failure *failure = &results->failures[results->lost.count];
        WT_PASS(wt_results_copy(context, results, record->hash, &failure->hash));
        WT_PASS(wt_results_copy(context, results, record->experiment, &failure->experiment));
        WT_PASS(wt_results_copy(context, results, record->message, &failure->message));
    }
    results->settings[cell->setting].lost++;
    return wt_shelf_add(context, &results->lost, cell);
}

static wt_status note_date(wt_context *context, wt_results *results, const char *date) {
    if (results->first_date == NULL || strcmp(date, results->first_date) < 0)
        WT_PASS(wt_results_copy(context, results, date, &results->first_date));
    if (results->last_date == NULL || strcmp(date, results->last_date) > 0)
        WT_PASS(wt_results_copy(context, results, date, &results->last_date));
    return WT_OK;
}

wt_status wt_tally_note(wt_context *context, wt_results *results, const wt_record *record,
                        uint32_t experiment, const wt_result *cell, bool repeats) {
    wt_tally *tally = &results->tallies[experiment];
    if (tally->done + tally->failed == 0) {
        tally->first_setting = cell->setting;
        tally->result_version = record->result_version;
    }
    WT_PASS(add_least_text(context, results, &tally->versions, record->version));
    WT_PASS(add_least_text(context, results, &tally->machines, record->machine));
    WT_PASS(note_date(context, results, record->finished_date));
    add_least(&tally->seeds, record->seed);
    if (repeats)
        add_least(&tally->reps, cell->rep);
    tally->repeats |= repeats;
    tally->wall_seconds += record->wall_seconds;
    *(record->failed ? &tally->failed : &tally->done) += 1;
    return WT_OK;
}
