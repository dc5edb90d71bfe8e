#include "search_show.h"

#include <stdio.h>

void search_print(const wt_search_trials *table, const wt_search_options *options) {
    bool tries = options->method != WT_SEARCH_METHOD_ELIMINATION; /* which tries no positions */
    const wt_search_row *row;
    cli_print("%s by %s, %zu trials, label noise %g\n\n", options->task,
              wt_search_method_name(options->method), options->trials, options->noise);
    cli_print("%8s %8s  %-30s %s\n", "T", "m", "found alone (95% interval)",
              tries ? "positions tried" : "");
    for (size_t l = 0; wt_search_trials_row_at(table, l, 0) != NULL; l++)
        for (size_t s = 0; (row = wt_search_trials_row_at(table, l, s)) != NULL; s++) {
            char text[64];
            snprintf(text, sizeof text, "%.3f (%.3f, %.3f)", row->rate.value, row->rate.low,
                     row->rate.high);
            cli_print("%8zu %8zu  %-30s ", row->length, row->samples, text);
            if (tries)
                printf("%.4g", row->looked);
            putchar('\n');
        }
    putchar('\n');
    for (size_t l = 0; (row = wt_search_trials_row_at(table, l, 0)) != NULL; l++) {
        size_t m = wt_search_trials_enough(table, l);
        if (m > 0)
            printf("T = %zu: %zu samples of this grid reach a rate of %g\n", row->length, m,
                   options->rate);
        else
            printf("T = %zu: no number of samples in this grid reaches a rate of %g\n", row->length,
                   options->rate);
    }
}

wt_status search_emit_json(cli_call *call, const wt_search_trials *table,
                           const wt_search_options *options) {
    json_t *rows = json_array(), *least = json_array();
    const wt_search_row *row;
    for (size_t l = 0; wt_search_trials_row_at(table, l, 0) != NULL; l++) {
        for (size_t s = 0; (row = wt_search_trials_row_at(table, l, s)) != NULL; s++)
            cli_json_add(rows,
                         cli_json("length:u samples:u successes:u trials:u rate:r low:r high:r "
                                  "looked:r",
                                  row->length, row->samples, row->successes, row->trials,
                                  row->rate.value, row->rate.low, row->rate.high, row->looked));
        size_t m = wt_search_trials_enough(table, l);
        cli_json_add(least,
                     cli_json("length:u samples:o", wt_search_trials_row_at(table, l, 0)->length,
                              m > 0 ? json_integer((json_int_t)m) : json_null()));
    }
    return cli_emit(call, "task:s method:s noise:r rate:r trials:u seed:u rows:o least:o",
                    options->task, wt_search_method_name(options->method), options->noise,
                    options->rate, options->trials, options->seed, rows, least);
}
