/* Grids: "16:4096:x2" (geometric), "100:800:50" (arithmetic), "1,2,4", and commas between any of
 * these. Ranges: "10:200". */
#ifndef WT_BASE_GRID_H
#define WT_BASE_GRID_H

#include "base/context.h"

typedef struct wt_grid {
    size_t count;
    double *values; /* in the order written */
} wt_grid;

#define WT_GRID_MOST  1000000
#define WT_GRID_WHOLE ((uint64_t)1 << 53) /* from here on doubles skip integers */

/* WT_USAGE with a sentence that quotes the text when it is no grid. */
wt_status wt_grid_parse(wt_context *context, const char *text, wt_grid *out);
/* The same, and every value must be an integer below 2^53. */
wt_status wt_grid_parse_integers(wt_context *context, const char *text, wt_grid *out);
void wt_grid_free(wt_grid *grid);

/* "lo:hi" with lo <= hi. */
wt_status wt_range_parse(wt_context *context, const char *text, double *lo, double *hi);

#endif
