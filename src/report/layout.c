/* Where everything goes on the paper, in inches. */
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "report/figure.h"

#define MOST_PANELS 4096

static wt_status check_series(wt_context *context, const wt_panel *panel, size_t index) {
    for (size_t i = 0; i < panel->series_count; i++) {
        const wt_series *series = &panel->series[i];
        if (series->look >= WT_LOOKS)
            return wt_fail(context, WT_USAGE, "panel %zu: series %zu wants look %zu of %d", index,
                           i, series->look, WT_LOOKS);
        wt_status status = wt_check_choice(context, "mark", (int)series->mark, WT_MARK_DOTS + 1);
        if (status != WT_OK)
            return status;
        if (series->mark == WT_MARK_BAND && (series->low == NULL || series->high == NULL))
            return wt_fail(context, WT_USAGE, "panel %zu: the band of series %zu has no interval",
                           index, i);
        for (size_t k = 0; k < series->count; k++)
            if (isfinite(series->x[k]) && isfinite(series->y[k]) &&
                (!panel->x.log || series->x[k] > 0) && (!panel->y.log || series->y[k] > 0))
                return WT_OK;
    }
    return wt_fail(context, WT_USAGE, "panel %zu has nothing to draw", index);
}

bool wt_panel_blank(const wt_panel *panel) {
    return panel->heat == NULL && panel->series_count == 0;
}

/* `count` structs of `given` bytes each as structs of `size`, what they lack cleared. */
static void *widen(wt_arena *arena, const void *from, size_t count, size_t given, size_t size) {
    unsigned char *to = WT_TAKE_ZERO(arena, unsigned char, count, size);
    for (size_t i = 0; i < count && to != NULL; i++)
        memcpy(to + i * size, (const unsigned char *)from + i * given, given);
    return to;
}

wt_status wt_figure_read(wt_arena *arena, const wt_figure *given, wt_figure *out) {
    wt_status status;
    *out = (wt_figure){WT_FIGURE_SIZES};
    WT_TRY(wt_sized_read(arena->context, "wt_figure", given, out, sizeof *out));
    size_t panel_size = out->panel_size, series_size = out->series_size;
    if (panel_size == 0 || panel_size > sizeof(wt_panel) || series_size == 0 ||
        series_size > sizeof(wt_series))
        return wt_fail(arena->context, WT_USAGE,
                       "the sizes of a figure are not set, or are those "
                       "of a later library: use WT_FIGURE_SIZES");
    if (panel_size == sizeof(wt_panel) && series_size == sizeof(wt_series))
        return WT_OK;
    wt_panel *panels = widen(arena, out->panels, out->panel_count, panel_size, sizeof *panels);
    WT_TRY(arena->status);
    for (size_t i = 0; i < out->panel_count; i++)
        panels[i].series =
            widen(arena, panels[i].series, panels[i].series_count, series_size, sizeof(wt_series));
    out->panels = panels;
    status = arena->status;
done:
    return status;
}

wt_status wt_figure_check(wt_context *context, const wt_figure *figure) {
    if (figure->panel_count == 0 || figure->panel_count > MOST_PANELS)
        return wt_fail(context, WT_USAGE, "a figure has 1 to %d panels, not %zu", MOST_PANELS,
                       figure->panel_count);
    if (wt_panel_blank(&figure->panels[0]))
        return wt_fail(context, WT_USAGE, "the first panel has nothing to draw");
    for (size_t i = 0; i < figure->panel_count; i++) {
        const wt_panel *panel = &figure->panels[i];
        if (wt_panel_blank(panel))
            continue;
        if (panel->heat == NULL) {
            wt_status status = check_series(context, panel, i);
            if (status != WT_OK)
                return status;
        } else if (panel->heat_rows == 0 || panel->heat_columns == 0) {
            return wt_fail(context, WT_USAGE, "panel %zu: the heat map has no entries", i);
        } else if (!wt_panel_own_heat(panel) &&
                   (!(figure->heat_limit > 0) || !isfinite(figure->heat_limit))) {
            return wt_fail(context, WT_USAGE, "heat maps need a limit above 0, not %g",
                           figure->heat_limit);
        }
    }
    return WT_OK;
}

static bool row_has_heat(const wt_figure *figure, size_t columns, size_t row) {
    for (size_t i = row * columns; i < figure->panel_count && i < (row + 1) * columns; i++)
        if (figure->panels[i].heat != NULL)
            return true;
    return false;
}

/* Whether the words stand anywhere in the figure, to leave no gap where they do not. */
static bool any_words(const wt_figure *figure, size_t offset) {
    for (size_t i = 0; i < figure->panel_count; i++)
        if (*(const char *const *)(const void *)((const char *)&figure->panels[i] + offset) != NULL)
            return true;
    return false;
}

/* Entries of the legend a row: as many as fit side by side. */
static size_t legend_columns(const wt_figure *figure, double width) {
    double widest = 0;
    const char *name;
    for (size_t i = 0; (name = wt_figure_entry(figure, i, NULL)) != NULL; i++)
        widest = fmax(widest, 0.07 * (double)strlen(name) + 0.6);
    return widest > 0 && widest < width ? (size_t)(width / widest) : 1;
}

/* What the numbers beside the axis of y take, with the tick. */
static double number_width(const wt_figure *figure) {
    size_t longest = 0;
    for (size_t i = 0; i < figure->panel_count; i++) {
        const wt_panel *panel = &figure->panels[i];
        wt_ticking up = {.most = 5, .labelled = true};
        wt_extent x, y;
        if (panel->heat != NULL || panel->series_count == 0)
            continue;
        wt_figure_extents(figure, panel, &x, &y);
        size_t letters = wt_axis_letters('y', &y, &up);
        longest = letters > longest ? letters : longest;
    }
    return WT_LETTER * (double)longest + 0.1;
}

/* Margins in and around the boxes of the panels. */
static void set_margins(const wt_figure *figure, wt_layout *layout) {
    bool label = any_words(figure, offsetof(wt_panel, y) + offsetof(wt_axis, label));
    double ticks = fmax(label ? 0.58 : 0.4, number_width(figure) + (label ? 0.2 : 0));
    /* With one range of y the ticks of the left panel serve the whole row. */
    layout->edge = figure->share_y ? ticks - 0.06 : 0;
    layout->left = figure->share_y ? 0.06 : ticks;
    layout->right = 0.1;
    layout->above = any_words(figure, offsetof(wt_panel, title)) ? 0.19 : 0.08;
    layout->above += layout->rows > 1 ? 0.05 : 0; /* between the rows */
    layout->below =
        any_words(figure, offsetof(wt_panel, x) + offsetof(wt_axis, label)) ? 0.38 : 0.22;
    layout->heat_scale = any_words(figure, offsetof(wt_panel, heat)) ? 0.5 : 0;
}

wt_layout wt_figure_layout(const wt_figure *figure) {
    wt_layout layout = {.columns = figure->columns};
    if (layout.columns == 0)
        layout.columns = figure->panel_count < 4 ? figure->panel_count : 4;
    layout.rows = (figure->panel_count + layout.columns - 1) / layout.columns;
    layout.width = layout.columns == 1 ? 3.4 : layout.columns == 2 ? 5.2 : 7.0;
    set_margins(figure, &layout);
    size_t entries = 0;
    while (wt_figure_entry(figure, entries, NULL) != NULL)
        entries++;
    layout.legend_columns = legend_columns(figure, layout.width - 0.2);
    size_t legend_rows = (entries + layout.legend_columns - 1) / layout.legend_columns;
    layout.title = figure->title != NULL ? 0.21 : 0.05;
    layout.top = layout.title + (legend_rows > 0 ? 0.04 : 0) + 0.155 * (double)legend_rows;
    layout.cell = (layout.width - layout.heat_scale - layout.edge) / (double)layout.columns;
    layout.box = layout.cell - layout.right - layout.left;
    layout.heat_box = layout.box * (figure->heat_aspect > 0 ? figure->heat_aspect : 1);
    layout.series_box = layout.columns == 1 ? 1.9 : fmin(1.7, fmax(1.2, layout.box));
    layout.height = layout.top;
    for (size_t row = 0; row < layout.rows; row++)
        layout.height += wt_layout_row(&layout, figure, row);
    return layout;
}

double wt_layout_row(const wt_layout *layout, const wt_figure *figure, size_t row) {
    return layout->above + layout->below +
           (row_has_heat(figure, layout->columns, row) ? layout->heat_box : layout->series_box);
}
