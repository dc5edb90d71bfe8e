#include "lab/statistics_threshold.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "wattle/random.h"

#define NORMALS      256  /* drawn at a time */
#define NORMALS_MOST 1000 /* drawn one by one */

/* Pools neighbours until the means rise: `first` of each pool is where it begins. */
void wt_isotonic(const wt_trials *points, size_t count, const double *rates, double *out) {
    for (size_t i = 0; i < count; i++)
        out[i] = rates != NULL ? rates[i] : (double)points[i].successes / (double)points[i].count;
    for (size_t end = 1; end < count; end++) {
        /* out[0 .. end-1] rises already; the pool that ends at `end` takes in what is above it. */
        double sum = out[end] * (double)points[end].count, weight = (double)points[end].count;
        size_t first = end;
        while (first > 0 && out[first - 1] > sum / weight) {
            first--;
            sum += out[first] * (double)points[first].count;
            weight += (double)points[first].count;
        }
        for (size_t i = first; first < end && i <= end; i++)
            out[i] = sum / weight;
    }
}

double wt_threshold_at(const wt_trials *points, const double *fitted, size_t count, double rate) {
    if (fitted[0] >= rate)
        return -INFINITY;
    size_t above = 1;
    while (above < count && fitted[above] < rate)
        above++;
    if (above == count)
        return INFINITY;
    double share = (rate - fitted[above - 1]) / (fitted[above] - fitted[above - 1]);
    return exp((1 - share) * log(points[above - 1].m) + share * log(points[above].m));
}

double wt_chi_square(wt_stream stream, uint64_t *at, size_t count) {
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

static wt_status check(wt_context *context, const wt_trials *points, size_t count, double rate) {
    if (count == 0 || !(rate > 0 && rate < 1))
        return wt_fail(context, WT_USAGE,
                       "a threshold needs trials and a rate between 0 and 1, not %zu and %g", count,
                       rate);
    for (size_t i = 0; i < count; i++)
        if (!(points[i].m > (i == 0 ? 0 : points[i - 1].m)) || points[i].count == 0 ||
            points[i].successes > points[i].count)
            return wt_fail(context, WT_USAGE,
                           "a threshold needs m above 0 and rising, with trials: point %zu has "
                           "m = %g and %zu successes of %zu",
                           i, points[i].m, points[i].successes, points[i].count);
    return WT_OK;
}

wt_status wt_threshold_fit(wt_context *context, const wt_trials *points, size_t count, double rate,
                           uint64_t seed, wt_interval *out, double *draws) {
    double *rates = NULL, *fitted = NULL, *sorted = NULL;
    wt_status status;
    WT_TRY(check(context, points, count, rate));
    WT_TRY(WT_NEW(context, &rates, count, "a threshold"));
    WT_TRY(WT_NEW(context, &fitted, count, "a threshold"));
    WT_TRY(WT_NEW(context, &sorted, WT_BOOTSTRAP_DRAWS, "a threshold"));
    for (size_t draw = 0; draw < WT_BOOTSTRAP_DRAWS; draw++) {
        wt_stream stream = wt_stream_for(seed, "threshold", draw);
        uint64_t at = 0;
        for (size_t i = 0; i < count; i++) {
            double won = wt_chi_square(stream, &at, 2 * points[i].successes + 1);
            double lost =
                wt_chi_square(stream, &at, 2 * (points[i].count - points[i].successes) + 1);
            rates[i] = won / (won + lost);
        }
        wt_isotonic(points, count, rates, fitted);
        sorted[draw] = wt_threshold_at(points, fitted, count, rate);
    }
    if (draws != NULL)
        memcpy(draws, sorted, WT_BOOTSTRAP_DRAWS * sizeof *draws);
    wt_isotonic(points, count, NULL, fitted);
    *out =
        wt_draws_interval(wt_threshold_at(points, fitted, count, rate), sorted, WT_BOOTSTRAP_DRAWS);
done:
    wt_release(rates);
    wt_release(fitted);
    wt_release(sorted);
    return status;
}

wt_status wt_critical_fit(wt_context *context, double x, const wt_trials *points, size_t count,
                          double rate, uint64_t seed, wt_critical *out, double *draws) {
    wt_status status;
    *out = (wt_critical){.x = x, .m = {NAN, NAN, NAN}};
    WT_TRY(wt_threshold_fit(context, points, count, rate,
                            wt_seed_for(seed, "critical", x >= 0 && x < 0x1p63 ? (uint64_t)x : 0),
                            &out->m, draws));
    out->least = points[0].m;
    out->most = points[count - 1].m;
    out->below = out->m.value == -INFINITY;
    out->above = out->m.value == INFINITY;
    out->cut_low = isinf(out->m.low);
    out->cut_high = isinf(out->m.high);
    for (size_t i = 0; i < count; i++)
        out->trials += points[i].count;
done:
    return status;
}

/* p for one m an x, `stride` apart, and between what the truth may lie. x and y are room. */
static wt_interval growth_of(const wt_critical *sizes, const double *m, size_t stride, size_t count,
                             double *x, double *y) {
    bool low_open = false, high_open = false;
    for (size_t i = 0; i < count; i++) {
        double here = m[i * stride];
        x[i] = sizes[i].x;
        y[i] = here == INFINITY ? sizes[i].most : here == -INFINITY ? sizes[i].least : here;
        low_open = low_open || here == -INFINITY || (high_open && here != INFINITY);
        high_open = high_open || isinf(here);
    }
    double p = wt_growth_exponent(x, y, count);
    return (wt_interval){p, low_open ? WT_LEAST_EXPONENT : p, high_open ? WT_MOST_EXPONENT : p};
}

wt_status wt_critical_growth(wt_context *context, const wt_critical *sizes, size_t count,
                             const double *draws, wt_interval *out) {
    double *room = NULL, *ends = NULL;
    wt_status status;
    *out = (wt_interval){NAN, NAN, NAN};
    WT_TRY(WT_NEW(context, &room, 3 * count, "growth"));
    WT_TRY(WT_NEW(context, &ends, 2 * WT_BOOTSTRAP_DRAWS, "growth"));
    double *x = room, *y = x + count, *fitted = y + count;
    double *lows = ends, *highs = ends + WT_BOOTSTRAP_DRAWS;
    for (size_t i = 0; i < count; i++)
        fitted[i] = sizes[i].m.value;
    wt_interval best = growth_of(sizes, fitted, 1, count, x, y);
    if (isnan(best.value))
        goto done;
    for (size_t d = 0; d < WT_BOOTSTRAP_DRAWS; d++) {
        wt_interval one = growth_of(sizes, draws + d, WT_BOOTSTRAP_DRAWS, count, x, y);
        lows[d] = one.low;
        highs[d] = one.high;
    }
    out->value = best.value;
    out->low = fmin(best.low, wt_draws_interval(0, lows, WT_BOOTSTRAP_DRAWS).low);
    out->high = fmax(best.high, wt_draws_interval(0, highs, WT_BOOTSTRAP_DRAWS).high);
done:
    wt_release(room);
    wt_release(ends);
    return status;
}
