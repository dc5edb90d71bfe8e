/* A store from C: cells are put and committed, read as a table with intervals, held against the
 * claims, exported and written as a report.
 *
 * cc results.c $(pkg-config --cflags --libs wattle) -o results && ./results FOLDER */
#include <stdio.h>
#include <wattle/wattle.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != WT_OK)                                                                       \
            goto done;                                                                             \
    } while (0)

/* A made-up learning curve, a cell each n and repetition: the error falls like 1 / n. */
static wt_status put_cells(wt_context *context, wt_store *store) {
    wt_status status = WT_OK;
    for (int n = 128; n <= 512; n *= 2)
        for (int rep = 0; rep < 4; rep++) {
            char parameters[128], metrics[64], hash[WT_HASH_TEXT];
            snprintf(parameters, sizeof parameters,
                     "{\"dim\":8,\"keys\":8,\"model\":\"rfa\",\"n\":%d,\"rep\":%d,"
                     "\"target\":\"mean-power:2\"}",
                     n, rep);
            snprintf(metrics, sizeof metrics, "{\"test_error\":%.17g}", (1 + 0.1 * rep) / n);
            wt_record record = WT_SIZED(wt_record);
            record.experiment = "curve";
            record.parameters = parameters;
            record.metrics = metrics;
            record.seed = 4711;
            record.result_version = 1;
            record.version = wt_version();
            record.finished_date = "2026-01-31T12:00:00Z";
            TRY(wt_record_hash(context, &record, hash));
            record.hash = hash;
            TRY(wt_store_put(context, store, &record));
        }
    TRY(wt_store_commit(context, store));
done:
    return status;
}

static wt_status print_table(wt_context *context, const wt_results *results) {
    wt_table_query query;
    wt_table *table = NULL;
    const wt_table_row *row;
    char model[32];
    wt_status status;
    WT_INIT(wt_table_query, &query);
    query.experiment = "curve";
    query.where = "target=mean-power:*";
    query.x = "n";
    query.y = "test_error";
    TRY(wt_results_table(context, results, &query, &table));
    for (size_t i = 0; (row = wt_table_row_at(table, i)) != NULL; i++)
        printf("%s n %g: test error %.4f (%.4f, %.4f), %zu repetitions\n",
               wt_table_setting(table, row->line, "model", model, sizeof model), row->x,
               row->y.value, row->y.low, row->y.high, row->repetitions);
done:
    wt_table_free(table);
    return status;
}

static wt_status print_verdicts(wt_context *context, const wt_results *results) {
    wt_findings *findings = NULL;
    const wt_finding *finding;
    wt_status status;
    TRY(wt_findings_measure(context, results, &findings));
    for (size_t i = 0; (finding = wt_findings_claim_at(findings, i)) != NULL; i++) {
        const wt_finding_part *part = wt_findings_part_at(findings, finding->first_part);
        if (wt_evidence_measured(part->measured))
            printf("claim %s: %s, %s %.2f\n", finding->claim->id, wt_verdict_name(finding->verdict),
                   part->unit, part->measured->effect.value);
    }
done:
    wt_findings_free(findings);
    return status;
}

static wt_status export(wt_context *context, wt_store *store, const char *path) {
    wt_export_options options;
    wt_output *output = NULL;
    wt_status status;
    WT_INIT(wt_export_options, &options);
    options.path = path;
    TRY(wt_store_export(context, store, &options, &output));
    TRY(wt_output_commit(output));
done:
    wt_output_free(output);
    return status;
}

int main(int count, char **words) {
    char path[512], table[512], page[512];
    wt_context *context;
    wt_store *store = NULL;
    wt_results *results = NULL;
    wt_report_summary summary = WT_SIZED(wt_report_summary);
    wt_status status;
    if (count != 2 || wt_context_new(&context) != WT_OK)
        return 64;
    snprintf(path, sizeof path, "%s/results.db", words[1]);
    snprintf(table, sizeof table, "%s/results.csv", words[1]);
    snprintf(page, sizeof page, "%s/report.html", words[1]);
    TRY(wt_store_open(context, path, WT_STORE_MODE_CREATE, &store));
    TRY(put_cells(context, store));
    TRY(wt_results_load(context, store, &results));
    TRY(print_table(context, results));
    TRY(print_verdicts(context, results));
    TRY(export(context, store, table));
    wt_store_free(store); /* a process has a store open once at a time */
    store = NULL;
    TRY(wt_report_write(context, path, page, NULL, NULL, &summary));
    printf("%s: %zu cells\n", page, summary.cells);
done:
    if (status != WT_OK)
        fprintf(stderr, "results: %s\n", wt_context_message(context));
    wt_results_free(results);
    wt_store_free(store);
    wt_context_free(context);
    return wt_status_exit_code(status);
}
