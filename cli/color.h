/* Colour, for people only: off when a stream is no terminal, unless --color says otherwise. */
#ifndef CLI_COLOR_H
#define CLI_COLOR_H

#include <stdio.h>

typedef enum { CLI_PLAIN, CLI_BOLD, CLI_RED } cli_paint;

/* "auto", "always" or "never", as --color says. */
void cli_color_choose(const char *choice);
/* Writes the text in the paint if the stream takes colour, else as it is. */
void cli_color_write(FILE *out, cli_paint paint, const char *text);

#endif
