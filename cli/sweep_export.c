/* `wattle sweep export`: the whole table, as CSV with a column a parameter and metric, or as JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/output.h"
#include "io/quote.h"
#include "sweep.h"

static const char *const first_columns[] = {"hash", "experiment", "result_version", "seed",
                                            "state"};
static const char *const last_columns[] = {"message", "wall_seconds", "version", "machine",
                                           "finished_date"};
enum {
    FIRST = sizeof first_columns / sizeof *first_columns,
    LAST = sizeof last_columns / sizeof *last_columns
};

typedef struct {
    wt_context *context;
    json_t *cells;                /* an array of objects */
    json_t *parameters, *metrics; /* every name there is, as keys */
    const char *shown;            /* the path of the store */
} table;

static wt_status add_cell(void *user, const wt_record *record) {
    table *all = user;
    json_t *parameters = json_loads(record->parameters, 0, NULL);
    json_t *metrics = json_loads(record->metrics, 0, NULL);
    if (!json_is_object(parameters) || !json_is_object(metrics)) {
        json_decref(parameters);
        json_decref(metrics);
        return wt_fail(all->context, WT_DATA,
                       "%s: is damaged: the parameters or metrics of cell %.12s are no JSON object",
                       all->shown, record->hash);
    }
    json_object_update(all->parameters, parameters);
    json_object_update(all->metrics, metrics);
    json_t *cell = json_pack("{s:s, s:s, s:I, s:I, s:s, s:o, s:o, s:s, s:f, s:s, s:s, s:s}", "hash",
                             record->hash, "experiment", record->experiment, "result_version",
                             (json_int_t)record->result_version, "seed", (json_int_t)record->seed,
                             "state", record->failed ? "failed" : "done", "parameters", parameters,
                             "metrics", metrics, "message", record->message, "wall_seconds",
                             record->wall_seconds, "version", record->version, "machine",
                             record->machine, "finished_date", record->finished_date);
    return json_array_append_new(all->cells, cell) == 0
               ? WT_OK
               : wt_fail(all->context, WT_MEMORY, "no memory for the table");
}

/* Where the table goes: a file that appears whole, or standard output. */
static void put(wt_output *out, const char *text) {
    if (out != NULL)
        (void)wt_output_print(out, "%s", text); /* kept as the output's status */
    else
        fputs(text, stdout);
}

/* A field, in quotes where it needs them. */
static void put_text(wt_output *out, const char *text) {
    const char *lead = wt_csv_lead(text);
    if (strpbrk(text, ",\"\n\r") == NULL) {
        put(out, lead);
        put(out, text);
        return;
    }
    put(out, "\"");
    put(out, lead);
    for (; *text != '\0'; text++) {
        char letter[] = {*text, *text == '"' ? '"' : '\0', '\0'};
        put(out, letter);
    }
    put(out, "\"");
}

/* Nothing where there is no value. */
static void put_value(wt_output *out, const json_t *value) {
    char number[40];
    if (json_is_string(value))
        put_text(out, json_string_value(value));
    else if (json_is_boolean(value))
        put(out, json_is_true(value) ? "yes" : "no");
    else if (json_is_integer(value)) {
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
        put(out, number);
    } else if (json_is_real(value)) {
        snprintf(number, sizeof number, "%.17g", json_real_value(value));
        put(out, number);
    }
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static wt_status sorted_keys(wt_context *context, json_t *object, const char ***out) {
    size_t count = 0;
    wt_status status = WT_NEW(context, out, json_object_size(object), "columns");
    if (status != WT_OK)
        return status;
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at))
        (*out)[count++] = json_object_iter_key(at);
    qsort(*out, count, sizeof **out, by_name);
    return WT_OK;
}

static void put_row(wt_output *out, const json_t *object, const char *const *columns,
                    size_t count) {
    for (size_t i = 0; i < count; i++) {
        put_value(out, json_object_get(object, columns[i]));
        put(out, ",");
    }
}

static void put_heading(wt_output *out, const char *const *columns, size_t count) {
    for (size_t i = 0; i < count; i++) {
        put_text(out, columns[i]);
        put(out, ",");
    }
}

/* The last columns without the comma after them. */
static void put_last(wt_output *out, const json_t *cell) {
    for (size_t i = 0; i < LAST; i++) {
        if (cell == NULL)
            put(out, last_columns[i]);
        else
            put_value(out, json_object_get(cell, last_columns[i]));
        put(out, i + 1 < LAST ? "," : "\n");
    }
}

static wt_status write_csv(const table *all, wt_output *out) {
    const char **parameters = NULL, **metrics = NULL;
    size_t parameter_count = json_object_size(all->parameters), i;
    size_t metric_count = json_object_size(all->metrics);
    const json_t *cell;
    wt_status status;
    WT_TRY(sorted_keys(all->context, all->parameters, &parameters));
    WT_TRY(sorted_keys(all->context, all->metrics, &metrics));
    put_heading(out, first_columns, FIRST);
    put_heading(out, parameters, parameter_count);
    put_heading(out, metrics, metric_count);
    put_last(out, NULL);
    json_array_foreach(all->cells, i, cell) {
        put_row(out, cell, first_columns, FIRST);
        put_row(out, json_object_get(cell, "parameters"), parameters, parameter_count);
        put_row(out, json_object_get(cell, "metrics"), metrics, metric_count);
        put_last(out, cell);
    }
done:
    wt_release(parameters);
    wt_release(metrics);
    return status;
}

static wt_status write_file(const table *all, const char *path) {
    wt_output *out = NULL;
    wt_status status;
    WT_TRY(wt_output_open(all->context, path, &out));
    WT_TRY(write_csv(all, out));
    WT_TRY(wt_output_commit(out));
done:
    wt_output_free(out);
    return status;
}

wt_status cli_sweep_export(cli_call *call, const cli_sweep_values *given) {
    table all = {call->context, json_array(), json_object(), json_object(), NULL};
    wt_store *store = NULL;
    wt_status status;
    if (call->common.json && (given->csv || given->output != NULL)) {
        status = wt_fail(call->context, WT_USAGE, "--json and --%s exclude each other",
                         given->csv ? "csv" : "output");
        goto done;
    }
    WT_TRY(cli_sweep_experiment(call, given->experiment));
    WT_TRY(wt_store_open(call->context, call->operands[1], WT_STORE_READ, &store));
    all.shown = wt_store_shown(store);
    WT_TRY(wt_store_walk(call->context, store, given->experiment, add_cell, &all));
    if (call->common.json)
        WT_TRY(cli_emit_json(call, json_pack("{s:O}", "cells", all.cells)));
    else if (given->output != NULL)
        WT_TRY(write_file(&all, given->output));
    else
        WT_TRY(write_csv(&all, NULL));
done:
    wt_store_free(store);
    json_decref(all.cells);
    json_decref(all.parameters);
    json_decref(all.metrics);
    return status;
}
