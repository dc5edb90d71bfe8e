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
    const wt_sample *of;
    double *weights;    /* how often each draw is in the resample */
    double *low, *high; /* of every resample: what the effect is, and may be where it is not told */
    double *x, *y, *uniform;
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

/* The exponent of one line of means; NaN also where no draw of the resample is at an x. */
static double exponent_of_means(const means *all, const wt_line *line) {
    const wt_line_point *points = all->of->lines.points;
    size_t groups = 0, end = line->first + line->count;
    for (size_t begin = line->first, i; begin < end; begin = i) {
        double sum = 0, weight = 0;
        for (i = begin; i < end && points[i].x == points[begin].x; i++) {
            sum += all->weights[all->of->draw[i]] * points[i].y;
            weight += all->weights[all->of->draw[i]];
            wt_shelf_pass(&all->of->lines.shelf, i);
        }
        if (weight == 0)
            return NAN;
        all->x[groups] = points[begin].x;
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
    const wt_lines *lines = &all->of->lines;
    double sum = 0;
    for (size_t i = 0; i < lines->line_count; i++)
        sum += exponent_of_means(all, &lines->lines[i]) / (double)lines->line_count;
    return sum;
}

/* Resample 0 holds every draw once. */
static void resample(means *all, size_t number) {
    const size_t draws = all->of->draws;
    for (size_t i = 0; i < draws; i++)
        all->weights[i] = number == 0;
    if (number == 0)
        return;
    wt_random_uniform(wt_stream_for(WT_CLAIM_SEED, "resample", number), 0, draws, all->uniform);
    for (size_t i = 0; i < draws; i++)
        all->weights[(size_t)(all->uniform[i] * (double)draws)]++;
}

/* An end is open where more than 2.5% of the resamples may lie beyond any number. */
static wt_status bootstrap(means *all, double value, wt_interval *out) {
    for (size_t draw = 1; draw <= WT_BOOTSTRAP_DRAWS; draw++) {
        WT_PASS(wt_context_check_cancelled(all->of->context));
        resample(all, draw);
        double slope = mean_exponent(all);
        all->low[draw - 1] = isnan(slope) ? -INFINITY : slope;
        all->high[draw - 1] = isnan(slope) ? INFINITY : slope;
    }
    *out = (wt_interval){value, wt_draws_interval(value, all->low, WT_BOOTSTRAP_DRAWS).low,
                         wt_draws_interval(value, all->high, WT_BOOTSTRAP_DRAWS).high};
    return WT_OK;
}

static wt_status measure(wt_sample *sample,
                         double (*exponent)(const double *x, const double *y, size_t count),
                         wt_evidence *out) {
    const size_t count = sample->lines.point_count;
    if (count == 0)
        return WT_OK;
    means all = {.of = sample,
                 .weights = WT_TAKE(&sample->arena, double, sample->draws),
                 .low = WT_TAKE(&sample->arena, double, WT_BOOTSTRAP_DRAWS),
                 .high = WT_TAKE(&sample->arena, double, WT_BOOTSTRAP_DRAWS),
                 .x = WT_TAKE(&sample->arena, double, count),
                 .y = WT_TAKE(&sample->arena, double, count),
                 .uniform = WT_TAKE(&sample->arena, double, sample->draws),
                 .exponent = exponent};
    WT_PASS(sample->arena.status);
    out->repetitions = fewest(&sample->lines);
    resample(&all, 0);
    double value = mean_exponent(&all);
    out->effect.value = value;
    if (!isfinite(value)) /* measured, and no mean to take the log of */
        out->effect = (wt_interval){NAN, -INFINITY, INFINITY};
    if (!isfinite(value) || out->repetitions < 2)
        return WT_OK;
    WT_PASS(bootstrap(&all, value, &out->effect));
    out->effect = widened(out->effect, out->repetitions);
    return WT_OK;
}

static wt_status measure_mean_exponent(wt_sample *sample, wt_evidence *out) {
    return measure(sample, slope_to_zero, out);
}

static wt_status measure_mean_growth(wt_sample *sample, wt_evidence *out) {
    WT_PASS(measure(sample, wt_growth_exponent, out));
    out->searched = true;
    if (isnan(out->effect.value)) /* fewer than three x */
        out->effect = (wt_interval){NAN, NAN, NAN};
    if (isnan(out->effect.low))
        return WT_OK;
    out->effect.low = fmax(out->effect.low, WT_MIN_EXPONENT);
    out->effect.high = fmin(out->effect.high, WT_MAX_EXPONENT);
    return WT_OK;
}

const wt_effect wt_effect_mean_exponent = {"exponent", .measure = measure_mean_exponent};
const wt_effect wt_effect_mean_growth = {"exponent", .measure = measure_mean_growth};
