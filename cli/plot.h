/* `--plot FILE` of any command: a picture file, or `-` for characters on standard output. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include "command.h"
#include "wattle/report.h"

/* Points without intervals. */
wt_series cli_series(const char *name, wt_mark mark, size_t look, size_t count, const double *x,
                     const double *y);
wt_panel cli_panel(const char *title, wt_axis x, wt_axis y, const wt_series *series, size_t count);
/* Draws it; `-` as wide as the terminal. */
wt_status cli_plot(cli_call *call, const wt_figure *figure, const char *path);

#endif
