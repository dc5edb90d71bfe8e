#include "io/quote.h"

#include <stdio.h>
#include <string.h>

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

bool wt_utf8_valid(const char *text) {
    size_t bytes = strlen(text);
    while (bytes > 0) {
        size_t length = wt_utf8_length(text, bytes);
        if (length == 0)
            return false;
        text += length;
        bytes -= length;
    }
    return true;
}

/* The character at the start of the text as it is shown; returns the bytes it takes in the text. */
static size_t show_character(const char *text, size_t bytes, char shown[8]) {
    size_t length = wt_utf8_length(text, bytes);
    unsigned char first = (unsigned char)text[0];
    /* C0, DEL and C1 (U+0080 to U+009F) move the cursor or worse. */
    bool control = first < 0x20 || first == 0x7F ||
                   (length == 2 && first == 0xC2 && (unsigned char)text[1] < 0xA0);
    if (length > 0 && !control) {
        memcpy(shown, text, length);
        shown[length] = '\0';
        return length;
    }
    snprintf(shown, 8, "\\x%02x", first);
    return 1;
}

static size_t shown_bytes(const char *text) {
    size_t bytes = strlen(text), total = 0;
    char shown[8];
    while (bytes > 0) {
        size_t taken = show_character(text, bytes, shown);
        total += strlen(shown);
        text += taken;
        bytes -= taken;
    }
    return total;
}

const char *wt_quote(const char *text, char *out, size_t size) {
    size_t total = shown_bytes(text);
    bool whole = total < size;
    size_t head = whole ? total : (size - 1) / 3; /* shown before the dots */
    size_t tail = whole ? 0 : size - 1 - 3 - head;
    size_t bytes = strlen(text), at = 0, passed = 0;
    bool dotted = whole;
    char shown[8];
    while (bytes > 0) {
        size_t taken = show_character(text, bytes, shown);
        size_t length = strlen(shown);
        bool first_part = passed + length <= head, last_part = passed >= total - tail;
        if (!first_part && !dotted) {
            memcpy(out + at, "...", 3);
            at += 3;
            dotted = true;
        }
        if (first_part || last_part) {
            memcpy(out + at, shown, length);
            at += length;
        }
        passed += length;
        text += taken;
        bytes -= taken;
    }
    out[at] = '\0';
    return out;
}

/* Bytes past ASCII mean nothing to a shell. */
static bool is_plain(const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./=,:+@%";
    size_t length = 0;
    while (word[length] != '\0' &&
           ((unsigned char)word[length] >= 0x80 || strchr(plain, word[length]) != NULL))
        length++;
    return length > 0 && word[length] == '\0';
}

size_t wt_shell_word(const char *word, char *out, size_t size) {
    if (is_plain(word))
        return (size_t)snprintf(out, size, "%s", word);
    size_t used = (size_t)snprintf(out, size, "'");
    for (; *word != '\0'; word++) { /* within quotes all but the quote stands for itself */
        bool fits = used < size;
        used += (size_t)snprintf(fits ? out + used : NULL, fits ? size - used : 0,
                                 *word == '\'' ? "'\\''" : "%c", *word);
    }
    bool fits = used < size;
    return used + (size_t)snprintf(fits ? out + used : NULL, fits ? size - used : 0, "'");
}
