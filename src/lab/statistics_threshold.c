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
    NORMAL,
    STEEP_ABOVE, /* 1 - exp(-e^x): the last part is quick */
    STEEP_BELOW, /* exp(-e^-x): the first is */
    SHORT_TAILS, /* (1 + sin x)/2 */
    NO_TAILS,    /* a straight line from 0 to 1 */
    LONG_TAILS,  /* Student's with two degrees of freedom: some tasks are far easier than others */
    SHAPES
} shape;

#define FARTHEST 500.0 /* from 0 where a shape is asked for: exp does not overflow */

/* F of the shapes that are even about 0, at x below 0. */
static double even_shape(shape form, double x) {
    switch (form) {
    case NORMAL:
        return erfc(-x * sqrt(0.5)) / 2;
    case SHORT_TAILS:
        return pow(sin(fmax(0, x + acos(0)) / 2), 2);
    case NO_TAILS:
        return fmax(0, 0.5 + x);
    case LONG_TAILS:
        return 1 / (sqrt(2 + x * x) * (sqrt(2 + x * x) - x));
    default:
        return exp(x) / (1 + exp(x));
    }
}

/* F and 1 - F, each to its own last digits. */
static void shape_at(shape form, double x, double *chance, double *rest) {
    x = fmax(-FARTHEST, fmin(FARTHEST, x));
    bool even = form != STEEP_ABOVE && form != STEEP_BELOW;
    bool above = even ? x > 0 : form == STEEP_ABOVE;
    double power = even ? 0 : exp(above ? x : -x);
    double small = even ? even_shape(form, -fabs(x)) : exp(-power);
    double large = even ? 1 - small : -expm1(-power);
    *chance = above ? large : small;
    *rest = above ? small : large;
}

/* The x at which F is `chance`. */
static double shape_inverse(shape form, double chance) {
    double low = -FARTHEST, high = FARTHEST, here, rest;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        shape_at(form, middle, &here, &rest);
        *(here < chance ? &low : &high) = middle;
    }
    return low;
}

/* Steepness and lapse are those of a grid, fine beside what trials tell of them. */
enum { STEEPNESSES = 50, LAPSES = 32 };
#define LEAST_STEEPNESS 0.7
#define MOST_STEEPNESS  100.0
#define MOST_LAPSE      0.8    /* of what may be lost, 1 - rate */
#define LEAST_CHANCE    1e-300 /* so that a log is finite */

/* Trials to be judged by a law, and the laws' numbers. */
typedef struct {
    const wt_context *context;
    const wt_trials *points;
    const double *logs; /* of m */
    size_t count;
    double rate;
    double best; /* of the likelihoods of all laws */
    double steepnesses[STEEPNESSES], lapses[LAPSES], centres[SHAPES][LAPSES];
} evidence;

static void set_family(evidence *seen) {
    for (int i = 0; i < STEEPNESSES; i++)
        seen->steepnesses[i] =
            LEAST_STEEPNESS * pow(MOST_STEEPNESS / LEAST_STEEPNESS, (double)i / (STEEPNESSES - 1));
    for (int i = 0; i < LAPSES; i++) {
        double share = (double)i / (LAPSES - 1); /* squared, as small ones are known better */
        seen->lapses[i] = MOST_LAPSE * (1 - seen->rate) * share * share;
        for (int law = 0; law < SHAPES; law++)
            seen->centres[law][i] = shape_inverse((shape)law, seen->rate / (1 - seen->lapses[i]));
    }
}

/* A law of the family but for its critical m. */
typedef struct {
    shape form;
    int steepness, lapse;
} law;

static double log_likelihood(const evidence *seen, law of, double log_m) {
    double lapse = seen->lapses[of.lapse], sum = 0, chance, rest;
    for (size_t i = 0; i < seen->count; i++) {
        size_t won = seen->points[i].successes, lost = seen->points[i].count - won;
        shape_at(of.form,
                 seen->centres[of.form][of.lapse] +
                     seen->steepnesses[of.steepness] * (seen->logs[i] - log_m),
                 &chance, &rest);
        if (won > 0)
            sum += (double)won * log(fmax((1 - lapse) * chance, LEAST_CHANCE));
        if (lost > 0)
            sum += (double)lost * log(fmax(lapse + (1 - lapse) * rest, LEAST_CHANCE));
    }
    return sum;
}

/* Climbs from a law to the best beside it until there is none; more of both, or less, is a ridge.
 */
static double climb(const evidence *seen, law *at, double log_m) {
    static const int moves[][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}};
    enum { MOVES = sizeof moves / sizeof *moves };
    double best = log_likelihood(seen, *at, log_m);
    for (int move = 0, failed = 0; failed < MOVES;) {
        law next = {at->form, at->steepness + moves[move][0], at->lapse + moves[move][1]};
        bool inside = next.steepness >= 0 && next.steepness < STEEPNESSES && next.lapse >= 0 &&
                      next.lapse < LAPSES;
        double here = inside ? log_likelihood(seen, next, log_m) : -INFINITY;
        if (here > best) {
            best = here;
            *at = next;
            failed = 0;
        } else {
            failed++;
            move = (move + 1) % MOVES;
        }
    }
    return best;
}

/* The best over the family at `count` places, none once the context is cancelled; returns the
 * largest. Each place begins at the best
 * law of the one before. Where there are two hills, shallow and steep with a lapse, going up and
 * going down the places stay on different ones. */
static double profile(const evidence *seen, double first, double step, size_t count, double *out) {
    double most = -INFINITY;
    for (size_t k = 0; k < count; k++)
        out[k] = -INFINITY;
    for (int form = 0; form < SHAPES; form++) {
        law at = {.form = (shape)form};
        for (size_t k = 0; k < 2 * count && !wt_context_cancelled(seen->context); k++) {
            size_t place = k < count ? k : 2 * count - 1 - k;
            out[place] = fmax(out[place], climb(seen, &at, first + step * (double)place));
            most = fmax(most, out[place]);
        }
    }
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
static void find_support(evidence *seen, wt_support *out) {
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
    seen->best = profile(seen, out->first, out->step, WT_SUPPORT_POINTS, out->value);
    for (size_t k = 0; k < WT_SUPPORT_POINTS; k++)
        out->value[k] -= seen->best;
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

/* The end of an interval where the curve crosses; infinite outside the grid. Beside the last m of
 * the grid, where the likelihood may jump, it is judged by the likelihood of just this m. */
static double end_at(const evidence *seen, const wt_support *support, double log_m, bool upper) {
    const double edges[] = {seen->logs[0], seen->logs[seen->count - 1]};
    for (int i = 0; i < 2; i++)
        if (fabs(log_m - edges[i]) < support->step) {
            double value;
            bool held = profile(seen, edges[i], 0, 1, &value) >= seen->best - WT_SUPPORT_DROP;
            log_m = held != upper ? fmin(log_m, nextafter(edges[i], -INFINITY))
                                  : fmax(log_m, nextafter(edges[i], INFINITY));
        }
    return log_m < edges[0] ? -INFINITY : log_m > edges[1] ? INFINITY : exp(log_m);
}

wt_status wt_threshold_fit(wt_context *context, const wt_trials *points, size_t count, double rate,
                           wt_interval *out, wt_support *support) {
    wt_support own = {0};
    wt_support *curve = support != NULL ? support : &own;
    double *logs, low, high;
    wt_status status;
    WT_PASS(check(context, points, count, rate));
    WT_PASS(WT_NEW2(context, &logs, 2, count, "a threshold"));
    double *fitted = logs + count;
    for (size_t i = 0; i < count; i++)
        logs[i] = log(points[i].m);
    evidence seen = {
        .context = context, .points = points, .logs = logs, .count = count, .rate = rate};
    set_family(&seen);
    find_support(&seen, curve);
    WT_TRY(wt_context_check_cancelled(context));
    wt_isotonic(points, count, fitted);
    out->value = fitted[0] >= rate          ? -INFINITY
                 : fitted[count - 1] < rate ? INFINITY
                                            : exp(summit(&seen, curve));
    range_within(curve, WT_SUPPORT_DROP, &low, &high);
    out->low = fmin(out->value, end_at(&seen, curve, low, false));
    out->high = fmax(out->value, end_at(&seen, curve, high, true));
done:
    wt_release(logs);
    return status;
}

wt_status wt_trials_critical(wt_context *context, const wt_trials *points, size_t count,
                             double rate, wt_interval *out) {
    return wt_threshold_fit(context, points, count, rate, out, NULL);
}

wt_status wt_critical_fit(wt_context *context, double x, const wt_trials *points, size_t count,
                          double rate, wt_critical *out) {
    *out = (wt_critical){.x = x, .m = {NAN, NAN, NAN}};
    WT_PASS(wt_threshold_fit(context, points, count, rate, &out->m, &out->support));
    out->least = points[0].m;
    out->most = points[count - 1].m;
    out->below = out->m.value == -INFINITY;
    out->above = out->m.value == INFINITY;
    out->cut_low = isinf(out->m.low);
    out->cut_high = isinf(out->m.high);
    for (size_t i = 0; i < count; i++)
        out->trials += points[i].count;
    return WT_OK;
}
