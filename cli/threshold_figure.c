/* A search as a picture. */
#include <math.h>
#include <stdio.h>

#include "plot.h"
#include "threshold_show.h"
#include "wattle/memory.h"

enum { CURVE = 60, NAME = 32 };

/* Looks: the critical m are black squares, the fits amber, grey and black lines, and the lengths
 * have the other colours. */
enum { CRITICAL = 14 };
static const size_t law_looks[WT_THRESHOLD_GROWTHS] = {4, 7, 6};

static size_t length_look(size_t index) {
    static const size_t first[] = {0, 1, 2, 3, 5};
    return first[index % 5] + 8 * (index / 5 % (WT_LOOKS / 8));
}

/* The critical m with what of them is open: m or an end of its interval that the trials do not show
 * stands at the end of what was tried. */
static wt_series critical_series(wt_arena *arena, const wt_threshold_summary *summary) {
    size_t n = summary->point_count, count = 0;
    double *at = WT_TAKE(arena, double, 4, n); /* T, m, low, high */
    unsigned char *open = WT_TAKE(arena, unsigned char, n);
    for (size_t i = 0; arena->status == WT_OK && i < n; i++) {
        const wt_threshold_point *point = &summary->points[i];
        wt_interval fitted = point->fitted;
        bool found = isfinite(fitted.value), below = !found && fitted.value < 0;
        bool low = isfinite(fitted.low), high = isfinite(fitted.high);
        if (point->cells == 0)
            continue;
        double least = (double)summary->cells[point->first_cell].samples;
        double most = (double)summary->cells[point->first_cell + point->cells - 1].samples;
        double value = found ? fitted.value : below ? least : most;
        at[count] = (double)point->length;
        at[n + count] = value;
        at[2 * n + count] = !found ? value : low ? fitted.low : least;
        at[3 * n + count] = !found ? value : high ? fitted.high : most;
        open[count++] = found
                            ? (unsigned char)((low ? 0 : WT_OPEN_LOW) | (high ? 0 : WT_OPEN_HIGH))
                            : (unsigned char)(WT_OPEN_VALUE | (below ? WT_OPEN_LOW : WT_OPEN_HIGH));
    }
    return (wt_series){"critical m", WT_MARK_DOTS, CRITICAL,   count, at,
                       at + n,       at + 2 * n,   at + 3 * n, open};
}

/* The critical m, then the fitted curves; into out[WT_THRESHOLD_GROWTHS + 1], and how many. */
static size_t take_growth(wt_arena *arena, const wt_threshold_summary *summary, wt_series *out) {
    size_t n = summary->point_count, count = 1;
    double first = (double)summary->points[0].length, last = (double)summary->points[n - 1].length;
    double *curve = WT_TAKE(arena, double, WT_THRESHOLD_GROWTHS + 1, CURVE); /* T, then the laws */
    char(*names)[NAME] = wt_arena_take(arena, NAME, false, WT_SIDES(WT_THRESHOLD_GROWTHS));
    out[0] = critical_series(arena, summary);
    if (arena->status != WT_OK || summary->fitted_points < 3)
        return count;
    for (size_t g = 0; g < WT_THRESHOLD_GROWTHS; g++) {
        const wt_affine_fit *fit = &summary->fits[g].fit;
        wt_growth growth = summary->fits[g].growth;
        double *y = curve + (g + 1) * CURVE;
        for (size_t i = 0; i < CURVE; i++) {
            double x = first * pow(last / first, (double)i / (CURVE - 1));
            double f = growth == WT_GROWTH_LOG ? log(x) : growth == WT_GROWTH_SQRT ? sqrt(x) : x;
            curve[i] = x;
            y[i] = fit->intercept.value + fit->slope.value * f;
        }
        snprintf(names[g], NAME, "fit: %s", wt_growth_name(growth));
        out[count++] = cli_series(names[g], WT_MARK_LINE, law_looks[g], CURVE, curve, y);
    }
    return count;
}

/* A series a length. */
static wt_series *take_rates(wt_arena *arena, const wt_threshold_summary *summary) {
    size_t n = summary->cell_count;
    double *at = WT_TAKE(arena, double, 4, n); /* m, rate, low, high */
    char(*names)[NAME] = wt_arena_take(arena, NAME, false, WT_SIDES(summary->point_count));
    wt_series *out = WT_TAKE(arena, wt_series, summary->point_count);
    if (arena->status != WT_OK)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const wt_threshold_cell *cell = &summary->cells[i];
        at[i] = (double)cell->samples;
        at[n + i] = cell->rate.value;
        at[2 * n + i] = cell->rate.low;
        at[3 * n + i] = cell->rate.high;
    }
    for (size_t i = 0; i < summary->point_count; i++) {
        const wt_threshold_point *point = &summary->points[i];
        const double *own = at + point->first_cell;
        snprintf(names[i], NAME, "T=%zu", point->length);
        out[i] = cli_series(names[i], WT_MARK_POINTS, length_look(i), point->cells, own, own + n);
        out[i].low = own + 2 * n;
        out[i].high = own + 3 * n;
    }
    return out;
}

wt_status cli_threshold_draw(cli_call *call, const wt_threshold_summary *summary,
                             const char *path) {
    wt_arena arena = wt_arena_start(call->context, "a figure");
    wt_series growth[WT_THRESHOLD_GROWTHS + 1];
    size_t growths = take_growth(&arena, summary, growth);
    wt_series *rates = take_rates(&arena, summary);
    const wt_axis samples = {.label = "samples m"}, critical = {.label = "critical m"},
                  rate = {.label = "successes / trials", .low = 0, .high = 1.02},
                  length = {.label = "length T", .log = true};
    const wt_panel panels[] = {
        cli_panel("success rate", samples, rate, rates, summary->point_count),
        cli_panel("critical samples", length, critical, growth, growths),
    };
    wt_figure figure = {WT_FIGURE_SIZES, .panels = panels, .panel_count = 2};
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(cli_plot(call, &figure, path));
done:
    wt_arena_free(&arena);
    return status;
}
