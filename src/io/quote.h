/* Text from outside, made fit for a sentence. */
#ifndef WT_IO_QUOTE_H
#define WT_IO_QUOTE_H

#include "base/text.h"

#define WT_QUOTED_BYTES 128
/* Copies the text into out[size] as wt_show_character does, and what does not fit is replaced by
 * "..." in the middle, so that the end of a path stays. The result is one line of valid UTF-8.
 * Returns out. */
const char *wt_quote(const char *text, char *out, size_t size);

/* What goes before a text in a cell of CSV, within its quotes: "'" where a spreadsheet would
 * compute it (it starts with =, +, -, @, a tab or a carriage return, and is no number) and where it
 * starts with a quote of its own, else "". Who reads a text drops one ' at its start. */
const char *wt_csv_lead(const char *text);

/* The word as a POSIX shell reads it back, in single quotes where it needs them, into out[size],
 * cut off where that is too small. Returns the bytes it takes in all, without the 0 at its end. */
size_t wt_shell_word(const char *word, char *out, size_t size);

#endif
