/* A small sweep in a folder of its own and its table, for the tests of `wattle sweep`. */
#ifndef TESTS_CLI_SWEEP_CASES_H
#define TESTS_CLI_SWEEP_CASES_H

#include <sqlite3.h>

#include "cli/run.h"
#include "lab/store.h"

enum { TABLE_BYTES = 1 << 18 };

/* Eight groups of three cells, each a few hundredths of a second. */
static const char spec[] = "[sweep]\nexperiment = curve\nmodel = rfa,brfa\n"
                           "target = mean-power:2,corr-power:3\ndim = 8\nkeys = 6\nheads = 60\n"
                           "n = 32:128:x2\nreps = 2\ntest-n = 400\nseed = 9\n";

static inline const char *path_of(const char *name) {
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", run_folder, name);
    return path;
}

static inline void write_file(const char *name, const char *text) {
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The folder of run.h, with the specification in it. */
static inline int open_sweep(void **state) {
    int code = run_open_folder(state);
    if (code == 0)
        write_file("spec.ini", spec);
    return code;
}

/* ---- tables ------------------------------------------------------------------------------ */

typedef struct {
    size_t used, rows;
    char text[TABLE_BYTES];
} table;

/* Every column but wall_seconds, machine and finished_date. */
static inline wt_status add_row(void *user, const wt_record *record) {
    table *all = user;
    int length =
        snprintf(all->text + all->used, TABLE_BYTES - all->used, "%s|%s|%s|%lld|%lld|%d|%s|%s|%s\n",
                 record->hash, record->experiment, record->parameters, (long long)record->seed,
                 (long long)record->result_version, record->failed, record->message,
                 record->metrics, record->version);
    all->used += (size_t)length;
    all->rows++;
    assert_true(all->used < TABLE_BYTES);
    return WT_OK;
}

static inline void read_table(wt_context *context, const char *name, table *out) {
    wt_store *store;
    *out = (table){0};
    CHECK_OK(context, wt_store_open(context, path_of(name), WT_STORE_MODE_READ, &store));
    CHECK_OK(context, wt_store_walk(context, store, NULL, add_row, out));
    wt_store_free(store);
}

static inline void check_table(wt_context *context, const char *name, const table *wanted) {
    static table got;
    read_table(context, name, &got);
    assert_int_equal(got.rows, wanted->rows);
    assert_string_equal(got.text, wanted->text);
}

/* The spec run to its end at once, by one worker. */
static inline const table *whole(wt_context *context) {
    static table all;
    if (all.rows == 0) {
        run_must("sweep run spec.ini --store whole.db --workers 1");
        read_table(context, "whole.db", &all);
        assert_int_equal(all.rows, 24);
    }
    return &all;
}

/* Cells in the store; 0 while there is none to read. */
static inline int cells_in(const char *name) {
    sqlite3 *base = NULL;
    sqlite3_stmt *row = NULL;
    int count = 0;
    if (sqlite3_open_v2(path_of(name), &base, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(base, "SELECT count(*) FROM cell", -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW)
        count = sqlite3_column_int(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(base);
    return count;
}

static inline void execute(const char *name, const char *sql) {
    sqlite3 *base;
    assert_int_equal(sqlite3_open(path_of(name), &base), SQLITE_OK);
    assert_int_equal(sqlite3_exec(base, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(base);
}

#endif
