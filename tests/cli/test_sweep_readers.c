/* Stores as others leave them and hold them: a pager that nobody scrolls, a program that reads,
 * text that is none, more cells than the memory that was given. */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "cli/sweep_cases.h"
#include "lab/fill.h"

/* A store of the folder with the cells of a sweep. */
static void fill(wt_context *context, const char *name, const char *sweep) {
    char copy[512], *words[32];
    snprintf(copy, sizeof copy, "%s", sweep);
    run_split(copy, words);
    size_t count = 0;
    while (words[count] != NULL)
        count++;
    unlink(path_of(name));
    CHECK_OK(context, fill_store(context, path_of(name), words, count));
}

#define MANY  "experiment=curve target=mean-power:2,corr:1 model=rfa,brfa n=16:256:x2 reps=150"
#define FEW   "experiment=curve target=mean-power:2 n=16,32 reps=2"
#define LARGE "experiment=curve target=mean-power:2,corr:1 model=rfa,brfa n=16:1024:x2 reps=800"

static void fail_on_remark(void *user, const char *sentence) {
    (void)user;
    fail_msg("%s", sentence);
}

/* Starts the line with its output in a pipe, of which *out is our end. */
static pid_t start_into_pipe(const char *line, int *out) {
    static char copy[256];
    char *words[RUN_WORDS];
    int ends[2];
    snprintf(copy, sizeof copy, "wattle %s", line);
    run_split(copy, words);
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        run_become(words, &(run_setting){.directory = run_folder}, ends[1], STDERR_FILENO);
    }
    close(ends[1]);
    *out = ends[0];
    return child;
}

static void put_cell(wt_context *context, const char *name, const char *hash) {
    wt_store *store;
    wt_record record = {.size = sizeof record,
                        .hash = hash,
                        .experiment = "curve",
                        .parameters = "{}",
                        .message = "",
                        .metrics = "{}",
                        .version = "",
                        .machine = "",
                        .finished_date = ""};
    CHECK_OK(context, wt_store_open(context, path_of(name), WT_STORE_MODE_WRITE, &store));
    CHECK_OK(context, wt_store_put(context, store, &record));
    CHECK_OK(context, wt_store_commit(context, store));
    wt_store_free(store);
}

/* The output of each is more than a pipe takes: it stands still until somebody reads on. */
static void a_pager_holds_nobody_up(void **state) {
    static const char *const lines[] = {"sweep list many.db", "sweep list many.db --json",
                                        "sweep export many.db", "sweep export many.db --json"};
    static const char *const hashes[] = {"a1", "a2", "a3", "a4"};
    wt_context *context = *state;
    fill(context, "many.db", MANY);
    for (size_t i = 0; i < 4; i++) {
        char rest[4096];
        int out, status;
        pid_t child = start_into_pipe(lines[i], &out);
        struct pollfd printing = {.fd = out, .events = POLLIN};
        assert_int_equal(poll(&printing, 1, -1), 1);
        wt_context_set_log(context, fail_on_remark, NULL); /* that it waits */
        put_cell(context, "many.db", hashes[i]);
        wt_context_set_log(context, NULL, NULL);
        while (read(out, rest, sizeof rest) > 0)
            continue;
        close(out);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* Another program in the midst of reading. */
static sqlite3 *hold(const char *name) {
    sqlite3 *base;
    assert_int_equal(sqlite3_open(path_of(name), &base), SQLITE_OK);
    assert_int_equal(sqlite3_exec(base, "BEGIN; SELECT count(*) FROM cell", NULL, NULL, NULL),
                     SQLITE_OK);
    return base;
}

/* Reads what the run says until the words are in it. */
static void wait_for_words(int from, const char *words) {
    char said[4096] = "";
    size_t length = 0;
    while (strstr(said, words) == NULL && length + 1 < sizeof said) {
        ssize_t got = read(from, said + length, sizeof said - length - 1);
        if (got <= 0)
            fail_msg("it never said '%s': %s", words, said);
        length += (size_t)got;
        said[length] = '\0';
    }
}

static void a_sweep_waits_for_readers(void **state) {
    static table got;
    wt_context *context = *state;
    const table *wanted = whole(context);
    for (int cancels = 0; cancels <= 2; cancels += 2) {
        int said[2], status;
        unlink(path_of("held.db"));
        run_must("sweep run spec.ini --store held.db --set reps=1");
        sqlite3 *reader = hold("held.db");
        assert_int_equal(pipe(said), 0);
        pid_t child = run_start("sweep run spec.ini --store held.db --workers 1", said[1]);
        close(said[1]);
        wait_for_words(said[0], "another process reads it; waiting until it lets go");
        for (int i = 0; i < cancels; i++) {
            run_signal(child, SIGINT);
            run_pause(0.2); /* two at once would be one */
        }
        if (cancels == 0)
            sqlite3_close(reader);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), cancels == 0 ? 0 : 75);
        if (cancels > 0) { /* what was there is there, and what is missing can be computed */
            sqlite3_close(reader);
            read_table(context, "held.db", &got);
            assert_int_equal(got.rows, 12);
            run_must("sweep run spec.ini --store held.db");
        }
        close(said[0]);
        check_table(context, "held.db", wanted);
    }
}

/* Every action that reads says what is wrong with which cell, and nothing else. */
static void check_all_refuse(const char *name, const char *words) {
    static const char *const lines[] = {"sweep status %s", "sweep status %s --json",
                                        "sweep list %s",   "sweep list %s --json",
                                        "sweep export %s", "sweep export %s --json",
                                        "report %s -o no", "sweep merge %s --store no"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[128];
        snprintf(line, sizeof line, lines[i], name);
        const run_result *result =
            run_with(line, &(run_setting){.directory = run_folder, .seconds = 3600});
        CHECK_SAYS(result, 65, words);
        assert_null(strstr(result->out, "curve")); /* no part of a table */
    }
    unlink(path_of("no"));
}

static void damaged_cells_are_told(void **state) {
    static const struct {
        const char *change, *words;
    } cases[] = {
        {"experiment = CAST(x'ff' AS TEXT)", "the experiment of cell "},
        {"message = CAST(x'c328' AS TEXT)", "the message of cell "},
        {"wall_seconds = 9e999", "wall seconds that are no time"},
        {"state = CAST('failed' AS BLOB)", "the state of cell "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[256];
        fill(*state, "bad.db", FEW);
        snprintf(sql, sizeof sql,
                 "PRAGMA ignore_check_constraints = ON; UPDATE cell SET %s WHERE hash ="
                 " (SELECT max(hash) FROM cell)",
                 cases[i].change);
        execute("bad.db", sql);
        check_all_refuse("bad.db", cases[i].words);
        CHECK_SAYS(run_in_folder("sweep retry bad.db"), 65, "is damaged");
    }
}

/* The JSON of a cell is looked at by those who need it. */
static void damaged_json_is_told(void **state) {
    static const char *const lines[] = {"sweep list bad.db --json", "sweep export bad.db",
                                        "sweep export bad.db --json", "report bad.db -o no"};
    fill(*state, "bad.db", FEW);
    execute("bad.db", "UPDATE cell SET parameters = '{\"n\":[1]}' WHERE hash ="
                      " (SELECT max(hash) FROM cell)");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const run_result *result = run_in_folder(lines[i]);
        CHECK_SAYS(result, 65, "no JSON object of plain values");
        assert_null(strstr(result->out, "curve"));
    }
}

static void views_and_triggers_are_refused(void **state) {
    fill(*state, "bad.db", FEW);
    execute("bad.db",
            "DROP TABLE cell; CREATE VIEW cell AS WITH RECURSIVE count(x) AS (VALUES (1) UNION ALL"
            " SELECT x + 1 FROM count) SELECT printf('%064x', x) AS hash, 'curve' AS experiment,"
            " '{}' AS parameters, 1 AS seed, 1 AS result_version, 'done' AS state, '' AS message,"
            " '{}' AS metrics, 0.0 AS wall_seconds, '' AS version, '' AS machine,"
            " '' AS finished_date FROM count");
    check_all_refuse("bad.db", "has the view 'cell', which no wattle makes");
    CHECK_SAYS(run_in_folder("sweep retry bad.db"), 65, "has the view 'cell'");
    fill(*state, "bad.db", FEW);
    execute("bad.db", "CREATE TRIGGER thief AFTER INSERT ON cell BEGIN DELETE FROM cell; END");
    check_all_refuse("bad.db", "has the trigger 'thief'");
    CHECK_SAYS(run_in_folder("sweep run spec.ini --store bad.db"), 65, "has the trigger 'thief'");
}

/* Peak memory of a run there, in kibibytes. */
static long peak_of(const char *line, int code) {
    struct rusage used;
    int status;
    pid_t child = run_start(line, -1);
    assert_int_equal(wait4(child, &status, 0, &used), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
        fail_msg("wattle %s: status %d, not exit %d", line, status, code);
    return used.ru_maxrss;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif

/* 22400 cells under 24 MiB: what a run takes on four cells is the program's own. A sanitizer's
 * shadows are not ours to count. */
static void memory_is_held(void **state) {
    static const char *const lines[] = {
        "sweep export %s.db --mem 24M",           "sweep export %s.db --json --mem 24M",
        "sweep export %s.db --mem 24M -o %s.csv", "sweep list %s.db --json --mem 24M",
        "sweep status %s.db --mem 24M",           "report %s.db -o page.html --mem 24M"};
    fill(*state, "few.db", FEW);
    fill(*state, "large.db", LARGE);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[2][128];
        snprintf(line[0], sizeof line[0], lines[i], "few", "few");
        snprintf(line[1], sizeof line[1], lines[i], "large", "large");
        long few = peak_of(line[0], 0), large = peak_of(line[1], 0);
#ifndef SANITIZED
        if (large - few > 24 << 10)
            fail_msg("wattle %s took %ld KiB more than on four cells", line[1], large - few);
#else
        (void)few, (void)large;
#endif
    }
    CHECK_SAYS(run_in_folder("report large.db -o page.html --mem 2M"), 70, "memory budget of 2");
}

static size_t commas(const char *from, const char *to) {
    size_t count = 0;
    for (; from < to; from++)
        count += *from == ',';
    return count;
}

/* The last cell has names that no other has: rows before it have empty fields there. */
static void columns_may_come_late(void **state) {
    static char all[RUN_BYTES];
    fill(*state, "late.db", FEW);
    execute("late.db", "INSERT INTO cell SELECT replace(hex(zeroblob(32)), '0', 'f'), 'other', "
                       "'{\"a\":1,\"n\":2,\"zz\":3}', 7,"
                       " 1, 'done', '', '{\"loss\":0.25}', 0.5, '', '', '' FROM cell LIMIT 1");
    execute("late.db", "UPDATE cell SET version = '', machine = ''"); /* may have commas */
    const run_result *result = run_in_folder("sweep export late.db");
    assert_int_equal(result->code, 0);
    snprintf(all, sizeof all, "%s", result->out);
    const char *line = all;
    size_t rows = 0, wanted = commas(all, strchr(all, '\n'));
    assert_non_null(strstr(all, "hash,experiment,result_version,seed,state,a,activation,"));
    assert_non_null(strstr(
        all, ",zz,chosen_lambda,lambda_at_end,loo_error,loss,test_error,train_error,message,"));
    for (const char *end; (end = strchr(line, '\n')) != NULL; line = end + 1, rows++)
        assert_int_equal(commas(line, end), wanted);
    assert_int_equal(rows, 1 + 5);
    assert_non_null(strstr(all, "f,other,1,7,done,1,,"));
    assert_non_null(strstr(all, ",3,,,,0.25,,,,0.5,,,\n"));
    /* a file has the same, and nothing of the rows that were begun */
    run_must("sweep export late.db -o late.csv");
    FILE *file = fopen(path_of("late.csv"), "r");
    assert_non_null(file);
    static char written[RUN_BYTES];
    written[fread(written, 1, sizeof written - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(written, all);
}

static void what_is_printed_needs_a_place(void **state) {
    run_setting nowhere = {.directory = run_folder, .variable = "TMPDIR=/none"};
    fill(*state, "few.db", FEW);
    fill(*state, "many.db", MANY);
    assert_int_equal(run_with("sweep export few.db", &nowhere)->code, 0); /* little is kept */
    const run_result *result = run_with("sweep export many.db", &nowhere);
    CHECK_SAYS(result, 74, "/none: could not be written");
    assert_string_equal(result->out, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_may_come_late),
        cmocka_unit_test(what_is_printed_needs_a_place),
        cmocka_unit_test(a_pager_holds_nobody_up),
        cmocka_unit_test(a_sweep_waits_for_readers),
        cmocka_unit_test(damaged_cells_are_told),
        cmocka_unit_test(damaged_json_is_told),
        cmocka_unit_test(views_and_triggers_are_refused),
        cmocka_unit_test(memory_is_held),
    };
    return cmocka_run_group_tests(tests, open_sweep, run_close_folder);
}
