#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "command.h"

extern const cli_command cli_bench;
extern const cli_command cli_help;
extern const cli_command cli_info;
extern const cli_command cli_selfcheck;

#endif
