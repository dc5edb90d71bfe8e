/* Cells as lines: a line is the cells alike in all parameters but the one along x and the
 * repetition, so that it holds what one curve of a figure or one slope of a claim is made of. */
#ifndef WT_LAB_LINES_H
#define WT_LAB_LINES_H

#include "lab/results.h"

typedef struct wt_lines_query {
    const char *experiment;
    const char *where;  /* as wt_setting_fits reads it */
    const char *x, *y;  /* parameter or metric along x; metric. x NULL = all at 0 */
    const char *demand; /* metric that must be 1 for a cell to have a point; NULL = none */
    const char *apart;  /* parameters that do not part lines, besides x and rep: "model bias" */
    bool every;         /* lines with one x too; else they are left out */
    bool failures;      /* cells that failed are points with y = 0: of a rate they are failures */
} wt_lines_query;

typedef struct wt_line_point {
    double x, y;
    int64_t seed, rep;
    uint32_t line, setting;
    uint32_t cell; /* in the results; those that failed are behind the others */
} wt_line_point;

typedef struct wt_line {
    uint32_t setting;    /* of one of its cells */
    const char *key;     /* what they share, as wt_line_key gives it */
    size_t first, count; /* of its points */
    size_t different_x;
} wt_line;

/* Points by line, x, seed and repetition; lines by what their cells share, as the JSON of it is
 * ordered. Cells that failed are left out, unless the query says otherwise, and so are those whose
 * x or y is no number; both are counted. */
enum { WT_LINES_APART = 12 };
typedef struct wt_lines {
    const wt_results *results;
    uint32_t apart[WT_LINES_APART]; /* names that part no lines */
    size_t apart_count;
    size_t line_count, point_count, left_out, failed;
    wt_line *lines;
    const wt_line_point *points;
    wt_shelf shelf; /* of the points: who walks along them passes each */
    wt_arena arena; /* holds lines and keys */
} wt_lines;

/* To be freed in any case. */
wt_status wt_lines_find(wt_context *context, const wt_results *results, const wt_lines_query *query,
                        wt_lines *out);
void wt_lines_free(wt_lines *lines);

/* The values of one x as a number with its interval; they may be changed. */
wt_interval wt_line_summary(wt_table_rule rule, double *values, size_t count);

/* The line of `lines` whose cells share what those of a line of `like` do; NULL = none. */
const wt_line *wt_lines_alike(const wt_lines *lines, const wt_lines *like, size_t index);
/* The point of the line at (x, seed, rep), or NULL. */
const wt_line_point *wt_lines_at(const wt_lines *lines, const wt_line *line, double x, int64_t seed,
                                 int64_t rep);

/* The shared parameters of a line: name and value as texts of the results, from *cursor = 0 on;
 * false past the last. */
bool wt_line_next(const wt_lines *lines, const wt_line *line, size_t *cursor, uint32_t *name,
                  uint32_t *value);
/* The value of one of them; WT_NO_TEXT when it is none. */
uint32_t wt_line_value(const wt_lines *lines, const wt_line *line, uint32_t name);
/* {"name":value,..} of the shared parameters of a setting, but for `without` (WT_NO_TEXT = all):
 * the lines are in the order of this text. It lives as long as the arena; NULL after its failure.
 */
const char *wt_line_key(wt_arena *arena, const wt_lines *lines, uint32_t setting, uint32_t without);

#endif
