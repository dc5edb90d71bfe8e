/* The help as Markdown: docs/reference.md. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "help.h"

/* Inside a table cell a bar would start the next one. */
static void write_cell(FILE *out, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '|')
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

static void write_option(FILE *out, const cli_option *option) {
    fputs("| `", out);
    if (option->letter != 0)
        fprintf(out, "-%c`, `", option->letter);
    fprintf(out, "--%s", option->name);
    if (option->value != NULL) {
        fputc(' ', out);
        write_cell(out, option->value);
    }
    fputs("` | ", out);
    write_cell(out, option->help);
    if (cli_tells_default(option)) {
        fputs(" Default `", out);
        write_cell(out, option->fallback);
        fputs("`.", out);
    }
    fputs(" |\n", out);
}

static void write_options(FILE *out, const cli_option *options, size_t count) {
    if (count > 0)
        fputs("\n| option | meaning |\n|---|---|\n", out);
    for (size_t i = 0; i < count; i++)
        write_option(out, &options[i]);
}

static void write_command(FILE *out, const cli_command *command) {
    char usage[160];
    size_t count;
    const cli_option *options = cli_options_of(command, &count);
    fprintf(out, "## wattle %s\n\n%c%s.\n\n    wattle %s %s\n\n%s\n", command->name,
            toupper((unsigned char)command->summary[0]), command->summary + 1, command->name,
            cli_usage_words(command, usage, sizeof usage), command->description);
    write_options(out, options, count);
    fprintf(out, "\nExamples:\n\n```sh\n%s\n```\n", command->examples);
}

static void write_all(FILE *out) {
    fputs("# Commands\n\nEvery command and every option, for those who know what they look for; "
          "the man pages "
          "say the same. Written by\n`wattle help --format markdown`; `scripts/reference` writes "
          "it anew.\n\n    " CLI_USAGE
          "\n\nData goes to standard output, words to standard error.\n\n"
          "## Options of every command\n",
          out);
    write_options(out, cli_common_options, cli_common_option_count);
    fputs("\n## Exit codes\n\n| code | meaning |\n|---|---|\n", out);
    for (size_t i = 0; i < cli_exit_code_count; i++)
        fprintf(out, "| %d | %s |\n", cli_exit_codes[i].code, cli_exit_codes[i].meaning);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        fputc('\n', out);
        write_command(out, cli_commands[i]);
    }
}

void cli_write_markdown(FILE *out, const cli_command *command) {
    if (command == NULL)
        write_all(out);
    else
        write_command(out, command);
}
