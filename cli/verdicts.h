/* Claims and verdicts as a command prints them. */
#ifndef CLI_VERDICTS_H
#define CLI_VERDICTS_H

#include "command.h"
#include "report/write.h"

/* One line a part: claim, verdict, effect with its interval, claimed side. */
void cli_verdicts_print(const wt_findings *findings);
/* An array of claims with their parts; NULL without memory. */
json_t *cli_verdicts_json(const wt_findings *findings);

/* Reads the store, measures the claims, writes the page to `output` and prints what it says. `more`
 * (may be NULL, is released) is added to the JSON. */
wt_status cli_report_make(cli_call *call, const char *store, const char *output, json_t *more);

#endif
