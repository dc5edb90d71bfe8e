/* What all dresses of the help share, and the one for the terminal. */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "color.h"

enum { WIDTH = 78, INDENT = 24 };

const cli_exit_code cli_exit_codes[] = {
    {0, "everything went well"},
    {1, "ran to the end without reaching its goal"},
    {64, "wrong usage: a command, option or value that makes no sense"},
    {65, "bad data: an input file that is malformed or disagrees with itself"},
    {66, "no such input, or it cannot be opened"},
    {69, "not built in, no OpenBLAS, or an outside program failed"},
    {70, "out of memory, or an internal error"},
    {73, "an output cannot be created"},
    {74, "reading or writing broke off"},
    {75, "interrupted; the same command goes on from what was finished"},
    {78, "a configuration file that makes no sense"},
    {CLI_EXIT_CANCELLED, "interrupted, with nothing kept to go on from"},
};
const size_t cli_exit_code_count = sizeof cli_exit_codes / sizeof *cli_exit_codes;

bool cli_tells_default(const cli_option *option) {
    return option->fallback != NULL && strcmp(option->fallback, "0") != 0;
}

const char *cli_usage_words(const cli_command *command, char *out, size_t bytes) {
    snprintf(out, bytes, "[options]%s%s", command->operands != NULL ? " " : "",
             command->operands != NULL ? command->operands : "");
    return out;
}

const char *cli_next_word(const char *at, char *out, size_t bytes) {
    at += strspn(at, "|[]");
    size_t length = strcspn(at, "|[] ");
    if (length == 0)
        return NULL;
    snprintf(out, bytes, "%.*s", (int)length, at);
    return at + length;
}

bool cli_is_alternative(const char *alternatives, const char *text) {
    char word[64];
    while ((alternatives = cli_next_word(alternatives, word, sizeof word)) != NULL)
        if (strcmp(word, text) == 0)
            return true;
    return false;
}

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

static void write_option(FILE *out, const cli_option *option) {
    char left[160], letter[8] = "", help[1024];
    if (option->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, option->name,
             option->value != NULL ? " " : "", option->value != NULL ? option->value : "");
    cli_color_write(out, CLI_BOLD, left);
    int column = (int)strlen(left);
    if (column > INDENT - 2) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", INDENT - column, "");
    if (cli_tells_default(option))
        snprintf(help, sizeof help, "%s (default %s)", option->help, option->fallback);
    else
        snprintf(help, sizeof help, "%s", option->help);
    write_wrapped(out, help, INDENT, INDENT);
}

static void write_options(FILE *out, const char *heading, const cli_option *options, size_t count) {
    if (count == 0)
        return;
    fputc('\n', out);
    cli_color_write(out, CLI_BOLD, heading);
    fputc('\n', out);
    for (size_t i = 0; i < count; i++)
        write_option(out, &options[i]);
}

static void write_indented(FILE *out, const char *lines) {
    while (*lines != '\0') {
        int length = (int)strcspn(lines, "\n");
        fprintf(out, "  %.*s\n", length, lines);
        lines += length + (lines[length] == '\n');
    }
}

static void write_overview(FILE *out) {
    cli_color_write(out, CLI_BOLD, "wattle");
    fputs(": " CLI_TAGLINE "\n\nusage: " CLI_USAGE "\n\n", out);
    cli_color_write(out, CLI_BOLD, "commands:");
    fputc('\n', out);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        char name[32];
        snprintf(name, sizeof name, "  %-12s", cli_commands[i]->name);
        cli_color_write(out, CLI_BOLD, name);
        fprintf(out, " %s\n", cli_commands[i]->summary);
    }
    fputs("\n'wattle help COMMAND' tells more; 'wattle --version' what is built in.\n", out);
}

void cli_write_text(FILE *out, const cli_command *command) {
    if (command == NULL) {
        write_overview(out);
        return;
    }
    char title[64], usage[160];
    size_t count;
    const cli_option *options = cli_options_of(command, &count);
    snprintf(title, sizeof title, "wattle %s", command->name);
    cli_color_write(out, CLI_BOLD, title);
    fprintf(out, ": %s\n\nusage: wattle %s %s\n\n", command->summary, command->name,
            cli_usage_words(command, usage, sizeof usage));
    write_wrapped(out, command->description, 0, 0);
    write_options(out, "options:", options, count);
    write_options(out, "options of every command:", cli_common_options, cli_common_option_count);
    fputc('\n', out);
    cli_color_write(out, CLI_BOLD, "examples:");
    fputc('\n', out);
    write_indented(out, command->examples);
}

void cli_write_help(FILE *out, const cli_command *command, const char *format) {
    static const struct {
        const char *format;
        void (*write)(FILE *out, const cli_command *command);
    } writers[] = {
        {"text", cli_write_text}, {"man", cli_write_man}, {"markdown", cli_write_markdown}};
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (strcmp(writers[i].format, format) == 0)
            writers[i].write(out, command);
}
