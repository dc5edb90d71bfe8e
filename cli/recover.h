/* What `wattle recover` has beside the report: stages of sculpt, a certificate. */
#ifndef CLI_RECOVER_H
#define CLI_RECOVER_H

#include "layer_options.h"
#include "wattle/recover.h"
#include "wattle/sculpt.h"

/* What `sculpt` has to show besides the report. */
typedef struct cli_recover_stages {
    bool sculpted, certified;
    wt_sculpt_report sculpt;
    wt_certificate_result certificate;
} cli_recover_stages;

typedef struct cli_recover_values {
    wt_recover_options options;
    cli_layer_values layer; /* of --teacher */
    const char *heads, *output, *teacher, *directions, *rows, *missing, *device;
    double part;
    bool certificate, accept;
    /* no options: filled by the run */
    size_t direction_count; /* of --directions; 0 = all */
    wt_layer *truth;        /* of --teacher; NULL without */
    cli_recover_stages stages;
} cli_recover_values;

/* By the method of the options, into the stages too. */
wt_status cli_recover_run(cli_call *call, const wt_sequences *data, wt_layer **out,
                          wt_recover_report *report);
wt_status cli_recover_directions(cli_call *call, size_t *out);
/* The certificate of a layer, into the stages. */
wt_status cli_recover_certify(cli_call *call, const wt_sequences *data, const wt_layer *layer);

/* Adds the stages there are as objects "sculpt" and "certificate", and returns the object. */
json_t *cli_recover_stages_json(const cli_recover_stages *stages, json_t *object);
/* The same in words, one stage a line. */
void cli_recover_stages_print(const cli_recover_stages *stages);

#endif
