/* The checks of `wattle selfcheck`: a new one is a row of the table in cmd_selfcheck.c. */
#ifndef CLI_SELFCHECK_H
#define CLI_SELFCHECK_H

#include "base/context.h"

/* What a check found. The call itself fails only when the check could not be made. */
typedef struct cli_finding {
    bool passed;
    char words[200]; /* the numbers it was judged by */
} cli_finding;

typedef wt_status (*cli_check_fn)(wt_context *context, cli_finding *finding);

/* Sets the finding: passed when error <= tolerance (so not for NaN). */
void cli_judge(cli_finding *finding, double error, double tolerance, const char *of);

wt_status cli_check_random(wt_context *context, cli_finding *finding);
wt_status cli_check_blas_race(wt_context *context, cli_finding *finding);
wt_status cli_check_gram(wt_context *context, cli_finding *finding);
wt_status cli_check_gram_float(wt_context *context, cli_finding *finding);
wt_status cli_check_cholesky(wt_context *context, cli_finding *finding);
wt_status cli_check_solve(wt_context *context, cli_finding *finding);
wt_status cli_check_threads(wt_context *context, cli_finding *finding);
wt_status cli_check_eigenvalues(wt_context *context, cli_finding *finding);
wt_status cli_check_least_squares(wt_context *context, cli_finding *finding);
wt_status cli_check_projections(wt_context *context, cli_finding *finding);

#endif
