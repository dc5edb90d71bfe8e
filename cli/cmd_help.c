#include <stdio.h>

#include "commands.h"

static wt_status run(cli_call *call) {
    const cli_command *about = NULL;
    if (call->operand_count > 0) {
        about = cli_find_command(call->operands[0]);
        if (about == NULL)
            return wt_fail(call->context, WT_USAGE,
                           "there is no command '%s'; 'wattle help' lists them", call->operands[0]);
    }
    cli_write_help(stdout, about, "text");
    return WT_OK;
}

const cli_command cli_help = {
    .name = "help",
    .summary = "explain a command",
    .operands = "[COMMAND]",
    .least = 0,
    .most = 1,
    .description = "Without a command, lists them all.",
    .examples = "wattle help info",
    .run = run,
};
