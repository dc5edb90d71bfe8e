#include <stdio.h>

#include "commands.h"
#include "help.h"

typedef struct {
    const char *format, *completion;
} help_values;

static const cli_option options[] = {
    {"format", 0, CLI_CHOICE, offsetof(help_values, format), "text|man|markdown", "text",
     "How to write it: for the terminal, as a man page, or as Markdown."},
    {"completion", 0, CLI_CHOICE, offsetof(help_values, completion), "bash|zsh|fish", NULL,
     "Write the completion script of a shell instead."},
};

static wt_status run(cli_call *call) {
    const help_values *values = call->values;
    const cli_command *about = NULL;
    if (call->operand_count > 0) {
        about = cli_find_command(call->operands[0]);
        if (about == NULL)
            return cli_unknown_command(call->context, call->operands[0]);
    }
    if (values->completion != NULL && (about != NULL || call->common.json))
        return wt_fail(call->context, WT_USAGE,
                       "--completion is one script for all commands: no COMMAND, no --json");
    if (values->completion != NULL)
        cli_write_completion(stdout, values->completion);
    else if (call->common.json)
        return cli_emit_json(call, cli_describe(about));
    else
        cli_write_help(stdout, about, values->format);
    return WT_OK;
}

const cli_command cli_help = {
    .name = "help",
    .summary = "explain a command",
    .operands = "[COMMAND]",
    .words = 1,
    .description = "Without a command, lists them all; as Markdown, explains them all. With "
                   "--json, describes commands and options for programs.",
    .examples = "wattle help\nwattle help help\nwattle help --format man help | man -l -",
    CLI_OPTIONS(options, help_values),
    .run = run,
};
