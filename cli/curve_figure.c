/* Learning curves as a picture: a panel a target, a series a model; against n, or against the one
 * size that varies when n does not. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "curve.h"
#include "plot.h"
#include "wattle/memory.h"

/* What runs along the x axis. */
static const struct {
    const char *label;
    char letter;
    size_t offset;
} axes[] = {{"heads M", 'M', offsetof(curve_line, heads)},
            {"dimension d", 'd', offsetof(curve_line, dim)},
            {"keys N", 'N', offsetof(curve_line, keys)}};

typedef struct {
    wt_panel *panels;
    wt_series *series;
    size_t *fill; /* points of each series so far */
    double *numbers;
    char (*names)[CURVE_NAME];
    size_t series_count, panel_count, most; /* series in all, panels, points a series */
} canvas;

static double size_at(const curve_line *line, size_t axis) {
    return (double)*(const size_t *)(const void *)((const char *)line + axes[axis].offset);
}

/* The axis to use when only one n was run: the first size with several values. */
static size_t varying_axis(const curve_table *table) {
    for (size_t a = 0; a < sizeof axes / sizeof *axes; a++)
        for (size_t i = 0; i < table->line_count; i++)
            if (size_at(&table->lines[i], a) != size_at(&table->lines[0], a) &&
                size_at(&table->lines[i], a) > 0 && size_at(&table->lines[0], a) > 0)
                return a;
    return 0;
}

/* The panel of the line's target, opened when it is new. */
static size_t panel_of(canvas *sheet, const curve_table *table, const curve_line *line,
                       const char *x_label) {
    for (size_t p = 0; p < sheet->panel_count; p++)
        if (strcmp(sheet->panels[p].title, line->target) == 0)
            return p;
    wt_panel *panel = &sheet->panels[sheet->panel_count];
    *panel = (wt_panel){.title = line->target,
                        .x = {.label = x_label, .log = true},
                        .y = {.label = "test error / variance", .log = true},
                        .series = sheet->series + sheet->panel_count * table->line_count};
    return sheet->panel_count++;
}

/* The series of that name in the panel, opened when it is new; looks go by order of names. */
static wt_series *series_of(canvas *sheet, const curve_table *table, size_t p, const char *name) {
    wt_panel *panel = &sheet->panels[p];
    wt_series *series = sheet->series + p * table->line_count;
    for (size_t i = 0; i < panel->series_count; i++)
        if (strcmp(series[i].name, name) == 0)
            return &series[i];
    size_t slot = p * table->line_count + panel->series_count;
    double *numbers = sheet->numbers + slot * 4 * sheet->most;
    snprintf(sheet->names[slot], CURVE_NAME, "%s", name);
    series[panel->series_count] = (wt_series){.name = sheet->names[slot],
                                              .look = panel->series_count % WT_LOOKS,
                                              .x = numbers,
                                              .y = numbers + sheet->most,
                                              .low = numbers + 2 * sheet->most,
                                              .high = numbers + 3 * sheet->most};
    return &series[panel->series_count++];
}

static wt_status add_line(cli_call *call, canvas *sheet, const curve_table *table,
                          const curve_line *line, size_t axis) {
    bool by_n = table->size_count > 1;
    size_t p = panel_of(sheet, table, line, by_n ? "samples n" : axes[axis].label);
    char name[CURVE_NAME];
    wt_series *series =
        series_of(sheet, table, p, curve_name(table, line, by_n ? 0 : axes[axis].letter, name));
    wt_status status = WT_OK;
    for (size_t s = 0; s < table->size_count; s++) {
        wt_interval error;
        WT_TRY(curve_summary(call->context, table, line, s, &error));
        double *at = (double *)series->x + series->count++;
        at[0] = by_n ? (double)table->sizes[s] : size_at(line, axis);
        at[sheet->most] = error.value;
        at[2 * sheet->most] = isnan(error.low) ? error.value : error.low;
        at[3 * sheet->most] = isnan(error.high) ? error.value : error.high;
    }
done:
    return status;
}

wt_status curve_draw(cli_call *call, const curve_table *table, const char *path) {
    wt_context *context = call->context;
    size_t lines = table->line_count, slots = lines * lines, axis = varying_axis(table);
    canvas sheet = {.most = table->size_count * lines};
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, &sheet.panels, lines, "a figure"));
    WT_TRY(WT_NEW_ZERO(context, &sheet.series, slots, "a figure"));
    WT_TRY(WT_NEW(context, &sheet.names, slots, "a figure"));
    WT_TRY(WT_NEW(context, &sheet.numbers, slots * 4 * sheet.most, "a figure"));
    for (size_t i = 0; i < lines; i++)
        WT_TRY(add_line(call, &sheet, table, &table->lines[i], axis));
    wt_figure figure = {WT_FIGURE_SIZES, .panels = sheet.panels, .panel_count = sheet.panel_count,
                        .share_y = true};
    WT_TRY(cli_plot(call, &figure, path));
done:
    wt_release(sheet.panels);
    wt_release(sheet.series);
    wt_release(sheet.names);
    wt_release(sheet.numbers);
    return status;
}
