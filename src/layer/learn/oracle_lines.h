/* Lines of JSON numbers, from a pipe or a file: what the oracle of `query` and `serve-layer` say to
 * each other. */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include "command.h"

/* What was read of a stream and not yet taken. */
typedef struct cli_lines {
    int file;
    char *text;
    size_t begin, end, room;
} cli_lines;

void cli_lines_free(cli_lines *lines);
/* One read() of what is there; *ended at the end of the stream. A line past 64 MiB is WT_DATA. */
wt_status cli_lines_read(wt_context *context, cli_lines *lines, bool *ended);
/* The next whole line, without its end; with `ended` the rest counts as a line. False when there is
 * none. The line is valid until the next read. */
bool cli_lines_take(cli_lines *lines, bool ended, const char **line, size_t *length);

/* A matrix [[..], [..]] of `columns` numbers a row into *out (*rows, columns), to be released.
 * WT_DATA with a sentence otherwise. */
wt_status cli_parse_matrix(wt_context *context, const char *line, size_t length, size_t columns,
                           size_t *rows, double **out);
/* A list [..] of numbers into *out, to be released. WT_DATA with a sentence otherwise. */
wt_status cli_parse_list(wt_context *context, const char *line, size_t length, size_t *count,
                         double **out);

/* Room that cli_format_matrix needs. */
#define CLI_NUMBER_BYTES 26
/* "[[1,2],[3,4]]\n", every number in full; returns the length. */
size_t cli_format_matrix(size_t rows, size_t columns, const double *values, char *out);
/* "[1,2]\n". */
size_t cli_format_list(size_t count, const double *values, char *out);

#endif
