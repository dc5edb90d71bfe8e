#include "lab/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "lab/store.h"

/* ---- texts and settings ---------------------------------------------------------------------- */

/* Room for one more of the results' names, values, .. */
#define GROW(what)                                                                                 \
    WT_GROW(context, &results->what##s, results->what##_count, &results->what##_room, "results")

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
    *out = find_text(results, json, length, hash);
    if (*out != WT_NO_TEXT)
        return WT_OK;
    while (results->letter_room - results->letter_count < length) {
        size_t used = results->letter_room; /* all of it, so that it grows */
        WT_PASS(wt_grow(context, &results->letters, used, &results->letter_room, 1, "results"));
    }
    WT_PASS(GROW(text));
    *out = (uint32_t)results->text_count;
    WT_PASS(wt_slots_add(context, &results->by_text, hash, *out));
    memcpy(results->letters + results->letter_count, json, length);
    results->texts[results->text_count++] = (wt_text){.at = results->letter_count,
                                                      .length = length,
                                                      .number = wt_flat_number(value),
                                                      .kind = value->kind};
    results->letter_count += length;
    return WT_OK;
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

wt_status wt_results_copy(wt_context *context, wt_results *results, const char *text, char **out) {
    if (results->kept.context == NULL)
        results->kept = wt_arena_start(context, "results");
    *out = wt_arena_copy(&results->kept, text);
    return results->kept.status;
}

static wt_status fail_json(wt_context *context, const wt_record *record, const char *what) {
    return wt_fail(context, WT_DATA,
                   "cell %.12s: the %s are no JSON object of plain values in order", record->hash,
                   what);
}

/* Names and values of the parameters behind those that are kept, all but the repetition, which goes
 * to *rep. */
static wt_status read_parameters(wt_context *context, wt_results *results, const wt_record *record,
                                 size_t *count, int64_t *rep, bool *repeats) {
    wt_flat walk = {.at = record->parameters};
    wt_flat_member member;
    *count = 0;
    *rep = 0;
    *repeats = false;
    while (wt_flat_next(&walk, &member)) {
        size_t name = results->name_count + *count, value = results->value_count + *count;
        if (wt_flat_is(&member, "rep")) {
            *repeats = true;
            if (wt_flat_natural(&member, rep))
                continue;
            return wt_fail(context, WT_DATA, "cell %.12s: its repetition is no whole number",
                           record->hash);
        }
        WT_PASS(WT_GROW(context, &results->names, name, &results->name_room, "results"));
        WT_PASS(WT_GROW(context, &results->values, value, &results->value_room, "results"));
        WT_PASS(
            keep_words(context, results, member.name, member.name_length, &results->names[name]));
        WT_PASS(keep_value(context, results, &member, &results->values[value]));
        ++*count;
    }
    return walk.wrong ? fail_json(context, record, "parameters") : WT_OK;
}

static bool same_texts(const uint32_t *a, const uint32_t *b, size_t count) {
    return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

static uint32_t hash_texts(uint32_t before, const uint32_t *texts, size_t count) {
    return count == 0 ? before : wt_slots_hash(before, texts, count * sizeof *texts);
}

/* The shape of these names; UINT32_MAX when there is none. */
static uint32_t find_shape(const wt_results *results, const uint32_t *names, size_t count,
                           uint32_t hash) {
    size_t cursor = wt_slots_start(&results->by_shape, hash);
    uint32_t number;
    while (wt_slots_next(&results->by_shape, hash, &cursor, &number))
        if (results->shapes[number].count == count &&
            same_texts(results->names + results->shapes[number].first, names, count))
            return number;
    return UINT32_MAX;
}

/* The same of a setting. */
static uint32_t find_setting(const wt_results *results, const wt_setting *like,
                             const uint32_t *values, uint32_t hash) {
    const size_t count = results->shapes[like->shape].count;
    size_t cursor = wt_slots_start(&results->by_setting, hash);
    uint32_t number;
    while (wt_slots_next(&results->by_setting, hash, &cursor, &number)) {
        const wt_setting *known = &results->settings[number];
        if (known->experiment == like->experiment && known->shape == like->shape &&
            same_texts(results->values + known->first, values, count))
            return number;
    }
    return UINT32_MAX;
}

/* The shape of so many names behind those that are kept. */
static wt_status keep_shape(wt_context *context, wt_results *results, size_t count, uint32_t *out) {
    const wt_shape shape = {.first = results->name_count, .count = count};
    uint32_t hash = hash_texts(0, results->names + shape.first, count);
    *out = find_shape(results, results->names + shape.first, count, hash);
    if (*out != UINT32_MAX)
        return WT_OK;
    WT_PASS(GROW(shape));
    *out = (uint32_t)results->shape_count;
    WT_PASS(wt_slots_add(context, &results->by_shape, hash, *out));
    results->shapes[results->shape_count++] = shape;
    results->name_count += count;
    return WT_OK;
}

/* The setting of a record, kept once. */
static wt_status keep_setting(wt_context *context, wt_results *results, const wt_record *record,
                              uint32_t experiment, wt_result *cell, bool *repeats) {
    wt_setting setting = {.experiment = experiment, .first = results->value_count};
    size_t count;
    /* so that there is something to point to where there are no parameters */
    WT_PASS(GROW(name));
    WT_PASS(GROW(value));
    WT_PASS(read_parameters(context, results, record, &count, &cell->rep, repeats));
    WT_PASS(keep_shape(context, results, count, &setting.shape));
    const uint32_t *values = results->values + setting.first;
    uint32_t hash = hash_texts(experiment + setting.shape, values, count);
    cell->setting = find_setting(results, &setting, values, hash);
    if (cell->setting != UINT32_MAX)
        return WT_OK;
    WT_PASS(GROW(setting));
    cell->setting = (uint32_t)results->setting_count;
    WT_PASS(wt_slots_add(context, &results->by_setting, hash, cell->setting));
    results->settings[results->setting_count++] = setting;
    results->value_count += count;
    return WT_OK;
}

/* The text of a piece of JSON, words with their quotes. */
static uint32_t find_piece(const wt_results *results, const char *piece, size_t length,
                           bool words) {
    const char *json = words ? piece - 1 : piece;
    length += words ? 2 : 0;
    return find_text(results, json, length, wt_slots_hash(0, json, length));
}

enum { PARAMETERS = 256 }; /* of an experiment, at most */

uint32_t wt_results_setting(const wt_results *results, const char *experiment,
                            const char *parameters) {
    uint32_t names[PARAMETERS], values[PARAMETERS];
    wt_setting like = {.experiment = wt_results_experiment(results, experiment)};
    wt_flat walk = {.at = parameters};
    wt_flat_member member;
    size_t count = 0;
    while (wt_flat_next(&walk, &member)) {
        if (wt_flat_is(&member, "rep"))
            continue;
        if (count == PARAMETERS)
            return UINT32_MAX;
        names[count] = find_piece(results, member.name, member.name_length, true);
        values[count] =
            find_piece(results, member.value, member.value_length, member.kind == WT_FLAT_WORDS);
        if (names[count] == WT_NO_TEXT || values[count] == WT_NO_TEXT)
            return UINT32_MAX;
        count++;
    }
    if (walk.wrong || like.experiment == WT_NO_TEXT)
        return UINT32_MAX;
    like.shape = find_shape(results, names, count, hash_texts(0, names, count));
    if (like.shape == UINT32_MAX)
        return UINT32_MAX;
    return find_setting(results, &like, values,
                        hash_texts(like.experiment + like.shape, values, count));
}

/* ---- cells ----------------------------------------------------------------------------------- */

static bool is_wanted(const wt_results *results, uint32_t name) {
    for (size_t i = 0; i < results->wanted_metric_count; i++)
        if (results->wanted_metrics[i] == name)
            return true;
    return results->wanted_metric_count == 0;
}

static wt_status read_metrics(wt_context *context, wt_results *results, const wt_record *record,
                              wt_result *cell) {
    wt_flat walk = {.at = record->metrics};
    wt_flat_member member;
    cell->first_metric = results->metrics.count;
    while (wt_flat_next(&walk, &member)) {
        wt_metric metric = {.value = wt_flat_number(&member)};
        WT_PASS(keep_words(context, results, member.name, member.name_length, &metric.name));
        if (record->failed || !is_wanted(results, metric.name))
            continue;
        WT_PASS(wt_shelf_add(context, &results->metrics, &metric));
        cell->metric_count++;
    }
    return walk.wrong ? fail_json(context, record, "metrics") : WT_OK;
}

/* What is kept of cells, from the first on. */
static void open_shelves(wt_results *results) {
    const char *folder = results->folder;
    if (results->done.size != 0)
        return;
    results->done = results->lost =
        (wt_shelf){.folder = folder, .what = "results", .size = sizeof(wt_result)};
    results->metrics = (wt_shelf){.folder = folder, .what = "results", .size = sizeof(wt_metric)};
}

wt_status wt_results_add(wt_context *context, wt_results *results, const wt_record *record) {
    wt_result cell = {.seed = record->seed};
    uint32_t experiment;
    bool repeats;
    open_shelves(results);
    WT_PASS(wt_tally_keep(context, results, record, &experiment));
    WT_PASS(keep_setting(context, results, record, experiment, &cell, &repeats));
    WT_PASS(read_metrics(context, results, record, &cell));
    WT_PASS(wt_tally_note(context, results, record, experiment, &cell, repeats));
    if (record->failed)
        return wt_tally_fail(context, results, record, &cell);
    results->settings[cell.setting].cells++;
    return wt_shelf_add(context, &results->done, &cell);
}

wt_status wt_results_want(wt_context *context, wt_results *results, const char *metric) {
    char json[WT_VALUE_TEXT + 2];
    size_t length = strlen(metric);
    uint32_t name;
    if (length >= WT_VALUE_TEXT)
        return wt_fail(context, WT_INTERNAL, "the name of a metric is too long");
    snprintf(json, sizeof json, "\"%s\"", metric);
    WT_PASS(keep_words(context, results, json + 1, length, &name));
    if (results->wanted_metric_count > 0 && is_wanted(results, name))
        return WT_OK;
    WT_PASS(GROW(wanted_metric));
    results->wanted_metrics[results->wanted_metric_count++] = name;
    return WT_OK;
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
    wt_status status = wt_results_add(load->context, load->results, record);
    if (status != WT_DATA)
        return status;
    return wt_fail(load->context, WT_DATA, "%s: is damaged: %s", load->shown,
                   wt_context_message(load->context));
}

static wt_status take_about(void *user, const char *kind, const char *text) {
    loader *load = user;
    bool command = strcmp(kind, "command") == 0;
    wt_facts *facts = command ? &load->results->commands : &load->results->sweeps;
    if (!command && strcmp(kind, "sweep") != 0)
        return WT_OK;
    WT_PASS(WT_GROW(load->context, &facts->texts, facts->count, &facts->room, "commands"));
    WT_PASS(wt_results_copy(load->context, load->results, text, &facts->texts[facts->count]));
    facts->count++;
    return WT_OK;
}

/* What is known before the cells come. */
static wt_status prepare(wt_context *context, wt_store *store, wt_results *out) {
    wt_store_count count = WT_SIZED(wt_store_count);
    WT_PASS(wt_store_counts(context, store, &count));
    out->disputed += count.disputed;
    return out->folder != NULL ? WT_OK : wt_store_folder(context, store, &out->folder);
}

/* All of a store as it is at one moment, behind what is there. */
static wt_status read_store(wt_context *context, wt_store *store, wt_results *out) {
    loader load = {.context = context, .results = out, .shown = wt_store_path(store)};
    wt_status status;
    WT_PASS(wt_store_hold(context, store));
    WT_TRY(prepare(context, store, out));
    WT_TRY(wt_store_walk(context, store, NULL, take_record, &load));
    WT_TRY(wt_store_walk_notes(context, store, take_about, &load));
done:
    wt_store_let_go(store);
    return status;
}

wt_status wt_results_read_file(wt_context *context, const char *path, wt_results *out) {
    wt_store *store = NULL;
    wt_status status = wt_store_open(context, path, WT_STORE_MODE_READ, &store);
    if (status == WT_OK)
        status = read_store(context, store, out);
    wt_store_free(store);
    return status;
}

wt_status wt_results_load(wt_context *context, wt_store *store, wt_results **out) {
    wt_results *results = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(WT_NEW_ZERO(context, &results, 1, "results"));
    WT_TRY(read_store(context, store, results));
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

void wt_results_clear(wt_results *results) {
    void *const blocks[] = {results->folder,       results->settings,       results->values,
                            results->texts,        results->letters,        results->names,
                            results->shapes,       results->wanted_metrics, results->tallies,
                            results->sweeps.texts, results->commands.texts};
    wt_shelf_free(&results->done);
    wt_shelf_free(&results->lost);
    wt_shelf_free(&results->metrics);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        wt_release(blocks[i]);
    wt_slots_free(&results->by_text);
    wt_slots_free(&results->by_setting);
    wt_slots_free(&results->by_shape);
    wt_arena_free(&results->kept);
    *results = (wt_results){0};
}

uint32_t wt_results_name(const wt_results *results, const char *name) {
    char json[WT_VALUE_TEXT + 2];
    size_t length = strlen(name) + 2;
    if (length >= sizeof json)
        return WT_NO_TEXT;
    snprintf(json, sizeof json, "\"%s\"", name);
    return find_text(results, json, length, wt_slots_hash(0, json, length));
}
