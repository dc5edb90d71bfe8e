#include "lab/statistics_threshold.h"

#include <math.h>

#include "base/memory.h"

/* Pools neighbours until the means rise: `first` of each pool is where it begins. */
void wt_isotonic(const wt_trials *points, size_t count, double *out) {
    for (size_t i = 0; i < count; i++)
        out[i] = (double)points[i].successes / (double)points[i].count;
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

/* ---- the family of laws -----------------------------------------------------------------------
 *
 * rate(m) = (1 - lapse) F(F^-1(rate/(1 - lapse)) + steepness (log m - log m_c)) for the F: */

typedef enum {
    LOGISTIC,
    STEEP_ABOVE, /* 1 - exp(-e^x): the last part is quick */
    STEEP_BELOW, /* exp(-e^-x): the first is */
    SHAPES
} shape;

static double shape_inverse(shape law, double chance) {
    return law == LOGISTIC      ? log(chance / (1 - chance))
           : law == STEEP_ABOVE ? log(-log1p(-chance))
                                : -log(-log(chance));
}

/* F and 1 - F, each to its own last digits. */
static void shape_at(shape law, double x, double *chance, double *rest) {
    double power = exp(law == STEEP_ABOVE ? x : -x);
    switch (law) {
    case LOGISTIC:
        *chance = 1 / (1 + power);
        *rest = power / (1 + power);
        break;
    case STEEP_ABOVE:
        *chance = -expm1(-power);
        *rest = exp(-power);
        break;
    default:
        *chance = exp(-power);
        *rest = -expm1(-power);
    }
}

/* What is lost at any m, as a share of what may be. */
static const double lapses[] = {0, 0.3, 0.65};
enum { LAPSES = sizeof lapses / sizeof *lapses, STEEPNESSES = 36 };
#define LEAST_STEEPNESS 1.0
#define MOST_STEEPNESS  100.0
#define FARTHEST        500.0  /* from 0 where a shape is asked for: exp does not overflow */
#define LEAST_CHANCE    1e-300 /* so that a log is finite */

/* Trials to be judged by a law. */
typedef struct {
    const wt_trials *points;
    const double *logs; /* of m */
    size_t count;
    double rate;
} evidence;

/* One shape and lapse. */
typedef struct {
    shape law;
    double lapse, centre;
    size_t steepness; /* index of the best at the last place */
} member;

static double log_likelihood(const evidence *seen, const member *of, size_t steepness,
                             double log_m) {
    double slope = LEAST_STEEPNESS *
                   pow(MOST_STEEPNESS / LEAST_STEEPNESS, (double)steepness / (STEEPNESSES - 1));
    double sum = 0;
    for (size_t i = 0; i < seen->count; i++) {
        double x = of->centre + slope * (seen->logs[i] - log_m), chance, rest;
        size_t won = seen->points[i].successes, lost = seen->points[i].count - won;
        shape_at(of->law, fmax(-FARTHEST, fmin(FARTHEST, x)), &chance, &rest);
        if (won > 0)
            sum += (double)won * log(fmax((1 - of->lapse) * chance, LEAST_CHANCE));
        if (lost > 0)
            sum += (double)lost * log(fmax(of->lapse + (1 - of->lapse) * rest, LEAST_CHANCE));
    }
    return sum;
}

/* The best over all steepnesses, climbing from the one that was best beside this place. */
static double best_steepness(const evidence *seen, member *of, double log_m) {
    double best = log_likelihood(seen, of, of->steepness, log_m);
    for (int up = 1; up >= 0; up--) {
        bool moved = false;
        while (up ? of->steepness + 1 < STEEPNESSES : of->steepness > 0) {
            size_t next = up ? of->steepness + 1 : of->steepness - 1;
            double here = log_likelihood(seen, of, next, log_m);
            if (!(here > best))
                break;
            best = here;
            of->steepness = next;
            moved = true;
        }
        if (moved)
            break;
    }
    return best;
}

/* The best over the family at `count` places; returns the largest. */
static double profile(const evidence *seen, double first, double step, size_t count, double *out) {
    for (size_t k = 0; k < count; k++)
        out[k] = -INFINITY;
    for (int law = 0; law < SHAPES; law++)
        for (size_t l = 0; l < LAPSES; l++) {
            member of = {.law = (shape)law, .lapse = lapses[l] * (1 - seen->rate)};
            of.centre = shape_inverse(of.law, seen->rate / (1 - of.lapse));
            for (size_t k = 0; k < count; k++)
                out[k] = fmax(out[k], best_steepness(seen, &of, first + step * (double)k));
        }
    double most = -INFINITY;
    for (size_t k = 0; k < count; k++)
        most = fmax(most, out[k]);
    return most;
}

/* ---- the likelihood of m ----------------------------------------------------------------------
 */

#define BEYOND 0.7  /* how far past the grid of m, in log m: by there the likelihood is level */
#define DEPTH  8.0  /* what is less likely than exp(-this) of the best is of no interest */
#define LEVEL  0.05 /* differences of log likelihood that say nothing */
#define COARSE 48   /* places to find where it is likely */

double wt_support_at(const wt_support *support, double log_m) {
    const double *value = support->value;
    const size_t last = WT_SUPPORT_POINTS - 1;
    double place = (log_m - support->first) / support->step;
    if (place < 0)
        return value[0] + fmin(0, (value[1] - value[0]) * place);
    if (place >= (double)last)
        return value[last] + fmin(0, (value[last] - value[last - 1]) * (place - (double)last));
    size_t below = (size_t)place;
    return value[below] + (place - (double)below) * (value[below + 1] - value[below]);
}

/* The curve where it matters: a coarse one over all m tells where that is. */
static void find_support(const evidence *seen, wt_support *out) {
    double coarse[COARSE], low = seen->logs[0] - BEYOND;
    double step = (seen->logs[seen->count - 1] + BEYOND - low) / (COARSE - 1);
    double most = profile(seen, low, step, COARSE, coarse);
    size_t begin = 0, end = COARSE - 1;
    while (begin + 1 < end && coarse[begin + 1] < most - DEPTH)
        begin++;
    while (end - 1 > begin && coarse[end - 1] < most - DEPTH)
        end--;
    out->first = low + step * (double)begin;
    out->step = step * (double)(end - begin) / (WT_SUPPORT_POINTS - 1);
    most = profile(seen, out->first, out->step, WT_SUPPORT_POINTS, out->value);
    for (size_t k = 0; k < WT_SUPPORT_POINTS; k++)
        out->value[k] -= most;
}

static double place_at(const wt_support *support, size_t k) {
    return support->first + support->step * (double)k;
}

/* Where the curve first comes up to -drop and where it last leaves it; infinite where it is above
 * at the end already. */
static void range_within(const wt_support *support, double drop, double *low, double *high) {
    const double *value = support->value;
    size_t first = 0, last = WT_SUPPORT_POINTS - 1;
    while (value[first] < -drop)
        first++;
    while (value[last] < -drop)
        last--;
    *low = first == 0 ? -INFINITY
                      : place_at(support, first) - support->step * (value[first] + drop) /
                                                       (value[first] - value[first - 1]);
    *high = last == WT_SUPPORT_POINTS - 1
                ? INFINITY
                : place_at(support, last) +
                      support->step * (value[last] + drop) / (value[last] - value[last + 1]);
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

/* The middle of the summit, which may be level, as far as it is in the grid. */
static double summit(const evidence *seen, const wt_support *support) {
    double low, high, least = seen->logs[0], most = seen->logs[seen->count - 1];
    range_within(support, LEVEL, &low, &high);
    return (fmin(fmax(low, least), most) + fmin(fmax(high, least), most)) / 2;
}

/* The end of an interval at this log m; one outside the grid is infinite. */
static double end_at(const evidence *seen, double log_m) {
    return log_m < seen->logs[0]                 ? -INFINITY
           : log_m > seen->logs[seen->count - 1] ? INFINITY
                                                 : exp(log_m);
}

wt_status wt_threshold_fit(wt_context *context, const wt_trials *points, size_t count, double rate,
                           wt_interval *out, wt_support *support) {
    wt_support own;
    wt_support *curve = support != NULL ? support : &own;
    double *logs = NULL, *fitted = NULL, low, high;
    wt_status status;
    WT_TRY(check(context, points, count, rate));
    WT_TRY(WT_NEW(context, &logs, count, "a threshold"));
    WT_TRY(WT_NEW(context, &fitted, count, "a threshold"));
    for (size_t i = 0; i < count; i++)
        logs[i] = log(points[i].m);
    evidence seen = {points, logs, count, rate};
    find_support(&seen, curve);
    wt_isotonic(points, count, fitted);
    out->value = fitted[0] >= rate          ? -INFINITY
                 : fitted[count - 1] < rate ? INFINITY
                                            : exp(summit(&seen, curve));
    range_within(curve, WT_SUPPORT_DROP, &low, &high);
    out->low = fmin(out->value, end_at(&seen, low));
    out->high = fmax(out->value, end_at(&seen, high));
done:
    wt_release(logs);
    wt_release(fitted);
    return status;
}

wt_status wt_critical_fit(wt_context *context, double x, const wt_trials *points, size_t count,
                          double rate, wt_critical *out) {
    wt_status status;
    *out = (wt_critical){.x = x, .m = {NAN, NAN, NAN}};
    WT_TRY(wt_threshold_fit(context, points, count, rate, &out->m, &out->support));
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
