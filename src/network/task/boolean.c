#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "wattle/boolean.h"

static size_t ones(size_t row) {
    size_t count = 0;
    for (; row != 0; row &= row - 1)
        count++;
    return count;
}

static bool and_of(size_t count, size_t s) {
    return count == s;
}
static bool or_of(size_t count, size_t s) {
    (void)s;
    return count > 0;
}
static bool majority_of(size_t count, size_t s) {
    return 2 * count > s;
}
static bool parity_of(size_t count, size_t s) {
    (void)s;
    return count % 2 == 1;
}

/* Named functions of the number of ones among s bits. */
static const struct {
    const char *name;
    bool (*of)(size_t count, size_t s);
} families[] = {{"and", and_of}, {"or", or_of}, {"majority", majority_of}, {"parity", parity_of}};
enum { FAMILIES = sizeof families / sizeof *families };

static wt_status no_function(wt_context *context, const char *text) {
    return wt_fail(context, WT_USAGE,
                   "no Boolean function: '%s' (and:3, or:3, majority:3, parity:3, symmetric: and "
                   "s + 1 zeros and ones, table: and 2^s of them; s from 1 to %d)",
                   text, WT_BOOLEAN_MOST_BITS);
}

static wt_status new_table(wt_context *context, size_t bits, wt_boolean *out) {
    out->bits = bits;
    return WT_NEW(context, &out->value, (size_t)1 << bits, "a truth table");
}

static wt_status open_family(wt_context *context, const char *text, size_t family,
                             const char *argument, wt_boolean *out) {
    uint64_t s;
    if (!wt_parse_unsigned(argument, &s) || s == 0 || s > WT_BOOLEAN_MOST_BITS)
        return no_function(context, text);
    wt_status status = new_table(context, (size_t)s, out);
    for (size_t row = 0; status == WT_OK && row < (size_t)1 << s; row++)
        out->value[row] = families[family].of(ones(row), (size_t)s);
    return status;
}

static wt_status open_symmetric(wt_context *context, const char *text, const char *digits,
                                wt_boolean *out) {
    size_t count = strlen(digits);
    if (count < 2 || count > WT_BOOLEAN_MOST_BITS + 1 || strspn(digits, "01") != count)
        return no_function(context, text);
    wt_status status = new_table(context, count - 1, out);
    for (size_t row = 0; status == WT_OK && row < (size_t)1 << (count - 1); row++)
        out->value[row] = digits[ones(row)] == '1';
    return status;
}

static wt_status open_table(wt_context *context, const char *text, const char *digits,
                            wt_boolean *out) {
    size_t count = strlen(digits), bits = 0;
    while (bits <= WT_BOOLEAN_MOST_BITS && (size_t)1 << bits < count)
        bits++;
    if (count < 2 || bits > WT_BOOLEAN_MOST_BITS || (size_t)1 << bits != count ||
        strspn(digits, "01") != count)
        return no_function(context, text);
    wt_status status = new_table(context, bits, out);
    for (size_t row = 0; status == WT_OK && row < count; row++)
        out->value[row] = digits[row] == '1';
    return status;
}

/* f depends on the number of ones alone: compared with the row whose ones are all lowest. */
static bool is_symmetric(const wt_boolean *function) {
    for (size_t row = 0; row < (size_t)1 << function->bits; row++)
        if (function->value[row] != function->value[((size_t)1 << ones(row)) - 1])
            return false;
    return true;
}

wt_status wt_boolean_open(wt_context *context, const char *text, wt_boolean *out) {
    *out = (wt_boolean){0};
    const char *colon = strchr(text, ':');
    if (colon == NULL)
        return no_function(context, text);
    size_t name = (size_t)(colon - text);
    wt_status status = WT_USAGE;
    if (name == strlen("table") && strncmp(text, "table", name) == 0) {
        status = open_table(context, text, colon + 1, out);
    } else if (name == strlen("symmetric") && strncmp(text, "symmetric", name) == 0) {
        status = open_symmetric(context, text, colon + 1, out);
    } else {
        size_t family = 0;
        while (family < FAMILIES && (strlen(families[family].name) != name ||
                                     strncmp(text, families[family].name, name) != 0))
            family++;
        if (family == FAMILIES)
            return no_function(context, text);
        status = open_family(context, text, family, colon + 1, out);
    }
    if (status == WT_OK)
        out->symmetric = is_symmetric(out);
    return status;
}

void wt_boolean_free(wt_boolean *function) {
    if (function == NULL)
        return;
    wt_release(function->value);
    *function = (wt_boolean){0};
}

double wt_boolean_mean(const wt_boolean *function, double probability) {
    /* rows with j ones that give 1, each of probability p^j (1-p)^(s-j) */
    double rows[WT_BOOLEAN_MOST_BITS + 1] = {0}, mean = 0;
    for (size_t row = 0; row < (size_t)1 << function->bits; row++)
        rows[ones(row)] += function->value[row];
    for (size_t j = 0; j <= function->bits; j++)
        mean += rows[j] * pow(probability, (double)j) *
                pow(1 - probability, (double)(function->bits - j));
    return mean;
}

double wt_boolean_balance(const wt_boolean *function) {
    enum { STEPS = 4096 };
    if (wt_boolean_mean(function, 0.5) == 0.5)
        return 0.5;
    double best = 0.5, least = fabs(wt_boolean_mean(function, 0.5) - 0.5), before = 0;
    double sign = wt_boolean_mean(function, 0) < 0.5 ? 1 : -1;
    for (int i = 1; i <= STEPS; i++) {
        double p = (double)i / STEPS, off = wt_boolean_mean(function, p) - 0.5;
        if (sign * off >= 0) { /* crosses between the last two: halve to the last bit */
            double low = before, high = p;
            for (;;) {
                double middle = low + (high - low) / 2;
                if (middle <= low || middle >= high)
                    return high;
                if (sign * (wt_boolean_mean(function, middle) - 0.5) >= 0)
                    high = middle;
                else
                    low = middle;
            }
        }
        if (fabs(off) < least) {
            least = fabs(off);
            best = p;
        }
        before = p;
    }
    return best;
}
