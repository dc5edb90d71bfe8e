/* The methods of `wattle recover`: a new one is a row of the table in cmd_recover.c. */
#ifndef CLI_RECOVER_H
#define CLI_RECOVER_H

#include "command.h"
#include "wattle/recover.h"
#include "wattle/sculpt.h"

/* What `sculpt` has to show besides the report. */
typedef struct cli_recover_stages {
    bool sculpted, certified;
    wt_sculpt_report sculpt;
    wt_certificate_result certificate;
} cli_recover_stages;

typedef struct cli_recover_values {
    const char *heads, *method, *output;
    size_t restarts, steps;
    double holdout, goal;
    bool matrix_free, certificate;
    const char *directions;
    cli_recover_stages stages; /* no option: filled by the run */
} cli_recover_values;

wt_status cli_recover_refine(cli_call *call, const wt_sequences *data,
                             const wt_recover_options *given, wt_layer *out,
                             wt_recover_report *report);
wt_status cli_recover_adam(cli_call *call, const wt_sequences *data,
                           const wt_recover_options *given, wt_layer *out,
                           wt_recover_report *report);
wt_status cli_recover_sculpt(cli_call *call, const wt_sequences *data,
                             const wt_recover_options *given, wt_layer *out,
                             wt_recover_report *report);

/* Adds the stages there are as objects "sculpt" and "certificate", and returns the object. */
json_t *cli_recover_stages_json(const cli_recover_stages *stages, json_t *object);
/* The same in words, one stage a line. */
void cli_recover_stages_print(const cli_recover_stages *stages);

#endif
