#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* strto* skip leading blanks and accept "inf"; a number here starts with a digit, sign or point. */
static bool starts_like_number(const char *text) {
    return isdigit((unsigned char)*text) || *text == '-' || *text == '+' || *text == '.';
}

bool wt_parse_integer(const char *text, int64_t *out) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (!starts_like_number(text) || *end != '\0' || errno != 0 || end == text)
        return false;
    *out = value;
    return true;
}

bool wt_parse_unsigned(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end != '\0' || errno != 0)
        return false;
    *out = value;
    return true;
}

bool wt_parse_real(const char *text, double *out) {
    char *end;
    double value = strtod(text, &end);
    if (!starts_like_number(text) || *end != '\0' || end == text || !isfinite(value))
        return false;
    *out = value;
    return true;
}

bool wt_parse_bytes(const char *text, size_t *out) {
    static const char units[] = "KMGT";
    char *end;
    double value = strtod(text, &end);
    if (!isdigit((unsigned char)*text) || end == text || !isfinite(value) || value < 0)
        return false;
    const char *unit = *end == '\0' ? NULL : strchr(units, toupper((unsigned char)*end));
    if (*end != '\0' && (unit == NULL || end[1] != '\0'))
        return false;
    double bytes = unit == NULL ? value : ldexp(value, 10 * (int)(unit - units + 1));
    if (bytes >= ldexp(1, 63) || (bytes > 0 && bytes < 1)) /* 0 means something else */
        return false;
    *out = (size_t)bytes;
    return true;
}

const char *wt_format_bytes(size_t bytes, char *out) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        unit++;
    }
    snprintf(out, WT_BYTES_TEXT, unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value,
             units[unit]);
    return out;
}

const char *wt_format_seconds(double seconds, char *out) {
    static const struct {
        double most, seconds; /* shown up to, and how many it has */
        const char *name;
    } units[] = {{120, 1, "s"}, {7200, 60, "min"}, {172800, 3600, "h"}, {INFINITY, 86400, "days"}};
    size_t unit = 0;
    while (seconds >= units[unit].most && unit + 1 < sizeof units / sizeof *units)
        unit++;
    double value = seconds / units[unit].seconds;
    if (isfinite(seconds) && seconds >= 0 && value < 1e6)
        snprintf(out, WT_SECONDS_TEXT, value < 10 ? "%.2g %s" : "%.0f %s", value, units[unit].name);
    else
        snprintf(out, WT_SECONDS_TEXT, "not known");
    return out;
}

size_t wt_edit_distance(const char *a, const char *b) {
    enum { LONGEST = 64 };
    size_t length = strlen(b);
    if (length > LONGEST)
        length = LONGEST;
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            size_t replace = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            size_t shorter = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            row[j + 1] = replace < shorter ? replace : shorter;
        }
    }
    return row[length];
}
