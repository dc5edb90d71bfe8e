/* The cells of a store as tables: one row per setting and x, which gives the mean or rate of its
 * repetitions with a 95% interval.
 *
 *     wt_table_query query;
 *     WT_INIT(wt_table_query, &query);
 *     query.experiment = "curve";
 *     query.where = "model=rfa|brfa target=mean-power:*";
 *     query.x = "n";
 *     query.y = "test_error";
 *     wt_results_load(context, store, &results);
 *     wt_results_table(context, results, &query, &table);
 *     for (size_t i = 0; (row = wt_table_row_at(table, i)) != NULL; i++)
 *         printf("%s %g: %g\n", wt_table_setting(table, row->line, "model", text, sizeof text),
 *                row->x, row->y.value);
 */
#ifndef WATTLE_RESULTS_H
#define WATTLE_RESULTS_H

#include "wattle/statistics.h"
#include "wattle/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The cells of a store in memory. */
typedef struct wt_results wt_results;
/* All of a store as it is at one moment. */
WT_API wt_status wt_results_load(wt_context *context, wt_store *store, wt_results **out);
/* Accepts NULL. */
WT_API void wt_results_free(wt_results *results);
/* Cells that are done, and that failed. */
WT_API size_t wt_results_done(const wt_results *results);
WT_API size_t wt_results_failed(const wt_results *results);

/* How repetitions become a number and its 95% interval. */
typedef enum wt_table_rule {
    WT_TABLE_RULE_MEAN,      /* Student's t */
    WT_TABLE_RULE_GEOMETRIC, /* the same of the logs */
    WT_TABLE_RULE_RATE       /* share of ones, Clopper and Pearson */
} wt_table_rule;

typedef struct wt_table_query {
    size_t size;
    const char *experiment;
    const char *where; /* "model=rfa target=mean-power:*": a star at the end stands for anything,
                          `a|b` for either, != for all others, >= for numbers from one on. NULL =
                          all cells */
    const char *x, *y; /* parameter or metric along x, NULL = all at 0; metric */
    const char *apart; /* further parameters that make no lines of their own: "model bias" */
    wt_table_rule rule;
} wt_table_query;
/* Means. */
WT_API void wt_table_query_init(wt_table_query *query, size_t size);

/* A line is the cells alike in all parameters but x, the repetition and those set apart. Rows come
 * by line and x. Cells whose x or y is no number are left out. */
typedef struct wt_table wt_table;
typedef struct wt_table_row {
    size_t line; /* from 0 */
    double x;
    wt_interval y;
    size_t repetitions;
} wt_table_row;

WT_API wt_status wt_results_table(wt_context *context, const wt_results *results,
                                  const wt_table_query *query, wt_table **out);
/* Accepts NULL. The results must outlive the table. */
WT_API void wt_table_free(wt_table *table);
/* NULL past the last. */
WT_API const wt_table_row *wt_table_row_at(const wt_table *table, size_t index);
/* The value of a parameter that the cells of a line share, as words, into out[bytes]; "" when they
 * share none of that name. Returns out. */
WT_API const char *wt_table_setting(const wt_table *table, size_t line, const char *name, char *out,
                                    size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
