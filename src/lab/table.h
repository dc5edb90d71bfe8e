/* Tables of points, computed unit by unit: the job of curves and searches.
 *
 * A unit is one repetition of a setting. It gives `parts` lines of points (a curve has one a
 * target), each with `sizes` of them. With an output all points go to a CSV file, and finished
 * units to a file beside it, OUTPUT.part: the same job goes on from them after an interrupt or a
 * kill. That file goes when the job is done. */
#ifndef WT_LAB_TABLE_H
#define WT_LAB_TABLE_H

#include "base/field.h"
#include "base/memory.h"
#include "io/script.h"
#include "lab/engine.h"
#include "wattle/output.h"
#include "wattle/store.h"

typedef struct wt_table {
    wt_engine engine; /* its context, what is counted, and workers */
    size_t settings, parts, reps, sizes;
    void *points; /* (settings, parts, reps, sizes), cleared; they stay where they were not run */
    size_t point_bytes;
    const wt_field *columns; /* numbers of a point, and the last columns of the file */
    size_t column_count;
    const char *heading;  /* of the columns before them: "task,trial," */
    const char *output;   /* NULL = no files */
    const double *costs;  /* (settings) of a unit */
    const wt_script *key; /* says in words all that a unit depends on; read with an output */

    /* Computes a unit: points (parts, sizes). */
    wt_status (*run)(const void *user, wt_context *context, size_t setting, size_t rep,
                     void *points);
    /* Prints the first columns of a row, with a comma behind each. */
    void (*print)(const void *user, wt_output *out, size_t line, size_t rep);
    const void *user;

    wt_arena arena; /* of what follows */
    wt_lock *lock;
    char *part; /* the path; NULL = no output */
    char hash[WT_HASH_TEXT];
    bool *done;         /* (units) */
    size_t count;       /* of them */
    double saved, cost; /* when the part was written last, by wt_clock, and how long that took */
} wt_table;

/* Adds the options in words to a key. */
void wt_table_describe(const wt_field *fields, size_t count, const void *options, wt_script *key);

/* Point i of (parts, sizes) of a unit. */
void *wt_table_at(const wt_table *table, size_t unit, size_t i);

/* Runs what an earlier run of the same key has not finished. A part of another key is replaced,
 * with a remark. WT_CANNOT_CREATE when another run has the output. When it ends with
 * WT_INTERRUPTED, the output has what was finished. */
wt_status wt_table_run(wt_table *table);

#endif
