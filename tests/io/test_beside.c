/* Locks, and what killed runs leave beside a target. Children are killed when they say that they
 * are at work, never after some time. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "files.h"
#include "io/beside.h"
#include "io/output.h"

/* A process at work on a target, which waits to be killed, or to be told to end its work. */
typedef struct {
    pid_t process;
    int told; /* our end of the pipe that tells it */
} worker;

static int finish(int told, bool fine) {
    char byte;
    return fine && read(told, &byte, 1) == 1 ? 0 : 1;
}

static int write_target(wt_context *context, const char *path, int ready, int told) {
    wt_output *output = NULL;
    bool fine = wt_output_open(context, path, &output) == WT_OK &&
                wt_output_print(output, "worker\n") == WT_OK && write(ready, "r", 1) == 1;
    fine = finish(told, fine) == 0 && wt_output_commit(output) == WT_OK;
    wt_output_free(output);
    return fine ? 0 : 1;
}

static int hold_target(wt_context *context, const char *path, int ready, int told) {
    wt_lock *hold = NULL;
    bool fine = wt_lock_open(context, path, &hold) == WT_OK && write(ready, "r", 1) == 1;
    fine = finish(told, fine) == 0;
    wt_lock_free(hold);
    return fine ? 0 : 1;
}

/* Returns when it is at work. */
static worker start(wt_context *context, int (*work)(wt_context *, const char *, int, int),
                    const char *path) {
    int ready[2], told[2];
    char byte;
    assert_true(pipe(ready) == 0 && pipe(told) == 0);
    fflush(NULL);
    worker out = {.process = fork(), .told = told[1]};
    assert_true(out.process >= 0);
    if (out.process == 0) {
        close(told[1]);
        _exit(work(context, path, ready[1], told[0]));
    }
    close(ready[1]);
    close(told[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return out;
}

static void end(worker *work, bool killed) {
    int result;
    assert_true(killed ? kill(work->process, SIGKILL) == 0 : write(work->told, "e", 1) == 1);
    assert_int_equal(waitpid(work->process, &result, 0), work->process);
    assert_true(killed ? WIFSIGNALED(result) : WIFEXITED(result) && WEXITSTATUS(result) == 0);
    close(work->told);
}

static void write_now(wt_context *context, const char *path) {
    wt_output *output;
    CHECK_OK(context, wt_output_open(context, path, &output));
    CHECK_OK(context, wt_output_print(output, "now\n"));
    CHECK_OK(context, wt_output_commit(output));
    wt_output_free(output);
}

static void check_content(const char *path, const char *wanted) {
    size_t bytes;
    uint8_t *content = file_bytes(path, &bytes);
    assert_int_equal(bytes, strlen(wanted));
    assert_memory_equal(content, wanted, bytes);
    free(content);
}

static void what_the_dead_left_is_removed(void **state) {
    worker works[3];
    files_clear();
    char *target = strdup(file_path("target"));
    for (int k = 0; k < 3; k++)
        works[k] = start(*state, write_target, target);
    for (int k = 0; k < 3; k++)
        end(&works[k], true);
    assert_int_equal(files_left(), 3);
    write_now(*state, file_path("other")); /* another target's are none of its business */
    assert_int_equal(files_left(), 4);
    CHECK_OK(*state, wt_output_check(*state, target)); /* before the work is early enough */
    assert_int_equal(files_left(), 1);
    works[0] = start(*state, write_target, target);
    end(&works[0], true);
    assert_int_equal(files_left(), 2);
    write_now(*state, target);
    assert_int_equal(files_left(), 2);
    check_content(target, "now\n");
    free(target);
}

static void what_the_living_write_stays(void **state) {
    worker works[3];
    files_clear();
    char *target = strdup(file_path("target"));
    for (int k = 0; k < 3; k++)
        works[k] = start(*state, write_target, target);
    end(&works[1], true);
    write_now(*state, target);
    assert_int_equal(files_left(), 3); /* two at work, and the target */
    check_content(target, "now\n");
    end(&works[2], false);
    check_content(target, "worker\n");
    end(&works[0], false);
    assert_int_equal(files_left(), 1);
    free(target);
}

/* Links and other things that have such a name are neither followed nor removed. */
static void links_are_left_alone(void **state) {
    files_clear();
    char *target = strdup(file_path("target")), *path;
    int file;
    CHECK_OK(*state, wt_beside_temporary(*state, target, &path, &file));
    assert_true(file > 2 && unlink(path) == 0);
    close(file);
    file_make("victim", "precious", 8);
    assert_int_equal(symlink("victim", path), 0);
    char *second = strdup(path), *digit = strrchr(second, '-') + 1;
    *digit = '1';
    assert_int_equal(mkfifo(second, 0600), 0);
    *digit = '2';
    assert_int_equal(mkdir(second, 0700), 0);
    write_now(*state, target);
    check_content(file_path("victim"), "precious");
    check_content(target, "now\n");
    assert_int_equal(files_left(), 5);
    assert_int_equal(rmdir(second), 0);
    free(second);
    free(target);
    wt_release(path);
}

static void one_at_a_time(void **state) {
    wt_lock *hold, *again;
    files_clear();
    char *target = strdup(file_path("target"));
    CHECK_OK(*state, wt_lock_open(*state, target, &hold));
    CHECK_FAILS(*state, wt_lock_open(*state, target, &again), WT_CANNOT_CREATE,
                "target: another run is writing to it");
    assert_null(again);
    /* by whatever name */
    char folder[sizeof test_directory];
    snprintf(folder, sizeof folder, "%s", test_directory);
    char line[256];
    snprintf(line, sizeof line, "%s/../%s/target", folder, strrchr(folder, '/') + 1);
    CHECK_FAILS(*state, wt_lock_open(*state, line, &again), WT_CANNOT_CREATE, "another run");
    write_now(*state, target);
    assert_int_equal(symlink("target", file_path("link")), 0);
    CHECK_FAILS(*state, wt_lock_open(*state, file_path("link"), &again), WT_CANNOT_CREATE,
                "another run");
    wt_lock *other;
    CHECK_OK(*state, wt_lock_open(*state, file_path("other"), &other));
    wt_lock_free(other);
    wt_lock_free(hold);
    assert_int_equal(files_left(), 2); /* the target and the link to it */
    CHECK_OK(*state, wt_lock_open(*state, target, &hold));
    wt_lock_free(hold);
    wt_lock_free(NULL);
    CHECK_FAILS(*state, wt_lock_open(*state, file_path("none/target"), &hold), WT_CANNOT_CREATE,
                "No such file");
    free(target);
}

static void a_killed_run_holds_nothing(void **state) {
    wt_lock *hold;
    files_clear();
    char *target = strdup(file_path("target"));
    worker work = start(*state, hold_target, target);
    CHECK_FAILS(*state, wt_lock_open(*state, target, &hold), WT_CANNOT_CREATE, "another run");
    end(&work, true);
    assert_int_equal(files_left(), 1);
    CHECK_OK(*state, wt_lock_open(*state, target, &hold));
    wt_lock_free(hold);
    assert_int_equal(files_left(), 0);
    work = start(*state, hold_target, target);
    end(&work, false);
    assert_int_equal(files_left(), 0);
    free(target);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_dead_left_is_removed),
        cmocka_unit_test(what_the_living_write_stays),
        cmocka_unit_test(links_are_left_alone),
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(a_killed_run_holds_nothing),
    };
    return cmocka_run_group_tests(tests, files_open, files_close);
}
