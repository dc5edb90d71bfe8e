/* Options that several commands share: a problem to draw, a model to fit, how lambda is chosen.
 * A command embeds the struct in its values and the rows in its table. */
#ifndef CLI_SET_OPTIONS_H
#define CLI_SET_OPTIONS_H

#include "command.h"
#include "wattle/fit.h"
#include "wattle/memory.h"

/* Test samples of a problem are those from this index on: never among the training samples. */
#define CLI_FIRST_TEST ((uint64_t)1 << 40)

typedef struct cli_problem {
    const char *target, *tokens;
    size_t dim, keys, n;
    double noise, token_scale;
} cli_problem;

#define CLI_PROBLEM_OPTIONS(type, member)                                                          \
    {"target",                                                                                     \
     0,                                                                                            \
     CLI_TEXT,                                                                                     \
     offsetof(type, member.target),                                                                \
     "TARGET",                                                                                     \
     NULL,                                                                                         \
     "What is to be learned: query-power:p, first-power:p, mean-power:p, corr-power:q, corr:p, "   \
     "corr-cos:p or mix:g:p:q."},                                                                  \
        {"tokens",                                                                                 \
         0,                                                                                        \
         CLI_CHOICE,                                                                               \
         offsetof(type, member.tokens),                                                            \
         "sphere|gaussian|boolean",                                                                \
         "sphere",                                                                                 \
         "Law of the tokens."},                                                                    \
        {"token-scale",                                                                            \
         0,                                                                                        \
         CLI_REAL,                                                                                 \
         offsetof(type, member.token_scale),                                                       \
         "A",                                                                                      \
         "0",                                                                                      \
         "Tokens are multiplied by this; 0 = 1 for the sphere, 1/sqrt(d) for the others."},        \
    {                                                                                              \
        "noise", 0, CLI_REAL, offsetof(type, member.noise), "S", "0",                              \
            "Standard deviation of Gaussian label noise."                                          \
    }

#define CLI_PROBLEM_SIZES(type, member)                                                            \
    {"dim", 'd', CLI_COUNT, offsetof(type, member.dim), "D", "16", "Dimension of the tokens."},    \
        {"keys", 'N', CLI_COUNT, offsetof(type, member.keys), "N", "16", "Keys a sample."}, {      \
        "n", 'n', CLI_COUNT, offsetof(type, member.n), "SAMPLES", "1000", "Samples to draw."       \
    }

/* The problem the options describe, seeded by the call. */
wt_status cli_problem_open(cli_call *call, const cli_problem *options, wt_problem **out);
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

wt_status cli_lambda_ridge(cli_call *call, const cli_lambda *options, wt_ridge *out);

/* The grid of an option as counts, in the arena; WT_USAGE when one is below 1. */
wt_status cli_counts(cli_call *call, wt_arena *arena, const char *name, const wt_grid *grid,
                     const size_t **out, size_t *count);

/* A table of two columns, name and value, as most results are shown. */
void cli_print_row(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The number, or "-" when it was not computed. */
void cli_print_number(const char *name, double value);

#endif
