/* The table of commands: a new one is a row here and a file beside this one. */
#include "commands.h"

const cli_command *const cli_commands[] = {
    &cli_info, &cli_bench, &cli_selfcheck, &cli_help, NULL,
};
