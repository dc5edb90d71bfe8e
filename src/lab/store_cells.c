/* What is in a store: cells, and facts about the store itself. */
#include <string.h>

#include "lab/store_file.h"

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
    FINISHED_DATE
};

wt_status wt_store_bind(wt_context *context, wt_store *store, sqlite3_stmt *statement, int at,
                        const char *text) {
    return sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC) == SQLITE_OK
               ? WT_OK
               : wt_store_fail(context, store);
}

static const char *text_at(sqlite3_stmt *row, int column) {
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text == NULL ? "" : text;
}

static wt_record record_of(sqlite3_stmt *row) {
    return (wt_record){.hash = text_at(row, HASH),
                       .experiment = text_at(row, EXPERIMENT),
                       .parameters = text_at(row, PARAMETERS),
                       .seed = sqlite3_column_int64(row, SEED),
                       .result_version = sqlite3_column_int64(row, RESULT_VERSION),
                       .failed = strcmp(text_at(row, STATE), "failed") == 0,
                       .message = text_at(row, MESSAGE),
                       .metrics = text_at(row, METRICS),
                       .wall_seconds = sqlite3_column_double(row, WALL_SECONDS),
                       .version = text_at(row, VERSION),
                       .machine = text_at(row, MACHINE),
                       .finished_date = text_at(row, FINISHED_DATE)};
}

/* Every row of the statement to `take`; the number of rows to *rows. */
static wt_status walk(wt_context *context, wt_store *store, sqlite3_stmt *statement,
                      wt_record_fn take, void *user, size_t *rows) {
    int step;
    wt_status status = WT_OK;
    for (*rows = 0; (step = sqlite3_step(statement)) == SQLITE_ROW; ++*rows) {
        wt_record record = record_of(statement);
        WT_TRY(take(user, &record));
    }
    if (step != SQLITE_DONE)
        status = wt_store_fail(context, store);
done:
    return status;
}

wt_status wt_store_walk(wt_context *context, wt_store *store, const char *experiment,
                        wt_record_fn take, void *user) {
    sqlite3_stmt *statement = NULL;
    size_t rows;
    wt_status status;
    WT_TRY(wt_store_prepare(context, store,
                            "SELECT " COLUMNS " FROM cell WHERE ?1 IS NULL OR experiment = ?1 "
                            "ORDER BY hash",
                            &statement));
    WT_TRY(wt_store_bind(context, store, statement, 1, experiment));
    WT_TRY(walk(context, store, statement, take, user, &rows));
done:
    sqlite3_finalize(statement);
    return status;
}

wt_status wt_store_get(wt_context *context, wt_store *store, const char *hash, bool *found,
                       wt_record_fn take, void *user) {
    size_t rows;
    wt_status status = WT_OK;
    if (store->get == NULL)
        WT_TRY(wt_store_prepare(context, store, "SELECT " COLUMNS " FROM cell WHERE hash = ?1",
                                &store->get));
    WT_TRY(wt_store_bind(context, store, store->get, 1, hash));
    WT_TRY(walk(context, store, store->get, take, user, &rows));
    *found = rows > 0;
done:
    if (store->get != NULL) {
        sqlite3_reset(store->get);
        sqlite3_clear_bindings(store->get);
    }
    return status;
}

wt_status wt_store_hold(wt_context *context, wt_store *store) {
    return wt_store_execute(context, store, "BEGIN");
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

static wt_status bind_record(wt_context *context, wt_store *store, sqlite3_stmt *statement,
                             const wt_record *record) {
    const char *texts[] = {[HASH] = record->hash,
                           [EXPERIMENT] = record->experiment,
                           [PARAMETERS] = record->parameters,
                           [STATE] = record->failed ? "failed" : "done",
                           [MESSAGE] = record->message,
                           [METRICS] = record->metrics,
                           [VERSION] = record->version,
                           [MACHINE] = record->machine,
                           [FINISHED_DATE] = record->finished_date};
    for (int i = 0; i <= FINISHED_DATE; i++) {
        wt_status status =
            texts[i] == NULL ? WT_OK : wt_store_bind(context, store, statement, i + 1, texts[i]);
        if (status != WT_OK)
            return status;
    }
    bool bound =
        sqlite3_bind_int64(statement, SEED + 1, record->seed) == SQLITE_OK &&
        sqlite3_bind_int64(statement, RESULT_VERSION + 1, record->result_version) == SQLITE_OK &&
        sqlite3_bind_double(statement, WALL_SECONDS + 1, record->wall_seconds) == SQLITE_OK;
    return bound ? WT_OK : wt_store_fail(context, store);
}

wt_status wt_store_put(wt_context *context, wt_store *store, const wt_record *record) {
    sqlite3_stmt *statement = NULL;
    wt_status status;
    WT_TRY(wt_store_begin(context, store));
    WT_TRY(wt_store_prepare(
        context, store,
        "INSERT INTO cell (" COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) "
        "ON CONFLICT (hash) DO UPDATE SET state = excluded.state, message = excluded.message, "
        "metrics = excluded.metrics, wall_seconds = excluded.wall_seconds, "
        "version = excluded.version, machine = excluded.machine, "
        "finished_date = excluded.finished_date WHERE cell.state = 'failed'",
        &statement));
    WT_TRY(bind_record(context, store, statement, record));
    if (sqlite3_step(statement) != SQLITE_DONE)
        status = wt_store_fail(context, store);
    else if (sqlite3_changes(store->base) != 1)
        status = wt_fail(context, WT_INTERNAL, "%s: cell %.12s is done already", store->shown,
                         record->hash);
done:
    sqlite3_finalize(statement);
    if (status != WT_OK)
        wt_store_drop(store);
    return status;
}

wt_status wt_store_about(wt_context *context, wt_store *store, wt_about_fn take, void *user) {
    sqlite3_stmt *statement = NULL;
    int step = SQLITE_DONE;
    wt_status status;
    WT_TRY(wt_store_prepare(context, store, "SELECT kind, text FROM about ORDER BY rowid",
                            &statement));
    while ((step = sqlite3_step(statement)) == SQLITE_ROW)
        WT_TRY(take(user, text_at(statement, 0), text_at(statement, 1)));
    if (step != SQLITE_DONE)
        status = wt_store_fail(context, store);
done:
    sqlite3_finalize(statement);
    return status;
}

wt_status wt_store_note(wt_context *context, wt_store *store, const char *kind, const char *text) {
    sqlite3_stmt *statement = NULL;
    wt_status status;
    WT_TRY(wt_store_begin(context, store));
    WT_TRY(wt_store_prepare(context, store,
                            "INSERT INTO about SELECT ?1, ?2 WHERE NOT EXISTS"
                            " (SELECT 1 FROM about WHERE kind = ?1 AND text = ?2)",
                            &statement));
    WT_TRY(wt_store_bind(context, store, statement, 1, kind));
    WT_TRY(wt_store_bind(context, store, statement, 2, text));
    if (sqlite3_step(statement) != SQLITE_DONE)
        status = wt_store_fail(context, store);
done:
    sqlite3_finalize(statement);
    if (status != WT_OK)
        wt_store_drop(store);
    return status;
}

typedef struct {
    wt_context *context;
    const wt_store *store;
    const char *experiment, *meaning;
    bool known;
} declaration;

/* "curve 1 a,b": the name up to the first space decides. */
static wt_status check_meaning(void *user, const char *kind, const char *text) {
    declaration *wanted = user;
    size_t length = strlen(wanted->experiment);
    if (strcmp(kind, "experiment") != 0 || strncmp(text, wanted->experiment, length) != 0 ||
        text[length] != ' ')
        return WT_OK;
    wanted->known = true;
    if (strcmp(text, wanted->meaning) == 0)
        return WT_OK;
    return wt_fail(wanted->context, WT_DATA,
                   "%s: holds cells of another meaning of '%s': result version and parameters are "
                   "'%s' there, '%s' here; take another store",
                   wanted->store->shown, wanted->experiment, text + length + 1,
                   wanted->meaning + length + 1);
}

wt_status wt_store_agree(wt_context *context, wt_store *store, const char *experiment,
                         const char *meaning) {
    declaration wanted = {context, store, experiment, meaning, false};
    return wt_store_about(context, store, check_meaning, &wanted);
}

wt_status wt_store_declare(wt_context *context, wt_store *store, const char *experiment,
                           const char *meaning) {
    declaration wanted = {context, store, experiment, meaning, false};
    wt_status status = wt_store_about(context, store, check_meaning, &wanted);
    if (status != WT_OK || wanted.known)
        return status;
    return wt_store_note(context, store, "experiment", meaning);
}

wt_status wt_store_counts(wt_context *context, wt_store *store, wt_store_count *out) {
    sqlite3_stmt *statement = NULL;
    wt_status status;
    WT_TRY(wt_store_prepare(context, store,
                            "SELECT count(*) FILTER (WHERE state = 'done'),"
                            " count(*) FILTER (WHERE state = 'failed'),"
                            " total(wall_seconds) FROM cell",
                            &statement));
    if (sqlite3_step(statement) != SQLITE_ROW) {
        status = wt_store_fail(context, store);
        goto done;
    }
    *out = (wt_store_count){.done = (size_t)sqlite3_column_int64(statement, 0),
                            .failed = (size_t)sqlite3_column_int64(statement, 1),
                            .wall_seconds = sqlite3_column_double(statement, 2)};
done:
    sqlite3_finalize(statement);
    return status;
}
