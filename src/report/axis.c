#include "report/axis.h"

#include <math.h>

wt_extent wt_extent_empty(bool log) {
    return (wt_extent){.log = log, .low = INFINITY, .high = -INFINITY};
}

bool wt_extent_can_show(const wt_extent *extent, double value) {
    return isfinite(value) && (!extent->log || value > 0);
}

void wt_extent_hold(wt_extent *extent, double value) {
    if (!wt_extent_can_show(extent, value))
        return;
    extent->low = fmin(extent->low, value);
    extent->high = fmax(extent->high, value);
}

void wt_extent_pad(wt_extent *extent, double share) {
    double low = extent->log ? log10(extent->low) : extent->low;
    double high = extent->log ? log10(extent->high) : extent->high;
    double room = share * (high - low);
    if (!(high > low))
        room = extent->log ? 0.5 : fmax(fabs(high), 1) / 2;
    low -= room;
    high += room;
    extent->low = extent->log ? pow(10, low) : low;
    extent->high = extent->log ? pow(10, high) : high;
}

typedef struct {
    wt_script *script;
    const wt_extent *extent;
    bool labelled, plain, first;
} ticks;

/* A tick without label is a small one. */
static void add_tick(ticks *to, double value, bool small, const char *format, double shown) {
    /* A tick on the very edge of the range must not fall off it by rounding. */
    double slack = to->extent->log ? 1e-9 * value : 1e-9 * (to->extent->high - to->extent->low);
    if (value < to->extent->low - slack || value > to->extent->high + slack)
        return;
    wt_script_add(to->script, to->first ? "'" : ", '");
    if (!small && to->labelled)
        wt_script_add(to->script, format, shown); /* NOLINT: formats are ours, below */
    wt_script_add(to->script, "' %.10g %d", value, small);
    to->first = false;
}

/* 16, 64, 256: powers of two, where the ends of the range are hardly more than four decades
 * apart. */
static void doubling_ticks(ticks *to, int most) {
    int low = (int)ceil(log2(to->extent->low) - 1e-9), high = (int)floor(log2(to->extent->high));
    int step = (high - low) / most + 1;
    for (int k = low; k <= high; k++)
        add_tick(to, exp2(k), (k - low) % step != 0, "%.6g", exp2(k));
}

/* 1, 2, 5, 10, 20: where the range holds less than two decades, or few powers of two. */
static void dense_ticks(ticks *to) {
    int low = (int)floor(log10(to->extent->low)), high = (int)floor(log10(to->extent->high));
    for (int k = low; k <= high; k++)
        for (int digit = 1; digit <= 9; digit++) {
            double value = digit * pow(10, k);
            add_tick(to, value, digit != 1 && digit != 2 && digit != 5, "%g", value);
        }
}

static void decade_ticks(ticks *to, int most) {
    int low = (int)ceil(log10(to->extent->low) - 1e-9), high = (int)floor(log10(to->extent->high));
    int step = (high - low) / most + 1;
    bool everyday = low >= -3 && high <= 3;
    for (int k = low - 1; k <= high; k++) {
        bool small = (high - k) % step != 0;
        if (k >= low && everyday)
            add_tick(to, pow(10, k), small, "%g", pow(10, k));
        else if (k >= low)
            add_tick(to, pow(10, k), small, to->plain ? "1e%g" : "10^{%g}", k);
        for (int digit = 2; step == 1 && digit <= 9; digit++)
            add_tick(to, digit * pow(10, k), true, "", 0);
    }
}

static void linear_ticks(ticks *to, int most) {
    double span = to->extent->high - to->extent->low;
    double step = pow(10, floor(log10(span / most)));
    const double multiples[] = {1, 2, 5, 10};
    int pick = 0;
    while (pick < 3 && span / (multiples[pick] * step) > most)
        pick++;
    step *= multiples[pick];
    for (double k = ceil(to->extent->low / step - 1e-9) + 0.0; k * step <= to->extent->high; k++)
        add_tick(to, k * step, false, "%.5g", k * step);
}

void wt_axis_script(wt_script *script, char letter, const wt_extent *extent, int most,
                    bool labelled, bool plain) {
    wt_script_add(script, "set %crange [%.10g:%.10g]\n", letter, extent->low, extent->high);
    wt_script_add(script, "%s logscale %c\nset %ctics nomirror (", extent->log ? "set" : "unset",
                  letter, letter);
    ticks to = {
        .script = script, .extent = extent, .labelled = labelled, .plain = plain, .first = true};
    double decades = extent->log ? log10(extent->high / extent->low) : 0;
    if (!extent->log)
        linear_ticks(&to, most);
    else if (letter == 'x' && extent->low > 0.7 && decades < 6 && extent->high / extent->low > 8)
        doubling_ticks(&to, most);
    else if (decades < 1.7)
        dense_ticks(&to);
    else
        decade_ticks(&to, most);
    wt_script_add(script, ")\n");
}
