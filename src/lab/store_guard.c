/* Whether the file is what we made: SQLite runs what a schema says, so that a file of others with
 * our number in its head could count for ever, or delete what is put. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "lab/store_file.h"

#define TEXT_MOST (16 << 20) /* bytes of a text or a row */
/* Of pages; a sixteenth of a memory budget, where there is one. Who reads sees most pages once, and
 * is quicker when they stay in the processor's cache. */
#define CACHE_READER ((size_t)2 << 20)
#define CACHE_WRITER ((size_t)8 << 20)

#define ABOUT "CREATE TABLE about (kind TEXT NOT NULL, text TEXT NOT NULL)"
#define CELL                                                                                       \
    "CREATE TABLE cell (hash TEXT PRIMARY KEY NOT NULL, experiment TEXT NOT NULL,"                 \
    " parameters TEXT NOT NULL, seed INTEGER NOT NULL, result_version INTEGER NOT NULL,"           \
    " state TEXT NOT NULL CHECK (state IN ('done', 'failed')), message TEXT NOT NULL,"             \
    " metrics TEXT NOT NULL, wall_seconds REAL NOT NULL, version TEXT NOT NULL,"                   \
    " machine TEXT NOT NULL, finished_date TEXT NOT NULL) WITHOUT ROWID"

#define OTHER_COLUMNS                                                                              \
    "other (hash TEXT NOT NULL, metrics TEXT NOT NULL, wall_seconds REAL NOT NULL,"                \
    " version TEXT NOT NULL, machine TEXT NOT NULL, finished_date TEXT NOT NULL,"                  \
    " PRIMARY KEY (hash, version, machine, metrics)) WITHOUT ROWID"
#define OTHER "CREATE TABLE " OTHER_COLUMNS

const char wt_store_schema[] = ABOUT ";" CELL ";INSERT INTO about VALUES ('format', '1');";

const char wt_store_schema_other[] = "CREATE TABLE IF NOT EXISTS " OTHER_COLUMNS;

/* SQLite keeps the words a table was made with. All versions of wattle used these. */
static const struct {
    const char *name, *sql;
    bool needed; /* else it is made when there is something for it */
} tables[] = {{"about", ABOUT, true}, {"cell", CELL, true}, {"other", OTHER, false}};
enum { TABLES = sizeof tables / sizeof *tables };

wt_status wt_store_restrict(wt_context *context, wt_store *store, bool reader) {
    static const struct {
        int what, value;
    } switches[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                    {SQLITE_DBCONFIG_ENABLE_VIEW, 0}};
    char pragmas[160];
    size_t budget = wt_context_memory(context), cache = reader ? CACHE_READER : CACHE_WRITER;
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        (void)sqlite3_db_config(store->base, switches[i].what, switches[i].value, NULL);
    sqlite3_limit(store->base, SQLITE_LIMIT_LENGTH, TEXT_MOST);
    sqlite3_limit(store->base, SQLITE_LIMIT_ATTACHED, 0);
    if (budget > 0 && budget / 16 < cache)
        cache = budget / 16;
    WT_PASS(wt_count_memory(context, cache, "a store", &store->counted));
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
             "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -%zu;",
             cache / 1024);
    return wt_store_execute(context, store, pragmas);
}

/* One row of the schema: a table of ours, which is noted in `seen`, or nothing we know. */
static wt_status check_entry(wt_context *context, wt_store *store, sqlite3_stmt *row, void *user) {
    bool *seen = user; /* (TABLES) */
    static const char *const kinds[] = {"table", "view", "trigger", "index"};
    char shown[WT_QUOTED_BYTES];
    const char *parts[3];
    for (int i = 0; i < 3; i++) {
        parts[i] = (const char *)sqlite3_column_text(row, i);
        parts[i] = parts[i] == NULL ? "" : parts[i];
    }
    bool table = strcmp(parts[0], "table") == 0;
    if (table && strncmp(parts[1], "sqlite_stat", 11) == 0) /* somebody ran ANALYZE */
        return WT_OK;
    for (size_t i = 0; i < TABLES; i++)
        if (table && strcmp(parts[1], tables[i].name) == 0) {
            seen[i] = true;
            return strcmp(parts[2], tables[i].sql) == 0
                       ? WT_OK
                       : wt_fail(context, WT_DATA,
                                 "%s: its table '%s' has other columns than those wattle makes",
                                 store->shown, tables[i].name);
        }
    const char *kind = "thing";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(parts[0], kinds[i]) == 0)
            kind = kinds[i];
    return wt_fail(context, WT_DATA, "%s: has the %s '%s', which no wattle makes; it is not used",
                   store->shown, kind, wt_quote(parts[1], shown, sizeof shown));
}

wt_status wt_store_check_schema(wt_context *context, wt_store *store) {
    bool seen[TABLES] = {false};
    WT_PASS(wt_store_query(context, store, "SELECT type, name, sql FROM sqlite_schema", NULL, 0,
                           check_entry, seen));
    for (size_t i = 0; i < TABLES; i++)
        if (!seen[i] && tables[i].needed)
            return wt_fail(context, WT_DATA, "%s: is no store: it has no table '%s'", store->shown,
                           tables[i].name);
    return WT_OK;
}
