#include "lab/statistics_growth.h"

#include <math.h>

#include "base/memory.h"
#include "wattle/random.h"

#define NORMALS      256  /* drawn at a time */
#define NORMALS_MOST 1000 /* drawn one by one; beyond, by Wilson and Hilferty's cube root */

/* Chi-square with so many degrees of freedom; *at moves on in the stream. */
static double chi_square(wt_stream stream, uint64_t *at, size_t count) {
    double normals[NORMALS] = {0}, sum = 0;
    if (count > NORMALS_MOST) {
        double part = 2 / (9 * (double)count);
        wt_random_normal(stream, (*at)++, 1, normals);
        return (double)count * pow(1 - part + normals[0] * sqrt(part), 3);
    }
    for (size_t left = count; left > 0;) {
        size_t now = left < NORMALS ? left : NORMALS;
        wt_random_normal(stream, *at, now, normals);
        for (size_t i = 0; i < now; i++)
            sum += normals[i] * normals[i];
        *at += now;
        left -= now;
    }
    return sum;
}

/* Runs on other data find more or less easily, so that their attempts tell less than as many of one
 * kind: four fifths, by which intervals hold the truth where chances differ by e^(+-0.5) between
 * runs (scripts/verdict-coverage --part costs). */
#define ATTEMPTS_THAT_TELL 0.8

/* Degrees of freedom of chi-squares whose ratio has Jeffreys' law after so many attempts. */
static size_t freedom(size_t attempts) {
    return (size_t)lround(2 * ATTEMPTS_THAT_TELL * (double)attempts) + 1;
}

/* The log of the cost at a size, drawn. */
static double draw_cost(const wt_spent *point, wt_stream stream, uint64_t *at) {
    double normal;
    wt_random_normal(stream, (*at)++, 1, &normal);
    double found = chi_square(stream, at, freedom(point->found));
    double in_vain = chi_square(stream, at, freedom(point->in_vain));
    return point->log_price + point->error * normal - log(found / (found + in_vain));
}

/* The same at the most likely chance; half a find where there was none. */
static double cost(const wt_spent *point) {
    double found = point->found > 0 ? (double)point->found : 0.5;
    return point->log_price - log(found / (found + (double)point->in_vain));
}

/* The least and the largest exponent when costs that are bounded from below alone are more, by any
 * factor: one at the end of the sizes takes the exponent up, one in the middle may take it down. */
static wt_interval widest(const wt_context *context, const wt_spent *points, size_t count,
                          const double *x, double *y) {
    double p = wt_growth_exponent(x, y, count);
    wt_interval all = {p, p, p};
    bool bounded = false;
    for (size_t i = 0; i < count; i++)
        bounded = bounded || points[i].found == 0;
    for (double step = 1; bounded && step <= 1024 && !wt_context_cancelled(context); step *= 2) {
        for (size_t i = 0; i < count; i++)
            y[i] += points[i].found == 0 ? step : 0;
        p = wt_growth_exponent(x, y, count);
        all = (wt_interval){p, fmin(all.low, p), fmax(all.high, p)};
    }
    return all;
}

wt_status wt_spent_growth(wt_context *context, const wt_spent *points, size_t count, uint64_t seed,
                          wt_interval *out) {
    double *room = NULL;
    size_t found = 0;
    wt_status status;
    *out = (wt_interval){NAN, NAN, NAN};
    WT_TRY(WT_NEW(context, &room, 2 * count + 2 * WT_BOOTSTRAP_DRAWS, "growth"));
    double *x = room, *y = x + count, *lows = y + count, *highs = lows + WT_BOOTSTRAP_DRAWS;
    for (size_t i = 0; i < count; i++) {
        x[i] = points[i].x;
        y[i] = cost(&points[i]);
        found += points[i].found;
    }
    double value = found > 0 ? wt_growth_exponent(x, y, count) : NAN;
    if (isnan(value))
        goto done;
    for (size_t draw = 0; draw < WT_BOOTSTRAP_DRAWS; draw++) {
        wt_stream stream = wt_stream_for(seed, "costs", draw);
        uint64_t at = 0;
        for (size_t i = 0; i < count; i++)
            y[i] = draw_cost(&points[i], stream, &at);
        wt_interval here = widest(context, points, count, x, y);
        WT_TRY(wt_context_check_cancelled(context));
        lows[draw] = here.low;
        highs[draw] = here.high;
    }
    *out = (wt_interval){value, wt_draws_interval(0, lows, WT_BOOTSTRAP_DRAWS).low,
                         wt_draws_interval(0, highs, WT_BOOTSTRAP_DRAWS).high};
done:
    wt_release(room);
    return status;
}
