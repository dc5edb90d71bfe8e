/* A table of learning-curve results, and the ways it is shown. */
#ifndef CLI_CURVE_H
#define CLI_CURVE_H

#include "command.h"
#include "lab/statistics.h"
#include "wattle/fit.h"

/* One curve: a model with its sizes on a target. Points of its repetitions are kept side by side,
 * points[rep * sizes + s]. */
typedef struct curve_line {
    const char *model, *target, *activation; /* activation "" where it has no meaning */
    size_t dim, keys, heads;                 /* heads 0 for the infinite kinds */
    double bias;                             /* NaN where it has no meaning */
    wt_curve_point *points;
} curve_line;

typedef struct curve_table {
    curve_line *lines;
    size_t line_count;
    size_t reps, size_count;
    const size_t *sizes;
    const char *tokens, *lambda; /* as given */
    uint64_t seed;
} curve_table;

/* Test error at size s over the repetitions. */
wt_status curve_summary(wt_context *context, const curve_table *table, const curve_line *line,
                        size_t s, wt_interval *out);
/* The exponent r of error ~ n^r: slopes of the repetitions' log-log lines, mean and interval. */
wt_status curve_rate(wt_context *context, const curve_table *table, const curve_line *line,
                     wt_interval *out);

/* Error over that of the first model of the table on the same draws at size s: the exponential of
 * the mean and interval of the paired log ratios. NaN for the first model itself. */
wt_status curve_ratio(wt_context *context, const curve_table *table, const curve_line *line,
                      size_t s, wt_interval *out);

wt_status curve_write_csv(cli_call *call, const curve_table *table, const char *path);
wt_status curve_print(cli_call *call, const curve_table *table);
wt_status curve_emit_json(cli_call *call, const curve_table *table);
wt_status curve_draw(cli_call *call, const curve_table *table, const char *path);

/* "rfa", or "rfa M=100" where heads and the like vary over the table; into out[96]. The size with
 * the letter `apart` (M, d or N) is left out, 0 = none. */
#define CURVE_NAME 96
const char *curve_name(const curve_table *table, const curve_line *line, char apart, char *out);

#endif
