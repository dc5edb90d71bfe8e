/* What store.c (the file), store_guard.c (whether it is ours), store_wait.c (others at it) and
 * store_cells.c (what is in it) share. */
#ifndef WT_LAB_STORE_FILE_H
#define WT_LAB_STORE_FILE_H

#include <sqlite3.h>

#include "base/memory.h"
#include "io/source.h"
#include "lab/store.h"

#define WT_STORE_FORMAT 1

struct wt_store {
    sqlite3 *base;
    sqlite3_stmt *get, *put, *put_other; /* kept for the next time; NULL = not made yet */
    int lock;                            /* the writer's open file; -1 for readers */
    bool changing;                       /* a transaction is open */
    wt_context *context;     /* of the call that is under way, for whoever has to wait in it */
    double since, cancelled; /* when it began to wait, and was told to stop; by wt_clock */
    bool told;               /* that it waits */
    wt_counted counted;      /* SQLite's memory on the account */
    char shown[WT_SHOWN_BYTES];
};

/* The failure SQLite reports, as a status and a sentence: "results.db: the disk is full". */
wt_status wt_store_fail(wt_context *context, const wt_store *store);
/* Statements without results. */
wt_status wt_store_execute(wt_context *context, wt_store *store, const char *sql);
/* One row of an answer. */
typedef wt_status (*wt_store_row_fn)(wt_context *context, wt_store *store, sqlite3_stmt *row,
                                     void *user);
/* A statement with so many texts for its parameters, from ?1 on, NULL = none; they must outlive it.
 * *kept, made where it is NULL, is there for the next time; to be ended in any case. */
wt_status wt_store_prepare(wt_context *context, wt_store *store, const char *sql,
                           const char *const *texts, int count, sqlite3_stmt **kept);
/* Every row of the statement to `take`, which may be NULL where there are none. */
wt_status wt_store_run(wt_context *context, wt_store *store, sqlite3_stmt *statement,
                       wt_store_row_fn take, void *user);
/* All of these. */
wt_status wt_store_query(wt_context *context, wt_store *store, const char *sql,
                         const char *const *texts, int count, wt_store_row_fn take, void *user);
/* Text of a row without a zero byte in it, in whatever letters; `what` and `whose` stand in
 * sentences. */
wt_status wt_store_take_text(wt_context *context, const wt_store *store, sqlite3_stmt *row,
                             int column, const char *what, const char *whose, const char **out,
                             size_t *length);
/* The same of UTF-8. */
wt_status wt_store_take_words(wt_context *context, const wt_store *store, sqlite3_stmt *row,
                              int column, const char *what, const char *whose, const char **out);
/* Begins a transaction unless one is open. */
wt_status wt_store_begin(wt_context *context, wt_store *store);

/* store_wait.c: who finds the file locked waits for as long as it takes, says so after some
 * seconds, and stops waiting when the context is cancelled: a reader at once, a writer after a few
 * seconds more, or when it is cancelled again. */
void wt_store_wait_patiently(wt_store *store);
/* From here on a cancelled context stops no statement of a writer: what is in hand is stored. A
 * reader's statements end with SQLITE_INTERRUPT, and so does the check of a file that is opened. */
void wt_store_finish_writes(wt_store *store);
/* WT_INTERRUPTED or WT_IO, for SQLITE_BUSY. */
wt_status wt_store_gave_up(wt_context *context, const wt_store *store);

/* store_guard.c, invariant 6: before the first statement, and when there are tables. */
wt_status wt_store_restrict(wt_context *context, wt_store *store, bool reader);
wt_status wt_store_check_schema(wt_context *context, wt_store *store);
/* Makes the tables; the one that is made when it is needed. */
extern const char wt_store_schema[], wt_store_schema_other[];

/* store_cells.c: a row of the columns of a cell as a record, checked (invariant 6). */
wt_status wt_store_take_record(wt_context *context, const wt_store *store, sqlite3_stmt *row,
                               wt_record *out);
/* Makes a statement ready for its next use; NULL = it was not made. */
void wt_store_rewind(sqlite3_stmt *statement);

#endif
