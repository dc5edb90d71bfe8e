/* Results as tables for other programs. */
#include <math.h>

#include "base/memory.h"
#include "base/sized.h"
#include "lab/lines.h"

struct wt_table {
    wt_lines lines;
    wt_table_row *rows; /* in the arena of the lines */
    size_t row_count;
};

wt_interval wt_line_summary(wt_table_rule rule, double *values, size_t count) {
    if (rule == WT_TABLE_RULE_RATE) {
        size_t ones = 0;
        for (size_t i = 0; i < count; i++)
            ones += values[i] == 1;
        return wt_rate_interval(ones, count);
    }
    if (rule == WT_TABLE_RULE_MEAN)
        return wt_mean_interval(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = log(values[i]);
    wt_interval logs = wt_mean_interval(values, count);
    return (wt_interval){exp(logs.value), exp(logs.low), exp(logs.high)};
}

void wt_table_query_init(wt_table_query *query, size_t size) {
    const wt_table_query full = {.rule = WT_TABLE_RULE_MEAN};
    query->size = size;
    wt_sized_write(query, &full, sizeof full);
}

void wt_table_free(wt_table *table) {
    if (table == NULL)
        return;
    wt_lines_free(&table->lines);
    wt_release(table);
}

static wt_status fill_rows(wt_context *context, wt_table *table, wt_table_rule rule) {
    const wt_line_point *points = table->lines.points;
    size_t count = table->lines.point_count;
    double *values = WT_TAKE(&table->lines.arena, double, count);
    table->rows = WT_TAKE(&table->lines.arena, wt_table_row, count);
    WT_PASS(table->lines.arena.status);
    for (size_t begin = 0, end; begin < count; begin = end) {
        const wt_line_point *first = &points[begin];
        for (end = begin;
             end < count && points[end].line == first->line && points[end].x == first->x; end++)
            values[end - begin] = points[end].y;
        WT_PASS(wt_context_check_cancelled(context));
        wt_shelf_pass(&table->lines.shelf, table->row_count);
        table->rows[table->row_count++] =
            (wt_table_row){.line = first->line,
                           .x = first->x,
                           .y = wt_line_summary(rule, values, end - begin),
                           .repetitions = end - begin};
    }
    return WT_OK;
}

wt_status wt_results_table(wt_context *context, const wt_results *results,
                           const wt_table_query *given, wt_table **out) {
    wt_table_query query = {0};
    wt_table *table = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_sized_read(context, "wt_table_query", given, &query, sizeof query));
    WT_TRY(wt_check_choice(context, "rule of a table", (int)query.rule, WT_TABLE_RULE_RATE + 1));
    if (query.experiment == NULL || query.y == NULL)
        return wt_fail(context, WT_USAGE, "a table needs an experiment and a metric y");
    const wt_lines_query wanted = {.experiment = query.experiment,
                                   .where = query.where,
                                   .x = query.x,
                                   .y = query.y,
                                   .apart = query.apart,
                                   .every = true};
    WT_TRY(WT_NEW_ZERO(context, &table, 1, "a table"));
    WT_TRY(wt_lines_find(context, results, &wanted, &table->lines));
    WT_TRY(fill_rows(context, table, query.rule));
    *out = table;
    table = NULL;
done:
    wt_table_free(table);
    return status;
}

const wt_table_row *wt_table_row_at(const wt_table *table, size_t index) {
    return index < table->row_count ? &table->rows[index] : NULL;
}

const char *wt_table_setting(const wt_table *table, size_t line, const char *name, char *out,
                             size_t bytes) {
    const wt_lines *lines = &table->lines;
    uint32_t value = line < lines->line_count ? wt_line_value(lines, &lines->lines[line],
                                                              wt_results_name(lines->results, name))
                                              : WT_NO_TEXT;
    return wt_text_words(lines->results, value, out, bytes);
}
