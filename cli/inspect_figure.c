#include "inspect_figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plot.h"
#include "wattle/memory.h"

enum {
    CROP = 40,  /* rows and columns shown of a large theta: a diagonal one can see */
    REACH = 24, /* diagonals on either side */
    POINTS = 2 * REACH + 1,
    HEADS_MOST = 16,
    HEADS_A_ROW = 4,
};
#define HEAT_LIMIT 4.0

/* What the panels of one head point to. */
typedef struct {
    char title[48];
    double heat[CROP * CROP]; /* theta / spread off the diagonal */
    double mean[POINTS], middle[POINTS], low[POINTS], high[POINTS];
    wt_series series[2];
} head_panels;

static void fill_heat(const wt_products *products, size_t h, double unit, size_t crop,
                      double *heat) {
    size_t d = wt_products_dim(products);
    const double *theta = wt_products_theta(products) + h * d * d;
    for (size_t i = 0; i < crop; i++)
        for (size_t j = 0; j < crop; j++)
            heat[i * crop + j] = theta[i * d + j] / unit;
}

/* The band holds a diagonal's mean in 95 of 100 cases if its entries are like those off the main
 * one: off_mean +- 1.96 off_spread / sqrt(entries on it). */
static wt_status fill_profile(cli_call *call, const wt_products *products, size_t h,
                              const wt_head_summary *head, double unit, size_t reach,
                              const double *offsets, head_panels *out) {
    wt_status status = wt_products_profile(call->context, products, h, reach, out->mean);
    if (status != WT_OK)
        return status;
    for (size_t at = 0; at <= 2 * reach; at++) {
        double entries = (double)wt_products_dim(products) - fabs(offsets[at]);
        double half = 1.96 / sqrt(entries) * (isfinite(head->off_spread) ? head->off_spread : 0);
        double middle = isfinite(head->off_mean) ? head->off_mean : 0;
        out->mean[at] /= unit;
        out->middle[at] = middle / unit;
        out->low[at] = (middle - half) / unit;
        out->high[at] = (middle + half) / unit;
    }
    size_t count = 2 * reach + 1;
    out->series[0] =
        cli_series("95% if like the rest", WT_MARK_BAND, 7, count, offsets, out->middle);
    out->series[0].low = out->low;
    out->series[0].high = out->high;
    out->series[1] =
        cli_series("mean along a diagonal", WT_MARK_LINE, 0, count, offsets, out->mean);
    return WT_OK;
}

/* Puts the head's panels at their places: heads of a row of the figure side by side, profiles in
 * the row below the heat maps. */
static void place(const head_panels *head, size_t h, size_t a_row, size_t crop, bool text,
                  wt_panel *panels) {
    size_t group = h / a_row, column = h % a_row;
    const wt_axis offset = {.label = "offset j - i"}, mean = {.label = "mean / spread"};
    wt_panel profile = cli_panel(head->title, offset, mean, head->series, 2);
    if (text) {
        panels[h] = profile;
        return;
    }
    profile.title = NULL;
    panels[2 * group * a_row + column] = (wt_panel){.title = head->title,
                                                    .x = {.label = "key coordinate j"},
                                                    .y = {.label = "query coordinate i"},
                                                    .heat = head->heat,
                                                    .heat_rows = crop,
                                                    .heat_columns = crop};
    panels[(2 * group + 1) * a_row + column] = profile;
}

wt_status cli_inspect_plot(cli_call *call, const wt_products *products,
                           const wt_head_summary *heads, size_t count, const char *path) {
    bool text = strcmp(path, "-") == 0;
    size_t shown = count < HEADS_MOST ? count : HEADS_MOST;
    size_t a_row = shown < HEADS_A_ROW ? shown : HEADS_A_ROW;
    size_t groups = (shown + a_row - 1) / a_row;
    size_t d = wt_products_dim(products), crop = d < CROP ? d : CROP,
           reach = d <= REACH ? d - 1 : REACH;
    head_panels *all = NULL;
    wt_panel *panels = NULL;
    double offsets[POINTS];
    wt_status status;
    if (shown < count)
        wt_remark(call->context, "the picture shows the first %zu of %zu heads", shown, count);
    for (size_t at = 0; at <= 2 * reach; at++)
        offsets[at] = (double)at - (double)reach;
    WT_TRY(WT_NEW_ZERO(call->context, &all, shown, "the picture"));
    WT_TRY(WT_NEW3_ZERO(call->context, &panels, 2, groups, a_row, "the picture"));
    for (size_t h = 0; h < shown; h++) {
        /* Without spread off the diagonal (theta = c I) the diagonal itself is the measure. */
        double unit = heads[h].off_spread > 0 ? heads[h].off_spread : fabs(heads[h].diagonal_mean);
        unit = unit > 0 ? unit : 1;
        snprintf(all[h].title, sizeof all[h].title, "head %zu: %.1f std errors", heads[h].head,
                 heads[h].standard_errors);
        fill_heat(products, heads[h].head, unit, crop, all[h].heat);
        WT_TRY(
            fill_profile(call, products, heads[h].head, &heads[h], unit, reach, offsets, &all[h]));
        place(&all[h], h, a_row, crop, text, panels);
    }
    wt_figure figure = {WT_FIGURE_SIZES,
                        .panels = panels,
                        .panel_count = text ? shown : 2 * groups * a_row,
                        .columns = a_row,
                        .share_y = true,
                        .heat_limit = HEAT_LIMIT,
                        .legend = "theta / spread"};
    WT_TRY(cli_plot(call, &figure, path));
done:
    wt_release(all);
    wt_release(panels);
    return status;
}

/* The end of a scale: a size that nine heads of ten do not pass, rounded up to 1, 2 or 5 times a
 * power of ten; the few others have the colour at its end. */
static double scale_end(double *sizes, size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && sizes[k - 1] > sizes[k]; k--) {
            double other = sizes[k];
            sizes[k] = sizes[k - 1];
            sizes[k - 1] = other;
        }
    double end = count > 0 ? sizes[(count - 1) * 9 / 10] : 0;
    if (!(end > 0))
        return 1;
    double power = pow(10, floor(log10(end)));
    double steps[] = {1, 2, 5, 10};
    for (size_t i = 0; i < 4; i++)
        if (end <= steps[i] * power)
            return steps[i] * power;
    return 10 * power;
}

wt_status cli_inspect_plot_grid(cli_call *call, const wt_head_summary *heads, size_t count,
                                const char *path) {
    size_t first = heads[0].layer, last = first, left = heads[0].head, right = left, sized = 0;
    double *errors = NULL, *ranks = NULL, *sizes = NULL, most = 1;
    wt_status status;
    for (size_t i = 0; i < count; i++) {
        first = heads[i].layer < first ? heads[i].layer : first;
        last = heads[i].layer > last ? heads[i].layer : last;
        left = heads[i].head < left ? heads[i].head : left;
        right = heads[i].head > right ? heads[i].head : right;
        most = fmax(most, heads[i].effective_rank);
    }
    size_t rows = last - first + 1, columns = right - left + 1;
    WT_TRY(WT_NEW2(call->context, &errors, rows, columns, "the picture"));
    WT_TRY(WT_NEW2(call->context, &ranks, rows, columns, "the picture"));
    WT_TRY(WT_NEW(call->context, &sizes, count, "the picture"));
    for (size_t i = 0; i < rows * columns; i++)
        errors[i] = ranks[i] = NAN;
    for (size_t i = 0; i < count; i++) {
        size_t at = (heads[i].layer - first) * columns + heads[i].head - left;
        errors[at] = heads[i].standard_errors;
        ranks[at] = heads[i].effective_rank;
        if (isfinite(errors[at]))
            sizes[sized++] = fabs(errors[at]);
    }
    double end = scale_end(sizes, sized);
    wt_axis across = {.label = "head", .low = (double)left},
            down = {.label = "layer", .low = (double)first};
    wt_panel panels[] = {{.title = "diagonal of the query-key product",
                          .x = across,
                          .y = down,
                          .heat = errors,
                          .heat_rows = rows,
                          .heat_columns = columns,
                          .heat_low = -end,
                          .heat_high = end,
                          .heat_legend = "standard errors"},
                         {.title = "its effective rank",
                          .x = across,
                          .y = down,
                          .heat = ranks,
                          .heat_rows = rows,
                          .heat_columns = columns,
                          .heat_low = 0,
                          .heat_high = ceil(most),
                          .heat_legend = "effective rank"}};
    double aspect = (double)rows / (double)columns;
    wt_figure figure = {WT_FIGURE_SIZES, .panels = panels, .panel_count = 2, .columns = 1,
                        .heat_aspect = fmax(0.15, fmin(1.5, aspect))};
    WT_TRY(cli_plot(call, &figure, path));
done:
    wt_release(errors);
    wt_release(ranks);
    wt_release(sizes);
    return status;
}
