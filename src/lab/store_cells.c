/* What is in a store: cells. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "base/text.h"
#include "lab/flat.h"
#include "lab/store_file.h"

#define SECONDS_MOST 1e12 /* of a cell: sums of them stay finite */

#define COLUMNS                                                                                    \
    "hash, experiment, parameters, seed, result_version, state, message, metrics, wall_seconds, "  \
    "version, machine, finished_date"
enum {
    HASH,
    EXPERIMENT,
    PARAMETERS,
    SEED,
    RESULT_VERSION,
    STATE,
    MESSAGE,
    METRICS,
    WALL_SECONDS,
    VERSION,
    MACHINE,
    FINISHED_DATE,
    COLUMN_COUNT
};

wt_status wt_store_take_text(wt_context *context, const wt_store *store, sqlite3_stmt *row,
                             int column, const char *what, const char *whose, const char **out,
                             size_t *length) {
    const char *reason = NULL;
    sqlite3_value *value = sqlite3_column_value(row, column); /* ours alone, without mutexes */
    bool text = sqlite3_value_type(value) == SQLITE_TEXT;
    *out = text ? (const char *)sqlite3_value_text(value) : NULL;
    if (text && *out == NULL)
        return wt_fail(context, WT_MEMORY, "%s: no memory for SQLite", store->shown);
    *length = text ? (size_t)sqlite3_value_bytes(value) : 0;
    if (!text)
        reason = "is no text";
    else if (memchr(*out, '\0', *length) != NULL)
        reason = "has a zero byte in it";
    return reason == NULL ? WT_OK
                          : wt_fail(context, WT_DATA, "%s: is damaged: the %s of %s %s",
                                    store->shown, what, whose, reason);
}

wt_status wt_store_take_words(wt_context *context, const wt_store *store, sqlite3_stmt *row,
                              int column, const char *what, const char *whose, const char **out) {
    size_t length = 0;
    wt_status status = wt_store_take_text(context, store, row, column, what, whose, out, &length);
    if (status != WT_OK || wt_utf8_valid_bytes(*out, length))
        return status;
    return wt_fail(context, WT_DATA, "%s: is damaged: the %s of %s is not UTF-8", store->shown,
                   what, whose);
}

/* The columns as sentences call them, and the texts' places in a record. */
static const struct {
    const char *name;
    size_t place;
} columns[COLUMN_COUNT] = {
    [HASH] = {"hash", offsetof(wt_record, hash)},
    [EXPERIMENT] = {"experiment", offsetof(wt_record, experiment)},
    [PARAMETERS] = {"parameters", offsetof(wt_record, parameters)},
    [MESSAGE] = {"message", offsetof(wt_record, message)},
    [METRICS] = {"metrics", offsetof(wt_record, metrics)},
    [VERSION] = {"version", offsetof(wt_record, version)},
    [MACHINE] = {"machine", offsetof(wt_record, machine)},
    [FINISHED_DATE] = {"date", offsetof(wt_record, finished_date)},
};

/* The place of a column's text; NULL where it is no text of a record. */
static const char **text_of(wt_record *record, int column) {
    return columns[column].name == NULL
               ? NULL
               : (const char **)(void *)((char *)record + columns[column].place);
}

static wt_status cell_fails(wt_context *context, const wt_store *store, const char *whose,
                            const char *reason) {
    return wt_fail(context, WT_DATA, "%s: is damaged: %s %s", store->shown, whose, reason);
}

/* State and numbers of a row; seconds are a time. */
static wt_status read_numbers(wt_context *context, const wt_store *store, sqlite3_stmt *row,
                              const char *whose, wt_record *out) {
    const char *state;
    WT_PASS(wt_store_take_words(context, store, row, STATE, "state", whose, &state));
    out->failed = strcmp(state, "failed") == 0;
    if (!out->failed && strcmp(state, "done") != 0)
        return cell_fails(context, store, whose, "is neither done nor failed");
    if (sqlite3_column_type(row, SEED) != SQLITE_INTEGER ||
        sqlite3_column_type(row, RESULT_VERSION) != SQLITE_INTEGER)
        return cell_fails(context, store, whose, "has a seed or result version that is not whole");
    out->seed = sqlite3_column_int64(row, SEED);
    out->result_version = sqlite3_column_int64(row, RESULT_VERSION);
    out->wall_seconds = sqlite3_column_type(row, WALL_SECONDS) == SQLITE_FLOAT
                            ? sqlite3_column_double(row, WALL_SECONDS)
                            : NAN;
    if (!(out->wall_seconds >= 0 && out->wall_seconds <= SECONDS_MOST))
        return cell_fails(context, store, whose, "has wall seconds that are no time");
    return WT_OK;
}

static bool is_hash(const char *text) {
    size_t length = strlen(text);
    return length > 0 && length < WT_HASH_TEXT && strspn(text, "0123456789abcdef") == length;
}

wt_status wt_store_take_record(wt_context *context, const wt_store *store, sqlite3_stmt *row,
                               wt_record *out) {
    char whose[] = "cell 123456789012";
    WT_PASS(wt_store_take_words(context, store, row, HASH, "hash", "a cell", &out->hash));
    if (!is_hash(out->hash))
        return cell_fails(context, store, "a cell", "has a hash that is no hash");
    snprintf(whose + 5, sizeof whose - 5, "%.12s", out->hash);
    for (int i = EXPERIMENT; i < COLUMN_COUNT; i++)
        if (text_of(out, i) != NULL)
            WT_PASS(wt_store_take_words(context, store, row, i, columns[i].name, whose,
                                        text_of(out, i)));
    return read_numbers(context, store, row, whose, out);
}

typedef struct {
    wt_record_fn take;
    void *user;
    size_t rows;
} cells;

static wt_status take_cell(wt_context *context, wt_store *store, sqlite3_stmt *row, void *user) {
    cells *to = user;
    wt_record record = WT_SIZED(wt_record);
    WT_PASS(wt_context_check_cancelled(context));
    WT_PASS(wt_store_take_record(context, store, row, &record));
    to->rows++;
    return to->take(to->user, &record);
}

wt_status wt_store_walk(wt_context *context, wt_store *store, const char *experiment,
                        wt_record_fn take, void *user) {
    cells to = {.take = take, .user = user};
    return wt_store_query(context, store,
                          experiment == NULL ? "SELECT " COLUMNS " FROM cell ORDER BY hash"
                                             : "SELECT " COLUMNS
                                               " FROM cell WHERE experiment = ?1 ORDER BY hash",
                          &experiment, 1, take_cell, &to);
}

void wt_store_rewind(sqlite3_stmt *statement) {
    sqlite3_reset(statement);
    if (statement != NULL)
        sqlite3_clear_bindings(statement);
}

wt_status wt_store_get(wt_context *context, wt_store *store, const char *hash, bool *found,
                       wt_record_fn take, void *user) {
    cells to = {.take = take, .user = user};
    wt_status status;
    WT_TRY(wt_store_prepare(context, store, "SELECT " COLUMNS " FROM cell WHERE hash = ?1", &hash,
                            1, &store->get));
    WT_TRY(wt_store_run(context, store, store->get, take_cell, &to));
    *found = to.rows > 0;
done:
    wt_store_rewind(store->get);
    return status;
}

wt_status wt_store_hold(wt_context *context, wt_store *store) {
    wt_status status;
    WT_TRY(wt_store_execute(context, store, "BEGIN"));
    /* the file may be another one than when it was opened */
    WT_TRY(wt_store_check_schema(context, store));
done:
    if (status != WT_OK)
        wt_store_let_go(store);
    return status;
}

void wt_store_let_go(wt_store *store) {
    (void)sqlite3_exec(store->base, "ROLLBACK", NULL, NULL, NULL); /* nothing was changed */
}

typedef struct {
    wt_context *context;
    const wt_store *store;
    const char *parameters;
    wt_cell_state state;
} search;

static wt_status compare(void *user, const wt_record *record) {
    search *found = user;
    found->state = record->failed ? WT_CELL_FAILED : WT_CELL_DONE;
    if (strcmp(record->parameters, found->parameters) == 0)
        return WT_OK;
    return wt_fail(found->context, WT_DATA, "%s: cell %.12s has the parameters %s instead of %s",
                   found->store->shown, record->hash, record->parameters, found->parameters);
}

wt_status wt_store_find(wt_context *context, wt_store *store, const char *hash,
                        const char *parameters, wt_cell_state *out) {
    search found = {context, store, parameters, WT_CELL_MISSING};
    bool any;
    wt_status status = wt_store_get(context, store, hash, &any, compare, &found);
    *out = found.state;
    return status;
}

/* Whether "rep", where it is among the parameters, is a whole number. */
static bool has_repetition(const char *parameters) {
    wt_flat walk = {.at = parameters};
    wt_flat_member member;
    int64_t rep;
    while (wt_flat_next(&walk, &member))
        if (wt_flat_is(&member, "rep"))
            return wt_flat_natural(&member, &rep);
    return true;
}

/* What is wrong with a cell, so that nothing is stored that invariant 6 would refuse to read; NULL
 * = nothing. Texts that are NULL become empty. */
static const char *fault_of(wt_record *record) {
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const char **text = text_of(record, i);
        if (text != NULL && *text == NULL)
            *text = i == METRICS ? "{}" : "";
        if (text != NULL && !wt_utf8_valid(*text))
            return "has text that is not UTF-8";
    }
    if (!is_hash(record->hash))
        return "has a hash that is no hash";
    if (!wt_flat_check(record->parameters) || !wt_flat_check(record->metrics))
        return "has parameters or metrics that are no JSON object of plain values in order";
    if (!has_repetition(record->parameters))
        return "has a repetition that is no whole number";
    if (!(record->wall_seconds >= 0 && record->wall_seconds <= SECONDS_MOST))
        return "has wall seconds that are no time";
    return NULL;
}

/* Puts a cell that is sound, or says that there is one that is done. */
static wt_status put_record(wt_context *context, wt_store *store, wt_record *record) {
    const char *texts[COLUMN_COUNT] = {[STATE] = record->failed ? "failed" : "done"};
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (text_of(record, i) != NULL)
            texts[i] = *text_of(record, i);
    WT_PASS(wt_store_prepare(context, store,
                             "INSERT INTO cell (" COLUMNS
                             ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
                             " ?12) ON CONFLICT (hash) DO UPDATE SET state = excluded.state,"
                             " message = excluded.message, metrics = excluded.metrics,"
                             " wall_seconds = excluded.wall_seconds, version = excluded.version,"
                             " machine = excluded.machine, finished_date = excluded.finished_date"
                             " WHERE cell.state = 'failed'",
                             texts, COLUMN_COUNT, &store->put));
    if (sqlite3_bind_int64(store->put, SEED + 1, record->seed) != SQLITE_OK ||
        sqlite3_bind_int64(store->put, RESULT_VERSION + 1, record->result_version) != SQLITE_OK ||
        sqlite3_bind_double(store->put, WALL_SECONDS + 1, record->wall_seconds) != SQLITE_OK)
        return wt_store_fail(context, store);
    WT_PASS(wt_store_run(context, store, store->put, NULL, NULL));
    if (sqlite3_changes(store->base) != 1)
        return wt_fail(context, WT_INTERNAL, "%s: cell %.12s is done already", store->shown,
                       record->hash);
    return WT_OK;
}

wt_status wt_store_put(wt_context *context, wt_store *store, const wt_record *given) {
    wt_record record = {0};
    const char *fault;
    wt_status status;
    WT_TRY(wt_sized_read(context, "wt_record", given, &record, sizeof record));
    if ((fault = fault_of(&record)) != NULL)
        WT_TRY(wt_fail(context, WT_DATA, "%s: cell %.12s is not stored: it %s", store->shown,
                       record.hash, fault));
    WT_TRY(wt_store_begin(context, store));
    WT_TRY(put_record(context, store, &record));
done:
    wt_store_rewind(store->put);
    if (status != WT_OK)
        wt_store_rollback(store);
    return status;
}

static wt_status take_counts(wt_context *context, wt_store *store, sqlite3_stmt *row, void *user) {
    (void)context;
    (void)store;
    *(wt_store_count *)user = (wt_store_count){.done = (size_t)sqlite3_column_int64(row, 0),
                                               .failed = (size_t)sqlite3_column_int64(row, 1),
                                               .wall_seconds = sqlite3_column_double(row, 2)};
    return WT_OK;
}

wt_status wt_store_counts(wt_context *context, wt_store *store, wt_store_count *out) {
    wt_store_count all = {0};
    WT_PASS(wt_sized_check(context, "wt_store_count", out, sizeof *out));
    WT_PASS(wt_store_query(context, store,
                           "SELECT count(*) FILTER (WHERE state = 'done'),"
                           " count(*) FILTER (WHERE state = 'failed'),"
                           " total(wall_seconds) FROM cell",
                           NULL, 0, take_counts, &all));
    WT_PASS(wt_store_count_others(context, store, &all.disputed));
    wt_sized_write(out, &all, sizeof all);
    return WT_OK;
}
