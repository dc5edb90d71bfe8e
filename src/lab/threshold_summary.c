/* Critical m at each length, and how it grows. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "lab/threshold_parts.h"

/* The cells of one length in increasing m, behind those of the others. */
static void add_cells(const wt_threshold *threshold, size_t length, wt_threshold_summary *out) {
    size_t m = 0;
    while ((m = wt_threshold_tried(threshold, length, m)) != 0) {
        wt_threshold_tally found = wt_threshold_count(threshold, length, m);
        out->cells[out->cell_count++] =
            (wt_threshold_cell){.length = length,
                                .samples = m,
                                .successes = found.successes,
                                .trials = found.trials,
                                .rate = wt_rate_interval(found.successes, found.trials)};
    }
}

static void find_critical(const wt_threshold *threshold, wt_threshold_point *point) {
    const wt_threshold_spec *setting = &threshold->setting;
    wt_threshold_next(threshold, point->length, 0, &point->critical);
    point->censoring = point->critical == 0              ? WT_CENSORING_ABOVE
                       : point->critical == setting->low ? WT_CENSORING_BELOW
                                                         : WT_CENSORING_NO;
}

/* The three growths through the fitted m; x and y (points): scratch. */
static wt_status fit_growths(wt_context *context, uint64_t seed, double *x, double *y,
                             wt_threshold_summary *out) {
    static const wt_growth growths[] = {WT_GROWTH_LOG, WT_GROWTH_SQRT, WT_GROWTH_LINEAR};
    for (size_t i = 0; i < out->point_count; i++) {
        if (!isfinite(out->points[i].fitted.value))
            continue;
        x[out->fitted_points] = (double)out->points[i].length;
        y[out->fitted_points++] = out->points[i].fitted.value;
    }
    for (size_t g = 0; out->fitted_points >= 3 && g < WT_THRESHOLD_GROWTHS; g++) {
        out->fits[g].growth = growths[g];
        WT_PASS(wt_affine_fit_compute(context, growths[g], x, y, out->fitted_points, seed,
                                      &out->fits[g].fit));
    }
    return WT_OK;
}

static wt_status fit_all(wt_context *context, const wt_threshold_spec *setting,
                         wt_threshold_summary *out) {
    wt_arena arena = wt_arena_start(context, "a fit");
    wt_trials *trials = WT_TAKE(&arena, wt_trials, out->cell_count);
    wt_critical *sizes = WT_TAKE(&arena, wt_critical, out->point_count);
    double *x = WT_TAKE(&arena, double, out->point_count);
    double *y = WT_TAKE(&arena, double, out->point_count);
    size_t count = 0;
    wt_status status;
    WT_TRY(arena.status);
    for (size_t i = 0; i < out->cell_count; i++)
        trials[i] = (wt_trials){(double)out->cells[i].samples, out->cells[i].successes,
                                out->cells[i].trials};
    for (size_t i = 0; i < out->point_count; i++) {
        wt_threshold_point *point = &out->points[i];
        point->fitted = (wt_interval){NAN, NAN, NAN};
        if (point->cells == 0)
            continue;
        WT_TRY(wt_critical_fit(context, (double)point->length, trials + point->first_cell,
                               point->cells, setting->rate, &sizes[count]));
        point->fitted = sizes[count++].m;
    }
    WT_TRY(fit_growths(context, setting->seed, x, y, out));
    WT_TRY(wt_critical_growth(context, sizes, count, &out->exponent));
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_threshold_summarise(wt_context *context, const wt_threshold *threshold,
                                 wt_threshold_summary *out) {
    const wt_threshold_spec *setting = &threshold->setting;
    wt_threshold_summary found = {0};
    wt_status status;
    WT_TRY(wt_sized_check(context, "wt_threshold_summary", out, sizeof found));
    wt_sized_write(out, &found, sizeof found);
    WT_TRY(WT_NEW(context, &found.cells, threshold->count, "cells")); /* each has a trial */
    WT_TRY(WT_NEW_ZERO(context, &found.points, setting->length_count, "thresholds"));
    for (size_t i = 0; i < setting->length_count; i++) {
        wt_threshold_point *point = &found.points[found.point_count++];
        point->length = setting->lengths[i];
        point->first_cell = found.cell_count;
        add_cells(threshold, point->length, &found);
        point->cells = found.cell_count - point->first_cell;
        if (point->cells > 0)
            point->largest = found.cells[found.cell_count - 1].samples;
        find_critical(threshold, point);
    }
    WT_TRY(fit_all(context, setting, &found));
    wt_sized_write(out, &found, sizeof found);
done:
    if (status != WT_OK)
        wt_threshold_summary_free(&found);
    return status;
}

void wt_threshold_summary_free(wt_threshold_summary *summary) {
    if (summary == NULL)
        return;
    wt_release(summary->points);
    wt_release(summary->cells);
    summary->points = NULL;
    summary->cells = NULL;
    summary->point_count = summary->cell_count = 0;
}
