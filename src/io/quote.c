#include "base/text.h"
#include "io/script.h"

#include <stdio.h>
#include <string.h>

static size_t shown_bytes(const char *text) {
    size_t bytes = strlen(text), total = 0;
    char shown[WT_SHOWN_CHARACTER];
    while (bytes > 0) {
        size_t taken = wt_show_character(text, bytes, shown);
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
    char shown[WT_SHOWN_CHARACTER];
    while (bytes > 0) {
        size_t taken = wt_show_character(text, bytes, shown);
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

const char *wt_csv_lead(const char *text) {
    double number;
    bool special = *text != '\0' && strchr("=+-@\t\r'", *text) != NULL;
    return special && !wt_real_parse(text, &number) ? "'" : "";
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
