/* Cells as lines: a line is the cells alike in all parameters but the one along x and the
 * repetition, so that it holds what one curve of a figure or one slope of a claim is made of. */
#ifndef WT_LAB_LINES_H
#define WT_LAB_LINES_H

#include "lab/results.h"

typedef struct wt_lines_query {
    const char *experiment;
    const char *where; /* as wt_result_fits reads it */
    const char *x, *y; /* parameter or metric along x; metric. x NULL = all at 0 */
    const char *apart; /* parameters that do not part lines, besides x and rep: "model bias" */
    bool every;        /* lines with one x too; else they are left out */
} wt_lines_query;

typedef struct wt_line_point {
    size_t line;
    double x, y;
    int64_t seed, rep;
    size_t cell; /* in the results */
} wt_line_point;

typedef struct wt_line {
    char *key;           /* the parameters all of its cells share, as JSON */
    json_t *parameters;  /* the same */
    size_t first, count; /* of its points */
    size_t different_x;
} wt_line;

/* Points by line, x, seed and repetition; lines by key. Cells that failed are left out, and those
 * whose x or y is no number, which are counted. */
typedef struct wt_lines {
    size_t line_count, point_count, left_out;
    wt_line *lines;
    wt_line_point *points;
} wt_lines;

/* To be freed in any case. */
wt_status wt_lines_find(wt_context *context, const wt_results *results, const wt_lines_query *query,
                        wt_lines *out);
void wt_lines_free(wt_lines *lines);

/* The point of the line of that key at (x, seed, rep), or NULL. */
const wt_line_point *wt_lines_at(const wt_lines *lines, const char *key, double x, int64_t seed,
                                 int64_t rep);

#endif
