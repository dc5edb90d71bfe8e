/* Help from the table of commands: what the writers share. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "command.h"

#define CLI_TAGLINE "what attention learns"
#define CLI_USAGE   "wattle COMMAND [options] [files]"

/* Exit codes with their meanings, as they stand in the man page and the reference. */
#define CLI_EXIT_CANCELLED 130 /* as a shell says of what Ctrl-C ended */
typedef struct cli_exit_code {
    int code;
    const char *meaning;
} cli_exit_code;
extern const cli_exit_code cli_exit_codes[];
extern const size_t cli_exit_code_count;

/* Whether the help should name the value that stands when the option is not given. */
bool cli_tells_default(const cli_option *option);
/* "[options] FILE...": what follows the command's name in its usage line. */
const char *cli_usage_words(const cli_command *command, char *out, size_t bytes);

/* command = NULL: wattle itself. */
void cli_write_text(FILE *out, const cli_command *command);
void cli_write_man(FILE *out, const cli_command *command);
void cli_write_markdown(FILE *out, const cli_command *command);
/* The same as a JSON object; NULL when there is no memory. */
json_t *cli_describe(const cli_command *command);

/* Walks the alternatives of "relu|softmax" (brackets do not count) up to a blank: copies the next
 * one and returns where to go on, NULL when there was none. */
const char *cli_next_word(const char *at, char *out, size_t bytes);
/* Whether the text is one of them. */
bool cli_is_alternative(const char *alternatives, const char *text);

#endif
