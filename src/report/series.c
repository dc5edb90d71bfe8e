#include "report/series.h"

#include <math.h>

#include "report/look.h"

static bool has_interval(const wt_series *series) {
    return series->low != NULL && series->high != NULL;
}

static unsigned open_at(const wt_series *series, size_t k) {
    return series->open == NULL ? 0 : series->open[k];
}

static bool is_shown(const wt_series *series, size_t k, const wt_extent *x, const wt_extent *y) {
    return wt_extent_can_show(x, series->x[k]) && wt_extent_can_show(y, series->y[k]);
}

/* One point's bar: closed ends, and where arrows go; NaN = none. */
typedef struct {
    double low, high, down, up;
} bar;

/* Where an arrow ends that has no way to go: it is a short one, within the axis. */
static double beyond(const wt_extent *axis, double value, double share) {
    double end = axis->log ? value * pow(axis->high / axis->low, share)
                           : value + share * (axis->high - axis->low);
    return fmax(axis->low, fmin(axis->high, end));
}

static bar bar_of(const wt_series *series, size_t k, const wt_extent *y) {
    bar out = {NAN, NAN, NAN, NAN};
    unsigned open = open_at(series, k);
    double value = series->y[k];
    double short_down = beyond(y, value, -0.09), short_up = beyond(y, value, 0.09);
    if ((open & WT_OPEN_VALUE) != 0) { /* a bound alone has no interval */
        if ((open & WT_OPEN_LOW) != 0)
            out.down = short_down;
        if ((open & WT_OPEN_HIGH) != 0)
            out.up = short_up;
        return out;
    }
    if (!has_interval(series) || !isfinite(series->low[k]) || !isfinite(series->high[k]))
        return out;
    bool down = (open & WT_OPEN_LOW) != 0 || series->low[k] < y->low;
    bool up = (open & WT_OPEN_HIGH) != 0 || series->high[k] > y->high;
    double low = fmax(series->low[k], y->low), high = fmin(series->high[k], y->high);
    out = (bar){down ? value : low, up ? value : high, down ? fmin(low, short_down) : NAN,
                up ? fmax(high, short_up) : NAN};
    if (!(out.low < out.high))
        out.low = out.high = NAN;
    return out;
}

static bool has_arrow(const bar *one) {
    return !isnan(one->down) || !isnan(one->up);
}

static void write_row(wt_script *script, const double *columns, size_t count) {
    for (size_t column = 0; column < count; column++) {
        wt_script_number(script, columns[column]);
        wt_script_add(script, column + 1 < count ? " " : "\n");
    }
}

void wt_series_data(wt_script *script, const wt_series *series, size_t number, const wt_extent *x,
                    const wt_extent *y) {
    wt_script_add(script, "$S%zu << EOD\n", number);
    for (size_t k = 0; k < series->count; k++) {
        bool shown = is_shown(series, k, x, y) && (open_at(series, k) & WT_OPEN_VALUE) == 0;
        bar one = bar_of(series, k, y);
        const double columns[] = {shown ? series->x[k] : NAN, shown ? series->y[k] : NAN,
                                  shown ? one.low : NAN, shown ? one.high : NAN};
        write_row(script, columns, 4);
    }
    /* An empty block cannot be plotted: the first line is never seen. */
    wt_script_add(script, "EOD\n$A%zu << EOD\nNaN NaN NaN\n", number);
    for (size_t k = 0; k < series->count; k++) {
        bar one = bar_of(series, k, y);
        const double down[] = {series->x[k], series->y[k], one.down};
        const double up[] = {series->x[k], series->y[k], one.up};
        if (is_shown(series, k, x, y) && has_arrow(&one)) {
            write_row(script, down, isnan(one.down) ? 0 : 3);
            write_row(script, up, isnan(one.up) ? 0 : 3);
        }
    }
    wt_script_add(script, "EOD\n$O%zu << EOD\nNaN NaN\n", number);
    for (size_t k = 0; k < series->count; k++) {
        const double columns[] = {series->x[k], series->y[k]};
        if (is_shown(series, k, x, y) && (open_at(series, k) & WT_OPEN_VALUE) != 0)
            write_row(script, columns, 2);
    }
    wt_script_add(script, "EOD\n");
}

void wt_series_style(wt_script *script, const wt_series *series) {
    size_t look = series->look;
    if (series->mark == WT_MARK_POINTS)
        wt_script_add(script, "with linespoints lc rgb '%s' pt %d ps 0.45 lw 1.2 dt %s",
                      wt_look_colour(series->look), wt_look_point(look), wt_look_join(look));
    else if (series->mark == WT_MARK_DOTS)
        wt_script_add(script, "with points lc rgb '%s' pt %d ps 0.5 lw 1.2",
                      wt_look_colour(series->look), wt_look_point(look));
    else
        wt_script_add(script, "with lines lc rgb '%s' lw 1.4 dt %s", wt_look_colour(series->look),
                      series->mark == WT_MARK_BAND ? "solid" : wt_look_dash(look));
}

static bool has_bars(const wt_series *series) {
    return has_interval(series) && series->mark != WT_MARK_LINE && series->mark != WT_MARK_BAND;
}

/* The column of x, moved from one series with bars to the next: by a hundredth of a logarithmic
 * axis, but on a linear one, where values are read off, by half a percent of it at most. */
static void write_x(wt_script *script, const wt_panel *panel, size_t number, const wt_extent *x) {
    size_t bars = 0, before = 0;
    for (size_t i = 0; i < panel->series_count; i++) {
        before += i < number && has_bars(&panel->series[i]);
        bars += has_bars(&panel->series[i]);
    }
    double apart = x->log ? fmin(0.011, 0.06 / (double)bars) : 0.01 / fmax(2, (double)bars - 1);
    double share = apart * ((double)before - ((double)bars - 1) / 2);
    if (bars < 2 || !has_bars(&panel->series[number]) || share == 0)
        wt_script_add(script, "1");
    else if (x->log)
        wt_script_add(script, "($1*%.6f)", pow(x->high / x->low, share));
    else
        wt_script_add(script, "($1%+.6g)", share * (x->high - x->low));
}

/* What lies below the line: the band, or the bars and arrows. */
static void write_interval(wt_script *script, const wt_panel *panel, size_t number,
                           const wt_extent *x) {
    const wt_series *series = &panel->series[number];
    const char *colour = wt_look_colour(series->look);
    if (series->mark == WT_MARK_BAND)
        wt_script_add(script,
                      "$S%zu using 1:3:4 with filledcurves fc rgb '%s' fs transparent solid 0.2 "
                      "noborder notitle, ",
                      number, colour);
    if (has_bars(series)) {
        /* Heads at right angles are the caps of a bar; gnuplot's own bars come with points. */
        wt_script_add(script, "$S%zu using ", number);
        write_x(script, panel, number, x);
        wt_script_add(script,
                      ":3:(0):($4-$3) with vectors heads size character 0.28,90 fixed lc rgb '%s' "
                      "lw 1.0 notitle, $A%zu using ",
                      colour, number);
        write_x(script, panel, number, x);
        wt_script_add(script,
                      ":2:(0):($3-$2) with vectors head size character 0.6,22 filled fixed lc rgb "
                      "'%s' lw 1.0 notitle, ",
                      colour);
    }
    if (has_bars(series) && series->open != NULL) {
        wt_script_add(script, "$O%zu using ", number);
        write_x(script, panel, number, x);
        wt_script_add(script, ":2 with points lc rgb '%s' pt %d ps 0.5 lw 1.2 notitle, ", colour,
                      wt_look_hollow(series->look));
    }
}

void wt_series_plot(wt_script *script, const wt_panel *panel, const wt_extent *x) {
    wt_script_add(script, "plot ");
    for (size_t i = 0; i < panel->series_count; i++)
        write_interval(script, panel, i, x);
    for (size_t i = 0; i < panel->series_count; i++) {
        wt_script_add(script, "%s$S%zu using ", i > 0 ? ", " : "", i);
        write_x(script, panel, i, x);
        wt_script_add(script, ":2 ");
        wt_series_style(script, &panel->series[i]);
        wt_script_add(script, " title ");
        wt_script_quote(script, panel->series[i].name);
        wt_script_add(script, " noenhanced");
    }
    wt_script_add(script, "\n");
}
