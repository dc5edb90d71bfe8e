/* What store.c (the file) and store_cells.c (what is in it) share. */
#ifndef WT_LAB_STORE_FILE_H
#define WT_LAB_STORE_FILE_H

#include <sqlite3.h>

#include "io/source.h"
#include "lab/store.h"

#define WT_STORE_FORMAT 1

struct wt_store {
    sqlite3 *base;
    sqlite3_stmt *get; /* of wt_store_get, kept for the next time; NULL = not made yet */
    int lock;          /* the writer's open file; -1 for readers */
    bool changing;     /* a transaction is open */
    char shown[WT_SHOWN_BYTES];
};

/* The failure SQLite reports, as a status and a sentence: "results.db: the disk is full". */
wt_status wt_store_fail(wt_context *context, const wt_store *store);
/* Statements without results. */
wt_status wt_store_execute(wt_context *context, wt_store *store, const char *sql);
wt_status wt_store_prepare(wt_context *context, wt_store *store, const char *sql,
                           sqlite3_stmt **out);
/* Binds text to parameter number `at`, from 1; the text must outlive the statement. */
wt_status wt_store_bind(wt_context *context, wt_store *store, sqlite3_stmt *statement, int at,
                        const char *text);
/* Begins a transaction unless one is open. */
wt_status wt_store_begin(wt_context *context, wt_store *store);

#endif
