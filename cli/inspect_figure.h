/* The picture of `wattle inspect`. */
#ifndef CLI_INSPECT_FIGURE_H
#define CLI_INSPECT_FIGURE_H

#include "command.h"
#include "wattle/inspect.h"

/* A column a head: the first rows and columns of theta, and below it the mean of the entries along
 * each diagonal. In the terminal the second alone. */
wt_status cli_inspect_plot(cli_call *call, const wt_products *products,
                           const wt_head_summary *heads, const char *path);

#endif
