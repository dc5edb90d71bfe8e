#define _POSIX_C_SOURCE 200809L
#include "color.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const starts[] = {
    [CLI_PLAIN] = "", [CLI_BOLD] = "\033[1m", [CLI_RED] = "\033[1;31m"};
static const char *chosen = "auto";

void cli_color_choose(const char *choice) {
    chosen = choice;
}

static bool takes_color(FILE *out) {
    if (strcmp(chosen, "auto") != 0)
        return strcmp(chosen, "always") == 0;
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return (refused == NULL || *refused == '\0') && terminal != NULL &&
           strcmp(terminal, "dumb") != 0 && isatty(out == stdout ? STDOUT_FILENO : STDERR_FILENO);
}

void cli_color_write(FILE *out, cli_paint paint, const char *text) {
    if (paint == CLI_PLAIN || !takes_color(out))
        fputs(text, out);
    else
        fprintf(out, "%s%s\033[0m", starts[paint], text);
}
