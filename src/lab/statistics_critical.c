/* How critical m grow with x, by the likelihood of all of them together. */
#include <math.h>

#include "base/memory.h"
#include "lab/statistics_threshold.h"

#define STARTS     24   /* first m, and last m, to climb from */
#define FINEST     1e-3 /* step of log m */
#define MOST_RATIO 10.0 /* log of the last m over the first */
#define STEPS      50   /* over all p */
#define BISECTIONS 12   /* of such a step */
#define LEVEL      0.05 /* differences of log likelihood that say nothing */

typedef struct {
    const wt_context *context;
    const wt_critical *sizes;
    size_t count;
    double *shares;   /* (count): where x^p lies between those of the first and the last x */
    double low, high; /* log m that may be likely */
} growth;

static void set_exponent(growth *of, double p) {
    double least = log(of->sizes[0].x), length = log(of->sizes[of->count - 1].x) - least;
    for (size_t i = 0; i < of->count; i++) {
        double here = log(of->sizes[i].x) - least;
        of->shares[i] = fabs(p) < 1e-9 ? here / length : expm1(p * here) / expm1(p * length);
    }
}

/* Of m = first + (last - first) share, where m does not fall. */
static double likelihood_at(const growth *of, double log_first, double log_ratio) {
    if (!(log_ratio >= 0 && log_ratio <= MOST_RATIO))
        return -INFINITY;
    double rise = expm1(log_ratio), sum = 0;
    for (size_t i = 0; i < of->count; i++)
        sum += wt_support_at(&of->sizes[i].support, log_first + log1p(rise * of->shares[i]));
    return sum;
}

/* The best first and last m for a p: from the best of a grid, in steps that are halved; none once
 * the context is cancelled. */
static double likelihood_of(growth *of, double p) {
    double step = (of->high - of->low) / (STARTS - 1), best = -INFINITY, at[2] = {0, 0};
    set_exponent(of, p);
    for (int i = 0; i < STARTS && !wt_context_cancelled(of->context); i++)
        for (int k = 0; i + k < STARTS; k++) {
            double here = likelihood_at(of, of->low + step * i, step * k);
            if (here > best) {
                best = here;
                at[0] = of->low + step * i;
                at[1] = step * k;
            }
        }
    while (step > FINEST && best > -INFINITY) {
        double from[2] = {at[0], at[1]}, before = best;
        for (int move = 0; move < 9; move++) {
            int right = move % 3 - 1, up = move / 3 - 1;
            double first = from[0] + step * right, ratio = fmax(0, from[1] + step * up);
            double here = likelihood_at(of, first, ratio);
            if (here > best) {
                best = here;
                at[0] = first;
                at[1] = ratio;
            }
        }
        step = best > before ? step : step / 2;
    }
    return best;
}

static double exponent_at(int step) {
    return step == STEPS ? WT_MAX_EXPONENT
                         : WT_MIN_EXPONENT + step * (WT_MAX_EXPONENT - WT_MIN_EXPONENT) / STEPS;
}

/* The outermost p, from below or from above, that is as likely as `least`; all[STEPS + 1] are the
 * likelihoods at the steps, one of which is. */
static double end_of(growth *of, const double *all, double least, bool from_above) {
    int step = from_above ? STEPS : 0, inward = from_above ? -1 : 1;
    while (all[step] < least)
        step += inward;
    double inside = exponent_at(step);
    if (step == (from_above ? STEPS : 0))
        return inside;
    double outside = exponent_at(step - inward);
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (inside + outside) / 2;
        *(likelihood_of(of, middle) < least ? &outside : &inside) = middle;
    }
    return inside;
}

/* What an m outside the grid leaves open. */
static void open_ends(const wt_critical *sizes, size_t count, wt_interval *out) {
    bool low_open = false, high_open = false;
    for (size_t i = 0; i < count; i++) {
        low_open = low_open || sizes[i].below || (high_open && !sizes[i].above);
        high_open = high_open || sizes[i].below || sizes[i].above;
    }
    out->low = low_open ? WT_MIN_EXPONENT : out->low;
    out->high = high_open ? WT_MAX_EXPONENT : out->high;
}

static wt_interval most_likely(growth *of) {
    double all[STEPS + 1], best = -INFINITY, constant = -INFINITY;
    for (int k = 0; k <= STEPS; k++) {
        all[k] = likelihood_of(of, exponent_at(k));
        best = fmax(best, all[k]);
    }
    for (int k = 0; of->low + k * FINEST < of->high; k++)
        constant = fmax(constant, likelihood_at(of, of->low + k * FINEST, 0));
    wt_interval p = {WT_MIN_EXPONENT, end_of(of, all, best - WT_SUPPORT_DROP, false),
                     end_of(of, all, best - WT_SUPPORT_DROP, true)};
    if (constant < best - LEVEL)
        p.value = (end_of(of, all, best - LEVEL, false) + end_of(of, all, best - LEVEL, true)) / 2;
    return p;
}

wt_status wt_critical_growth(wt_context *context, const wt_critical *sizes, size_t count,
                             wt_interval *out) {
    growth of = {
        .context = context, .sizes = sizes, .count = count, .low = INFINITY, .high = -INFINITY};
    wt_status status = WT_OK;
    *out = (wt_interval){NAN, NAN, NAN};
    for (size_t i = 0; i < count; i++) {
        const wt_support *support = &sizes[i].support;
        if (!(sizes[i].x > (i == 0 ? 0 : sizes[i - 1].x)))
            return WT_OK;
        of.low = fmin(of.low, support->first);
        of.high = fmax(of.high, support->first + support->step * (WT_SUPPORT_POINTS - 1));
    }
    if (count < 3)
        return WT_OK;
    WT_TRY(WT_NEW(context, &of.shares, count, "growth"));
    *out = most_likely(&of);
    open_ends(sizes, count, out);
    WT_TRY(wt_context_check_cancelled(context));
done:
    wt_release(of.shares);
    return status;
}

/* ---- slopes ---------------------------------------------------------------------------------- */

#define STEEPEST    10.0
#define SLOPE_STEPS 400

/* The largest sum of supports on a line of this slope, none once the context is cancelled. They are
 * straight between their places, so that it goes through one of them. */
static double best_line(const wt_context *context, const wt_critical *sizes, size_t count,
                        double slope) {
    double best = -INFINITY;
    for (size_t i = 0; i < count && !wt_context_cancelled(context); i++)
        for (size_t k = 0; k < WT_SUPPORT_POINTS; k++) {
            double sum = 0, at = sizes[i].support.first + (double)k * sizes[i].support.step;
            for (size_t j = 0; j < count; j++)
                sum += wt_support_at(&sizes[j].support, at + slope * log(sizes[j].x / sizes[i].x));
            best = fmax(best, sum);
        }
    return best;
}

/* Where the sums pass the level between two slopes. */
static double passing(double a, double at_a, double b, double at_b, double level) {
    return a + (b - a) * (level - at_a) / (at_b - at_a);
}

wt_status wt_critical_slope(wt_context *context, const wt_critical *sizes, size_t count,
                            wt_interval *out) {
    double sums[SLOPE_STEPS + 1], mean = 0;
    const double step = 2 * STEEPEST / SLOPE_STEPS;
    size_t best = 0, first, last;
    *out = (wt_interval){NAN, NAN, NAN};
    for (size_t i = 0; i < count; i++) {
        if (!(sizes[i].x > (i == 0 ? 0 : sizes[i - 1].x)))
            return WT_OK;
        mean += log(sizes[i].x) / (double)count;
    }
    if (count < 2)
        return WT_OK;
    for (size_t i = 0; i <= SLOPE_STEPS; i++) {
        sums[i] = best_line(context, sizes, count, (double)i * step - STEEPEST);
        best = sums[i] > sums[best] ? i : best;
    }
    double level = sums[best] - WT_SUPPORT_DROP;
    for (first = best; first > 0 && sums[first - 1] >= level;)
        first--;
    for (last = best; last < SLOPE_STEPS && sums[last + 1] >= level;)
        last++;
    double low = (double)first * step - STEEPEST, high = (double)last * step - STEEPEST;
    *out = (wt_interval){
        (double)best * step - STEEPEST,
        first == 0 ? -INFINITY : passing(low, sums[first], low - step, sums[first - 1], level),
        last == SLOPE_STEPS ? INFINITY
                            : passing(high, sums[last], high + step, sums[last + 1], level)};
    for (size_t i = 0; i < count; i++) {
        double away = log(sizes[i].x) - mean;
        if ((sizes[i].above && away > 0) || (sizes[i].below && away < 0))
            out->high = INFINITY;
        if ((sizes[i].above && away < 0) || (sizes[i].below && away > 0))
            out->low = -INFINITY;
    }
    return wt_context_check_cancelled(context);
}
