/* The laboratory: sweeps of experiments, and the store their results are kept in.
 *
 * A cell is a pure function (experiment, parameters, seed) -> metrics. Its name is a SHA-256 of
 * these and of the version of the experiment's results, so that a sweep knows what it has done. */
#ifndef WATTLE_LAB_H
#define WATTLE_LAB_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a hash as text, with its end. */
#define WT_HASH_TEXT 65

/* One cell as the store keeps it. All text is UTF-8 and borrowed. */
typedef struct wt_record {
    const char *hash;       /* 64 hexadecimal digits */
    const char *experiment; /* "curve" */
    const char *parameters; /* one JSON object, keys sorted, no spaces; it has "rep" too */
    int64_t seed;
    int64_t result_version;
    bool failed;
    const char *message; /* of a cell that failed; "" otherwise */
    const char
        *metrics; /* one JSON object, keys sorted; null = not computed. "{}" when it failed */
    double wall_seconds; /* the cell's share of the time its group took */
    const char *version; /* of the program that computed it */
    const char *machine;
    const char *finished_date; /* "2026-01-31T12:00:00Z" */
} wt_record;

/* A file of results: SQLite, tables `cell` and `about` (docs/formats.md lists the columns). */
typedef struct wt_store wt_store;

typedef enum wt_store_mode {
    WT_STORE_READ,   /* must exist; other processes may read and one may write, but what it wants to
                        store waits while a walk is under way */
    WT_STORE_WRITE,  /* must exist; one writer at a time */
    WT_STORE_CREATE, /* the same, and made when it is not there */
    WT_STORE_COPY    /* WT_STORE_READ, and all is copied when it is opened, in memory or to a
                        temporary file: a walk may take its time, as it holds nobody up */
} wt_store_mode;

/* WT_NO_INPUT when there is no such file, WT_DATA when it is no store, damaged or of a later
 * format, WT_CANNOT_CREATE when it cannot be made or another process writes to it. A file that is
 * no store is never changed. Where another process has locked the file, this and the calls below
 * wait until it lets go, with a remark after some seconds, or until the context is cancelled. A
 * process has a store open once at a time: to close a file drops the locks the process has on it.
 */
WT_API wt_status wt_store_open(wt_context *context, const char *path, wt_store_mode mode,
                               wt_store **out);
/* Accepts NULL. What was put and not committed is dropped. */
WT_API void wt_store_free(wt_store *store);

/* Called with one record after the other; a status other than WT_OK ends the walk with it. */
typedef wt_status (*wt_record_fn)(void *user, const wt_record *record);
/* All cells of an experiment (NULL = of all) in the order of their hashes, as they are at one
 * moment even while another process writes. */
WT_API wt_status wt_store_walk(wt_context *context, wt_store *store, const char *experiment,
                               wt_record_fn take, void *user);

/* Facts about the store itself, in the order they were written: kind "format" (its number),
 * "experiment" (a meaning: name, result version, parameters), "command" (a command line that wrote
 * to it) and "sweep" (the keys and grids of a specification that was run). */
typedef wt_status (*wt_about_fn)(void *user, const char *kind, const char *text);
WT_API wt_status wt_store_about(wt_context *context, wt_store *store, wt_about_fn take, void *user);

/* How many cells there are. */
typedef struct wt_store_count {
    size_t done, failed;
    double wall_seconds;
} wt_store_count;
WT_API wt_status wt_store_counts(wt_context *context, wt_store *store, wt_store_count *out);

/* ---- numbers with 95% intervals ----------------------------------------------------------------
 */

typedef struct wt_interval {
    double value, low, high; /* low and high are NaN where no interval can be given */
} wt_interval;

/* What runs along x in y = a + b f(x). */
typedef enum wt_growth { WT_GROWTH_LOG, WT_GROWTH_SQRT, WT_GROWTH_LINEAR } wt_growth;
/* "log", "sqrt", "linear"; "?" for no growth. */
WT_API const char *wt_growth_name(wt_growth growth);

typedef struct wt_affine_fit {
    wt_interval intercept, slope; /* a and b */
    double r_squared;             /* share of the variance of y explained; NaN for constant y */
    double squares;               /* sum of the squared residuals */
    double aic, bic;              /* of Gaussian errors: a, b and their variance are fitted */
} wt_affine_fit;

#ifdef __cplusplus
}
#endif
#endif
