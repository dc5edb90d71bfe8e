#include "report/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LABEL_GAP 1.5 /* letters between two labels */

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

void wt_extent_note(wt_extent *extent, double value) {
    size_t at = 0;
    if (!wt_extent_can_show(extent, value))
        return;
    extent->uneven |= log2(value) != floor(log2(value));
    if (extent->count > WT_AXIS_VALUES)
        return;
    while (at < extent->count && extent->values[at] < value)
        at++;
    if (at < extent->count && extent->values[at] == value)
        return;
    if (extent->count < WT_AXIS_VALUES) {
        memmove(extent->values + at + 1, extent->values + at,
                (extent->count - at) * sizeof *extent->values);
        extent->values[at] = value;
    }
    extent->count++;
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
    wt_script *script; /* NULL: nothing is written, labels are measured */
    const wt_extent *extent;
    const wt_ticking *how;
    bool first;
    size_t longest;
} ticks;

static bool in_range(const wt_extent *extent, double value) {
    /* A tick on the very edge of the range must not fall off it by rounding. */
    double slack = extent->log ? 1e-9 * value : 1e-9 * (extent->high - extent->low);
    return value >= extent->low - slack && value <= extent->high + slack;
}

/* A tick without label is a small one. */
static void add_tick(ticks *to, double value, bool small, const char *format, double shown) {
    char label[32] = "";
    if (!in_range(to->extent, value))
        return;
    if (!small && to->how->labelled)
        snprintf(label, sizeof label, format, shown); /* NOLINT: formats are ours, below */
    size_t letters = strlen(label) - (strchr(label, '^') != NULL ? 3 : 0); /* ^{} are not seen */
    to->longest = letters > to->longest && label[0] != '\0' ? letters : to->longest;
    if (to->script != NULL)
        wt_script_add(to->script, "%s'%s' %.10g %d", to->first ? "" : ", ", label, value, small);
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

/* Ticks at the digits of `named` in every decade that the range holds. */
static size_t count_named(const wt_extent *extent, const char *named) {
    size_t count = 0;
    for (int k = (int)floor(log10(extent->low)); k <= (int)floor(log10(extent->high)); k++)
        for (const char *digit = named; *digit != '\0'; digit++)
            count += in_range(extent, (*digit - '0') * pow(10, k));
    return count;
}

/* 1, 2, 5, 10, 20: where the range holds less than two decades, or few powers of two. More digits
 * are named where these would leave less than three labels, and round numbers where all do. */
static void dense_ticks(ticks *to, int most) {
    static const char *const sets[] = {"125", "12357", "12468", "123456789"};
    size_t set = 0;
    while (set < 4 && count_named(to->extent, sets[set]) < 3)
        set++;
    if (set == 4) {
        linear_ticks(to, most);
        return;
    }
    int low = (int)floor(log10(to->extent->low)), high = (int)floor(log10(to->extent->high));
    for (int k = low; k <= high; k++)
        for (int digit = 1; digit <= 9; digit++) {
            double value = digit * pow(10, k);
            add_tick(to, value, strchr(sets[set], '0' + digit) == NULL, "%g", value);
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
            add_tick(to, pow(10, k), small, to->how->plain ? "1e%g" : "10^{%g}", k);
        for (int digit = 2; step == 1 && digit <= 9; digit++)
            add_tick(to, digit * pow(10, k), true, "", 0);
    }
}

/* Where the label of a value begins and ends, in letters from the left of the axis. */
static void label_span(const ticks *to, double value, double *begin, double *end) {
    const wt_extent *extent = to->extent;
    char label[32];
    double share = extent->log ? log(value / extent->low) / log(extent->high / extent->low)
                               : (value - extent->low) / (extent->high - extent->low);
    double half = (double)snprintf(label, sizeof label, "%.6g", value) / 2;
    *begin = share * to->how->letters - half;
    *end = *begin + 2 * half;
}

/* The values of the data, with labels where these do not touch the one before. */
static void data_ticks(ticks *to) {
    double begin, end, last = -INFINITY;
    for (size_t i = 0; i < to->extent->count; i++) {
        double value = to->extent->values[i];
        label_span(to, value, &begin, &end);
        bool small = begin < last + LABEL_GAP;
        add_tick(to, value, small, "%.6g", value);
        last = small ? last : end;
    }
}

static void add_ticks(ticks *to, char letter) {
    const wt_extent *extent = to->extent;
    int most = to->how->most;
    double decades = extent->log ? log10(extent->high / extent->low) : 0;
    size_t few = extent->log ? WT_AXIS_VALUES : (size_t)most + 1;
    if (letter == 'x' && extent->count > 0 && extent->count <= few)
        data_ticks(to);
    else if (!extent->log)
        linear_ticks(to, most);
    else if (letter == 'x' && extent->low > 0.7 && decades < 6 && extent->high / extent->low > 8 &&
             !extent->uneven)
        doubling_ticks(to, most);
    else if (decades < 1.7 || count_named(extent, "1") < 3)
        dense_ticks(to, most);
    else
        decade_ticks(to, most);
}

void wt_axis_script(wt_script *script, char letter, const wt_extent *extent,
                    const wt_ticking *ticking) {
    wt_script_add(script, "set %crange [%.10g:%.10g]\n", letter, extent->low, extent->high);
    wt_script_add(script, "%s logscale %c\nset %ctics nomirror (", extent->log ? "set" : "unset",
                  letter, letter);
    ticks to = {.script = script, .extent = extent, .how = ticking, .first = true};
    add_ticks(&to, letter);
    wt_script_add(script, ")\n");
}

size_t wt_axis_letters(char letter, const wt_extent *extent, const wt_ticking *ticking) {
    ticks to = {.extent = extent, .how = ticking, .first = true};
    add_ticks(&to, letter);
    return to.longest;
}
