#include "lab/flat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/text.h"
#include "wattle/text.h"

static bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

static size_t digits(const char *text) {
    size_t count = 0;
    while (is_digit(text[count]))
        count++;
    return count;
}

static size_t hex_digits(const char *text) {
    return strspn(text, "0123456789abcdefABCDEF");
}

static unsigned hex_value(const char *text) {
    char copy[5];
    memcpy(copy, text, 4);
    copy[4] = '\0';
    return (unsigned)strtoul(copy, NULL, 16);
}

/* Bytes of an escape after its backslash; 0 when it is none, or no character. */
static size_t escape_length(const char *text) {
    if (*text != 'u')
        return *text != '\0' && strchr("\"\\/bfnrt", *text) != NULL;
    if (hex_digits(text + 1) < 4)
        return 0;
    unsigned first = hex_value(text + 1);
    if (first < 0xD800 || first >= 0xE000)
        return first == 0 ? 0 : 5;
    if (first >= 0xDC00 || text[5] != '\\' || text[6] != 'u' || hex_digits(text + 7) < 4)
        return 0;
    unsigned second = hex_value(text + 7);
    return second >= 0xDC00 && second < 0xE000 ? 11 : 0;
}

/* Bytes up to the closing quote of words that start here; SIZE_MAX when they are no words. */
static size_t words_length(const char *text) {
    size_t length = 0;
    for (; text[length] != '"'; length++) {
        if ((unsigned char)text[length] < ' ') /* the end of the text too */
            return SIZE_MAX;
        if (text[length] != '\\')
            continue;
        size_t escape = escape_length(text + length + 1);
        if (escape == 0)
            return SIZE_MAX;
        length += escape;
    }
    return length;
}

/* Bytes of a number; 0 when it is none. */
static size_t number_length(const char *text, wt_flat_kind *kind) {
    size_t length = text[0] == '-', whole = digits(text + length);
    *kind = WT_FLAT_WHOLE;
    if (whole == 0 || (whole > 1 && text[length] == '0'))
        return 0;
    length += whole;
    if (text[length] == '.') {
        size_t after = digits(text + length + 1);
        if (after == 0)
            return 0;
        length += 1 + after;
        *kind = WT_FLAT_REAL;
    }
    if (text[length] == 'e' || text[length] == 'E') {
        size_t sign = text[length + 1] == '-' || text[length + 1] == '+';
        size_t after = digits(text + length + 1 + sign);
        if (after == 0)
            return 0;
        length += 1 + sign + after;
        *kind = WT_FLAT_REAL;
    }
    return length;
}

/* The value that starts here; returns what follows it, or NULL. */
static const char *take_value(const char *text, wt_flat_member *out) {
    static const struct {
        const char *text;
        wt_flat_kind kind;
    } literals[] = {{"null", WT_FLAT_NULL}, {"false", WT_FLAT_FALSE}, {"true", WT_FLAT_TRUE}};
    out->value = text;
    if (text[0] == '"') {
        out->kind = WT_FLAT_WORDS;
        out->value = text + 1;
        out->value_length = words_length(text + 1);
        return out->value_length == SIZE_MAX ? NULL : out->value + out->value_length + 1;
    }
    for (size_t i = 0; i < 3; i++) /* a look at the first letter: mostly it is a number */
        if (text[0] == literals[i].text[0] &&
            strncmp(text, literals[i].text, strlen(literals[i].text)) == 0) {
            out->kind = literals[i].kind;
            out->value_length = strlen(literals[i].text);
            return text + out->value_length;
        }
    out->value_length = number_length(text, &out->kind);
    return out->value_length == 0 ? NULL : text + out->value_length;
}

static bool stop(wt_flat *walk, bool wrong) {
    walk->wrong = wrong;
    walk->at = NULL;
    return false;
}

/* Whether the name comes after the last one: so no two are the same. */
static bool rises(const wt_flat *walk, const wt_flat_member *member) {
    size_t shared =
        walk->last_length < member->name_length ? walk->last_length : member->name_length;
    int order = walk->last == NULL ? -1 : memcmp(walk->last, member->name, shared);
    return order < 0 || (order == 0 && walk->last_length < member->name_length);
}

bool wt_flat_next(wt_flat *walk, wt_flat_member *out) {
    const char *at = walk->at;
    if (at == NULL)
        return false;
    if (!walk->begun && *at++ != '{')
        return stop(walk, true);
    if (*at == '}')
        return stop(walk, at[1] != '\0');
    if (walk->begun && *at++ != ',')
        return stop(walk, true);
    if (*at++ != '"')
        return stop(walk, true);
    out->name = at;
    out->name_length = words_length(at);
    if (out->name_length == SIZE_MAX || at[out->name_length + 1] != ':' || !rises(walk, out))
        return stop(walk, true);
    at = take_value(at + out->name_length + 2, out);
    if (at == NULL)
        return stop(walk, true);
    walk->begun = true;
    walk->last = out->name;
    walk->last_length = out->name_length;
    walk->at = at;
    return true;
}

bool wt_flat_is(const wt_flat_member *member, const char *name) {
    return strlen(name) == member->name_length &&
           memcmp(member->name, name, member->name_length) == 0;
}

bool wt_flat_check(const char *text) {
    wt_flat walk = {.at = text};
    wt_flat_member member;
    while (wt_flat_next(&walk, &member))
        continue;
    return !walk.wrong;
}

double wt_flat_number(const wt_flat_member *member) {
    char text[64];
    double number = NAN;
    switch (member->kind) {
    case WT_FLAT_TRUE:
        return 1;
    case WT_FLAT_FALSE:
        return 0;
    case WT_FLAT_WHOLE:
    case WT_FLAT_REAL:
        number = strtod(member->value, NULL); /* ends at the comma or bracket */
        return isfinite(number) ? number : NAN;
    case WT_FLAT_WORDS:
        if (member->value_length < sizeof text) {
            wt_flat_spell(member->value, member->value_length, text, sizeof text);
            return wt_real_parse(text, &number) ? number : NAN;
        }
        return NAN;
    default:
        return NAN;
    }
}

bool wt_flat_natural(const wt_flat_member *member, int64_t *out) {
    double number = wt_flat_number(member);
    if (member->kind != WT_FLAT_WHOLE || !(number >= 0 && number <= (double)WT_GRID_WHOLE))
        return false;
    *out = (int64_t)number;
    return true;
}

/* The code point of an escape "uXXXX", of two of them where it is a pair; *used bytes. */
static unsigned long code_point(const char *text, size_t *used) {
    unsigned first = hex_value(text + 1);
    *used = escape_length(text);
    if (*used == 5)
        return first;
    return 0x10000 + ((unsigned long)(first - 0xD800) << 10) + (hex_value(text + 7) - 0xDC00);
}

/* UTF-8; returns its bytes. */
static size_t encode(unsigned long point, char *out) {
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const unsigned char heads[] = {0, 0xC0, 0xE0, 0xF0};
    out[0] = (char)(heads[more] | (point >> 6 * more));
    for (size_t i = 1; i <= more; i++)
        out[i] = (char)(0x80 | ((point >> 6 * (more - i)) & 0x3F));
    return 1 + more;
}

/* The character or escape at the start of the text, 1 to 4 bytes; *used bytes of the text. */
static size_t spell_one(const char *text, size_t left, char out[4], size_t *used) {
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    if (text[0] != '\\') {
        *used = wt_utf8_length(text, left);
        *used = *used == 0 ? 1 : *used;
        memcpy(out, text, *used);
        return *used;
    }
    if (text[1] == 'u') {
        size_t length = encode(code_point(text + 1, used), out);
        ++*used;
        return length;
    }
    const char *found = strchr(letters, text[1]);
    out[0] = found != NULL ? meant[found - letters] : text[1];
    *used = 2;
    return 1;
}

void wt_flat_spell(const char *text, size_t length, char *out, size_t size) {
    char piece[4];
    size_t used;
    if (length < size && memchr(text, '\\', length) == NULL) {
        memcpy(out, text, length);
        out[length] = '\0';
        return;
    }
    for (; length > 0; text += used, length -= used) {
        size_t bytes = spell_one(text, length, piece, &used);
        if (bytes >= size)
            break;
        memcpy(out, piece, bytes);
        out += bytes;
        size -= bytes;
    }
    *out = '\0';
}
