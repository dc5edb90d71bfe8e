/* `wattle search`: trials over lengths and numbers of samples, and the ways they are shown. */
#ifndef CLI_SEARCH_H
#define CLI_SEARCH_H

#include "command.h"
#include "lab/search_cell.h"

typedef struct search_table {
    const char *task, *method;
    double noise, rate;
    const wt_grid *lengths;
    size_t size_count, trials;
    wt_search_point *points; /* (lengths, trials, sizes) */
} search_table;

wt_status search_write_csv(cli_call *call, const search_table *table, const char *path);
void search_print(const search_table *table);
wt_status search_emit_json(cli_call *call, const search_table *table);

#endif
