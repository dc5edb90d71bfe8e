#define _DEFAULT_SOURCE /* struct winsize */
#include "plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "wattle/memory.h"
#include "wattle/text.h"

#define WIDTH_UNKNOWN 80

static size_t terminal_width(void) {
    struct winsize size;
    uint64_t columns = 0;
    const char *text = getenv("COLUMNS");
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    else if (text == NULL || !wt_unsigned_parse(text, &columns))
        columns = 0;
    if (columns == 0)
        return WIDTH_UNKNOWN;
    return columns < 40 ? 40 : columns > 200 ? 200 : (size_t)columns;
}

wt_series cli_series(const char *name, wt_mark mark, size_t look, size_t count, const double *x,
                     const double *y) {
    return (wt_series){name, mark, look, count, x, y, NULL, NULL, NULL};
}

wt_panel cli_panel(const char *title, wt_axis x, wt_axis y, const wt_series *series, size_t count) {
    return (wt_panel){.title = title, .x = x, .y = y, .series = series, .series_count = count};
}

wt_status cli_plot(cli_call *call, const wt_figure *figure, const char *path) {
    if (strcmp(path, "-") != 0)
        return wt_figure_write(call->context, figure, path);
    char *text;
    wt_status status = wt_figure_text(call->context, figure, terminal_width(), &text);
    if (status == WT_OK)
        cli_print("%s", text);
    wt_release(text);
    return status;
}
