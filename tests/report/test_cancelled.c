/* Calls on a store that are cancelled end with WT_INTERRUPTED, wherever they are, and leave nothing
 * half done. A timer cancels them, later and later, until one comes to its end. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"
#include "lab/fill.h"
#include "wattle/report.h"

static wt_context *cancelled;
static char folder[] = "/tmp/wattle-cancelled-XXXXXX";

static const char *in_folder(const char *name) {
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void on_alarm(int number) {
    (void)number;
    wt_context_cancel(cancelled);
}

static void cancel_after(long microseconds) {
    const struct itimerval when = {
        .it_value = {.tv_sec = microseconds / 1000000, .tv_usec = microseconds % 1000000}};
    setitimer(ITIMER_REAL, &when, NULL);
}

static int open_all(void **state) {
    static char *const words[] = {"experiment=curve",
                                  "model=rfa,brfa,rfmlp",
                                  "target=mean-power:2,corr-power:3",
                                  "n=16:1024:x2",
                                  "reps=100",
                                  "seed=1009"};
    /* a claim about these climbs many likelihoods */
    static char *const many[] = {"experiment=recover", "method=sculpt",   "dim=6",
                                 "length=2",           "tokens=gaussian", "heads=1:20:1",
                                 "samples-ratio=2,4",  "reps=2",          "seed=1009"};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    if (check_open(state) != 0 || mkdtemp(folder) == NULL || sigaction(SIGALRM, &action, NULL) != 0)
        return -1;
    cancelled = *state;
    if (fill_store(*state, in_folder("from.db"), words, sizeof words / sizeof *words) != WT_OK)
        return -1;
    return fill_store(*state, in_folder("from.db"), many, sizeof many / sizeof *many) == WT_OK ? 0
                                                                                               : -1;
}

static int close_all(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return (system(command) == 0) + check_close(state) == 1 ? 0 : -1;
}

/* Cancels the call before it begins, then after 50 us, 200 us, .. until it comes to its end. */
static void cancel_at_all_moments(wt_context *context, wt_status (*call)(wt_context *context),
                                  const char *made) {
    wt_status status = WT_INTERRUPTED;
    wt_context_cancel(context);
    assert_int_equal(call(context), WT_INTERRUPTED);
    for (long wait = 50; status != WT_OK; wait *= 4) {
        assert_int_equal(status, WT_INTERRUPTED);
        assert_true(wait < 1000000000);
        assert_int_equal(access(in_folder(made), F_OK), -1);
        wt_context_resume(context);
        cancel_after(wait);
        status = call(context);
        cancel_after(0);
    }
    wt_context_resume(context);
    assert_int_equal(access(in_folder(made), F_OK), 0);
}

static wt_status export_table(wt_context *context) {
    wt_export_options options;
    wt_store *store = NULL;
    wt_output *output = NULL;
    wt_status status;
    WT_INIT(wt_export_options, &options);
    options.path = in_folder("table.csv");
    WT_TRY(wt_store_open(context, in_folder("from.db"), WT_STORE_MODE_READ, &store));
    WT_TRY(wt_store_export(context, store, &options, &output));
    WT_TRY(wt_output_commit(output));
done:
    wt_output_free(output);
    wt_store_free(store);
    return status;
}

static void an_export_leaves_no_half_table(void **state) {
    cancel_at_all_moments(*state, export_table, "table.csv");
}

static wt_status write_report(wt_context *context) {
    wt_report_summary summary = WT_SIZED(wt_report_summary);
    return wt_report_write(context, in_folder("from.db"), in_folder("page.html"), NULL, NULL,
                           &summary);
}

static void a_report_leaves_no_half_page(void **state) {
    cancel_at_all_moments(*state, write_report, "page.html");
}

static wt_status merge(wt_context *context) {
    wt_store *store = NULL, *from = NULL;
    wt_merge_report report = WT_SIZED(wt_merge_report);
    wt_store_count count = WT_SIZED(wt_store_count);
    wt_status status;
    WT_TRY(wt_store_open(context, in_folder("to.db"), WT_STORE_MODE_CREATE, &store));
    WT_TRY(wt_store_open(context, in_folder("from.db"), WT_STORE_MODE_COPY, &from));
    WT_TRY(wt_store_merge(context, store, from, &report));
    assert_int_equal(report.added, 4280);
done:
    wt_store_free(store);
    wt_store_free(from);
    if (status != WT_INTERRUPTED)
        return status;
    wt_context_resume(context);
    cancel_after(0);
    CHECK_OK(context, wt_store_open(context, in_folder("to.db"), WT_STORE_MODE_CREATE, &store));
    CHECK_OK(context, wt_store_counts(context, store, &count));
    wt_store_free(store);
    assert_int_equal(count.done + count.failed, 0);
    unlink(in_folder("to.db"));
    return status;
}

static void a_merge_leaves_nothing_or_all(void **state) {
    cancel_at_all_moments(*state, merge, "to.db");
}

static wt_status cancel_at_tenth(void *user, const wt_record *record) {
    size_t *seen = user;
    assert_non_null(record->hash);
    if (++*seen == 10)
        wt_context_cancel(cancelled);
    return WT_OK;
}

static void a_walk_stops_at_the_next_cell(void **state) {
    wt_store *store;
    size_t seen = 0;
    CHECK_OK(*state, wt_store_open(*state, in_folder("from.db"), WT_STORE_MODE_READ, &store));
    CHECK_FAILS(*state, wt_store_walk(*state, store, NULL, cancel_at_tenth, &seen), WT_INTERRUPTED,
                "interrupted");
    assert_int_equal(seen, 10);
    wt_context_resume(*state);
    wt_store_free(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_stops_at_the_next_cell),
        cmocka_unit_test(an_export_leaves_no_half_table),
        cmocka_unit_test(a_merge_leaves_nothing_or_all),
        cmocka_unit_test(a_report_leaves_no_half_page),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
