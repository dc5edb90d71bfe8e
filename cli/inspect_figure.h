/* The picture of `wattle inspect`. */
#ifndef CLI_INSPECT_FIGURE_H
#define CLI_INSPECT_FIGURE_H

#include "command.h"
#include "wattle/inspect.h"

/* One layer, a column a head: the first rows and columns of theta, and below it the mean of the
 * entries along each diagonal. In the terminal the second alone. */
wt_status cli_inspect_plot(cli_call *call, const wt_products *products,
                           const wt_head_summary *heads, size_t count, const char *path);
/* A checkpoint, a row a layer and a column a head: the diagonal in standard errors, and below it
 * the effective rank. */
wt_status cli_inspect_plot_grid(cli_call *call, const wt_head_summary *heads, size_t count,
                                const char *path);

#endif
