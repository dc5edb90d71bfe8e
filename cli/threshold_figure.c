/* A search as a picture. */
#include <math.h>
#include <stdio.h>

#include "plot.h"
#include "threshold_show.h"
#include "wattle/memory.h"

enum { CURVE = 60, NAME = 32 };

typedef struct {
    double *points; /* (4, point_count): T, m, low, high */
    double *rates;  /* (4, cell_count): m, rate, low, high */
    double curve[WT_THRESHOLD_GROWTHS + 1][CURVE];
    unsigned char *open; /* (point_count) */
    char (*names)[NAME], laws[WT_THRESHOLD_GROWTHS][NAME];
    wt_series *lengths;
    wt_series growth[WT_THRESHOLD_GROWTHS + 1];
    size_t growths;
} sheet;

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
static void fill_critical(const wt_threshold_summary *summary, sheet *out) {
    size_t n = summary->point_count, count = 0;
    for (size_t i = 0; i < n; i++) {
        const wt_threshold_point *point = &summary->points[i];
        wt_interval fitted = point->fitted;
        bool found = isfinite(fitted.value);
        if (point->cells == 0)
            continue;
        double least = (double)summary->cells[point->first_cell].samples;
        double most = (double)summary->cells[point->first_cell + point->cells - 1].samples;
        bool below = !found && fitted.value < 0;
        double value = found ? fitted.value : below ? least : most;
        out->points[count] = (double)point->length;
        out->points[n + count] = value;
        out->points[2 * n + count] = !found ? value : isfinite(fitted.low) ? fitted.low : least;
        out->points[3 * n + count] = !found ? value : isfinite(fitted.high) ? fitted.high : most;
        out->open[count] =
            found ? (unsigned char)((isfinite(fitted.low) ? 0 : WT_OPEN_LOW) |
                                    (isfinite(fitted.high) ? 0 : WT_OPEN_HIGH))
                  : (unsigned char)(WT_OPEN_VALUE | (below ? WT_OPEN_LOW : WT_OPEN_HIGH));
        count++;
    }
    out->growth[out->growths++] = (wt_series){.name = "critical m",
                                              .mark = WT_MARK_DOTS,
                                              .look = CRITICAL,
                                              .count = count,
                                              .x = out->points,
                                              .y = out->points + n,
                                              .low = out->points + 2 * n,
                                              .high = out->points + 3 * n,
                                              .open = out->open};
}

/* The critical m, then the fitted curves. */
static void fill_growth(const wt_threshold_summary *summary, sheet *out) {
    size_t n = summary->point_count;
    double first = (double)summary->points[0].length, last = (double)summary->points[n - 1].length;
    fill_critical(summary, out);
    for (size_t g = 0; summary->fitted_points >= 3 && g < WT_THRESHOLD_GROWTHS; g++) {
        const wt_affine_fit *fit = &summary->fits[g].fit;
        for (size_t i = 0; i < CURVE; i++) {
            double x = first * pow(last / first, (double)i / (CURVE - 1));
            double f = summary->fits[g].growth == WT_GROWTH_LOG    ? log(x)
                       : summary->fits[g].growth == WT_GROWTH_SQRT ? sqrt(x)
                                                                   : x;
            out->curve[WT_THRESHOLD_GROWTHS][i] = x;
            out->curve[g][i] = fit->intercept.value + fit->slope.value * f;
        }
        snprintf(out->laws[g], NAME, "fit: %s", wt_growth_name(summary->fits[g].growth));
        out->growth[out->growths++] = (wt_series){.name = out->laws[g],
                                                  .mark = WT_MARK_LINE,
                                                  .look = law_looks[g],
                                                  .count = CURVE,
                                                  .x = out->curve[WT_THRESHOLD_GROWTHS],
                                                  .y = out->curve[g]};
    }
}

static void fill_rates(const wt_threshold_summary *summary, sheet *out) {
    size_t n = summary->cell_count;
    for (size_t i = 0; i < n; i++) {
        const wt_threshold_cell *cell = &summary->cells[i];
        const double numbers[] = {(double)cell->samples, cell->rate.value, cell->rate.low,
                                  cell->rate.high};
        for (size_t k = 0; k < 4; k++)
            out->rates[k * n + i] = numbers[k];
    }
    for (size_t i = 0; i < summary->point_count; i++) {
        const wt_threshold_point *point = &summary->points[i];
        const double *at = out->rates + point->first_cell;
        snprintf(out->names[i], NAME, "T=%zu", point->length);
        out->lengths[i] = (wt_series){.name = out->names[i],
                                      .look = length_look(i),
                                      .count = point->cells,
                                      .x = at,
                                      .y = at + n,
                                      .low = at + 2 * n,
                                      .high = at + 3 * n};
    }
}

wt_status cli_threshold_draw(cli_call *call, const wt_threshold_summary *summary,
                             const char *path) {
    wt_context *context = call->context;
    sheet *out = NULL;
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, &out, 1, "a figure"));
    WT_TRY(WT_NEW(context, &out->points, 4 * summary->point_count, "a figure"));
    WT_TRY(WT_NEW_ZERO(context, &out->open, summary->point_count, "a figure"));
    WT_TRY(WT_NEW(context, &out->rates, 4 * summary->cell_count, "a figure"));
    WT_TRY(WT_NEW(context, &out->names, summary->point_count, "a figure"));
    WT_TRY(WT_NEW(context, &out->lengths, summary->point_count, "a figure"));
    fill_growth(summary, out);
    fill_rates(summary, out);
    const wt_panel panels[] = {
        {.title = "success rate",
         .x = {.label = "samples m"},
         .y = {.label = "successes / trials", .low = 0, .high = 1.02},
         .series = out->lengths,
         .series_count = summary->point_count},
        {.title = "critical samples",
         .x = {.label = "length T", .log = true},
         .y = {.label = "critical m"},
         .series = out->growth,
         .series_count = out->growths},
    };
    wt_figure figure = {WT_FIGURE_SIZES, .panels = panels, .panel_count = 2};
    WT_TRY(cli_plot(call, &figure, path));
done:
    if (out != NULL) {
        wt_release(out->points);
        wt_release(out->open);
        wt_release(out->rates);
        wt_release(out->names);
        wt_release(out->lengths);
    }
    wt_release(out);
    return status;
}
