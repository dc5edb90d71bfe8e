/* Lines of JSON numbers, from a pipe or a file: what an oracle and who asks it say to each other.
 */
#ifndef WT_LAYER_LEARN_ORACLE_LINES_H
#define WT_LAYER_LEARN_ORACLE_LINES_H

#include "base/memory.h"

/* What was read of a stream and not yet taken. */
typedef struct wt_oracle_lines {
    int file;
    char *text;
    size_t begin, end, room;
} wt_oracle_lines;

void wt_oracle_lines_free(wt_oracle_lines *lines);
/* One read() of what is there; *ended at the end of the stream. A line past 64 MiB is WT_DATA. */
wt_status wt_oracle_lines_read(wt_context *context, wt_oracle_lines *lines, bool *ended);
/* The next whole line, without its end; with `ended` the rest counts as a line. False when there is
 * none. The line is valid until the next read. */
bool wt_oracle_lines_take(wt_oracle_lines *lines, bool ended, const char **line, size_t *length);

/* A matrix [[..], [..]] of `columns` numbers a row into *out (*rows, columns), to be released.
 * WT_DATA with a sentence otherwise. */
wt_status wt_oracle_parse_matrix(wt_context *context, const char *line, size_t length,
                                 size_t columns, size_t *rows, double **out);
/* A list [..] of numbers into *out, to be released. WT_DATA with a sentence otherwise. */
wt_status wt_oracle_parse_list(wt_context *context, const char *line, size_t length, size_t *count,
                               double **out);

/* Room that wt_oracle_format_matrix needs. */
#define WT_ORACLE_NUMBER_BYTES 26
/* "[[1,2],[3,4]]\n", every number in full; returns the length. */
size_t wt_oracle_format_matrix(size_t rows, size_t columns, const double *values, char *out);
/* "[1,2]\n". */
size_t wt_oracle_format_list(size_t count, const double *values, char *out);

#endif
