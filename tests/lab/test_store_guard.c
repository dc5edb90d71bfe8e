/* Stores that are none of ours, cells that nobody wrote so, and processes that hold a store.
 * Numbers are those of the invariants in src/lab/store.h. */
#define _GNU_SOURCE
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "lab/fill.h"

static char folder[] = "/tmp/wattle-guard-XXXXXX";
static char path[64];

static int make_folder(void **state) {
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/results.db", folder);
    return check_open(state);
}

static int remove_folder(void **state) {
    unlink(path);
    return rmdir(folder) == 0 ? check_close(state) : -1;
}

/* Twelve cells of recoveries. */
static int fill(void **state) {
    static char *words[] = {"experiment=recover", "heads=1,2", "tokens=boolean,gaussian", "reps=3"};
    unlink(path);
    return fill_store(*state, path, words, 4) == WT_OK ? 0 : -1;
}

static void execute(const char *sql) {
    sqlite3 *base;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &base), SQLITE_OK);
    if (sqlite3_exec(base, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(base);
}

static size_t read_bytes(char *out, size_t size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(out, 1, size, file);
    fclose(file);
    return length;
}

/* Every way to open it ends with the words, and the file keeps its bytes. */
static void check_refused(wt_context *context, const char *words) {
    static const wt_store_mode modes[] = {WT_STORE_MODE_READ, WT_STORE_MODE_COPY,
                                          WT_STORE_MODE_WRITE, WT_STORE_MODE_CREATE};
    static char before[1 << 17], after[1 << 17];
    size_t length = read_bytes(before, sizeof before);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        wt_store *store;
        CHECK_FAILS(context, wt_store_open(context, path, modes[i], &store), WT_DATA, words);
        assert_null(store);
    }
    assert_int_equal(read_bytes(after, sizeof after), length);
    assert_memory_equal(before, after, length);
}

static void invariant_6_schemas_of_others_are_refused(void **state) {
    static const struct {
        const char *sql, *words;
    } cases[] = {
        {"DROP TABLE cell; CREATE VIEW cell AS WITH RECURSIVE count(x) AS (VALUES (1) UNION ALL"
         " SELECT x + 1 FROM count) SELECT printf('%064x', x) AS hash, 'curve' AS experiment,"
         " '{}' AS parameters, 1 AS seed, 1 AS result_version, 'failed' AS state, '' AS message,"
         " '{}' AS metrics, 0.0 AS wall_seconds, '' AS version, '' AS machine, '' AS finished_date"
         " FROM count",
         "has the view 'cell'"},
        {"CREATE TRIGGER thief AFTER INSERT ON cell BEGIN DELETE FROM cell; END",
         "has the trigger 'thief'"},
        {"ALTER TABLE cell ADD COLUMN more TEXT", "'cell' has other columns"},
        {"DROP TABLE cell; CREATE TABLE cell (hash, experiment, parameters, seed, result_version,"
         " state, message, metrics, wall_seconds, version, machine, finished_date)",
         "'cell' has other columns"},
        {"DROP TABLE about; CREATE TABLE about (kind BLOB, text BLOB)",
         "'about' has other columns"},
        {"DROP TABLE about", "has no table 'about'"},
        {"CREATE TABLE notes (a)", "has the table 'notes'"},
        {"CREATE INDEX seeds ON cell (seed)", "has the index 'seeds'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(fill(state), 0);
        execute(cases[i].sql);
        check_refused(*state, cases[i].words);
    }
}

static wt_status count_record(void *user, const wt_record *record) {
    (void)record;
    ++*(size_t *)user;
    return WT_OK;
}

static void check_count(wt_context *context, const char *from, wt_store_mode mode, size_t wanted) {
    wt_store *store;
    size_t count = 0;
    CHECK_OK(context, wt_store_open(context, from, mode, &store));
    CHECK_OK(context, wt_store_walk(context, store, NULL, count_record, &count));
    wt_store_free(store);
    assert_int_equal(count, wanted);
}

/* A store of an earlier version, and one that somebody analysed, packed and read with a log ahead.
 */
static void stores_of_ours_are_read(void **state) {
    check_count(*state, TEST_DATA "/fixtures/sweep.db", WT_STORE_MODE_READ, 4);
    check_count(*state, TEST_DATA "/fixtures/sweep.db", WT_STORE_MODE_COPY, 4);
    execute("ANALYZE; VACUUM; PRAGMA journal_mode = WAL; DELETE FROM about WHERE kind = 'x'");
    check_count(*state, path, WT_STORE_MODE_READ, 12);
    check_count(*state, path, WT_STORE_MODE_COPY, 12);
    check_count(*state, path, WT_STORE_MODE_WRITE, 12);
}

/* Each ends every way to read the cells, with the cell named. */
static void invariant_6_cells_of_others_are_told(void **state) {
    static const struct {
        const char *change, *words;
    } cases[] = {
        {"state = CAST('failed' AS BLOB)", "the state of cell "},
        {"state = 'done' || char(0) || 'x'", "has a zero byte"},
        {"state = 'other'", "neither done nor failed"},
        {"experiment = CAST(x'c3' AS TEXT)", "the experiment of cell "},
        {"message = CAST(x'ff41' AS TEXT)", "is not UTF-8"},
        {"parameters = x'7b7d'", "is no text"},
        {"wall_seconds = 9e999", "wall seconds that are no time"},
        {"wall_seconds = -1", "wall seconds that are no time"},
        {"wall_seconds = 'long'", "wall seconds that are no time"},
        {"seed = 1e300", "a seed or result version that is not whole"},
        {"hash = 'no hash'", "a hash that is no hash"},
        {"hash = ''", "a hash that is no hash"},
    };
    wt_context *context = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[256];
        wt_store *store;
        wt_plan *plan;
        size_t count = 0;
        assert_int_equal(fill(state), 0);
        snprintf(sql, sizeof sql,
                 "PRAGMA ignore_check_constraints = ON; UPDATE cell SET %s WHERE hash ="
                 " (SELECT hash FROM cell ORDER BY hash LIMIT 1 OFFSET 5)",
                 cases[i].change);
        execute(sql);
        CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_READ, &store));
        CHECK_FAILS(context, wt_store_walk(context, store, NULL, count_record, &count), WT_DATA,
                    cases[i].words);
        CHECK_FAILS(context, wt_plan_new_failed(context, store, &plan), WT_DATA, "is damaged");
        wt_plan_free(plan);
        wt_store_free(store);
    }
}

static wt_status keep_fact(void *user, const char *kind, const char *text) {
    snprintf(user, 64, "%s: %s", kind, text);
    return WT_OK;
}

/* A command may name a file of any bytes. */
static void invariant_6_facts_of_others_are_told(void **state) {
    wt_store *store;
    char last[64];
    execute("INSERT INTO about VALUES ('command', CAST(x'61c3a980ff62' AS TEXT))");
    CHECK_OK(*state, wt_store_open(*state, path, WT_STORE_MODE_READ, &store));
    CHECK_OK(*state, wt_store_walk_notes(*state, store, keep_fact, last));
    assert_string_equal(last, "command: a\xc3\xa9\\x80\\xffb");
    wt_store_free(store);
    execute("INSERT INTO about VALUES ('sweep', x'80')");
    CHECK_OK(*state, wt_store_open(*state, path, WT_STORE_MODE_READ, &store));
    CHECK_FAILS(*state, wt_store_walk_notes(*state, store, keep_fact, last), WT_DATA,
                "the text of a fact about it is no text");
    wt_store_free(store);
}

/* Failed cells with numbers that no sweep gives; casts of them would be undefined. */
static void parameters_out_of_range_are_told(void **state) {
    static const char *const values[] = {"1e300", "-1", "1.5", "9007199254740994", "\"2\"", "null"};
    wt_context *context = *state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char sql[256];
        wt_store *store;
        wt_plan *plan;
        assert_int_equal(fill(state), 0);
        snprintf(sql, sizeof sql,
                 "UPDATE cell SET state = 'failed', parameters = replace(parameters,"
                 " '\"length\":4', '\"length\":%s')",
                 values[i]);
        execute(sql);
        CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_READ, &store));
        CHECK_FAILS(context, wt_plan_new_failed(context, store, &plan), WT_DATA,
                    "no sound value of 'length'");
        assert_non_null(strstr(wt_context_message(context), "is damaged: cell "));
        wt_plan_free(plan);
        wt_store_free(store);
    }
}

/* ---- who waits for whom ---------------------------------------------------------------------- */

/* A child that walks and stops in the midst of it until a byte comes. */
typedef struct {
    pid_t process;
    int told, tell; /* "it is there", "go on" */
} other;

static wt_status stop_here(void *user, const wt_record *record) {
    const int *ends = user;
    char byte = 0;
    if (strcmp(record->experiment, "recover") == 0 && ends[2] == 0)
        if (write(ends[1], "x", 1) != 1 || read(ends[0], &byte, 1) != 1)
            return WT_IO;
    return WT_INTERRUPTED; /* the first is enough */
}

static void be_reader(wt_store_mode mode, int from, int to) {
    wt_context *context;
    wt_store *store = NULL;
    int ends[] = {from, to, 0};
    bool fine = wt_context_new(&context) == WT_OK &&
                wt_store_open(context, path, mode, &store) == WT_OK &&
                wt_store_walk(context, store, NULL, stop_here, ends) == WT_INTERRUPTED;
    wt_store_free(store);
    _exit(fine ? 0 : 1);
}

/* Another program that locks the file for itself alone. */
static void be_locker(int from, int to) {
    sqlite3 *base;
    char byte;
    bool fine = sqlite3_open(path, &base) == SQLITE_OK &&
                sqlite3_exec(base, "BEGIN EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK &&
                write(to, "x", 1) == 1 && read(from, &byte, 1) == 1;
    sqlite3_close(base);
    _exit(fine ? 0 : 1);
}

static other start(bool reads, wt_store_mode mode) {
    int there[2] = {-1, -1}, here[2] = {-1, -1};
    char byte;
    assert_true(pipe(there) == 0 && pipe(here) == 0);
    fflush(NULL);
    other child = {fork(), here[0], there[1]};
    assert_true(child.process >= 0);
    if (child.process == 0 && reads)
        be_reader(mode, there[0], here[1]);
    if (child.process == 0)
        be_locker(there[0], here[1]);
    close(there[0]);
    close(here[1]);
    assert_int_equal(read(child.told, &byte, 1), 1);
    return child;
}

static void let_go(other *child) {
    int status;
    assert_int_equal(write(child->tell, "x", 1), 1);
    assert_int_equal(waitpid(child->process, &status, 0), child->process);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(child->tell);
    close(child->told);
}

static wt_status put_one(wt_context *context, wt_store *store, const char *hash) {
    wt_record record = {.size = sizeof record,
                        .hash = hash,
                        .experiment = "recover",
                        .parameters = "{}",
                        .message = "",
                        .metrics = "{}",
                        .version = "",
                        .machine = "",
                        .finished_date = ""};
    wt_status status = wt_store_put(context, store, &record);
    return status != WT_OK ? status : wt_store_commit(context, store);
}

/* What the writer says once it has waited, and what is done about it. */
typedef struct {
    wt_context *context;
    other *child; /* to let go; NULL = to cancel */
    int cancels;
    char said[256];
} listener;

static void on_remark(void *user, const char *sentence) {
    listener *all = user;
    snprintf(all->said, sizeof all->said, "%s", sentence);
    for (int i = 0; i < all->cancels; i++)
        wt_context_cancel(all->context);
    if (all->child != NULL)
        let_go(all->child);
}

static void invariant_7_a_copy_holds_nobody_up(void **state) {
    wt_context *context = *state;
    wt_store *store;
    listener listening = {0};
    other child = start(true, WT_STORE_MODE_COPY);
    wt_context_set_log(context, on_remark, &listening);
    CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_WRITE, &store));
    CHECK_OK(context, put_one(context, store, "abc"));
    wt_store_free(store);
    let_go(&child);
    assert_string_equal(listening.said, "");
    check_count(context, path, WT_STORE_MODE_READ, 13);
}

static void invariant_7_a_writer_waits_and_says_so(void **state) {
    wt_context *context = *state;
    wt_store *store;
    other child = start(true, WT_STORE_MODE_READ);
    listener listening = {.context = context, .child = &child};
    wt_context_set_log(context, on_remark, &listening);
    CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_WRITE, &store));
    CHECK_OK(context, put_one(context, store, "abc")); /* the child goes on when we say we wait */
    wt_store_free(store);
    assert_non_null(strstr(listening.said, "another process reads it; waiting"));
    check_count(context, path, WT_STORE_MODE_READ, 13);
}

static void invariant_7_ctrl_c_ends_the_waiting(void **state) {
    wt_context *context = *state;
    wt_store *store;
    other child = start(true, WT_STORE_MODE_READ);
    listener listening = {.context = context, .cancels = 2};
    wt_context_set_log(context, on_remark, &listening);
    CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_WRITE, &store));
    CHECK_FAILS(context, put_one(context, store, "abc"), WT_INTERRUPTED,
                "what was stored before is kept");
    wt_store_free(store);
    atomic_store(&context->cancels, 0);
    let_go(&child);
    check_count(context, path, WT_STORE_MODE_READ, 12);
    /* the first Ctrl-C leaves a writer some seconds, and a reader none */
    child = start(false, WT_STORE_MODE_READ);
    listening.cancels = 1;
    CHECK_FAILS(context, wt_store_open(context, path, WT_STORE_MODE_READ, &store), WT_INTERRUPTED,
                "held");
    assert_non_null(strstr(listening.said, "another process writes to it"));
    atomic_store(&context->cancels, 0);
    let_go(&child);
    check_count(context, path, WT_STORE_MODE_READ, 12);
}

static void the_memory_of_sqlite_is_counted(void **state) {
    wt_context *context = *state;
    wt_store *store;
    size_t before = wt_context_memory_used(context);
    CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_COPY, &store));
    assert_true(wt_context_memory_used(context) > before + (1 << 20));
    wt_store_free(store);
    assert_int_equal(wt_context_memory_used(context), before);
    wt_context_set_memory(context, (size_t)1 << 20);
    CHECK_OK(context,
             wt_store_open(context, path, WT_STORE_MODE_READ, &store)); /* with fewer pages */
    assert_true(wt_context_memory_used(context) < (size_t)1 << 20);
    wt_store_free(store);
    wt_context_set_memory(context, 0);
}

static int quiet(void **state) {
    wt_context_set_log(*state, NULL, NULL);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(invariant_6_schemas_of_others_are_refused, fill),
        cmocka_unit_test_setup(stores_of_ours_are_read, fill),
        cmocka_unit_test_setup(invariant_6_cells_of_others_are_told, fill),
        cmocka_unit_test_setup(invariant_6_facts_of_others_are_told, fill),
        cmocka_unit_test_setup(parameters_out_of_range_are_told, fill),
        cmocka_unit_test_setup_teardown(invariant_7_a_copy_holds_nobody_up, fill, quiet),
        cmocka_unit_test_setup_teardown(invariant_7_a_writer_waits_and_says_so, fill, quiet),
        cmocka_unit_test_setup_teardown(invariant_7_ctrl_c_ends_the_waiting, fill, quiet),
        cmocka_unit_test_setup(the_memory_of_sqlite_is_counted, fill),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
