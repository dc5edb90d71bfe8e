/* How often words are in a text. */
#ifndef TESTS_REPORT_WORDS_H
#define TESTS_REPORT_WORDS_H

#include <string.h>

static inline size_t count_of(const char *text, const char *words) {
    size_t count = 0;
    for (; (text = strstr(text, words)) != NULL; text += strlen(words))
        count++;
    return count;
}

#endif
