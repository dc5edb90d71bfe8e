/* `wattle --version`: what this binary is and what is built in. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

#include "wattle/base.h"

wt_status cli_write_version(wt_context *context, bool json);

#endif
