/* Words on standard output. File names, settings and stored text are in them, which must not reach
 * a terminal as they are. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "wattle/text.h"

bool cli_print_lost;

size_t cli_print_plain(const char *text) {
    size_t bytes = 0;
    while ((text[bytes] >= ' ' && text[bytes] <= '~') || text[bytes] == '\n')
        bytes++;
    return bytes;
}

static void print_shown(const char *text) {
    char shown[WT_SHOWN_CHARACTER];
    for (size_t left = strlen(text), taken; left > 0; text += taken, left -= taken) {
        taken = cli_print_plain(text);
        fwrite(text, 1, taken, stdout);
        if (taken == 0) {
            taken = wt_show_character(text, left, shown);
            fputs(shown, stdout);
        }
    }
}

void cli_print_values(const char *format, va_list values) {
    char line[512], *text = line;
    va_list again;
    va_copy(again, values);
    int length = vsnprintf(line, sizeof line, format, values);
    if (length >= (int)sizeof line) {
        text = malloc((size_t)length + 1);
        if (text != NULL)
            vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    if (length < 0 || text == NULL) {
        cli_print_lost = true;
        return;
    }
    print_shown(text);
    if (text != line)
        free(text);
}

void cli_print(const char *format, ...) {
    va_list values;
    va_start(values, format);
    cli_print_values(format, values);
    va_end(values);
}
