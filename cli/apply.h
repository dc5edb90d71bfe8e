/* The two things that `wattle apply` runs. */
#ifndef CLI_APPLY_H
#define CLI_APPLY_H

#include "command.h"

/* Runs the network of the first operand on the bits of the second; output may be NULL. */
wt_status cli_apply_network(cli_call *call, const char *output);

#endif
