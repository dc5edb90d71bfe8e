/* Critical sizes against T: ours with intervals, the published ones, and three growth laws. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "lab/statistics_fit.h"
#include "report/chart.h"

enum { LAW_POINTS = 48, LAWS = 3, PUBLISHED = 18 };

/* Edelman et al. 2022, figure 2: T, m and half the length of the bar, read off the plot. */
static const double published[PUBLISHED][3] = {
    {100, 50, 0},      {150, 52.8, 4.5}, {200, 57.7, 4.4},   {250, 56, 4.9},     {300, 69.2, 7.6},
    {350, 61, 6.7},    {400, 79.5, 4.8}, {450, 82.4, 5.7},   {500, 80.4, 8.6},   {550, 85.2, 7.7},
    {600, 94.1, 10},   {650, 96.7, 15},  {700, 88.9, 9.8},   {750, 101.4, 10.7}, {800, 99.7, 12.7},
    {900, 108.4, 3.7}, {1000, 111, 5.2}, {1100, 113.4, 5.7},
};

/* A critical m, or an end of its interval, that the grid of m does not hold stands at the grid's
 * end and is told to be open. */
static void add_measured(wt_chart *chart, const wt_critical *sizes, size_t count) {
    wt_chart_series *out = wt_chart_series_open(chart, count);
    if (out == NULL)
        return;
    snprintf(out->name, sizeof out->name, "measured");
    out->parted = true;
    for (size_t i = 0; i < count; i++) {
        const wt_critical *size = &sizes[i];
        bool bound = size->below || size->above;
        if (!bound && !isfinite(size->m.value))
            continue;
        size_t k = out->count++;
        out->x[k] = size->x;
        out->y[k] = size->above ? size->most : size->below ? size->least : size->m.value;
        out->low[k] = bound ? out->y[k] : size->cut_low ? size->least : size->m.low;
        out->high[k] = bound ? out->y[k] : size->cut_high ? size->most : size->m.high;
        out->cells[k] = size->trials;
        if (bound)
            out->open[k] = WT_OPEN_VALUE | (size->above ? WT_OPEN_HIGH : WT_OPEN_LOW);
        else
            out->open[k] = (unsigned char)((size->cut_low ? WT_OPEN_LOW : 0) |
                                           (size->cut_high ? WT_OPEN_HIGH : 0));
    }
}

static void add_published(wt_chart *chart) {
    wt_chart_series *out = wt_chart_series_open(chart, PUBLISHED);
    if (out == NULL)
        return;
    snprintf(out->name, sizeof out->name, "published");
    out->look = 1;
    out->parted = true;
    out->count = PUBLISHED;
    for (size_t i = 0; i < PUBLISHED; i++) {
        out->x[i] = published[i][0];
        out->y[i] = published[i][1];
        out->low[i] = published[i][1] - published[i][2];
        out->high[i] = published[i][1] + published[i][2];
        out->cells[i] = 40; /* trials, as the paper says */
    }
}

/* a + b f(T) through the critical m that were found, x and y, from the least T to the largest. */
static wt_status add_law(wt_context *context, wt_growth growth, const double *x, const double *y,
                         size_t count, wt_chart *chart) {
    wt_affine_fit fit;
    wt_status status = wt_affine_fit_compute(context, growth, x, y, count, WT_CLAIM_SEED, &fit);
    wt_chart_series *out = status == WT_OK ? wt_chart_series_open(chart, LAW_POINTS) : NULL;
    if (out == NULL)
        return status == WT_OK ? chart->arena.status : status;
    snprintf(out->name, sizeof out->name, "%s%sT, R² %.3f, AIC %.1f",
             growth == WT_GROWTH_LINEAR ? "" : wt_growth_name(growth),
             growth == WT_GROWTH_LINEAR ? "" : " ", fit.r_squared, fit.aic);
    out->line = true;
    out->look = 2 + (size_t)growth;
    out->count = LAW_POINTS;
    for (size_t i = 0; i < LAW_POINTS; i++) {
        double share = (double)i / (LAW_POINTS - 1);
        out->x[i] = x[0] * pow(x[count - 1] / x[0], share);
        out->y[i] = fit.intercept.value + fit.slope.value * wt_growth_at(growth, out->x[i]);
        out->low[i] = out->high[i] = out->y[i];
    }
    return WT_OK;
}

/* The three laws, where enough lengths have a critical m. */
static wt_status add_laws(wt_context *context, const wt_critical *sizes, size_t count,
                          wt_chart *out) {
    double *x = WT_TAKE(&out->arena, double, count), *y = WT_TAKE(&out->arena, double, count);
    size_t found = 0;
    WT_PASS(out->arena.status);
    for (size_t i = 0; i < count; i++)
        if (isfinite(sizes[i].m.value)) {
            x[found] = sizes[i].x;
            y[found++] = sizes[i].m.value;
        }
    for (size_t law = 0; law < LAWS && found >= 3; law++)
        WT_PASS(add_law(context, (wt_growth)law, x, y, found, out));
    return WT_OK;
}

/* The part of the claim table that is about critical sizes. */
static const wt_claim_part *threshold_part(void) {
    const wt_claim_part *part;
    for (size_t i = 0; (part = wt_claim_part_at(i)) != NULL; i++)
        if (part->measure == &wt_effect_threshold)
            return part;
    return NULL;
}

/* The cells that the critical sizes are made of. */
static wt_status note_cells(const wt_results *results, const wt_claim_part *part, wt_chart *out) {
    uint32_t experiment = wt_results_experiment(results, part->experiment);
    bool *fits = WT_TAKE(&out->arena, bool, results->setting_count);
    if (out->arena.status != WT_OK)
        return out->arena.status;
    for (uint32_t i = 0; i < results->setting_count; i++)
        fits[i] = results->settings[i].experiment == experiment &&
                  wt_setting_fits(results, i, part->where);
    for (size_t i = 0; i < results->done.count; i++) {
        const wt_result *cell = wt_results_cell(results, i);
        if (fits[cell->setting])
            wt_chart_note(out, cell->setting, cell->seed, cell->rep);
        wt_results_pass(results, i);
    }
    return WT_OK;
}

wt_status wt_chart_critical(wt_context *context, const wt_results *results,
                            const wt_chart_spec *spec, wt_chart *out) {
    (void)spec;
    wt_critical *sizes = NULL;
    size_t count = 0;
    wt_status status;
    WT_TRY(wt_critical_sizes(context, results, threshold_part(), &sizes, &count));
    if (count < 2)
        goto done;
    out->series = WT_TAKE(&out->arena, wt_chart_series, 2 + LAWS);
    WT_TRY(out->arena.status);
    add_measured(out, sizes, count);
    WT_TRY(out->arena.status);
    if (out->series[0].count == 0) {
        wt_chart_free(out);
        goto done;
    }
    WT_TRY(note_cells(results, threshold_part(), out));
    add_published(out);
    WT_TRY(out->arena.status);
    WT_TRY(add_laws(context, sizes, count, out));
done:
    wt_release(sizes);
    return status;
}
