/* Effects that resample repetitions: exponents of means. */
#include <math.h>

#include "lab/claims.h"
#include "lab/statistics_fit.h"
#include "wattle/random.h"

#define NORMAL_97 1.959964 /* quantile 97.5% of the normal law */

/* Resamples of n are narrower than n draws of the law, by sqrt((n - 1)/n), and their quantiles take
 * the spread as known: both are made good as Student's t does. */
static wt_interval widened(wt_interval from, size_t units) {
    double n = (double)units;
    double factor = wt_student_quantile(0.975, n - 1) / NORMAL_97 * sqrt(n / (n - 1));
    return (wt_interval){from.value, from.value - factor * (from.value - from.low),
                         from.value + factor * (from.high - from.value)};
}

typedef struct {
    wt_lines lines;
    wt_arena arena;     /* holds the arrays below */
    uint32_t *unit;     /* of every point */
    double *weights;    /* how often each unit is in the resample */
    double *low, *high; /* of every resample: what the effect is, and may be where it is not told */
    double *x, *y, *uniform;
    size_t units;
    double (*exponent)(const double *x, const double *y, size_t count);
} means;

/* The slope of log y against log x, where a y that is not above 0 counts as one that goes there: it
 * takes the slope to an infinity, or to none that could be told (NaN). */
static double slope_to_zero(const double *x, const double *y, size_t count) {
    double mean = 0, product = 0, square = 0;
    for (size_t i = 0; i < count; i++)
        mean += log(x[i]) / (double)count;
    for (size_t i = 0; i < count; i++) {
        double away = log(x[i]) - mean;
        if (!(y[i] > 0) && fabs(away) < 1e-9) /* in the middle but for rounding */
            return NAN;
        product += away * (y[i] > 0 ? log(y[i]) : -INFINITY);
        square += away * away;
    }
    return product / square;
}

/* The exponent of one line of means; NaN also where no unit of the resample is at an x. */
static double exponent_of_means(const means *all, const wt_line *line) {
    size_t groups = 0, end = line->first + line->count;
    for (size_t begin = line->first, i; begin < end; begin = i) {
        double sum = 0, weight = 0;
        for (i = begin; i < end && all->lines.points[i].x == all->lines.points[begin].x; i++) {
            sum += all->weights[all->unit[i]] * all->lines.points[i].y;
            weight += all->weights[all->unit[i]];
        }
        if (weight == 0)
            return NAN;
        all->x[groups] = all->lines.points[begin].x;
        all->y[groups++] = sum / weight;
    }
    return all->exponent(all->x, all->y, groups);
}

/* The fewest points at any x of any line: what the widening is for. */
static size_t fewest(const wt_lines *lines) {
    size_t least = SIZE_MAX;
    for (size_t begin = 0, end; begin < lines->point_count; begin = end) {
        for (end = begin + 1; end < lines->point_count &&
                              lines->points[end].line == lines->points[begin].line &&
                              lines->points[end].x == lines->points[begin].x;)
            end++;
        least = end - begin < least ? end - begin : least;
    }
    return least;
}

static double mean_exponent(const means *all) {
    double sum = 0;
    for (size_t i = 0; i < all->lines.line_count; i++)
        sum += exponent_of_means(all, &all->lines.lines[i]) / (double)all->lines.line_count;
    return sum;
}

/* Draw 0 holds every unit once. */
static void resample(means *all, size_t draw) {
    for (size_t i = 0; i < all->units; i++)
        all->weights[i] = draw == 0;
    if (draw == 0)
        return;
    wt_random_uniform(wt_stream_for(WT_CLAIM_SEED, "resample", draw), 0, all->units, all->uniform);
    for (size_t i = 0; i < all->units; i++)
        all->weights[(size_t)(all->uniform[i] * (double)all->units)]++;
}

static wt_status means_open(wt_context *context, const wt_results *results,
                            const wt_lines_query *query, means *out) {
    out->arena = wt_arena_start(context, "means");
    WT_PASS(wt_lines_find(context, results, query, &out->lines));
    size_t count = out->lines.point_count;
    out->unit = WT_TAKE(&out->arena, uint32_t, count);
    out->weights = WT_TAKE(&out->arena, double, count);
    out->x = WT_TAKE(&out->arena, double, count);
    out->y = WT_TAKE(&out->arena, double, count);
    out->low = WT_TAKE(&out->arena, double, WT_BOOTSTRAP_DRAWS);
    out->high = WT_TAKE(&out->arena, double, WT_BOOTSTRAP_DRAWS);
    WT_PASS(out->arena.status);
    WT_PASS(wt_number_draws(context, out->lines.points, count, out->unit, &out->units));
    out->uniform = WT_TAKE(&out->arena, double, out->units);
    return out->arena.status;
}

/* An end is open where more than 2.5% of the resamples may lie beyond any number. */
static wt_status bootstrap(wt_context *context, means *all, double value, wt_interval *out) {
    for (size_t draw = 1; draw <= WT_BOOTSTRAP_DRAWS; draw++) {
        wt_status status = wt_context_check_cancelled(context);
        if (status != WT_OK)
            return status;
        resample(all, draw);
        double slope = mean_exponent(all);
        all->low[draw - 1] = isnan(slope) ? -INFINITY : slope;
        all->high[draw - 1] = isnan(slope) ? INFINITY : slope;
    }
    *out = (wt_interval){value, wt_draws_interval(value, all->low, WT_BOOTSTRAP_DRAWS).low,
                         wt_draws_interval(value, all->high, WT_BOOTSTRAP_DRAWS).high};
    return WT_OK;
}

static wt_status measure(wt_context *context, const wt_results *results, const wt_claim_part *part,
                         double (*exponent)(const double *x, const double *y, size_t count),
                         wt_evidence *out) {
    const wt_lines_query query = wt_part_query(part, part->x);
    means all = {.exponent = exponent};
    wt_status status;
    *out = (wt_evidence){.effect = {NAN, NAN, NAN}};
    WT_TRY(means_open(context, results, &query, &all));
    *out = wt_part_evidence(&all.lines);
    if (all.units == 0)
        goto done;
    out->repetitions = fewest(&all.lines);
    resample(&all, 0);
    double value = mean_exponent(&all);
    out->effect.value = value;
    if (!isfinite(value)) /* measured, and no mean to take the log of */
        out->effect = (wt_interval){NAN, -INFINITY, INFINITY};
    if (!isfinite(value) || out->repetitions < 2)
        goto done;
    WT_TRY(bootstrap(context, &all, value, &out->effect));
    out->effect = widened(out->effect, out->repetitions);
done:
    wt_lines_free(&all.lines);
    wt_arena_free(&all.arena);
    return status;
}

wt_status wt_effect_mean_exponent(wt_context *context, const wt_results *results,
                                  const wt_claim_part *part, wt_evidence *out) {
    return measure(context, results, part, slope_to_zero, out);
}

wt_status wt_effect_mean_growth(wt_context *context, const wt_results *results,
                                const wt_claim_part *part, wt_evidence *out) {
    wt_status status = measure(context, results, part, wt_growth_exponent, out);
    out->searched = true;
    if (isnan(out->effect.value)) /* fewer than three x */
        out->effect = (wt_interval){NAN, NAN, NAN};
    if (isnan(out->effect.low))
        return status;
    out->effect.low = fmax(out->effect.low, WT_MIN_EXPONENT);
    out->effect.high = fmin(out->effect.high, WT_MAX_EXPONENT);
    return status;
}
