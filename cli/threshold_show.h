/* What `wattle threshold` shows of a search. */
#ifndef CLI_THRESHOLD_SHOW_H
#define CLI_THRESHOLD_SHOW_H

#include "command.h"
#include "wattle/threshold.h"

void cli_threshold_print(const wt_threshold_summary *summary);
wt_status cli_threshold_emit(cli_call *call, const wt_threshold_spec *setting, size_t trials,
                             const wt_threshold_summary *summary);
/* Critical m against T with the fits, and the rates against m. */
wt_status cli_threshold_draw(cli_call *call, const wt_threshold_summary *summary, const char *path);

#endif
