/* What several commands share: a problem to draw, and how lambda is chosen, of which a command
 * embeds the struct in its values and the rows in its table. */
#ifndef CLI_SET_OPTIONS_H
#define CLI_SET_OPTIONS_H

#include "command.h"
#include "wattle/fit.h"
#include "wattle/memory.h"

/* Test samples of a problem are those from this index on: never among the training samples. */
#define CLI_FIRST_TEST ((uint64_t)1 << 40)

/* The problem the options describe, seeded by the call. */
wt_status cli_problem_open(cli_call *call, const wt_problem_spec *options, wt_problem **out);
/* Samples first .. first+n-1 of it, to be freed with wt_sets_free. */
wt_status cli_problem_draw(cli_call *call, const wt_problem *problem, uint64_t first, size_t n,
                           wt_sets **out);

typedef struct cli_lambda {
    const char *lambda;
    wt_grid path;
} cli_lambda;

#define CLI_LAMBDA_OPTIONS(type, member)                                                           \
    {"lambda",                                                                                     \
     'l',                                                                                          \
     CLI_TEXT,                                                                                     \
     offsetof(type, member.lambda),                                                                \
     "L",                                                                                          \
     "1e-3",                                                                                       \
     "Ridge penalty: a number, or loo, gcv (chosen by leave-one-out or generalised "               \
     "cross-validation), min-norm, oracle (least test error: for replication, not for use)."},     \
    {                                                                                              \
        "lambda-path", 0, CLI_GRID, offsetof(type, member.path), "GRID", "1e-8:10:x10",            \
            "Lambdas tried by loo, gcv and oracle; beyond an end that is best it goes on, a "      \
            "factor of 10 at a time."                                                              \
    }

/* Where the path could not be widened further. */
#define CLI_LAMBDA_AT_END                                                                          \
    "the chosen lambda is an end of what double precision allows: a better one may lie beyond; "   \
    "compare min-norm"

wt_status cli_lambda_ridge(cli_call *call, const cli_lambda *options, wt_ridge_options *out);

/* The grid of an option as counts, in the arena; WT_USAGE when one is below 1. */
wt_status cli_counts(cli_call *call, wt_arena *arena, const char *name, const wt_grid *grid,
                     const size_t **out, size_t *count);

/* A table of two columns, name and value, as most results are shown. */
void cli_print_row(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The number, or "-" when it was not computed. */
void cli_print_number(const char *name, double value);

#endif
