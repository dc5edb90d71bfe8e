#include "lab/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "lab/store.h"

/* ---- texts and settings ---------------------------------------------------------------------- */

static const char *letters_of(const wt_results *results, uint32_t text) {
    return results->letters + results->texts[text].at;
}

/* The text of this JSON; WT_NO_TEXT when it is not there. */
static uint32_t find_text(const wt_results *results, const char *json, size_t length,
                          uint32_t hash) {
    size_t cursor = wt_slots_start(&results->by_text, hash);
    uint32_t number;
    while (wt_slots_next(&results->by_text, hash, &cursor, &number))
        if (results->texts[number].length == length &&
            memcmp(letters_of(results, number), json, length) == 0)
            return number;
    return WT_NO_TEXT;
}

static wt_status keep_text(wt_context *context, wt_results *results, const char *json,
                           size_t length, const wt_flat_member *value, uint32_t *out) {
    uint32_t hash = wt_slots_hash(0, json, length);
    wt_status status = WT_OK;
    *out = find_text(results, json, length, hash);
    if (*out != WT_NO_TEXT)
        return status;
    while (results->letter_room - results->letter_count < length) {
        size_t used = results->letter_room; /* all of it, so that it grows */
        WT_TRY(wt_grow(context, &results->letters, used, &results->letter_room, 1, "results"));
    }
    WT_TRY(WT_GROW(context, &results->texts, results->text_count, &results->text_room, "results"));
    *out = (uint32_t)results->text_count;
    WT_TRY(wt_slots_add(context, &results->by_text, hash, *out));
    memcpy(results->letters + results->letter_count, json, length);
    results->texts[results->text_count++] = (wt_text){.at = results->letter_count,
                                                      .length = length,
                                                      .number = wt_flat_number(value),
                                                      .kind = value->kind};
    results->letter_count += length;
done:
    return status;
}

/* JSON of the words, quotes and all. */
static wt_status keep_words(wt_context *context, wt_results *results, const char *words,
                            size_t length, uint32_t *out) {
    wt_flat_member value = {.value = words, .value_length = length, .kind = WT_FLAT_WORDS};
    return keep_text(context, results, words - 1, length + 2, &value, out);
}

static wt_status keep_value(wt_context *context, wt_results *results, const wt_flat_member *member,
                            uint32_t *out) {
    if (member->kind == WT_FLAT_WORDS)
        return keep_words(context, results, member->value, member->value_length, out);
    return keep_text(context, results, member->value, member->value_length, member, out);
}

static wt_status fail_json(wt_context *context, const wt_record *record, const char *what) {
    return wt_fail(context, WT_DATA,
                   "cell %.12s: the %s are no JSON object of plain values in order", record->hash,
                   what);
}

static bool is_named(const wt_flat_member *member, const char *name) {
    return strlen(name) == member->name_length &&
           memcmp(member->name, name, member->name_length) == 0;
}

/* Names and values of the parameters behind those that are kept, all but the repetition, which goes
 * to *rep. */
static wt_status read_parameters(wt_context *context, wt_results *results, const wt_record *record,
                                 size_t *count, int64_t *rep, bool *repeats) {
    wt_flat walk = {.at = record->parameters};
    wt_flat_member member;
    wt_status status = WT_OK;
    *count = 0;
    *rep = 0;
    *repeats = false;
    while (wt_flat_next(&walk, &member)) {
        size_t name = results->name_count + *count, value = results->value_count + *count;
        if (is_named(&member, "rep")) {
            *repeats = true;
            if (wt_flat_natural(&member, rep))
                continue;
            return wt_fail(context, WT_DATA, "cell %.12s: its repetition is no whole number",
                           record->hash);
        }
        WT_TRY(WT_GROW(context, &results->names, name, &results->name_room, "results"));
        WT_TRY(WT_GROW(context, &results->values, value, &results->value_room, "results"));
        WT_TRY(
            keep_words(context, results, member.name, member.name_length, &results->names[name]));
        WT_TRY(keep_value(context, results, &member, &results->values[value]));
        ++*count;
    }
    if (walk.wrong)
        status = fail_json(context, record, "parameters");
done:
    return status;
}

static bool same_texts(const uint32_t *a, const uint32_t *b, size_t count) {
    return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

static uint32_t hash_texts(uint32_t before, const uint32_t *texts, size_t count) {
    return count == 0 ? before : wt_slots_hash(before, texts, count * sizeof *texts);
}

/* The shape of so many names behind those that are kept. */
static wt_status keep_shape(wt_context *context, wt_results *results, size_t count, uint32_t *out) {
    const wt_shape shape = {.first = results->name_count, .count = count};
    uint32_t hash = hash_texts(0, results->names + (count == 0 ? 0 : shape.first), count);
    size_t cursor = wt_slots_start(&results->by_shape, hash);
    wt_status status = WT_OK;
    while (wt_slots_next(&results->by_shape, hash, &cursor, out))
        if (results->shapes[*out].count == count &&
            same_texts(results->names + results->shapes[*out].first, results->names + shape.first,
                       count))
            goto done;
    WT_TRY(
        WT_GROW(context, &results->shapes, results->shape_count, &results->shape_room, "results"));
    *out = (uint32_t)results->shape_count;
    WT_TRY(wt_slots_add(context, &results->by_shape, hash, *out));
    results->shapes[results->shape_count++] = shape;
    results->name_count += count;
done:
    return status;
}

/* The setting of a record, kept once. */
static wt_status keep_setting(wt_context *context, wt_results *results, const wt_record *record,
                              uint32_t experiment, wt_result *cell, bool *repeats) {
    wt_setting setting = {.experiment = experiment, .first = results->value_count};
    size_t count;
    wt_status status;
    /* so that there is something to point to where there are no parameters */
    WT_TRY(WT_GROW(context, &results->names, results->name_count, &results->name_room, "results"));
    WT_TRY(
        WT_GROW(context, &results->values, results->value_count, &results->value_room, "results"));
    WT_TRY(read_parameters(context, results, record, &count, &cell->rep, repeats));
    WT_TRY(keep_shape(context, results, count, &setting.shape));
    const uint32_t *values = results->values + setting.first;
    uint32_t hash = hash_texts(experiment + setting.shape, values, count);
    size_t cursor = wt_slots_start(&results->by_setting, hash);
    while (wt_slots_next(&results->by_setting, hash, &cursor, &cell->setting)) {
        const wt_setting *known = &results->settings[cell->setting];
        if (known->experiment == experiment && known->shape == setting.shape &&
            same_texts(results->values + known->first, values, count))
            goto done;
    }
    WT_TRY(WT_GROW(context, &results->settings, results->setting_count, &results->setting_room,
                   "results"));
    cell->setting = (uint32_t)results->setting_count;
    WT_TRY(wt_slots_add(context, &results->by_setting, hash, cell->setting));
    results->settings[results->setting_count++] = setting;
    results->value_count += count;
done:
    return status;
}

/* ---- tallies --------------------------------------------------------------------------------- */

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

uint32_t wt_results_experiment(const wt_results *results, const char *experiment) {
    for (size_t i = 0; i < results->tally_count; i++)
        if (strcmp(results->tallies[i].name, experiment) == 0)
            return (uint32_t)i;
    return WT_NO_TEXT;
}

/* Cells of one experiment mostly come one after the other, or there are few experiments. */
static wt_status keep_tally(wt_context *context, wt_results *results, const wt_record *record,
                            uint32_t *out) {
    wt_status status = WT_OK;
    *out = wt_results_experiment(results, record->experiment);
    if (*out != WT_NO_TEXT)
        return status;
    WT_TRY(
        WT_GROW(context, &results->tallies, results->tally_count, &results->tally_room, "results"));
    *out = (uint32_t)results->tally_count;
    WT_TRY(wt_copy_text(context, &results->tallies[*out].name, record->experiment, "a result"));
    results->tally_count++;
done:
    return status;
}

static wt_status add_failure(wt_context *context, wt_results *results, const wt_record *record,
                             const wt_result *cell) {
    wt_status status = WT_OK;
    WT_TRY(WT_GROW(context, &results->lost, results->failed, &results->failed_room, "results"));
    if (results->failed < WT_FAILURES_KEPT) {
        wt_failure *failure = &results->failures[results->failed];
        WT_TRY(wt_copy_text(context, &failure->hash, record->hash, "a result"));
        WT_TRY(wt_copy_text(context, &failure->experiment, record->experiment, "a result"));
        WT_TRY(wt_copy_text(context, &failure->message, record->message, "a result"));
    }
    results->settings[cell->setting].lost++;
    results->lost[results->failed] = *cell;
    results->lost[results->failed++].metric_count = 0;
done:
    return status;
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
    wt_status status = WT_OK;
    if (results->first_date == NULL || strcmp(date, results->first_date) < 0)
        WT_TRY(replace(context, &results->first_date, date));
    if (results->last_date == NULL || strcmp(date, results->last_date) > 0)
        WT_TRY(replace(context, &results->last_date, date));
done:
    return status;
}

static wt_status note_tally(wt_context *context, wt_results *results, const wt_record *record,
                            uint32_t experiment, const wt_result *cell, bool repeats) {
    wt_tally *tally = &results->tallies[experiment];
    wt_status status;
    if (tally->done + tally->failed == 0) {
        tally->first_setting = cell->setting;
        tally->result_version = record->result_version;
    }
    WT_TRY(add_least_text(context, &tally->versions, record->version));
    WT_TRY(add_least_text(context, &tally->machines, record->machine));
    WT_TRY(note_date(context, results, record->finished_date));
    add_least(&tally->seeds, record->seed);
    if (repeats)
        add_least(&tally->reps, cell->rep);
    tally->repeats |= repeats;
    tally->wall_seconds += record->wall_seconds;
    *(record->failed ? &tally->failed : &tally->done) += 1;
done:
    return status;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static unsigned digit(char letter) {
    return letter >= 'a' ? (unsigned)(letter - 'a') + 10 : (unsigned)(letter - '0');
}

void wt_result_name(const char *hash, unsigned char out[WT_NAME_BYTES]) {
    memset(out, 0, WT_NAME_BYTES);
    for (size_t i = 0; i < 2 * (size_t)WT_NAME_BYTES && hash[i] != '\0'; i++)
        out[i / 2] = (unsigned char)(out[i / 2] | (digit(hash[i]) & 15) << (i % 2 == 0 ? 4 : 0));
}

static bool is_wanted(const wt_results *results, uint32_t name) {
    for (size_t i = 0; i < results->wanted_count; i++)
        if (results->wanted[i] == name)
            return true;
    return results->wanted_count == 0;
}

static wt_status read_metrics(wt_context *context, wt_results *results, const wt_record *record,
                              wt_result *cell) {
    wt_flat walk = {.at = record->metrics};
    wt_flat_member member;
    size_t end = results->metric_count;
    wt_status status = WT_OK;
    cell->first_metric = end;
    while (wt_flat_next(&walk, &member)) {
        uint32_t name;
        WT_TRY(keep_words(context, results, member.name, member.name_length, &name));
        if (!is_wanted(results, name))
            continue;
        WT_TRY(WT_GROW(context, &results->metrics, end, &results->metric_room, "results"));
        results->metrics[end++] = (wt_metric){name, wt_flat_number(&member)};
        cell->metric_count++;
    }
    if (walk.wrong)
        status = fail_json(context, record, "metrics");
done:
    return status;
}

wt_status wt_results_add(wt_context *context, wt_results *results, const wt_record *record) {
    wt_result cell = {.seed = record->seed};
    uint32_t experiment;
    bool repeats;
    wt_status status;
    WT_TRY(keep_tally(context, results, record, &experiment));
    WT_TRY(keep_setting(context, results, record, experiment, &cell, &repeats));
    WT_TRY(read_metrics(context, results, record, &cell));
    WT_TRY(note_tally(context, results, record, experiment, &cell, repeats));
    wt_result_name(record->hash, cell.name);
    if (record->failed) {
        WT_TRY(add_failure(context, results, record, &cell));
        goto done;
    }
    WT_TRY(WT_GROW(context, &results->cells, results->count, &results->room, "results"));
    results->settings[cell.setting].cells++;
    results->metric_count += cell.metric_count;
    results->cells[results->count++] = cell;
done:
    return status;
}

const wt_result *wt_results_cell(const wt_results *results, size_t index) {
    return index < results->count ? &results->cells[index] : &results->lost[index - results->count];
}

wt_status wt_results_want(wt_context *context, wt_results *results, const char *metric) {
    char json[WT_VALUE_TEXT + 2];
    size_t length = strlen(metric);
    uint32_t name;
    wt_status status = WT_OK;
    if (length >= WT_VALUE_TEXT)
        return wt_fail(context, WT_INTERNAL, "the name of a metric is too long");
    snprintf(json, sizeof json, "\"%s\"", metric);
    WT_TRY(keep_words(context, results, json + 1, length, &name));
    if (results->wanted_count > 0 && is_wanted(results, name))
        goto done;
    WT_TRY(WT_GROW(context, &results->wanted, results->wanted_count, &results->wanted_room,
                   "results"));
    results->wanted[results->wanted_count++] = name;
done:
    return status;
}

/* ---- a store --------------------------------------------------------------------------------- */

typedef struct {
    wt_context *context;
    wt_results *results;
    const char *shown; /* the path of the store */
} loader;

/* A cell that makes no sense is told with its file. */
static wt_status take_record(void *user, const wt_record *record) {
    loader *load = user;
    char reason[WT_MESSAGE_BYTES];
    wt_status status = wt_results_add(load->context, load->results, record);
    if (status != WT_DATA)
        return status;
    snprintf(reason, sizeof reason, "%s", wt_context_message(load->context));
    return wt_fail(load->context, WT_DATA, "%s: is damaged: %s", load->shown, reason);
}

static wt_status add_text(wt_context *context, char ***texts, size_t *count, size_t *room,
                          const char *text) {
    wt_status status;
    WT_TRY(WT_GROW(context, texts, *count, room, "commands"));
    WT_TRY(wt_copy_text(context, &(*texts)[*count], text, "a command"));
    ++*count;
done:
    return status;
}

static wt_status take_about(void *user, const char *kind, const char *text) {
    loader *load = user;
    wt_results *results = load->results;
    if (strcmp(kind, "command") == 0)
        return add_text(load->context, &results->commands, &results->command_count,
                        &results->command_room, text);
    if (strcmp(kind, "sweep") == 0)
        return add_text(load->context, &results->sweeps, &results->sweep_count,
                        &results->sweep_room, text);
    return WT_OK;
}

/* Room as the store says, so that none is left over; it grows all the same where that was wrong. */
static wt_status reserve(wt_context *context, wt_store *store, wt_results *out) {
    wt_store_count count = WT_SIZED(wt_store_count);
    wt_status status;
    WT_TRY(wt_store_counts(context, store, &count));
    if (out->count > 0 || count.done == 0)
        goto done;
    WT_TRY(WT_NEW(context, &out->cells, count.done, "results"));
    out->room = count.done;
done:
    return status;
}

wt_status wt_results_read(wt_context *context, wt_store *store, wt_results *out) {
    loader load = {.context = context, .results = out, .shown = wt_store_shown(store)};
    wt_status status = wt_store_hold(context, store);
    if (status != WT_OK)
        return status;
    WT_TRY(reserve(context, store, out));
    WT_TRY(wt_store_walk(context, store, NULL, take_record, &load));
    WT_TRY(wt_store_about(context, store, take_about, &load));
done:
    wt_store_let_go(store);
    return status;
}

wt_status wt_results_read_file(wt_context *context, const char *path, wt_results *out) {
    wt_store *store = NULL;
    wt_status status = wt_store_open(context, path, WT_STORE_MODE_READ, &store);
    if (status == WT_OK)
        status = wt_results_read(context, store, out);
    wt_store_free(store);
    return status;
}

wt_status wt_results_load(wt_context *context, wt_store *store, wt_results **out) {
    wt_results *results = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(WT_NEW_ZERO(context, &results, 1, "results"));
    WT_TRY(wt_results_read(context, store, results));
    *out = results;
    results = NULL;
done:
    wt_results_free(results);
    return status;
}

void wt_results_free(wt_results *results) {
    if (results != NULL)
        wt_results_clear(results);
    wt_release(results);
}

size_t wt_results_done(const wt_results *results) {
    return results->count;
}

size_t wt_results_failed(const wt_results *results) {
    return results->failed;
}

static void free_texts(wt_least_texts *texts) {
    for (size_t i = 0; i < texts->count; i++)
        wt_release(texts->texts[i]);
}

void wt_results_clear(wt_results *results) {
    void *const blocks[] = {results->cells,   results->metrics,    results->settings,
                            results->lost,    results->values,     results->texts,
                            results->letters, results->names,      results->shapes,
                            results->wanted,  results->first_date, results->last_date};
    for (size_t i = 0; i < results->tally_count; i++) {
        wt_release(results->tallies[i].name);
        free_texts(&results->tallies[i].versions);
        free_texts(&results->tallies[i].machines);
    }
    for (size_t i = 0; i < WT_FAILURES_KEPT; i++) {
        wt_release(results->failures[i].hash);
        wt_release(results->failures[i].experiment);
        wt_release(results->failures[i].message);
    }
    for (size_t i = 0; i < results->command_count; i++)
        wt_release(results->commands[i]);
    for (size_t i = 0; i < results->sweep_count; i++)
        wt_release(results->sweeps[i]);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        wt_release(blocks[i]);
    wt_slots_free(&results->by_text);
    wt_slots_free(&results->by_setting);
    wt_slots_free(&results->by_shape);
    wt_release(results->tallies);
    wt_release(results->sweeps);
    wt_release(results->commands);
    *results = (wt_results){0};
}

/* ---- what they say --------------------------------------------------------------------------- */

uint32_t wt_results_name(const wt_results *results, const char *name) {
    char json[WT_VALUE_TEXT + 2];
    size_t length = strlen(name) + 2;
    if (length >= sizeof json)
        return WT_NO_TEXT;
    snprintf(json, sizeof json, "\"%s\"", name);
    return find_text(results, json, length, wt_slots_hash(0, json, length));
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
    for (size_t i = 0; i < cell->metric_count; i++)
        if (results->metrics[cell->first_metric + i].name == name)
            return results->metrics[cell->first_metric + i].value;
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
        wt_flat_spell(letters_of(results, text) + 1, value->length - 2, out, size);
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
    return value != WT_NO_TEXT && wt_parse_real(text, &least) &&
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
