/* Stores: files of results, one row per cell.
 *
 * A cell is a pure function (experiment, parameters, seed) -> metrics. Its name is a SHA-256 of
 * these and of the version of the experiment's results, so that a sweep knows what it has done.
 * Sweeps put the cells of the library's experiments there; a program may put its own:
 *
 *     wt_store *store;
 *     wt_record record = WT_SIZED(wt_record);
 *     char hash[WT_HASH_TEXT];
 *     record.experiment = "mine";
 *     record.parameters = "{\"n\":64,\"rep\":0}";
 *     record.metrics = "{\"test_error\":0.25}";
 *     wt_record_hash(context, &record, hash);
 *     record.hash = hash;
 *     wt_store_open(context, "results.db", WT_STORE_MODE_CREATE, &store);
 *     wt_store_put(context, store, &record);
 *     wt_store_commit(context, store);
 *     wt_store_free(store);
 *
 * (examples/results.c is a whole program.) wattle/results.h reads a store as tables. */
#ifndef WATTLE_STORE_H
#define WATTLE_STORE_H

#include "wattle/output.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a hash as text, with its end. */
#define WT_HASH_TEXT 65

/* One cell as the store keeps it. All text is UTF-8 and borrowed. The two objects of JSON hold
 * plain values, with their keys in rising order and no blanks. */
typedef struct wt_record {
    size_t size;            /* WT_SIZED(wt_record) */
    const char *hash;       /* 64 hexadecimal digits */
    const char *experiment; /* "curve" */
    const char *parameters; /* one JSON object; "rep", a whole number, counts repetitions */
    int64_t seed;
    int64_t result_version;
    bool failed;
    const char *message; /* of a cell that failed; "" otherwise */
    const char *metrics; /* one JSON object; null = not computed. "{}" when it failed */
    double wall_seconds; /* the cell's share of the time its group took */
    const char *version; /* of the program that computed it */
    const char *machine;
    const char *finished_date; /* "2026-01-31T12:00:00Z" */
} wt_record;

/* A file of results: SQLite, tables `cell` and `about` (docs/formats.md lists the columns). */
typedef struct wt_store wt_store;

typedef enum wt_store_mode {
    WT_STORE_MODE_READ,   /* must exist; other processes may read and one may write, but what it
                             wants to store waits while a walk is under way */
    WT_STORE_MODE_WRITE,  /* must exist; one writer at a time */
    WT_STORE_MODE_CREATE, /* the same, and made when it is not there */
    WT_STORE_MODE_COPY    /* read, and all is copied when it is opened, to memory or a temporary
                             file: a long walk does not block writers */
} wt_store_mode;

/* WT_NO_INPUT when there is no such file, WT_DATA when it is no store, damaged or of a later
 * format, WT_CANNOT_CREATE when it cannot be made or another process writes to it. A file that is
 * no store is never changed. Where another process has locked the file, this and the calls below
 * wait until the lock is released, with a remark after some seconds, or until the context is
 * cancelled. A process has a store open once at a time: to close a file drops the locks the process
 * has on it.
 */
WT_API wt_status wt_store_open(wt_context *context, const char *path, wt_store_mode mode,
                               wt_store **out);
/* Accepts NULL. What was put and not committed is dropped. */
WT_API void wt_store_free(wt_store *store);

/* The path of the store, escaped as wt_show does for messages. */
WT_API const char *wt_store_path(const wt_store *store);

/* Called with one record after the other; a status other than WT_OK ends the walk with it. */
typedef wt_status (*wt_record_fn)(void *user, const wt_record *record);
/* All cells of an experiment (NULL = of all) in the order of their hashes, as they are at one
 * moment even while another process writes. */
WT_API wt_status wt_store_walk(wt_context *context, wt_store *store, const char *experiment,
                               wt_record_fn take, void *user);

/* Between the two, or until the store is freed, all that is read is of one moment. A writer waits
 * meanwhile: let go before anything is shown. Nothing may be put, and nothing be waiting for a
 * commit. */
WT_API wt_status wt_store_hold(wt_context *context, wt_store *store);
WT_API void wt_store_let_go(wt_store *store);

/* Notes about the store itself, in the order they were written: kind "format" (its number),
 * "experiment" (a meaning: name, result version, parameters), "command" (a command line that wrote
 * to it) and "sweep" (the keys and grids of a specification that was run). */
typedef wt_status (*wt_note_fn)(void *user, const char *kind, const char *text);
WT_API wt_status wt_store_walk_notes(wt_context *context, wt_store *store, wt_note_fn take,
                                     void *user);

/* Adds a note of kind "command" or "sweep", unless it is there; to be committed. */
WT_API wt_status wt_store_note(wt_context *context, wt_store *store, const char *kind,
                               const char *text);

/* The name of a cell, from its experiment, parameters, seed and result version. */
WT_API wt_status wt_record_hash(wt_context *context, const wt_record *record,
                                char out[WT_HASH_TEXT]);
/* Puts a cell, in place of one of the same hash that failed; to be committed. A cell that is done
 * is never replaced: WT_INTERNAL. WT_USAGE for a record that no reader would take. Texts that are
 * NULL are empty, and so are metrics. */
WT_API wt_status wt_store_put(wt_context *context, wt_store *store, const wt_record *record);
WT_API wt_status wt_store_commit(wt_context *context, wt_store *store);
/* Drops what was put since the last commit. */
WT_API void wt_store_rollback(wt_store *store);

/* How many cells there are. */
typedef struct wt_store_count {
    size_t size; /* WT_SIZED(wt_store_count) */
    size_t done, failed;
    double wall_seconds;
    size_t
        disputed; /* of those done, another store had numbers that differ by more than rounding */
} wt_store_count;
WT_API wt_status wt_store_counts(wt_context *context, wt_store *store, wt_store_count *out);

typedef enum wt_export_format {
    WT_EXPORT_FORMAT_CSV,       /* one column per parameter and metric */
    WT_EXPORT_FORMAT_JSON,      /* {"cells": [..]}, all of a cell */
    WT_EXPORT_FORMAT_LIST_JSON, /* the same without metrics, versions and times */
    WT_EXPORT_FORMAT_LIST       /* one line per cell, safe for a terminal */
} wt_export_format;

typedef struct wt_export_options {
    size_t size;
    wt_export_format format;
    const char *experiment; /* NULL = cells of all */
    bool failed_only;
    const char *path; /* of the file that the table becomes; NULL = none: wt_output_walk reads it */
    const char *folder; /* for the temporary file of a large table without a path */
} wt_export_options;
/* CSV of all cells, no path, temporary files in /tmp. */
WT_API void wt_export_options_init(wt_export_options *options, size_t size);

/* The cells of a store at one moment as a table, in the order of their hashes. *out has all of it:
 * wt_output_commit makes it the file, wt_output_walk reads it where there is no path, and
 * without either nothing is written. docs/formats.md lists columns and keys. */
WT_API wt_status wt_store_export(wt_context *context, wt_store *store,
                                 const wt_export_options *options, wt_output **out);

typedef struct wt_merge_report {
    size_t size;     /* WT_SIZED(wt_merge_report) */
    size_t added;    /* cells that were not there */
    size_t known;    /* cells that were there */
    size_t mended;   /* of them, failed there and done now */
    size_t differs;  /* of them, done on both sides with other numbers: the first stay */
    size_t disputed; /* of these, by more than rounding: both are kept */
} wt_merge_report;
/* Adds the cells of `from`, best a copy (WT_STORE_MODE_COPY), to the store, all or none. A cell
 * that is done with other numbers stays as it is; where they differ by more than rounding, those of
 * `from` are kept beside it. WT_DATA when the stores mean different things by a name, or the same
 * program on the same machine gave numbers that differ by more than rounding. */
WT_API wt_status wt_store_merge(wt_context *context, wt_store *store, wt_store *from,
                                wt_merge_report *out);

/* Called with a cell as the store has it, and with numbers, version, machine and time of another
 * store that was merged into it. */
typedef wt_status (*wt_dispute_fn)(void *user, const wt_record *cell, const wt_record *other);
/* All numbers that were kept beside others, in the order of the cells' hashes. */
WT_API wt_status wt_store_walk_disputes(wt_context *context, wt_store *store, wt_dispute_fn take,
                                        void *user);

#ifdef __cplusplus
}
#endif
#endif
