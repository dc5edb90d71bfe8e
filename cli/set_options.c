#include "set_options.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

wt_status cli_problem_open(cli_call *call, const wt_problem_spec *options, wt_problem **out) {
    wt_problem_spec spec = *options;
    spec.seed = call->common.seed;
    return wt_problem_new(call->context, &spec, out);
}

wt_status cli_problem_draw(cli_call *call, const wt_problem *problem, uint64_t first, size_t n,
                           wt_sets **out) {
    const wt_problem_spec *spec = wt_problem_get_spec(problem);
    wt_status status = wt_sets_new(call->context, n, spec->keys, spec->dim, 1, false, out);
    return status == WT_OK ? wt_problem_draw(call->context, problem, first, *out) : status;
}

void cli_print_row(const char *name, const char *format, ...) {
    cli_print("%-22s ", name);
    va_list values;
    va_start(values, format);
    cli_print_values(format, values);
    va_end(values);
    putchar('\n');
}

void cli_print_number(const char *name, double value) {
    cli_print_row(name, isnan(value) ? "-" : "%.6g", value);
}
