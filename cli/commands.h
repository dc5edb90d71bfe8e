#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "command.h"

extern const cli_command cli_draw, cli_fit, cli_help, cli_info, cli_predict, cli_score;

#endif
