#include "report/figure.h"

#include <math.h>
#include <string.h>

#include "report/series.h"

static bool named_before(const wt_figure *figure, size_t panel, size_t series) {
    const char *name = figure->panels[panel].series[series].name;
    for (size_t i = 0; i <= panel; i++)
        for (size_t k = 0; k < (i < panel ? figure->panels[i].series_count : series); k++) {
            const char *other = figure->panels[i].series[k].name;
            if (other != NULL && strcmp(other, name) == 0)
                return true;
        }
    return false;
}

const char *wt_figure_entry(const wt_figure *figure, size_t index, const wt_series **series) {
    for (size_t i = 0; i < figure->panel_count; i++)
        for (size_t k = 0; k < figure->panels[i].series_count; k++) {
            const wt_series *each = &figure->panels[i].series[k];
            if (each->name == NULL || named_before(figure, i, k) || index-- > 0)
                continue;
            if (series != NULL)
                *series = each;
            return each->name;
        }
    return NULL;
}

/* Ranges of one panel from its data. */
static void hold_panel(const wt_panel *panel, wt_extent *x, wt_extent *y) {
    for (size_t i = 0; i < panel->series_count; i++) {
        const wt_series *series = &panel->series[i];
        for (size_t k = 0; k < series->count; k++) {
            if (!wt_extent_can_show(x, series->x[k]) || !wt_extent_can_show(y, series->y[k]))
                continue;
            wt_extent_hold(x, series->x[k]);
            wt_extent_hold(y, series->y[k]);
            /* Lines have x of their own making: fits on a logarithmic axis of chosen sizes. */
            if (series->mark != WT_MARK_LINE)
                wt_extent_note(x, series->x[k]);
            else if (!x->log)
                x->count = WT_AXIS_VALUES + 1;
            if (series->low != NULL && series->high != NULL) {
                /* An interval down to nearly 0 must not stretch a logarithmic axis by decades. */
                wt_extent_hold(y, panel->y.log ? fmax(series->low[k], series->y[k] / 10)
                                               : series->low[k]);
                wt_extent_hold(y, series->high[k]);
            }
        }
    }
}

void wt_figure_extents(const wt_figure *figure, const wt_panel *panel, wt_extent *x, wt_extent *y) {
    *x = wt_extent_empty(panel->x.log);
    *y = wt_extent_empty(panel->y.log);
    hold_panel(panel, x, y);
    wt_extent ignored = *x;
    for (size_t i = 0; figure->share_y && i < figure->panel_count; i++)
        hold_panel(&figure->panels[i], &ignored, y);
    wt_extent_pad(x, 0.04);
    wt_extent_pad(y, 0.06);
    if (panel->x.low < panel->x.high) {
        x->low = panel->x.low;
        x->high = panel->x.high;
    }
    if (panel->y.low < panel->y.high) {
        y->low = panel->y.low;
        y->high = panel->y.high;
    }
}

/* Title and label of x, moved by characters towards the box. */
static void write_labels(wt_script *script, const wt_panel *panel) {
    wt_script_add(script, "set title ");
    wt_script_quote(script, panel->title);
    wt_script_add(script, " noenhanced offset character 0,-0.7\nset xlabel ");
    wt_script_quote(script, panel->x.label);
    wt_script_add(script, " noenhanced offset character 0,0.9\n");
}

/* The label of y stands at the edge of its margin (inches): gnuplot would move it with the width
 * of the numbers, off the paper when they are wide. */
static void write_y_label(wt_script *script, const wt_panel *panel, const wt_layout *layout,
                          double x, double y) {
    wt_script_add(script, "set label 2 ");
    wt_script_quote(script, panel->y.label);
    wt_script_add(script, " noenhanced at screen %.6f, screen %.6f center rotate by 90\n",
                  x / layout->width, y / layout->height);
}

static void write_series_panel(wt_script *script, const wt_figure *figure, const wt_panel *panel,
                               bool first_in_row, double box) {
    wt_extent x, y;
    wt_figure_extents(figure, panel, &x, &y);
    bool labelled = first_in_row || !figure->share_y;
    wt_ticking along = {.most = box < 1.4 ? 3 : 5, .letters = box / WT_LETTER, .labelled = true};
    wt_ticking up = {.most = 5, .labelled = labelled};
    wt_axis_script(script, 'x', &x, &along);
    wt_axis_script(script, 'y', &y, &up);
    write_labels(script, panel);
    for (size_t i = 0; i < panel->series_count; i++)
        wt_series_data(script, &panel->series[i], i, &x, &y);
    wt_series_plot(script, panel, &x);
}

/* Numbers of columns or rows at an axis of a heat map, from `first` on: the first and last, or with
 * colours of its own as many as have room. */
static void write_heat_ticks(wt_script *script, char letter, size_t count, const wt_panel *panel,
                             double inches, bool labelled) {
    size_t last = count - 1, step = last > 0 ? last : 1;
    double first = 0;
    if (wt_panel_own_heat(panel)) {
        first = letter == 'x' ? panel->x.low : panel->y.low;
        size_t places = (size_t)(inches / 0.16);
        for (step = 1; last / step > places; step *= 2)
            ;
    }
    wt_script_add(script, "set %ctics nomirror (", letter);
    for (size_t i = 0; i <= last; i += step)
        if (labelled)
            wt_script_add(script, "%s'%g' %zu", i > 0 ? ", " : "", first + (double)i, i);
        else
            wt_script_add(script, "%s'' %zu", i > 0 ? ", " : "", i);
    wt_script_add(script, ")\n");
}

/* Entries go row by row; gnuplot's row 0 would be at the bottom. */
static void write_heat_panel(wt_script *script, const wt_figure *figure, const wt_panel *panel,
                             const wt_layout *layout, bool first_in_row) {
    bool own = wt_panel_own_heat(panel);
    double high = own ? panel->heat_high : figure->heat_limit, low = own ? panel->heat_low : -high;
    wt_script_add(script, "$H << EOD\n");
    for (size_t i = 0; i < panel->heat_rows; i++)
        for (size_t j = 0; j < panel->heat_columns; j++) {
            double value = panel->heat[i * panel->heat_columns + j];
            wt_script_number(script, own && isnan(value) ? NAN : fmax(low, fmin(high, value)));
            wt_script_add(script, j + 1 < panel->heat_columns ? " " : "\n");
        }
    wt_script_add(script, "EOD\nunset logscale\nset xrange [-0.5:%zu.5]\nset yrange [%zu.5:-0.5]\n",
                  panel->heat_columns - 1, panel->heat_rows - 1);
    write_heat_ticks(script, 'x', panel->heat_columns, panel, layout->box, true);
    write_heat_ticks(script, 'y', panel->heat_rows, panel, layout->heat_box,
                     first_in_row || !figure->share_y);
    wt_script_add(script, "set palette defined %s\nset cbrange [%.10g:%.10g]\n",
                  low < 0
                      ? "(-1 '#0072B2', -0.5 '#7fb8d8', 0 '#ffffff', 0.5 '#eaae80', 1 '#D55E00')"
                      : "(0 '#ffffff', 0.5 '#66bba0', 1 '#00513c')",
                  low, high);
    write_labels(script, panel);
    wt_script_add(script, "plot $H matrix with image notitle\n");
}

/* The bar of colours at the right edge of a row of heat maps. */
static void write_heat_scale(wt_script *script, const wt_figure *figure, const wt_panel *panel,
                             const wt_layout *layout, double bottom) {
    double box = layout->heat_box / layout->height;
    bool own = wt_panel_own_heat(panel);
    double high = own ? panel->heat_high : figure->heat_limit, low = own ? panel->heat_low : -high;
    wt_script_add(script,
                  "set colorbox vertical user origin screen %.6f, screen %.6f size screen %.6f, "
                  "screen %.6f noborder\nset cbtics (%.10g, %.10g, %.10g) scale 0.3 offset "
                  "-0.6,0\nset cblabel ",
                  1 - (layout->heat_scale - 0.02) / layout->width, bottom / layout->height,
                  0.07 / layout->width, box, low, low < 0 ? 0 : high / 2, high);
    wt_script_quote(script, own ? panel->heat_legend : figure->legend);
    wt_script_add(script, " noenhanced offset 0.3,0\n");
}

static void write_panel(wt_script *script, const wt_figure *figure, const wt_layout *layout,
                        size_t index, double top) {
    const wt_panel *panel = &figure->panels[index];
    size_t column = index % layout->columns;
    double left = layout->edge + (double)column * layout->cell + layout->left;
    double high = top - layout->above;
    double low = high - (panel->heat != NULL ? layout->heat_box : layout->series_box);
    wt_script_add(script, "set lmargin at screen %.6f\nset rmargin at screen %.6f\n",
                  left / layout->width, (left + layout->box) / layout->width);
    wt_script_add(script, "set tmargin at screen %.6f\nset bmargin at screen %.6f\n",
                  high / layout->height, low / layout->height);
    bool last = column + 1 == layout->columns || index + 1 == figure->panel_count ||
                figure->panels[index + 1].heat == NULL;
    wt_script_add(script, "unset colorbox\n");
    if (column == 0 || !figure->share_y)
        write_y_label(script, panel, layout, left - layout->edge - layout->left + 0.1,
                      (low + high) / 2);
    else
        wt_script_add(script, "unset label 2\n");
    if (panel->heat != NULL && last)
        write_heat_scale(script, figure, panel, layout, low);
    if (panel->heat != NULL)
        write_heat_panel(script, figure, panel, layout, column == 0);
    else
        write_series_panel(script, figure, panel, column == 0, layout->box);
}

static void write_legend(wt_script *script, const wt_figure *figure, const wt_layout *layout) {
    const wt_series *series;
    const char *name = wt_figure_entry(figure, 0, &series);
    if (name == NULL)
        return;
    wt_script_add(script,
                  "set key at screen 0.5, screen %.6f center top horizontal maxcols %zu samplen 2 "
                  "spacing 0.9 width 1 Left reverse\n",
                  1 - layout->title / layout->height, layout->legend_columns);
    /* A plot of entries alone is refused; the constant lies out of sight. */
    wt_script_add(script,
                  "unset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\nplot 2 notitle");
    for (size_t i = 0; (name = wt_figure_entry(figure, i, &series)) != NULL; i++) {
        wt_script_add(script, ", keyentry ");
        wt_series_style(script, series);
        wt_script_add(script, " title ");
        wt_script_quote(script, name);
        wt_script_add(script, " noenhanced");
    }
    wt_script_add(script, "\nunset key\nunset label 1\n"); /* the title is drawn with it */
}

void wt_figure_script(wt_script *script, const wt_figure *figure, const wt_layout *layout) {
    wt_script_add(script, "set encoding utf8\nset datafile missing 'NaN'\nset multiplot\n");
    if (figure->title != NULL) {
        wt_script_add(script, "set label 1 ");
        wt_script_quote(script, figure->title);
        wt_script_add(script, " noenhanced at screen 0.5, screen %.6f center\n",
                      1 - 0.12 / layout->height);
    }
    wt_script_add(script, "set key off\n");
    write_legend(script, figure, layout);
    wt_script_add(
        script,
        "set border 3 lw 0.7 back\nset grid lw 0.4 lc rgb '#dddddd' lt 1\n"
        "set tics nomirror out scale 0.5,0.25\nset xtics offset 0,0.3\nset ytics offset 0.3,0\n"
        "set errorbars 0.6\n");
    double top = layout->height - layout->top;
    for (size_t i = 0; i < figure->panel_count; i++) {
        if (!wt_panel_blank(&figure->panels[i]))
            write_panel(script, figure, layout, i, top);
        if (i == 0) /* without a legend the title was drawn with this panel */
            wt_script_add(script, "unset label 1\n");
        if ((i + 1) % layout->columns == 0)
            top -= wt_layout_row(layout, figure, i / layout->columns);
    }
    wt_script_add(script, "unset multiplot\n");
}
