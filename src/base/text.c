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

bool wt_integer_parse(const char *text, int64_t *out) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (!starts_like_number(text) || *end != '\0' || errno != 0 || end == text)
        return false;
    *out = value;
    return true;
}

bool wt_unsigned_parse(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end != '\0' || errno != 0)
        return false;
    *out = value;
    return true;
}

/* strtod, where what is not 0 does not become 0 unsaid. */
static bool read_real(const char *text, char **end, double *out) {
    errno = 0;
    *out = strtod(text, end);
    return *end != text && isfinite(*out) && !(*out == 0 && errno == ERANGE);
}

bool wt_real_parse(const char *text, double *out) {
    char *end;
    double value;
    if (!starts_like_number(text) || !read_real(text, &end, &value) || *end != '\0')
        return false;
    *out = value;
    return true;
}

bool wt_bytes_parse(const char *text, size_t *out) {
    static const char units[] = "KMGT";
    char *end;
    double value;
    if (!isdigit((unsigned char)*text) || !read_real(text, &end, &value))
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

/* "30:00", "2:00:00", "1-12:00:00" as schedulers write them; 0 when it is not of this form. */
static double read_clock(const char *text) {
    double total = 0;
    int colons = 0, dashes = 0;
    for (;; text++) {
        char *end;
        if (!isdigit((unsigned char)*text))
            return 0;
        total += (double)strtoul(text, &end, 10);
        text = end;
        if (*text == '\0')
            break;
        bool days = *text == '-';
        if (!days && *text != ':')
            return 0;
        colons += !days;
        dashes += days && colons == 0 ? 1 : 2 * days;
        total *= days ? 24 : 60;
    }
    return colons == 2 ? total * (dashes < 2) : total * (colons == 1 && dashes == 0);
}

bool wt_seconds_parse(const char *text, double *out) {
    static const struct {
        char letter;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    char *end;
    double value, unit = 1;
    if (isdigit((unsigned char)*text) && strchr(text, ':') != NULL)
        return (*out = read_clock(text)) > 0;
    if (!isdigit((unsigned char)*text) || !read_real(text, &end, &value))
        return false;
    for (size_t i = 0; *end != '\0' && i < sizeof units / sizeof *units; i++)
        if (*end == units[i].letter) {
            unit = units[i].seconds;
            end++;
            break;
        }
    if (*end != '\0' || !(value > 0) || !isfinite(value * unit))
        return false;
    *out = value * unit;
    return true;
}

const char *wt_bytes_format(size_t bytes, char *out) {
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

const char *wt_seconds_format(double seconds, char *out) {
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

static bool continues(const char *text, size_t bytes, size_t length) {
    if (bytes < length)
        return false;
    for (size_t i = 1; i < length; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80)
            return false;
    return true;
}

size_t wt_utf8_length(const char *text, size_t bytes) {
    unsigned char first = (unsigned char)text[0];
    unsigned char second = bytes > 1 ? (unsigned char)text[1] : 0;
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return continues(text, bytes, 2) ? 2 : 0;
    /* Overlong forms, surrogates and numbers past U+10FFFF are no UTF-8. */
    if (first >= 0xE0 && first <= 0xEF) {
        bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F);
        return !wrong && continues(text, bytes, 3) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        bool wrong = (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
        return !wrong && continues(text, bytes, 4) ? 4 : 0;
    }
    return 0;
}

bool wt_utf8_valid_bytes(const char *text, size_t bytes) {
    unsigned char all = 0;
    for (size_t i = 0; i < bytes; i++) /* mostly it is all ASCII: a loop the compiler makes quick */
        all |= (unsigned char)text[i];
    if (all < 0x80)
        return true;
    for (size_t length; bytes > 0; text += length, bytes -= length) {
        length = wt_utf8_length(text, bytes);
        if (length == 0)
            return false;
    }
    return true;
}

bool wt_utf8_valid(const char *text) {
    return wt_utf8_valid_bytes(text, strlen(text));
}

void wt_utf8_trim(char *text) {
    size_t bytes = strlen(text);
    for (size_t back = 1; back <= 3 && back <= bytes; back++) {
        unsigned char at = (unsigned char)text[bytes - back];
        size_t wanted = at >= 0xF0 ? 4 : at >= 0xE0 ? 3 : at >= 0xC0 ? 2 : 1;
        if (at >= 0xC2 && at <= 0xF4 && wanted > back)
            text[bytes - back] = '\0';
        if (at >= 0xC0 || at < 0x80)
            return;
    }
}

/* Ranges of characters that a terminal obeys or that are not seen: they move the cursor, end a
 * line, turn the direction of letters, or hide. */
static bool is_hidden(uint32_t character) {
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x00, 0x1f},       {0x7f, 0x9f},     /* C0; DEL and C1 */
        {0xad, 0xad},       {0x61c, 0x61c},   /* soft hyphen; Arabic mark */
        {0x180e, 0x180e},   {0x200b, 0x200f}, /* Mongolian separator; zero width and marks */
        {0x2028, 0x202e},   {0x2060, 0x206f}, /* ends of lines, embeddings; joiner, isolates */
        {0xfeff, 0xfeff},   {0xfff9, 0xfffb}, /* byte order mark; annotations */
        {0xe0000, 0xe007f},                   /* tags */
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    return false;
}

static uint32_t decode(const char *text, size_t length) {
    static const unsigned char payload[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t character = (unsigned char)text[0] & payload[length];
    for (size_t i = 1; i < length; i++)
        character = character << 6 | ((unsigned char)text[i] & 0x3f);
    return character;
}

size_t wt_show_character(const char *text, size_t bytes, char *shown) {
    size_t length = wt_utf8_length(text, bytes), taken = length == 0 ? 1 : length;
    bool plain = text[0] >= ' ' && text[0] <= '~'; /* nearly all, and quick */
    if (plain || (length > 0 && !is_hidden(decode(text, length)))) {
        memcpy(shown, text, length);
        shown[length] = '\0';
        return length;
    }
    for (size_t i = 0; i < taken; i++)
        snprintf(shown + 4 * i, 5, "\\x%02x", (unsigned char)text[i]);
    return taken;
}

size_t wt_show(const char *text, char *out, size_t size) {
    size_t bytes = strlen(text), used = 0;
    char shown[WT_SHOWN_CHARACTER];
    while (bytes > 0) {
        size_t taken = wt_show_character(text, bytes, shown), length = strlen(shown);
        if (used + length >= size)
            break;
        memcpy(out + used, shown, length);
        used += length;
        text += taken;
        bytes -= taken;
    }
    out[used] = '\0';
    return used;
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

char *wt_whole_add(char *out, uint64_t number) {
    char digits[WT_WHOLE_DIGITS];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0)
        *out++ = digits[--count];
    return out;
}
