#include <stdio.h>
#include <string.h>

#include "lab/statistics.h"
#include "search.h"
#include "wattle/output.h"

static const wt_search_point *point_at(const search_table *table, size_t length, size_t trial,
                                       size_t size) {
    return &table->points[(length * table->trials + trial) * table->size_count + size];
}

/* What all trials at one (T, m) come to. */
typedef struct {
    size_t samples, successes, trials;
    wt_interval rate;
    double looked; /* mean */
} summary;

static summary sum_up(const search_table *table, size_t length, size_t size) {
    summary out = {.samples = 0};
    double looked = 0;
    for (size_t i = 0; i < table->trials; i++) {
        const wt_search_point *point = point_at(table, length, i, size);
        if (point->samples == 0)
            continue;
        out.samples = point->samples;
        out.trials++;
        out.successes += point->success;
        looked += (double)point->looked;
    }
    out.rate = wt_rate_interval(out.successes, out.trials);
    out.looked = out.trials > 0 ? looked / (double)out.trials : 0;
    return out;
}

/* The smallest m of the grid whose rate is reached there and at every larger m; 0 = none. */
static size_t critical(const search_table *table, size_t length) {
    size_t found = 0;
    for (size_t s = table->size_count; s-- > 0;) {
        summary at = sum_up(table, length, s);
        if (at.trials == 0 || at.rate.value < table->rate)
            break;
        found = at.samples;
    }
    return found;
}

void search_print(const search_table *table) {
    cli_print("%s by %s, %zu trials, label noise %g\n\n", table->task, table->method, table->trials,
              table->noise);
    bool tries = strcmp(table->method, "search") == 0; /* elimination tries no positions */
    cli_print("%8s %8s  %-30s %s\n", "T", "m", "found alone (95% interval)",
              tries ? "positions tried" : "");
    for (size_t l = 0; l < table->lengths->count; l++)
        for (size_t s = 0; s < table->size_count; s++) {
            summary at = sum_up(table, l, s);
            char text[64];
            snprintf(text, sizeof text, "%.3f (%.3f, %.3f)", at.rate.value, at.rate.low,
                     at.rate.high);
            cli_print("%8.0f %8zu  %-30s ", table->lengths->values[l], at.samples, text);
            if (tries)
                printf("%.4g", at.looked);
            putchar('\n');
        }
    putchar('\n');
    for (size_t l = 0; l < table->lengths->count; l++) {
        size_t m = critical(table, l);
        if (m > 0)
            printf("T = %.0f: %zu samples of this grid reach a rate of %g\n",
                   table->lengths->values[l], m, table->rate);
        else
            printf("T = %.0f: no number of samples in this grid reaches a rate of %g\n",
                   table->lengths->values[l], table->rate);
    }
}

wt_status search_emit_json(cli_call *call, const search_table *table) {
    json_t *rows = json_array(), *least = json_array();
    for (size_t l = 0; l < table->lengths->count; l++) {
        json_int_t length = (json_int_t)table->lengths->values[l];
        for (size_t s = 0; s < table->size_count; s++) {
            summary at = sum_up(table, l, s);
            json_array_append_new(
                rows,
                json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "length", length, "samples",
                          (json_int_t)at.samples, "successes", (json_int_t)at.successes, "trials",
                          (json_int_t)at.trials, "rate", cli_json_real(at.rate.value), "low",
                          cli_json_real(at.rate.low), "high", cli_json_real(at.rate.high), "looked",
                          cli_json_real(at.looked)));
        }
        size_t m = critical(table, l);
        json_array_append_new(least, json_pack("{s:I, s:o}", "length", length, "samples",
                                               m > 0 ? json_integer((json_int_t)m) : json_null()));
    }
    return cli_emit_json(call,
                         json_pack("{s:s, s:s, s:f, s:f, s:I, s:I, s:o, s:o}", "task", table->task,
                                   "method", table->method, "noise", table->noise, "rate",
                                   table->rate, "trials", (json_int_t)table->trials, "seed",
                                   (json_int_t)call->common.seed, "rows", rows, "least", least));
}

wt_status search_write_csv(cli_call *call, const search_table *table, const char *path) {
    wt_output *out = NULL;
    wt_status status;
    WT_TRY(wt_output_open(call->context, path, &out));
    wt_output_print(out,
                    "task,method,noise,seed,length,trial,samples,unique,success,errors,looked\n");
    for (size_t l = 0; l < table->lengths->count; l++)
        for (size_t i = 0; i < table->trials; i++)
            for (size_t s = 0; s < table->size_count; s++) {
                const wt_search_point *point = point_at(table, l, i, s);
                if (point->samples > 0) /* an interrupted table has gaps */
                    wt_output_print(
                        out, "%s,%s,%.17g,%llu,%.0f,%zu,%zu,%d,%d,%zu,%llu\n", table->task,
                        table->method, table->noise, (unsigned long long)call->common.seed,
                        table->lengths->values[l], i, point->samples, point->unique, point->success,
                        point->errors, (unsigned long long)point->looked);
            }
    WT_TRY(wt_output_commit(out));
done:
    wt_output_free(out);
    return status;
}
