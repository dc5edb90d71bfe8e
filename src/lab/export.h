/* Tables of a store's cells, row by row. */
#ifndef WT_LAB_EXPORT_H
#define WT_LAB_EXPORT_H

#include "io/script.h"
#include "lab/flat.h"
#include "lab/store.h"

typedef struct wt_column {
    char *name; /* as it stands in the store, with its escapes */
    size_t length;
} wt_column;

/* In rising order of their names, each once. */
typedef struct wt_columns {
    wt_column *all;
    size_t count, room;
} wt_columns;

bool wt_columns_has(const wt_columns *names, size_t place, const char *name, size_t length);

/* Adds the row of a record, or what ends the table for NULL; the names are those of the parameters
 * and of the metrics. False when the record is not sound, or has names that are no columns yet. */
typedef bool (*wt_row_fn)(wt_script *row, const wt_record *record, const wt_columns names[2],
                          bool first);
/* By wt_export_format. */
extern const wt_row_fn wt_export_rows[];

#endif
