/* A text that grows: tables, pages, the scripts gnuplot reads. */
#ifndef WT_IO_SCRIPT_H
#define WT_IO_SCRIPT_H

#include <string.h>

#include "base/context.h"

/* The first failure stays in `status`, and what is added after it is dropped: a script is written
 * in one go and judged once. */
typedef struct wt_script {
    wt_context *context;
    char *text; /* ends with 0; NULL while empty */
    size_t length, room;
    wt_status status;
} wt_script;

__attribute__((format(printf, 2, 3))) void wt_script_add(wt_script *script, const char *format,
                                                         ...);
/* Makes room for `more` bytes and the 0 at the end; false when there is none, or after a failure.
 */
bool wt_script_room(wt_script *script, size_t more);
/* So many bytes as they are. Here, as tables are made of millions of short pieces. */
static inline void wt_script_bytes(wt_script *script, const char *bytes, size_t count) {
    bool ready = script->status == WT_OK && script->room - script->length > count;
    if (!ready && !wt_script_room(script, count))
        return;
    memcpy(script->text + script->length, bytes, count);
    script->length += count;
    script->text[script->length] = '\0';
}
/* The words in double quotes, as gnuplot reads them back, control characters spelled (wt_show).
 * NULL gives "". */
void wt_script_quote(wt_script *script, const char *words);
/* A word of a command, quoted for a shell. */
void wt_script_word(wt_script *script, const char *word);
/* The words as JSON, in double quotes. They must be UTF-8. */
void wt_script_json(wt_script *script, const char *words);
/* A field of CSV, in quotes where it needs them. */
void wt_script_csv(wt_script *script, const char *text);
/* A number, or NaN where it is not finite. */
void wt_script_number(wt_script *script, double value);
void wt_script_free(wt_script *script);

/* What goes before a text in a cell of CSV, within its quotes: "'" where a spreadsheet would
 * compute it (it starts with =, +, -, @, a tab or a carriage return, and is no number) and where it
 * starts with a quote of its own, else "". A reader of such a file drops one ' at the start of a
 * text. */
const char *wt_csv_lead(const char *text);

#endif
