/* What several commands share: a problem to draw, counts of a grid, a table of two columns. */
#ifndef CLI_SET_OPTIONS_H
#define CLI_SET_OPTIONS_H

#include "command.h"
#include "wattle/fit.h"

/* The problem the options describe, seeded by the call. */
wt_status cli_problem_open(cli_call *call, const wt_problem_spec *options, wt_problem **out);
/* Samples first .. first+n-1 of it, to be freed with wt_sets_free. */
wt_status cli_problem_draw(cli_call *call, const wt_problem *problem, uint64_t first, size_t n,
                           wt_sets **out);

/* A table of two columns, name and value, as most results are shown. */
void cli_print_row(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The number, or "-" when it was not computed. */
void cli_print_number(const char *name, double value);

#endif
