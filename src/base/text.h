/* Words and numbers: strict parsing, formatting of bytes and times, nearest word. */
#ifndef WT_BASE_TEXT_H
#define WT_BASE_TEXT_H

#include "wattle/base.h"

/* The whole text must be one number (no spaces, no trailing characters, finite); else false. */
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

/* Insertions, deletions and replacements that turn a into b. */
size_t wt_edit_distance(const char *a, const char *b);

#endif
