/* Learning curves as a picture: a panel a target, a series a model; against n, or against the one
 * size that varies when n does not. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "curve_show.h"
#include "plot.h"
#include "wattle/memory.h"

/* What runs along the x axis. */
static const struct {
    const char *label;
    char letter;
    size_t offset;
} axes[] = {{"heads M", 'M', offsetof(wt_curve_line, heads)},
            {"dimension d", 'd', offsetof(wt_curve_line, dim)},
            {"keys N", 'N', offsetof(wt_curve_line, keys)}};

typedef struct {
    wt_panel *panels;
    wt_series *series;
    double *numbers;
    char (*names)[WT_CURVE_NAME];
    size_t panel_count, most; /* points a series */
} canvas;

static double size_at(const wt_curve_line *line, size_t axis) {
    return (double)*(const size_t *)(const void *)((const char *)line + axes[axis].offset);
}

/* The axis to use when only one n was run: the first size with several values. */
static size_t varying_axis(const wt_curves *curves) {
    for (size_t a = 0; a < sizeof axes / sizeof *axes; a++)
        for (size_t i = 0; i < wt_curves_count(curves); i++)
            if (size_at(wt_curves_line_at(curves, i), a) !=
                    size_at(wt_curves_line_at(curves, 0), a) &&
                size_at(wt_curves_line_at(curves, i), a) > 0 &&
                size_at(wt_curves_line_at(curves, 0), a) > 0)
                return a;
    return 0;
}

/* The panel of the line's target, opened when it is new. */
static size_t panel_of(canvas *sheet, const wt_curves *curves, const wt_curve_line *line,
                       const char *x_label) {
    for (size_t p = 0; p < sheet->panel_count; p++)
        if (strcmp(sheet->panels[p].title, line->target) == 0)
            return p;
    wt_panel *panel = &sheet->panels[sheet->panel_count];
    *panel = (wt_panel){.title = line->target,
                        .x = {.label = x_label, .log = true},
                        .y = {.label = "test error / variance", .log = true},
                        .series = sheet->series + sheet->panel_count * wt_curves_count(curves)};
    return sheet->panel_count++;
}

/* The series of that name in the panel, opened when it is new; looks go by order of names. */
static wt_series *series_of(canvas *sheet, const wt_curves *curves, size_t p, const char *name) {
    wt_panel *panel = &sheet->panels[p];
    wt_series *series = sheet->series + p * wt_curves_count(curves);
    for (size_t i = 0; i < panel->series_count; i++)
        if (strcmp(series[i].name, name) == 0)
            return &series[i];
    size_t slot = p * wt_curves_count(curves) + panel->series_count;
    double *numbers = sheet->numbers + slot * 4 * sheet->most;
    snprintf(sheet->names[slot], WT_CURVE_NAME, "%s", name);
    series[panel->series_count] = (wt_series){.name = sheet->names[slot],
                                              .look = panel->series_count % WT_LOOKS,
                                              .x = numbers,
                                              .y = numbers + sheet->most,
                                              .low = numbers + 2 * sheet->most,
                                              .high = numbers + 3 * sheet->most};
    return &series[panel->series_count++];
}

static void add_line(canvas *sheet, const wt_curves *curves, size_t i, size_t axis) {
    const wt_curve_line *line = wt_curves_line_at(curves, i);
    const wt_curve_summary *found;
    bool by_n = wt_curves_size_count(curves) > 1;
    size_t p = panel_of(sheet, curves, line, by_n ? "samples n" : axes[axis].label);
    char name[WT_CURVE_NAME];
    wt_series *series = series_of(sheet, curves, p,
                                  wt_curves_name(curves, line, by_n ? 0 : axes[axis].letter, name));
    for (size_t s = 0; (found = wt_curves_summary_at(curves, i, s)) != NULL; s++) {
        wt_interval error = found->error;
        double *at = (double *)series->x + series->count++;
        at[0] = by_n ? (double)found->n : size_at(line, axis);
        at[sheet->most] = error.value;
        at[2 * sheet->most] = isnan(error.low) ? error.value : error.low;
        at[3 * sheet->most] = isnan(error.high) ? error.value : error.high;
    }
}

wt_status curve_draw(cli_call *call, const wt_curves *curves, const char *path) {
    size_t lines = wt_curves_count(curves), axis = varying_axis(curves);
    size_t most = wt_product(wt_curves_size_count(curves), lines);
    wt_arena arena = wt_arena_start(call->context, "a figure");
    canvas sheet = {.panels = WT_TAKE_ZERO(&arena, wt_panel, lines),
                    .series = WT_TAKE_ZERO(&arena, wt_series, lines, lines),
                    .numbers = WT_TAKE(&arena, double, lines, lines, 4, most),
                    .names = wt_arena_take(&arena, WT_CURVE_NAME, false, WT_SIDES(lines, lines)),
                    .most = most};
    wt_status status;
    WT_TRY(arena.status);
    for (size_t i = 0; i < lines; i++)
        add_line(&sheet, curves, i, axis);
    wt_figure figure = {WT_FIGURE_SIZES, .panels = sheet.panels, .panel_count = sheet.panel_count,
                        .share_y = true};
    WT_TRY(cli_plot(call, &figure, path));
done:
    wt_arena_free(&arena);
    return status;
}
