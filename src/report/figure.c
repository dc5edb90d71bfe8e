#include "report/figure.h"

#include <math.h>
#include <string.h>

#include "report/axis.h"

/* Okabe and Ito's colours, the ones best seen on white first; filled shapes of gnuplot. */
static const struct {
    const char *colour;
    int point;
    const char *dash;
} looks[WT_LOOKS] = {
    {"#0072B2", 7, "solid"},          {"#D55E00", 5, "(10,4)"},  {"#009E73", 9, "(3,3)"},
    {"#CC79A7", 13, "(10,4,2,4)"},    {"#E69F00", 11, "(16,5)"}, {"#56B4E9", 6, "(6,3)"},
    {"#000000", 4, "(10,3,2,3,2,3)"}, {"#999999", 8, "(2,4)"},
};

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
            if (series->low != NULL && series->high != NULL) {
                /* An interval down to nearly 0 must not stretch a logarithmic axis by decades. */
                wt_extent_hold(y, panel->y.log ? fmax(series->low[k], series->y[k] / 10)
                                               : series->low[k]);
                wt_extent_hold(y, series->high[k]);
            }
        }
    }
}

static void find_extents(const wt_figure *figure, const wt_panel *panel, wt_extent *x,
                         wt_extent *y) {
    *x = wt_extent_empty(panel->x.log);
    *y = wt_extent_empty(panel->y.log);
    hold_panel(panel, x, y);
    wt_extent ignored = *x;
    for (size_t i = 0; figure->share_y && i < figure->panel_count; i++)
        hold_panel(&figure->panels[i], &ignored, y);
    wt_extent_pad(x, 0.04);
    wt_extent_pad(y, 0.06);
    if (panel->x.low < panel->x.high)
        *x = (wt_extent){panel->x.log, panel->x.low, panel->x.high};
    if (panel->y.low < panel->y.high)
        *y = (wt_extent){panel->y.log, panel->y.low, panel->y.high};
}

/* Lines "x y low high" of a data block $S<number>. */
static void write_data(wt_script *script, const wt_series *series, size_t number,
                       const wt_extent *x, const wt_extent *y) {
    wt_script_add(script, "$S%zu << EOD\n", number);
    for (size_t k = 0; k < series->count; k++) {
        bool shown = wt_extent_can_show(x, series->x[k]) && wt_extent_can_show(y, series->y[k]);
        bool interval = series->low != NULL && series->high != NULL && shown &&
                        isfinite(series->low[k]) && isfinite(series->high[k]);
        double columns[] = {shown ? series->x[k] : NAN, shown ? series->y[k] : NAN,
                            interval ? fmax(series->low[k], y->low) : NAN,
                            interval ? fmin(series->high[k], y->high) : NAN};
        for (int column = 0; column < 4; column++) {
            wt_script_number(script, columns[column]);
            wt_script_add(script, column < 3 ? " " : "\n");
        }
    }
    wt_script_add(script, "EOD\n");
}

static void write_style(wt_script *script, const wt_series *series, bool plain) {
    size_t look = series->look;
    const char *colour = looks[look].colour;
    if (plain)
        /* Letters stand for the looks: a terminal has no shapes. */
        wt_script_add(script, "with %s pt '%c'", series->mark == WT_MARK_LINE ? "lines" : "points",
                      "ABCDEFGH"[look]);
    else if (series->mark == WT_MARK_POINTS)
        wt_script_add(script, "with linespoints lc rgb '%s' pt %d ps 0.45 lw 1.2", colour,
                      looks[look].point);
    else
        wt_script_add(script, "with lines lc rgb '%s' lw 1.4 dt %s", colour,
                      series->mark == WT_MARK_BAND ? "solid" : looks[look].dash);
}

/* What lies below the line: the band, or the bars. */
static void write_interval(wt_script *script, const wt_series *series, size_t number) {
    if (series->low == NULL || series->high == NULL)
        return;
    const char *colour = looks[series->look].colour;
    if (series->mark == WT_MARK_BAND)
        wt_script_add(script,
                      "$S%zu using 1:3:4 with filledcurves fc rgb '%s' fs transparent solid 0.2 "
                      "noborder notitle, ",
                      number, colour);
    else if (series->mark == WT_MARK_POINTS)
        wt_script_add(script,
                      "$S%zu using 1:2:3:4 with yerrorlines lc rgb '%s' pt 0 ps 0 lw 1.0 notitle, ",
                      number, colour);
}

static void write_plot(wt_script *script, const wt_panel *panel, bool plain) {
    wt_script_add(script, "plot ");
    for (size_t i = 0; i < panel->series_count && !plain; i++)
        write_interval(script, &panel->series[i], i);
    for (size_t i = 0; i < panel->series_count; i++) {
        wt_script_add(script, "%s$S%zu using 1:2 ", i > 0 ? ", " : "", i);
        write_style(script, &panel->series[i], plain);
        wt_script_add(script, " title ");
        wt_script_quote(script, panel->series[i].name);
        wt_script_add(script, " noenhanced");
    }
    wt_script_add(script, "\n");
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
    find_extents(figure, panel, &x, &y);
    bool labelled = first_in_row || !figure->share_y;
    wt_axis_script(script, 'x', &x, box < 1.4 ? 3 : 5, true, false);
    wt_axis_script(script, 'y', &y, 5, labelled, false);
    write_labels(script, panel);
    for (size_t i = 0; i < panel->series_count; i++)
        write_data(script, &panel->series[i], i, &x, &y);
    write_plot(script, panel, false);
}

/* Entries go row by row; gnuplot's row 0 would be at the bottom. */
static void write_heat_panel(wt_script *script, const wt_figure *figure, const wt_panel *panel,
                             bool first_in_row) {
    wt_script_add(script, "$H << EOD\n");
    for (size_t i = 0; i < panel->heat_rows; i++)
        for (size_t j = 0; j < panel->heat_columns; j++) {
            double value = panel->heat[i * panel->heat_columns + j];
            wt_script_number(script, fmax(-figure->heat_limit, fmin(figure->heat_limit, value)));
            wt_script_add(script, j + 1 < panel->heat_columns ? " " : "\n");
        }
    wt_script_add(script, "EOD\nunset logscale\nset xrange [-0.5:%zu.5]\nset yrange [%zu.5:-0.5]\n",
                  panel->heat_columns - 1, panel->heat_rows - 1);
    bool labelled = first_in_row || !figure->share_y;
    const struct {
        char letter;
        size_t last;
        bool labelled;
    } axes[] = {{'x', panel->heat_columns - 1, true}, {'y', panel->heat_rows - 1, labelled}};
    for (size_t i = 0; i < 2; i++)
        wt_script_add(script,
                      axes[i].labelled ? "set %ctics nomirror (0, %zu)\n"
                                       : "set %ctics nomirror ('' 0, '' %zu)\n",
                      axes[i].letter, axes[i].last);
    wt_script_add(script, "set cbrange [-%.10g:%.10g]\n", figure->heat_limit, figure->heat_limit);
    write_labels(script, panel);
    wt_script_add(script, "plot $H matrix with image notitle\n");
}

/* The bar of colours at the right edge of a row of heat maps. */
static void write_heat_scale(wt_script *script, const wt_figure *figure, const wt_layout *layout,
                             double bottom) {
    double box = layout->heat_box / layout->height;
    wt_script_add(script,
                  "set colorbox vertical user origin screen %.6f, screen %.6f size screen %.6f, "
                  "screen %.6f noborder\nset cbtics (%.10g, 0, %.10g) scale 0.3 offset "
                  "-0.6,0\nset cblabel ",
                  1 - (layout->heat_scale - 0.02) / layout->width, bottom / layout->height,
                  0.07 / layout->width, box, -figure->heat_limit, figure->heat_limit);
    wt_script_quote(script, figure->legend);
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
        write_heat_scale(script, figure, layout, low);
    if (panel->heat != NULL)
        write_heat_panel(script, figure, panel, column == 0);
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
        write_style(script, series, false);
        wt_script_add(script, " title ");
        wt_script_quote(script, name);
        wt_script_add(script, " noenhanced");
    }
    wt_script_add(script, "\nunset key\n");
}

void wt_figure_script(wt_script *script, const wt_figure *figure, const wt_layout *layout) {
    wt_script_add(script, "set encoding utf8\nset datafile missing 'NaN'\nset multiplot\n");
    if (figure->title != NULL) {
        wt_script_add(script, "set label 1 ");
        wt_script_quote(script, figure->title);
        wt_script_add(script, " noenhanced at screen 0.5, screen %.6f center\n",
                      1 - 0.12 / layout->height);
    }
    wt_script_add(script, "set key off\nset palette defined (-1 '#0072B2', -0.5 '#7fb8d8', 0 "
                          "'#ffffff', 0.5 '#eaae80', 1 '#D55E00')\n");
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
        if (i == 0)
            wt_script_add(script, "unset label 1\n");
        if ((i + 1) % layout->columns == 0)
            top -= wt_layout_row(layout, figure, i / layout->columns);
    }
    wt_script_add(script, "unset multiplot\n");
}

/* A terminal cannot turn letters, so that the label of y stands behind the title. */
static void write_labels_plain(wt_script *script, const wt_panel *panel) {
    wt_script_add(script, "set title ");
    wt_script_quote(script, panel->title);
    wt_script_add(script, panel->title != NULL && panel->y.label != NULL ? ".': '." : ".''.");
    wt_script_quote(script, panel->y.label);
    wt_script_add(script, " noenhanced\nset xlabel ");
    wt_script_quote(script, panel->x.label);
    wt_script_add(script, " noenhanced\n");
}

void wt_panel_script_plain(wt_script *script, const wt_figure *figure, const wt_panel *panel) {
    wt_extent x, y;
    find_extents(figure, panel, &x, &y);
    wt_script_add(script, "set encoding utf8\nset datafile missing 'NaN'\nset key outside top "
                          "center horizontal samplen 1\n"
                          "set border 3\nset tics out\n");
    wt_axis_script(script, 'x', &x, 5, true, true);
    wt_axis_script(script, 'y', &y, 6, true, true);
    write_labels_plain(script, panel);
    for (size_t i = 0; i < panel->series_count; i++)
        write_data(script, &panel->series[i], i, &x, &y);
    write_plot(script, panel, true);
}
