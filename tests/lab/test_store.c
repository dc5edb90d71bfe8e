/* The store: what goes in comes out, one writer, no file that is not ours is touched. Numbers in
 * the names of tests are those of the invariants in src/lab/store.h. */
#define _GNU_SOURCE
#include "lab/store.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "lab/sha256.h"

static char folder[] = "/tmp/wattle-store-XXXXXX";
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

static int start_fresh(void **state) {
    (void)state;
    unlink(path);
    return 0;
}

static wt_record record_of(const char *hash) {
    return (wt_record){.size = sizeof(wt_record),
                       .hash = hash,
                       .experiment = "curve",
                       .parameters = "{\"n\":16}",
                       .seed = 9,
                       .result_version = 1,
                       .message = "",
                       .metrics = "{\"test_error\":0.10000000000000001}",
                       .wall_seconds = 0.5,
                       .version = "0.1.0",
                       .machine = "here",
                       .finished_date = "2026-01-31T12:00:00Z"};
}

static void put(wt_context *context, const char *hash) {
    wt_store *store;
    wt_record record = record_of(hash);
    CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_CREATE, &store));
    CHECK_OK(context, wt_store_put(context, store, &record));
    CHECK_OK(context, wt_store_commit(context, store));
    wt_store_free(store);
}

/* Hashes in the order they come, parted by spaces. */
static wt_status note_hash(void *user, const wt_record *record) {
    char *all = user;
    size_t used = strlen(all);
    snprintf(all + used, 256 - used, "%s%s", record->hash, record->failed ? "! " : " ");
    return WT_OK;
}

static void check_hashes(wt_context *context, const char *wanted) {
    wt_store *store;
    char all[256] = "";
    CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_READ, &store));
    CHECK_OK(context, wt_store_walk(context, store, NULL, note_hash, all));
    wt_store_free(store);
    assert_string_equal(all, wanted);
}

/* The same, as another process sees it. */
static void check_hashes_outside(const char *wanted) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        wt_context *context;
        wt_store *store;
        char all[256] = "";
        bool same = wt_context_new(&context) == WT_OK &&
                    wt_store_open(context, path, WT_STORE_MODE_READ, &store) == WT_OK &&
                    wt_store_walk(context, store, NULL, note_hash, all) == WT_OK &&
                    strcmp(all, wanted) == 0;
        _exit(same ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The examples of FIPS 180-4, and the lengths around the last block. */
static void sha256_is_sha256(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *hash;
    } known[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"0123456789012345678901234567890123456789012345678901234567890123",
         "9674d9e078535b7cec43284387a6ee39956188e735a85452b0050b55341cda56"},
    };
    char hash[WT_HASH_TEXT];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_string_equal(wt_sha256(known[i].bytes, strlen(known[i].bytes), hash), known[i].hash);
}

static wt_status check_record(void *user, const wt_record *record) {
    (void)user;
    wt_record wanted = record_of("b");
    assert_string_equal(record->parameters, wanted.parameters);
    assert_string_equal(record->metrics, wanted.metrics);
    assert_string_equal(record->machine, wanted.machine);
    assert_string_equal(record->finished_date, wanted.finished_date);
    assert_int_equal(record->seed, 9);
    assert_true(record->wall_seconds == 0.5 && !record->failed);
    return WT_OK;
}

static void cells_come_back_in_order(void **state) {
    wt_context *context = *state;
    wt_store *store;
    wt_store_count count = WT_SIZED(wt_store_count);
    bool found;
    put(context, "b");
    put(context, "c");
    put(context, "a");
    check_hashes(context, "a b c ");
    CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_READ, &store));
    CHECK_OK(context, wt_store_get(context, store, "b", &found, check_record, NULL));
    assert_true(found);
    CHECK_OK(context, wt_store_get(context, store, "d", &found, check_record, NULL));
    assert_false(found);
    CHECK_OK(context, wt_store_counts(context, store, &count));
    assert_int_equal(count.done, 3);
    CHECK_NEAR(count.wall_seconds, 1.5, 0); /* halves add exactly */
    wt_record record = record_of("d");
    CHECK_FAILS(context, wt_store_put(context, store, &record), WT_CANNOT_CREATE, "written");
    wt_store_free(store);
}

static void only_failed_cells_are_replaced(void **state) {
    wt_context *context = *state;
    wt_store *store;
    wt_record record = record_of("a");
    wt_cell_state cell;
    CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_CREATE, &store));
    record.failed = true;
    CHECK_OK(context, wt_store_put(context, store, &record));
    CHECK_OK(context, wt_store_find(context, store, "a", record.parameters, &cell));
    assert_int_equal(cell, WT_CELL_FAILED);
    record.failed = false;
    CHECK_OK(context, wt_store_put(context, store, &record));
    CHECK_OK(context, wt_store_commit(context, store));
    CHECK_OK(context, wt_store_find(context, store, "a", record.parameters, &cell));
    assert_int_equal(cell, WT_CELL_DONE);
    CHECK_FAILS(context, wt_store_put(context, store, &record), WT_INTERNAL, "done already");
    CHECK_FAILS(context, wt_store_find(context, store, "a", "{}", &cell), WT_DATA, "instead of {}");
    wt_store_free(store);
    check_hashes(context, "a ");
}

static void invariant_1_uncommitted_cells_are_gone(void **state) {
    wt_context *context = *state;
    wt_store *store;
    wt_record record = record_of("b");
    put(context, "a");
    CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_WRITE, &store));
    CHECK_OK(context, wt_store_put(context, store, &record));
    wt_store_free(store);
    check_hashes(context, "a ");
}

static void invariant_2_one_writer_and_readers(void **state) {
    wt_context *context = *state;
    wt_store *writer, *second;
    wt_record record = record_of("b");
    put(context, "a");
    CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_WRITE, &writer));
    CHECK_FAILS(context, wt_store_open(context, path, WT_STORE_MODE_WRITE, &second),
                WT_CANNOT_CREATE, "another process is writing to it");
    assert_null(second);
    CHECK_OK(context, wt_store_put(context, writer, &record));
    check_hashes_outside("a ");
    CHECK_OK(context, wt_store_commit(context, writer));
    check_hashes_outside("a b ");
    wt_store_free(writer);
    CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_WRITE, &second));
    wt_store_free(second);
}

static void write_bytes(const void *bytes, size_t count) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, count), count);
    close(file);
}

/* Every way to open it fails with the words, and the file keeps its bytes. */
static void check_refused(wt_context *context, const char *words) {
    static char before[1 << 16], after[1 << 16];
    static const wt_store_mode modes[] = {WT_STORE_MODE_READ, WT_STORE_MODE_WRITE,
                                          WT_STORE_MODE_CREATE};
    for (int i = 0; i < 3; i++) {
        wt_store *store;
        int file = open(path, O_RDONLY);
        ssize_t length = read(file, before, sizeof before);
        close(file);
        CHECK_FAILS(context, wt_store_open(context, path, modes[i], &store), WT_DATA, words);
        file = open(path, O_RDONLY);
        assert_int_equal(read(file, after, sizeof after), length);
        close(file);
        assert_memory_equal(before, after, (size_t)length);
    }
}

static void invariant_3_other_files_are_left_alone(void **state) {
    wt_context *context = *state;
    wt_store *store;
    write_bytes("notes of mine, no results at all; quite long ones, longer than any header\n", 74);
    check_refused(context, "is no store of results");
    write_bytes("SQLite", 6);
    check_refused(context, "is no store of results");
    unlink(path);
    sqlite3 *other;
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "CREATE TABLE cell (a)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    check_refused(context, "database of another program");
    unlink(path);
    CHECK_FAILS(context, wt_store_open(context, path, WT_STORE_MODE_READ, &store), WT_NO_INPUT,
                "no such");
    CHECK_FAILS(context, wt_store_open(context, path, WT_STORE_MODE_WRITE, &store), WT_NO_INPUT,
                "no such");
    CHECK_FAILS(context, wt_store_open(context, folder, WT_STORE_MODE_CREATE, &store),
                WT_CANNOT_CREATE, "cannot be written");
    write_bytes("", 0);
    CHECK_FAILS(context, wt_store_open(context, path, WT_STORE_MODE_READ, &store), WT_DATA,
                "is empty");
    CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_CREATE, &store));
    wt_store_free(store);
}

static void invariant_3_damage_is_told(void **state) {
    wt_context *context = *state;
    wt_store *store;
    struct stat about;
    put(context, "a");
    sqlite3 *base;
    assert_int_equal(sqlite3_open(path, &base), SQLITE_OK);
    assert_int_equal(sqlite3_exec(base, "PRAGMA user_version = 2", NULL, NULL, NULL), SQLITE_OK);
    check_refused(context, "is of format 2");
    assert_int_equal(sqlite3_exec(base, "PRAGMA user_version = 1", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(base);
    /* the page of the cells, overwritten */
    assert_int_equal(stat(path, &about), 0);
    char rubbish[2048];
    memset(rubbish, 0x5a, sizeof rubbish);
    int file = open(path, O_WRONLY);
    assert_true(pwrite(file, rubbish, sizeof rubbish, about.st_size - 4096) > 0);
    close(file);
    CHECK_FAILS(context, wt_store_open(context, path, WT_STORE_MODE_WRITE, &store), WT_DATA,
                "is damaged");
    CHECK_FAILS(context, wt_store_open(context, path, WT_STORE_MODE_CREATE, &store), WT_DATA,
                "is damaged");
    /* cut short */
    assert_int_equal(truncate(path, 4096), 0);
    CHECK_FAILS(context, wt_store_open(context, path, WT_STORE_MODE_CREATE, &store), WT_DATA,
                "damaged");
}

static void invariant_4_one_meaning(void **state) {
    wt_context *context = *state;
    wt_store *store;
    CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_CREATE, &store));
    CHECK_OK(context, wt_store_declare(context, store, "curve 1 dim,n"));
    CHECK_OK(context, wt_store_declare(context, store, "curve 1 dim,n"));
    CHECK_OK(context, wt_store_declare(context, store, "curves 4 n"));
    CHECK_OK(context, wt_store_commit(context, store));
    CHECK_FAILS(context, wt_store_declare(context, store, "curve 2 dim,n"), WT_DATA,
                "'1 dim,n' there, '2 dim,n' here");
    CHECK_FAILS(context, wt_store_declare(context, store, "curve 1 dim,n,noise"), WT_DATA,
                "take another store");
    wt_store_free(store);
}

static void invariant_5_failing_commits_keep_the_rest(void **state) {
    wt_context *context = *state;
    wt_store *store;
    wt_record record = record_of("b");
    put(context, "a");
    CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_WRITE, &store));
    CHECK_OK(context, wt_store_put(context, store, &record));
    atomic_store(&context->write_to_fail, 1);
    CHECK_FAILS(context, wt_store_commit(context, store), WT_IO, "what was stored before is kept");
    wt_store_free(store);
    check_hashes(context, "a ");
    /* the first commit of all: a new store is no store yet, and can be made again */
    unlink(path);
    atomic_store(&context->write_to_fail, 1);
    CHECK_FAILS(context, wt_store_open(context, path, WT_STORE_MODE_CREATE, &store), WT_IO,
                "written");
    put(context, "c");
    check_hashes(context, "c ");
}

/* In a child, as the limit cannot be lifted again: cells until the file may not grow. */
static void fill_store(void) {
    wt_context *context;
    wt_store *store;
    struct rlimit limit = {40960, 40960};
    char hash[16];
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || wt_context_new(&context) != WT_OK ||
        wt_store_open(context, path, WT_STORE_MODE_WRITE, &store) != WT_OK)
        _exit(1);
    wt_status status = WT_OK;
    int i = 0;
    for (; status == WT_OK && i < 10000; i++) {
        snprintf(hash, sizeof hash, "b%05d", i);
        wt_record record = record_of(hash);
        status = wt_store_put(context, store, &record);
        if (status == WT_OK && i % 16 == 15)
            status = wt_store_commit(context, store);
    }
    wt_store_free(store);
    wt_context_free(context);
    _exit(status == WT_IO && i > 16 ? 0 : 2);
}

static void invariant_5_a_full_disk_keeps_the_rest(void **state) {
    wt_context *context = *state;
    wt_store *store;
    wt_store_count count = WT_SIZED(wt_store_count);
    int status;
    put(context, "a");
    pid_t child = fork();
    if (child == 0)
        fill_store();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    CHECK_OK(context,
             wt_store_open(context, path, WT_STORE_MODE_WRITE, &store)); /* checks every page */
    CHECK_OK(context, wt_store_counts(context, store, &count));
    assert_true(count.done > 16 && count.done % 16 == 1);
    wt_store_free(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_is_sha256),
        cmocka_unit_test_setup(cells_come_back_in_order, start_fresh),
        cmocka_unit_test_setup(only_failed_cells_are_replaced, start_fresh),
        cmocka_unit_test_setup(invariant_1_uncommitted_cells_are_gone, start_fresh),
        cmocka_unit_test_setup(invariant_2_one_writer_and_readers, start_fresh),
        cmocka_unit_test_setup(invariant_3_other_files_are_left_alone, start_fresh),
        cmocka_unit_test_setup(invariant_3_damage_is_told, start_fresh),
        cmocka_unit_test_setup(invariant_4_one_meaning, start_fresh),
        cmocka_unit_test_setup(invariant_5_failing_commits_keep_the_rest, start_fresh),
        cmocka_unit_test_setup(invariant_5_a_full_disk_keeps_the_rest, start_fresh),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
