#include "report/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "lab/sha256.h"

static const char *entity(char letter) {
    switch (letter) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void add_escaped(wt_script *page, const char *words, size_t left) {
    while (left > 0) {
        size_t length = wt_utf8_length(words, left);
        const char *name = entity(*words);
        bool control = length == 1 && (unsigned char)*words < ' ' && *words != '\n';
        if (length == 0 || control)
            wt_script_add(page, "\xef\xbf\xbd");
        else if (name != NULL)
            wt_script_add(page, "%s", name);
        else
            wt_script_add(page, "%.*s", (int)length, words);
        length = length == 0 ? 1 : length;
        words += length;
        left -= length;
    }
}

void wt_html_text(wt_script *page, const char *words) {
    add_escaped(page, words, strlen(words));
}

static void add_prose(wt_script *page, const char *words) {
    for (bool code = false; *words != '\0'; code = !code) {
        size_t length = strcspn(words, "`");
        if (code)
            wt_script_add(page, "<code>");
        add_escaped(page, words, length);
        if (code)
            wt_script_add(page, "</code>");
        words += length + (words[length] == '`');
    }
}

void wt_html_number(wt_script *page, double value) {
    char text[32];
    if (isinf(value)) {
        wt_script_add(page, value > 0 ? "∞" : "−∞");
        return;
    }
    if (isnan(value)) {
        wt_script_add(page, "–");
        return;
    }
    snprintf(text, sizeof text, fabs(value) >= 1000 && fabs(value) < 1e7 ? "%.0f" : "%.3g", value);
    wt_script_add(page, "%s%s", text[0] == '-' ? "−" : "", text[0] == '-' ? text + 1 : text);
}

void wt_html_add(wt_script *page, const char *format, ...) {
    va_list values;
    va_start(values, format);
    while (*format != '\0') {
        size_t plain = strcspn(format, "%");
        wt_script_bytes(page, format, plain);
        format += plain;
        if (*format == '\0')
            break;
        switch (format[1]) {
        case 't':
            wt_html_text(page, va_arg(values, const char *));
            break;
        case 'p':
            add_prose(page, va_arg(values, const char *));
            break;
        case 'c':
            wt_html_add(page, "<code>%t</code>", va_arg(values, const char *));
            break;
        case 's':
            wt_script_add(page, "%s", va_arg(values, const char *));
            break;
        case 'z':
            wt_script_add(page, "%zu", va_arg(values, size_t));
            break;
        case 'n':
            wt_html_number(page, va_arg(values, double));
            break;
        default:
            wt_script_bytes(page, "%", 1);
            break;
        }
        format += 2;
    }
    va_end(values);
}

void wt_html_interval(wt_script *page, wt_interval value) {
    wt_html_number(page, value.value);
    if (!isnan(value.low) && !isnan(value.high))
        wt_html_add(page, " <small>(%n, %n)</small>", value.low, value.high);
}

/* Passes over the element the text starts with: "<title>...</title>". */
static const char *past(const char *text, const char *open, const char *close) {
    const char *begin = strstr(text, open), *end = strstr(text, close);
    return begin == NULL || end == NULL ? text : end + strlen(close);
}

/* Copies text up to its end, with the prefix before every name: id='X', href='#X', url(#X). */
static void add_renamed(wt_script *page, const char *text, const char *prefix) {
    static const char *const marks[] = {" id='", " id=\"", "href='#", "href=\"#", "url(#"};
    while (*text != '\0') {
        const char *next = NULL;
        size_t skip = 0;
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
            const char *found = strstr(text, marks[i]);
            if (found != NULL && (next == NULL || found < next)) {
                next = found;
                skip = strlen(marks[i]);
            }
        }
        if (next == NULL) {
            wt_script_add(page, "%s", text);
            return;
        }
        wt_script_add(page, "%.*s%s", (int)(next - text + (ptrdiff_t)skip), text, prefix);
        text = next + skip;
    }
}

void wt_html_drawing(wt_script *page, const char *svg, const char *prefix, const char *label) {
    int width = 0, height = 0;
    const char *box = strstr(svg, "viewBox=\"0 0 ");
    const char *body = strstr(svg, "<svg");
    if (body != NULL)
        body = strchr(body, '>');
    if (box == NULL || body == NULL || sscanf(box, "viewBox=\"0 0 %d %d\"", &width, &height) != 2)
        return;
    wt_html_add(page,
                "<svg class=\"plot\" role=\"img\" viewBox=\"0 0 %z %z\" aria-label=\"%t\" "
                "xmlns:xlink=\"http://www.w3.org/1999/xlink\">",
                (size_t)width, (size_t)height, label);
    add_renamed(page, past(body + 1, "<title>", "</desc>"), prefix);
}

const char *wt_html_hash(const char *text, char out[WT_HTML_HASH]) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char hex[WT_HASH_TEXT + 1], *to = out;
    wt_sha256(text, strlen(text), hex);
    memcpy(hex + WT_HASH_TEXT - 1, "0", 2); /* three digits are two letters */
    for (size_t i = 0; i < WT_HASH_TEXT; i += 3) {
        char digits[4] = {hex[i], hex[i + 1], i + 2 < WT_HASH_TEXT ? hex[i + 2] : '0', '\0'};
        unsigned long bits = strtoul(digits, NULL, 16);
        *to++ = letters[bits >> 6];
        *to++ = letters[bits & 63];
    }
    memcpy(out + WT_HTML_HASH - 2, "=", 2);
    return out;
}
