/* The help as a man page: man(7) macros. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "commit.h"
#include "help.h"

/* Text in which nothing is an instruction to troff: backslashes, dashes that must stay dashes, and
 * points and quotes at the start of a line. */
static void write_escaped(FILE *out, const char *text) {
    bool line_starts = true;
    for (; *text != '\0'; text++) {
        if (line_starts && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
        line_starts = *text == '\n';
    }
}

/* Paragraphs are parted by blank lines, which are a fault in man pages; `.PP` stands for them. */
static void write_paragraphs(FILE *out, const char *text) {
    while (*text != '\0') {
        const char *end = strstr(text, "\n\n");
        size_t length = end == NULL ? strlen(text) : (size_t)(end - text);
        char part[2048];
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        write_escaped(out, part);
        fputs(end == NULL ? "\n" : "\n.PP\n", out);
        text += length + strspn(text + length, "\n");
    }
}

static void write_head(FILE *out, const char *name, const char *summary) {
    fputs(".TH ", out);
    for (const char *at = name; *at != '\0'; at++)
        fputc(toupper((unsigned char)*at), out);
    fprintf(out, " 1 \"%s\" \"wattle %s\" \"Wattle\"\n.SH NAME\n", WATTLE_DATE, wt_version());
    write_escaped(out, name);
    fputs(" \\- ", out);
    write_escaped(out, summary);
    fputs("\n.SH SYNOPSIS\n", out);
}

static void write_option(FILE *out, const cli_option *option) {
    fputs(".TP\n\\fB", out);
    if (option->letter != 0)
        fprintf(out, "\\-%c\\fR, \\fB", option->letter);
    fputs("\\-\\-", out);
    write_escaped(out, option->name);
    fputs("\\fR", out);
    if (option->value != NULL) {
        fputs(" \\fI", out);
        write_escaped(out, option->value);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    write_escaped(out, option->help);
    if (cli_tells_default(option)) {
        fputs(" (default ", out);
        write_escaped(out, option->fallback);
        fputc(')', out);
    }
    fputc('\n', out);
}

static void write_options(FILE *out, const char *heading, const cli_option *options, size_t count) {
    if (count > 0)
        fprintf(out, ".SH %s\n", heading);
    for (size_t i = 0; i < count; i++)
        write_option(out, &options[i]);
}

static void write_exit_status(FILE *out) {
    fputs(".SH EXIT STATUS\n", out);
    for (size_t i = 0; i < cli_exit_code_count; i++) {
        fprintf(out, ".TP\n.B %d\n", cli_exit_codes[i].code);
        write_escaped(out, cli_exit_codes[i].meaning);
        fputc('\n', out);
    }
}

static void write_overview(FILE *out) {
    write_head(out, "wattle", CLI_TAGLINE);
    fputs(".B wattle\n.I COMMAND\n[options] [files]\n.br\n.B wattle \\-\\-version\n"
          "[\\fB\\-\\-json\\fR]\n.SH DESCRIPTION\n"
          "Data goes to standard output, words to standard error.\nEach command has a page of its "
          "own.\n.SH COMMANDS\n",
          out);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        fprintf(out, ".TP\n\\fBwattle\\-%s\\fR(1)\n", cli_commands[i]->name);
        write_escaped(out, cli_commands[i]->summary);
        fputc('\n', out);
    }
    write_options(out, "OPTIONS OF EVERY COMMAND", cli_common_options, cli_common_option_count);
    fputs(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nWhen set and not empty, "
          "\\fB\\-\\-color=auto\\fR means never.\n",
          out);
    write_exit_status(out);
}

void cli_write_man(FILE *out, const cli_command *command) {
    if (command == NULL) {
        write_overview(out);
        return;
    }
    char name[64], usage[160];
    size_t count;
    const cli_option *options = cli_options_of(command, &count);
    snprintf(name, sizeof name, "wattle-%s", command->name);
    write_head(out, name, command->summary);
    fprintf(out, ".B wattle %s\n", command->name);
    write_escaped(out, cli_usage_words(command, usage, sizeof usage));
    fputs("\n.SH DESCRIPTION\n", out);
    write_paragraphs(out, command->description);
    write_options(out, "OPTIONS", options, count);
    write_options(out, "OPTIONS OF EVERY COMMAND", cli_common_options, cli_common_option_count);
    fputs(".SH EXAMPLES\n.nf\n", out);
    write_escaped(out, command->examples);
    fputs("\n.fi\n.SH SEE ALSO\n.BR wattle (1),\nwhich lists the exit codes.\n", out);
}
