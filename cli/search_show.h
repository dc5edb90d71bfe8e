/* The ways a table of searches is shown. */
#ifndef CLI_SEARCH_SHOW_H
#define CLI_SEARCH_SHOW_H

#include "command.h"
#include "wattle/search_trials.h"

void search_print(const wt_search_trials *table, const wt_search_options *options);
wt_status search_emit_json(cli_call *call, const wt_search_trials *table,
                           const wt_search_options *options);

#endif
