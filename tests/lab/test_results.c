/* Stores and results as another program uses them: through the public headers alone. */
#define _GNU_SOURCE
#include "wattle/results.h"

#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "wattle/claims.h"
#include "wattle/experiment.h"

static char folder[] = "/tmp/wattle-results-XXXXXX";
static char path[64];

static int open_all(void **state) {
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/results.db", folder);
    return check_open(state);
}

static int close_all(void **state) {
    unlink(path);
    return rmdir(folder) == 0 ? check_close(state) : -1;
}

static void put(wt_context *context, wt_store *store, const char *model, int n, int rep,
                double error, bool failed) {
    char parameters[128], metrics[64], hash[WT_HASH_TEXT];
    wt_record record = WT_SIZED(wt_record);
    snprintf(parameters, sizeof parameters, "{\"model\":\"%s\",\"n\":%d,\"rep\":%d}", model, n,
             rep);
    snprintf(metrics, sizeof metrics, "{\"error\":%.17g,\"found\":%d}", error, rep > 0);
    record.experiment = "mine";
    record.parameters = parameters;
    record.metrics = failed ? NULL : metrics;
    record.failed = failed;
    record.seed = 4711;
    CHECK_OK(context, wt_record_hash(context, &record, hash));
    record.hash = hash;
    CHECK_OK(context, wt_store_put(context, store, &record));
}

static void cells_become_tables(void **state) {
    wt_store *store;
    wt_results *results;
    wt_table *table;
    wt_table_query query;
    const wt_table_row *row;
    char words[32];
    CHECK_OK(*state, wt_store_open(*state, path, WT_STORE_MODE_CREATE, &store));
    for (int rep = 0; rep < 3; rep++)
        for (int n = 16; n <= 32; n *= 2) {
            put(*state, store, "a", n, rep, (1.0 + rep) / n, false);
            put(*state, store, "b", n, rep, exp2(rep), n == 32 && rep == 2);
        }
    CHECK_OK(*state, wt_store_commit(*state, store));
    CHECK_OK(*state, wt_results_load(*state, store, &results));
    wt_store_free(store);
    assert_int_equal(wt_results_done(results), 11);
    assert_int_equal(wt_results_failed(results), 1);
    WT_INIT(wt_table_query, &query);
    query.experiment = "mine";
    query.x = "n";
    query.y = "error";
    CHECK_OK(*state, wt_results_table(*state, results, &query, &table));
    static const double means[] = {2.0 / 16, 2.0 / 32, 7.0 / 3, 1.5};
    for (size_t i = 0; i < 4; i++) {
        row = wt_table_row_at(table, i);
        assert_int_equal(row->line, i / 2);
        assert_int_equal(row->repetitions, i == 3 ? 2 : 3);
        CHECK_NEAR(row->x, i % 2 == 0 ? 16 : 32, 0);
        CHECK_NEAR(row->y.value, means[i], 1e-15);
        assert_string_equal(wt_table_setting(table, row->line, "model", words, sizeof words),
                            i < 2 ? "a" : "b");
    }
    /* 4.3026527 is the quantile of Student's t for two degrees of freedom */
    row = wt_table_row_at(table, 0);
    CHECK_NEAR(row->y.high - row->y.value, 4.3026527 / 16 / sqrt(3), 1e-8);
    assert_null(wt_table_row_at(table, 4));
    assert_string_equal(wt_table_setting(table, 0, "nothing", words, sizeof words), "");
    assert_string_equal(wt_table_setting(table, 9, "model", words, sizeof words), "");
    wt_table_free(table);
    query.where = "model=b n=16";
    query.rule = WT_TABLE_RULE_GEOMETRIC;
    CHECK_OK(*state, wt_results_table(*state, results, &query, &table));
    CHECK_NEAR(wt_table_row_at(table, 0)->y.value, 2, 1e-15);
    wt_table_free(table);
    query.y = "found";
    query.rule = WT_TABLE_RULE_RATE;
    CHECK_OK(*state, wt_results_table(*state, results, &query, &table));
    CHECK_NEAR(wt_table_row_at(table, 0)->y.value, 2.0 / 3, 1e-15);
    assert_null(wt_table_row_at(table, 1));
    wt_table_free(table);
    query.y = NULL;
    CHECK_FAILS(*state, wt_results_table(*state, results, &query, &table), WT_USAGE, "a metric y");
    query.rule = (wt_table_rule)3;
    CHECK_FAILS(*state, wt_results_table(*state, results, &query, &table), WT_USAGE,
                "no rule of a table number 3");
    wt_results_free(results);
    unlink(path);
}

/* The name of a cell is the one that sweeps give it. */
static wt_status check_hash(void *user, const wt_record *record) {
    char hash[WT_HASH_TEXT];
    size_t *count = user;
    wt_context *context;
    assert_int_equal(record->size, sizeof *record);
    if (wt_context_new(&context) != WT_OK)
        return WT_MEMORY;
    CHECK_OK(context, wt_record_hash(context, record, hash));
    assert_string_equal(hash, record->hash);
    ++*count;
    wt_context_free(context);
    return WT_OK;
}

static void names_are_those_of_sweeps(void **state) {
    wt_store *store;
    size_t count = 0;
    CHECK_OK(*state,
             wt_store_open(*state, TEST_DATA "/fixtures/sweep.db", WT_STORE_MODE_READ, &store));
    CHECK_OK(*state, wt_store_walk(*state, store, NULL, check_hash, &count));
    assert_int_equal(count, 4);
    wt_store_free(store);
}

/* What no reader would take is not stored, and what was put before it is dropped. */
static void bad_records_are_refused(void **state) {
    static const struct {
        const char *hash, *parameters, *metrics;
        double seconds;
        const char *words;
    } bad[] = {
        {NULL, "{}", "{}", 0, "no hash"},
        {"xyz", "{}", "{}", 0, "no hash"},
        {"ab", "{\"b\":1,\"a\":2}", "{}", 0, "plain values in order"},
        {"ab", "{}", "[]", 0, "plain values in order"},
        {"ab", "{}", "{\"a\":\"\xff\"}", 0, "not UTF-8"},
        {"ab", "{\"rep\":0.5}", "{}", 0, "repetition"},
        {"ab", "{}", "{}", -1, "no time"},
    };
    wt_store *store;
    wt_store_count count = WT_SIZED(wt_store_count);
    wt_record record = {0};
    CHECK_OK(*state, wt_store_open(*state, path, WT_STORE_MODE_CREATE, &store));
    CHECK_FAILS(*state, wt_store_put(*state, store, &record), WT_USAGE, "size of a wt_record");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        record = (wt_record){.size = sizeof record,
                             .hash = bad[i].hash,
                             .experiment = "mine",
                             .parameters = bad[i].parameters,
                             .metrics = bad[i].metrics,
                             .wall_seconds = bad[i].seconds};
        CHECK_FAILS(*state, wt_store_put(*state, store, &record), WT_DATA, bad[i].words);
    }
    CHECK_OK(*state, wt_store_commit(*state, store));
    CHECK_OK(*state, wt_store_counts(*state, store, &count));
    assert_int_equal(count.done + count.failed, 0);
    wt_store_free(store);
    unlink(path);
}

static void tables_of_no_format_are_refused(void **state) {
    wt_export_options options;
    wt_store *store;
    wt_output *output;
    WT_INIT(wt_export_options, &options);
    options.format = (wt_export_format)4;
    CHECK_OK(*state,
             wt_store_open(*state, TEST_DATA "/fixtures/sweep.db", WT_STORE_MODE_READ, &store));
    CHECK_FAILS(*state, wt_store_export(*state, store, &options, &output), WT_USAGE,
                "no format of a table number 4");
    options.size = 0;
    CHECK_FAILS(*state, wt_store_export(*state, store, &options, &output), WT_USAGE,
                "size of a wt_export_options");
    wt_store_free(store);
}

static void experiments_are_listed(void **state) {
    (void)state;
    const wt_experiment *curve = wt_experiment_find("curve");
    const wt_field *field;
    bool model = false;
    assert_non_null(curve);
    assert_null(wt_experiment_find("nothing"));
    assert_string_equal(wt_experiment_name(curve), "curve");
    assert_string_equal(wt_experiment_group(curve), "n");
    assert_true(wt_experiment_result_version(curve) > 0 && wt_experiment_reps(curve) > 0);
    for (size_t i = 0; (field = wt_experiment_field_at(curve, i)) != NULL; i++)
        model |= strcmp(field->name, "model") == 0;
    assert_true(model);
    assert_non_null(wt_experiment_metric_at(curve, 0));
    assert_null(wt_experiment_metric_at(curve, 1000));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_become_tables),
        cmocka_unit_test(names_are_those_of_sweeps),
        cmocka_unit_test(bad_records_are_refused),
        cmocka_unit_test(tables_of_no_format_are_refused),
        cmocka_unit_test(experiments_are_listed),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
