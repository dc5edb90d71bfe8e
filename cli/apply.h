/* The two things that `wattle apply` runs. */
#ifndef CLI_APPLY_H
#define CLI_APPLY_H

#include "command.h"

/* Whether the file is a network of `wattle train`. */
bool cli_is_network(cli_call *call, const char *path);
/* Runs the network of the first operand on the bits of the second; output may be NULL. */
wt_status cli_apply_network(cli_call *call, const char *output);

#endif
