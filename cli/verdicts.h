/* Claims and verdicts as a command prints them. */
#ifndef CLI_VERDICTS_H
#define CLI_VERDICTS_H

#include "command.h"
#include "wattle/report.h"

/* Measures the claims on a store, writes the page, again and again where it is to watch, and prints
 * the verdicts; `more`, which is taken over, goes into the JSON object. May be NULL. */
wt_status cli_report_make(cli_call *call, const char *store, const char *output,
                          const wt_report_options *options, bool watch, json_t *more);

#endif
