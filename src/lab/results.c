#include "lab/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "lab/store.h"

/* Room for one more element of `size` bytes in a block that doubles. */
static wt_status make_room(wt_context *context, void *slot, size_t count, size_t *room, size_t size,
                           const char *what) {
    void *old, *larger;
    memcpy(&old, slot, sizeof old);
    if (count < *room)
        return WT_OK;
    size_t wanted = *room == 0 ? 64 : 2 * *room;
    wt_status status = wt_allocate_zero(context, &larger, wanted, size, what);
    if (status != WT_OK)
        return status;
    if (count > 0)
        memcpy(larger, old, count * size);
    wt_release(old);
    memcpy(slot, &larger, sizeof larger);
    *room = wanted;
    return WT_OK;
}

static wt_status parse(wt_context *context, const wt_record *record, const char *text,
                       const char *what, json_t **out) {
    json_error_t error;
    *out = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(*out))
        return wt_fail(context, WT_DATA, "cell %.12s: the %s are no JSON object", record->hash,
                       what);
    return WT_OK;
}

static void result_free(wt_result *cell) {
    char *const texts[] = {cell->hash,    cell->experiment, cell->message,
                           cell->version, cell->machine,    cell->finished};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        wt_release(texts[i]);
    json_decref(cell->parameters);
    json_decref(cell->metrics);
}

wt_status wt_results_add(wt_context *context, wt_results *results, const wt_record *record) {
    wt_result cell = {.seed = record->seed,
                      .result_version = record->result_version,
                      .failed = record->failed,
                      .wall_seconds = record->wall_seconds};
    wt_status status;
    WT_TRY(make_room(context, &results->cells, results->count, &results->room,
                     sizeof *results->cells, "results"));
    WT_TRY(wt_copy_text(context, &cell.hash, record->hash, "a result"));
    WT_TRY(wt_copy_text(context, &cell.experiment, record->experiment, "a result"));
    WT_TRY(wt_copy_text(context, &cell.message, record->message, "a result"));
    WT_TRY(wt_copy_text(context, &cell.version, record->version, "a result"));
    WT_TRY(wt_copy_text(context, &cell.machine, record->machine, "a result"));
    WT_TRY(wt_copy_text(context, &cell.finished, record->finished_date, "a result"));
    WT_TRY(parse(context, record, record->parameters, "parameters", &cell.parameters));
    WT_TRY(parse(context, record, record->metrics, "metrics", &cell.metrics));
    results->cells[results->count++] = cell;
    cell = (wt_result){0};
done:
    result_free(&cell);
    return status;
}

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
    WT_TRY(make_room(context, texts, *count, room, sizeof **texts, "commands"));
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

wt_status wt_results_load(wt_context *context, const char *path, wt_results *out) {
    wt_store *store = NULL;
    loader load = {.context = context, .results = out};
    wt_status status;
    *out = (wt_results){0};
    WT_TRY(wt_store_open(context, path, WT_STORE_READ, &store));
    load.shown = wt_store_shown(store);
    WT_TRY(wt_store_walk(context, store, NULL, take_record, &load));
    WT_TRY(wt_store_about(context, store, take_about, &load));
done:
    wt_store_free(store);
    return status;
}

void wt_results_free(wt_results *results) {
    for (size_t i = 0; i < results->count; i++)
        result_free(&results->cells[i]);
    for (size_t i = 0; i < results->command_count; i++)
        wt_release(results->commands[i]);
    for (size_t i = 0; i < results->sweep_count; i++)
        wt_release(results->sweeps[i]);
    wt_release(results->sweeps);
    wt_release(results->cells);
    wt_release(results->commands);
    *results = (wt_results){0};
}

static double number_of(const json_t *value) {
    double number;
    if (json_is_number(value))
        return json_number_value(value);
    if (json_is_boolean(value))
        return json_is_true(value);
    if (json_is_string(value) && wt_parse_real(json_string_value(value), &number))
        return number;
    return NAN;
}

double wt_result_number(const wt_result *result, const char *name) {
    const json_t *value = json_object_get(result->metrics, name);
    if (value == NULL)
        value = json_object_get(result->parameters, name);
    if (value == NULL && strcmp(name, "seed") == 0)
        return (double)result->seed;
    return number_of(value);
}

const char *wt_result_words(const json_t *parameters, const char *name, char *out, size_t size) {
    const json_t *value = json_object_get(parameters, name);
    out[0] = '\0';
    if (json_is_string(value)) {
        snprintf(out, size, "%s", json_string_value(value));
        wt_utf8_trim(out);
    } else if (json_is_boolean(value))
        snprintf(out, size, "%s", json_is_true(value) ? "true" : "false");
    else if (json_is_number(value))
        snprintf(out, size, "%.10g", json_number_value(value));
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

/* Whether a parameter is a number that is not below the limit. */
static bool reaches(const wt_result *result, const char *name, const char *limit, size_t length) {
    char text[WT_VALUE_TEXT];
    double least;
    snprintf(text, sizeof text, "%.*s", (int)length, limit);
    return wt_parse_real(text, &least) &&
           number_of(json_object_get(result->parameters, name)) >= least;
}

bool wt_result_fits(const wt_result *result, const char *where) {
    char name[WT_VALUE_TEXT], words[WT_VALUE_TEXT];
    for (; where != NULL && *where != '\0'; where += *where == ' ') {
        size_t whole = strcspn(where, " "), left = strcspn(where, "!>=");
        if (left >= whole || left >= sizeof name)
            return false;
        bool other = where[left] == '!', least = where[left] == '>';
        size_t begin = left + (other || least ? 2 : 1);
        snprintf(name, sizeof name, "%.*s", (int)left, where);
        wt_result_words(result->parameters, name, words, sizeof words);
        if (least ? !reaches(result, name, where + begin, whole - begin)
                  : fits_one(words, where + begin, whole - begin) == other)
            return false;
        where += whole;
    }
    return true;
}
