/* Words and numbers: strict parsing, formatting of bytes and times, nearest word; text of others,
 * fit to be shown. */
#ifndef WT_BASE_TEXT_H
#define WT_BASE_TEXT_H

#include "wattle/base.h"

/* The whole text must be one number (no spaces, no trailing characters), and fit the type: neither
 * too large nor, unless it is 0, so small that it would become 0. Else false. */
bool wt_parse_integer(const char *text, int64_t *out);
bool wt_parse_unsigned(const char *text, uint64_t *out);
bool wt_parse_real(const char *text, double *out);
/* "4096", "64K", "1.5G": powers of 1024. */
bool wt_parse_bytes(const char *text, size_t *out);

#define WT_BYTES_TEXT 24
/* "1.5 GiB" into out[WT_BYTES_TEXT]; returns out. */
const char *wt_format_bytes(size_t bytes, char *out);

#define WT_SECONDS_TEXT 24
/* "0.65 s", "45 s", "30 min", "33 h", "12 days", "not known" into out[WT_SECONDS_TEXT]; returns
 * out. */
const char *wt_format_seconds(double seconds, char *out);

/* Bytes of the UTF-8 sequence at the start of the text; 0 when it is none. */
size_t wt_utf8_length(const char *text, size_t bytes);
bool wt_utf8_valid(const char *text);
/* The same of text that has so many bytes and no zero byte among them. */
bool wt_utf8_valid_bytes(const char *text, size_t bytes);
/* Takes away what a cut, by snprintf say, has left of a character at the end of the text. */
void wt_utf8_trim(char *text);

#define WT_SHOWN_CHARACTER 20
/* The character at the start of the text into shown[WT_SHOWN_CHARACTER]: itself, or \xNN for each
 * of its bytes where a terminal would obey it (C0, DEL, C1, ends of lines, turns of direction) or
 * nobody would see it, or where it is not UTF-8. Returns the bytes it takes in the text, 1 or more.
 */
size_t wt_show_character(const char *text, size_t bytes, char *shown);
/* All of the text so, into out[size], cut at a whole character where it does not fit. Text that was
 * shown once stays as it is. Returns the bytes written, without the 0. wt_fail and wt_remark do it
 * to every sentence, the command to all it prints. */
size_t wt_show(const char *text, char *out, size_t size);

/* Insertions, deletions and replacements that turn a into b. */
size_t wt_edit_distance(const char *a, const char *b);

#endif
