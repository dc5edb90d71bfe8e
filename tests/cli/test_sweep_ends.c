/* `wattle sweep` when something ends it: kill -9, Ctrl-C, a second process, a full disk, no memory.
 * Nothing that was stored is lost, and the next run ends as an undisturbed one. */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "cli/sweep_cases.h"
#include "wattle/random.h"

enum { KILLS = 20 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Moments are parts of how long a run takes here, so that they fall into all of its stages. A run
 * that was quicker starts afresh, with shorter moments, until twenty were killed. */
static void kills_lose_nothing_that_is_stored(void **state) {
    enum { TRIES = 400 };
    wt_context *context = *state;
    const table *wanted = whole(context);
    double parts[TRIES], began = now();
    run_must("sweep run spec.ini --store timed.db --workers 2");
    double takes = now() - began;
    int killed = 0;
    wt_random_uniform(wt_stream_for(6, "kills", 0), 0, TRIES, parts);
    for (int i = 0; i < TRIES && killed < KILLS; i++) {
        pid_t child = run_start("sweep run spec.ini --store killed.db --workers 2", -1);
        run_pause(parts[i] * takes / 3);
        if (WIFSIGNALED(run_end(child, SIGKILL))) {
            killed++;
            continue;
        }
        check_table(context, "killed.db", wanted);
        unlink(path_of("killed.db"));
        takes *= 0.8;
    }
    assert_int_equal(killed, KILLS);
    run_must("sweep run spec.ini --store killed.db");
    check_table(context, "killed.db", wanted);
}

/* More than enough work to meet it in its midst. */
static void ctrl_c_keeps_everything(void **state) {
    const table *wanted = whole(*state);
    pid_t child =
        run_start("sweep run spec.ini --store stopped.db --workers 1 --set reps=2000", -1);
    RUN_UNTIL(child, cells_in("stopped.db") > 0);
    int status = run_end(child, SIGINT);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 75);
    run_must("sweep run spec.ini --store stopped.db");
    execute("stopped.db", "DELETE FROM cell WHERE json_extract(parameters, '$.rep') > 1");
    check_table(*state, "stopped.db", wanted);
}

/* Stopped again after a resume, it tells of all the cells that the store holds. */
static void a_second_stop_counts_all_cells(void **state) {
    static const char line[] = "sweep run spec.ini --store counted.db --workers 1 --set reps=2000";
    char words[4096] = "";
    size_t held = 0, cells = 0, used = 0;
    (void)state;
    for (int before = 0, stop = 0; stop < 2; stop++, before = cells_in("counted.db")) {
        int said[2];
        assert_int_equal(pipe(said), 0);
        pid_t child = run_start(line, said[1]);
        close(said[1]);
        RUN_UNTIL(child, cells_in("counted.db") > before);
        int status = run_end(child, SIGINT);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 75);
        used = 0;
        for (ssize_t got; (got = read(said[0], words + used, sizeof words - 1 - used)) > 0;)
            used += (size_t)got;
        words[used] = '\0';
        close(said[0]);
    }
    const char *sentence = strstr(words, "interrupted; ");
    assert_non_null(sentence);
    assert_int_equal(sscanf(sentence, "interrupted; %zu of %zu cells", &held, &cells), 2);
    assert_int_equal(held, cells_in("counted.db"));
    assert_int_equal(cells,
                     run_number("sweep run spec.ini --set reps=2000 --dry-run --json", "cells"));
}

/* Cells in hand may take hours: a second Ctrl-C leaves them. The first one ends the sweep itself
 * where it comes before the cell, and leaves no sweep in the store; then it is given more time, as
 * much as the machine needs. */
static void a_second_ctrl_c_leaves_cells(void **state) {
    (void)state;
    bool goes_on = false;
    int status = 0;
    FILE *file = fopen(path_of("long.ini"), "w");
    assert_non_null(file);
    fputs("[sweep]\nexperiment = train\nlength = 20\nonline = 64\nsteps = 1,100000000\n"
          "to-end = yes\nvalidation-samples = 10\ntest-samples = 10\nreps = 1\n",
          file);
    assert_int_equal(fclose(file), 0);
    for (double pause = 0.1; !goes_on; pause *= 2) {
        unlink(path_of("long.db"));
        pid_t child = run_start("sweep run long.ini --store long.db --workers 1", -1);
        struct stat about;
        RUN_UNTIL(child, stat(path_of("long.db"), &about) == 0);
        run_pause(pause);
        run_signal(child, SIGINT);
        run_pause(pause);
        goes_on = !run_has_ended(child);
        status = run_end(child, SIGINT);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 75);
        goes_on = goes_on && strstr(run_in_folder("sweep status long.db")->out, "failed") != NULL;
    }
    CHECK_PRINTS(run_in_folder("sweep status long.db"), "0 failed");
}

static void a_second_process_is_told(void **state) {
    int status;
    wt_store *store;
    wt_context *context = *state;
    CHECK_OK(context, wt_store_open(context, path_of("busy.db"), WT_STORE_MODE_CREATE, &store));
    CHECK_SAYS(run_in_folder("sweep run spec.ini --store busy.db"), 73,
               "another process is writing");
    CHECK_SAYS(run_in_folder("sweep retry busy.db"), 73, "another process is writing");
    CHECK_PRINTS(run_in_folder("sweep status busy.db"), "busy.db"); /* readers may */
    wt_store_free(store);
    pid_t child = run_start("sweep run spec.ini --store busy.db", -1);
    assert_int_equal(waitpid(child, &status, 0), child);
    check_table(context, "busy.db", whole(context));
}

static void a_full_disk_keeps_what_is_stored(void **state) {
    static table some;
    run_must("sweep run spec.ini --store full.db --set reps=1");
    const run_result *result =
        run_with("sweep run spec.ini --store full.db --set reps=40",
                 &(run_setting){.directory = run_folder, .file_limit = 49152});
    CHECK_SAYS(result, 74, "full.db");
    read_table(*state, "full.db", &some);
    assert_true(some.rows >= 12 && some.rows < 480);
    run_must("sweep run spec.ini --store full.db");
    execute("full.db", "DELETE FROM cell WHERE json_extract(parameters, '$.rep') > 1");
    check_table(*state, "full.db", whole(*state));
}

static void a_quota_that_is_used_up_is_told(void **state) {
    static table some;
    run_must("sweep run spec.ini --store quota.db --set reps=1");
    CHECK_SAYS(
        run_with("sweep run spec.ini --store quota.db --set reps=40",
                 &(run_setting){.directory = run_folder, .variable = "LD_PRELOAD=" FULL_QUOTA}),
        74, "quota.db: the quota of the disk is used up; what was stored before is kept");
    read_table(*state, "quota.db", &some);
    assert_true(some.rows >= 12 && some.rows < 480);
}

/* Every fault of the writer's own context: a sentence, and a run afterwards ends as ever. */
static void faults_keep_what_is_stored(void **state) {
    static const char *const variables[] = {"WATTLE_FAULT_ALLOCATION", "WATTLE_FAULT_WRITE"};
    for (int v = 0; v < 2; v++) {
        int felt = 0;
        for (long k = 1;; k += 1 + (v == 0 ? k / 2 : 0)) {
            char fault[64];
            snprintf(fault, sizeof fault, "%s=%ld", variables[v], k);
            const run_result *result =
                run_with("sweep run spec.ini --store faulty.db",
                         &(run_setting){.directory = run_folder, .variable = fault});
            if (result->code == 0)
                break;
            felt++;
            if (result->signal != 0 || result->code < 64 || !run_is_sentence(result->err))
                fail_msg("%s: exit %d: %s", fault, result->code, result->err);
        }
        assert_true(felt >= 2);
        check_table(*state, "faulty.db", whole(*state));
        unlink(path_of("faulty.db"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kills_lose_nothing_that_is_stored),
        cmocka_unit_test(ctrl_c_keeps_everything),
        cmocka_unit_test(a_second_stop_counts_all_cells),
        cmocka_unit_test(a_second_ctrl_c_leaves_cells),
        cmocka_unit_test(a_second_process_is_told),
        cmocka_unit_test(a_full_disk_keeps_what_is_stored),
        cmocka_unit_test(a_quota_that_is_used_up_is_told),
        cmocka_unit_test(faults_keep_what_is_stored),
    };
    return cmocka_run_group_tests(tests, open_sweep, run_close_folder);
}
