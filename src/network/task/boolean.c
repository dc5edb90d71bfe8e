#include "network/task/boolean.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

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

/* A function as it is spelled: by a family, by values for each number of ones, or by a table. */
typedef struct {
    size_t bits; /* 0 = it is none */
    bool (*family)(size_t count, size_t s);
    const char *digits; /* by the number of ones, or by row */
    bool table;
} spelling;

static spelling read_spelling(const char *text) {
    const char *colon = strchr(text, ':');
    size_t name = colon == NULL ? 0 : (size_t)(colon - text), digits = 0;
    spelling none = {0}, out = {0};
    if (colon == NULL)
        return none;
    for (size_t i = 0; i < FAMILIES; i++)
        if (strlen(families[i].name) == name && strncmp(text, families[i].name, name) == 0)
            out.family = families[i].of;
    if (out.family != NULL) {
        uint64_t s;
        out.bits = wt_unsigned_parse(colon + 1, &s) && s <= WT_BOOLEAN_MAX_BITS ? (size_t)s : 0;
        return out;
    }
    out.digits = colon + 1;
    out.table = strncmp(text, "table:", name + 1) == 0;
    digits = strlen(out.digits);
    if ((!out.table && strncmp(text, "symmetric:", name + 1) != 0) || digits < 2 ||
        strspn(out.digits, "01") != digits)
        return none;
    while (out.bits <= WT_BOOLEAN_MAX_BITS &&
           (out.table ? (size_t)1 << out.bits : out.bits + 1) < digits)
        out.bits++;
    bool fits = out.bits <= WT_BOOLEAN_MAX_BITS &&
                (out.table ? (size_t)1 << out.bits : out.bits + 1) == digits;
    return fits ? out : none;
}

static bool value_at(const spelling *of, size_t row) {
    if (of->family != NULL)
        return of->family(ones(row), of->bits);
    return of->digits[of->table ? row : ones(row)] == '1';
}

/* f depends on the number of ones alone: compared with the row whose ones are all lowest. */
static bool is_symmetric(const wt_boolean *function) {
    for (size_t row = 0; row < (size_t)1 << function->bits; row++)
        if (function->value[row] != function->value[((size_t)1 << ones(row)) - 1])
            return false;
    return true;
}

wt_status wt_boolean_new(wt_context *context, const char *text, wt_boolean **out) {
    spelling of = read_spelling(text);
    *out = NULL;
    if (of.bits == 0)
        return wt_fail(context, WT_USAGE,
                       "no Boolean function: '%s' (and:3, or:3, majority:3, parity:3, symmetric: "
                       "and s + 1 zeros and ones, table: and 2^s of them; s from 1 to %d)",
                       text, WT_BOOLEAN_MAX_BITS);
    size_t rows = (size_t)1 << of.bits;
    WT_PASS(wt_allocate(context, out, sizeof **out + rows, 1, "a truth table"));
    (*out)->bits = of.bits;
    for (size_t row = 0; row < rows; row++)
        (*out)->value[row] = value_at(&of, row);
    (*out)->symmetric = is_symmetric(*out);
    return WT_OK;
}

void wt_boolean_free(wt_boolean *function) {
    wt_release(function);
}

size_t wt_boolean_bits(const wt_boolean *function) {
    return function->bits;
}

bool wt_boolean_symmetric(const wt_boolean *function) {
    return function->symmetric;
}

uint8_t wt_boolean_value(const wt_boolean *function, size_t row) {
    return function->value[row];
}

double wt_boolean_mean(const wt_boolean *function, double probability) {
    /* rows with j ones that give 1, each of probability p^j (1-p)^(s-j) */
    double rows[WT_BOOLEAN_MAX_BITS + 1] = {0}, mean = 0;
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
