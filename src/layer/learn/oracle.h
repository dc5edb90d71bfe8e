/* A program that answers questions, one line each. */
#ifndef CLI_ORACLE_H
#define CLI_ORACLE_H

#include "base/child.h"
#include "lines.h"

typedef struct cli_oracle {
    wt_context *context;
    double seconds; /* for one answer */
    size_t dim, outputs;
    size_t answers; /* so far */
    bool broken;    /* it failed once, and is owed no time to leave */
    wt_child child; /* its output is read through the lines */
    cli_lines lines;
    char *question;
    size_t question_room;
    double *first; /* the answer to [e_1], asked to learn how many outputs there are */
} cli_oracle;

/* Starts `sh -c command` and asks for the answer to the first unit vector, which tells the number
 * of outputs. Dying, hanging and rubbish are WT_UNAVAILABLE here and in cli_oracle_ask. */
wt_status cli_oracle_open(wt_context *context, const char *command, size_t dim, double seconds,
                          cli_oracle *out);
/* Ends the program and all it started. Accepts an oracle that was never opened. */
void cli_oracle_close(cli_oracle *oracle);
/* wt_query_ask_fn; user is the oracle. The first unit vector, asked first, is not asked twice. */
wt_status cli_oracle_ask(void *user, size_t k, const double *x, double *y);

#endif
