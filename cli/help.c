/* Help in three dresses from one table: the terminal, man(1), Markdown. */
#include <stdio.h>
#include <string.h>

#include "command.h"

enum { WIDTH = 78, INDENT = 24 };

/* Words wrapped at WIDTH, lines after the first indented; the first starts at `column`. */
static void write_wrapped(FILE *out, const char *text, int column, int indent) {
    while (*text != '\0') {
        int length = (int)strcspn(text, " \n");
        if (column > indent && column + 1 + length > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        }
        column += fprintf(out, "%s%.*s", column > indent ? " " : "", length, text);
        text += length;
        if (text[0] == '\n' && text[1] == '\n') {
            fprintf(out, "\n\n%*s", indent, "");
            column = indent;
        }
        text += strspn(text, " \n");
    }
    fputc('\n', out);
}

/* "-t, --threads T" */
static void spell_option(const cli_option *option, char *out, size_t bytes) {
    char letter[8] = "";
    if (option->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(out, bytes, "%s--%s%s%s", letter, option->name, option->value != NULL ? " " : "",
             option->value != NULL ? option->value : "");
}

static void write_text_option(FILE *out, const cli_option *option) {
    char left[160];
    spell_option(option, left, sizeof left);
    int column = fprintf(out, "  %s", left);
    if (column > INDENT - 2) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", INDENT - column, "");
    char help[1024];
    bool says_default = option->fallback != NULL && strcmp(option->fallback, "0") != 0;
    snprintf(help, sizeof help, says_default ? "%s (default %s)" : "%s", option->help,
             option->fallback);
    write_wrapped(out, help, INDENT, INDENT);
}

static void write_text_options(FILE *out, const cli_option *options, size_t count) {
    for (size_t i = 0; i < count; i++)
        write_text_option(out, &options[i]);
}

static void write_indented(FILE *out, const char *lines) {
    while (*lines != '\0') {
        int length = (int)strcspn(lines, "\n");
        fprintf(out, "  %.*s\n", length, lines);
        lines += length + (lines[length] == '\n');
    }
}

static void write_text(FILE *out, const cli_command *command) {
    fprintf(out, "wattle %s: %s\n\nusage: wattle %s [options]%s%s\n\n", command->name,
            command->summary, command->name, *command->operands != '\0' ? " " : "",
            command->operands);
    write_wrapped(out, command->description, 0, 0);
    if (command->option_count > 0) {
        fputs("\noptions:\n", out);
        write_text_options(out, command->options, command->option_count);
    }
    fputs("\noptions of every command:\n", out);
    write_text_options(out, cli_common_options, cli_common_option_count);
    fputs("\nexamples:\n", out);
    write_indented(out, command->examples);
}

static void write_overview(FILE *out) {
    fputs("wattle: what attention learns\n\nusage: wattle <command> [options] [files]\n\n"
          "commands:\n",
          out);
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        fprintf(out, "  %-12s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fputs("\n'wattle help COMMAND' tells more; 'wattle --version' what is built in.\n", out);
}

void cli_write_help(FILE *out, const cli_command *command, const char *format) {
    (void)format;
    if (command == NULL)
        write_overview(out);
    else
        write_text(out, command);
}
