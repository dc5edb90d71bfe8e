/* The methods of `wattle recover`: a new one is a row of the table in cmd_recover.c. */
#ifndef CLI_RECOVER_H
#define CLI_RECOVER_H

#include "command.h"
#include "wattle/recover.h"

typedef struct cli_recover_values {
    const char *heads, *method, *output;
    size_t restarts, steps;
    double holdout, goal;
    bool matrix_free;
} cli_recover_values;

wt_status cli_recover_refine(cli_call *call, const wt_sequences *data,
                             const wt_recover_options *given, wt_layer *out,
                             wt_recover_report *report);
wt_status cli_recover_adam(cli_call *call, const wt_sequences *data,
                           const wt_recover_options *given, wt_layer *out,
                           wt_recover_report *report);

#endif
