/* Words and numbers: strict parsing, grids, formatting of bytes and times, edit distance; escaping
 * of foreign text for a terminal, an error message, a shell or a spreadsheet. */
#ifndef WATTLE_TEXT_H
#define WATTLE_TEXT_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The whole text must be one number (no spaces, no trailing characters), and fit the type: neither
 * too large nor, unless it is 0, so small that it would become 0. Else false. */
WT_API bool wt_integer_parse(const char *text, int64_t *out);
WT_API bool wt_unsigned_parse(const char *text, uint64_t *out);
WT_API bool wt_real_parse(const char *text, double *out);
/* "4096", "64K", "1.5G": powers of 1024. */
WT_API bool wt_bytes_parse(const char *text, size_t *out);

#define WT_BYTES_TEXT 24
/* "1.5 GiB" into out[WT_BYTES_TEXT]; returns out. */
WT_API const char *wt_bytes_format(size_t bytes, char *out);

/* "90", "1.5", "90s", "10m", "2h", "1.5d", "30:00", "2:00:00", "1-12:00:00": above 0. */
WT_API bool wt_seconds_parse(const char *text, double *out);

#define WT_SECONDS_TEXT 24
/* "0.65 s", "45 s", "30 min", "33 h", "12 days", "not known" into out[WT_SECONDS_TEXT]; returns
 * out. */
WT_API const char *wt_seconds_format(double seconds, char *out);

/* Whether the whole text is UTF-8. */
WT_API bool wt_utf8_valid(const char *text);
/* Takes away what a cut, by snprintf say, has left of a character at the end of the text. */
WT_API void wt_utf8_trim(char *text);

#define WT_SHOWN_CHARACTER 20
/* The character at the start of the text into shown[WT_SHOWN_CHARACTER]: itself, or \xNN for each
 * of its bytes where a terminal would obey it (C0, DEL, C1, ends of lines, changes of direction) or
 * nobody would see it, or where it is not UTF-8. Returns the bytes it takes in the text, 1 or more.
 */
WT_API size_t wt_show_character(const char *text, size_t bytes, char *shown);
/* The whole text in this way, into out[size], cut at a whole character where it does not fit. Text
 * that was shown once stays as it is. Returns the bytes written, without the 0. wt_fail and
 * wt_remark do it to every sentence, the command to all it prints. */
WT_API size_t wt_show(const char *text, char *out, size_t size);

/* Insertions, deletions and replacements that turn a into b. */
WT_API size_t wt_edit_distance(const char *a, const char *b);

#define WT_QUOTED_BYTES 128
/* Copies the text into out[size] as wt_show_character does, and what does not fit is replaced by
 * "..." in the middle, so that the end of a path stays. The result is one line of valid UTF-8.
 * Returns out. */
WT_API const char *wt_quote(const char *text, char *out, size_t size);

/* The word as a POSIX shell reads it back, in single quotes where it needs them, into out[size],
 * cut off where that is too small. Returns the bytes it takes in all, without the 0 at its end. */
WT_API size_t wt_shell_word(const char *word, char *out, size_t size);

/* Grids: "16:4096:x2" (geometric), "100:800:50" (arithmetic), "1,2,4", and commas between any of
 * these. Ranges: "10:200". */
typedef struct wt_grid {
    size_t count;
    double *values; /* in the order written */
} wt_grid;

#define WT_GRID_MAX_COUNT 1000000
#define WT_GRID_WHOLE     ((uint64_t)1 << 53) /* from here on doubles skip integers */

/* WT_USAGE with a sentence that quotes the text when it is no grid. */
WT_API wt_status wt_grid_parse(wt_context *context, const char *text, wt_grid *out);
/* The same, and every value must be an integer below 2^53. */
WT_API wt_status wt_grid_parse_integers(wt_context *context, const char *text, wt_grid *out);
WT_API void wt_grid_free(wt_grid *grid);

/* "lo:hi" with lo <= hi. */
WT_API wt_status wt_range_parse(wt_context *context, const char *text, double *lo, double *hi);

#ifdef __cplusplus
}
#endif
#endif
