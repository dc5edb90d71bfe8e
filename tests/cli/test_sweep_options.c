/* Options of `wattle sweep` at their limits: what is refused, and in whose words. */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "cli/sweep_cases.h"

/* Seeds are kept as they were given, or not at all. */
static void seeds_are_not_rounded(void **state) {
    (void)state;
    CHECK_SAYS(run_in_folder("sweep run spec.ini --store no --seed 9007199254740993"), 64,
               "--seed: the seed of a sweep must be below 2^53, not 9007199254740993");
    CHECK_SAYS(run_in_folder("sweep run spec.ini --store no --set seed=1,9007199254740993"), 64,
               "--set seed: '1,9007199254740993' is no grid: a value is not below 2^53");
    assert_int_equal(access(path_of("no"), F_OK), -1);
    run_must("sweep run spec.ini --store seed.db --seed 9007199254740991 --set n=32 --set reps=1");
    CHECK_PRINTS(run_in_folder("sweep list seed.db"), "seed 9007199254740991 ");
}

/* What a retry found before it, and what it leaves. */
static void a_retry_counts_what_had_failed(void **state) {
    (void)state;
    assert_int_equal(run_in_folder("sweep run spec.ini --store failed.db --mem 400K --quiet")->code,
                     1);
    const run_result *result = run_in_folder("sweep retry failed failed.db --mem 400K --json");
    assert_int_equal(result->code, 1);
    assert_non_null(strstr(result->out, "\"failed_before\": 24,"));
    assert_non_null(strstr(result->out, "\"failed\": 24,"));
    result = run_in_folder("sweep retry failed failed.db --mem 400K");
    assert_non_null(strstr(result->out, "failed                 24\n"));
    CHECK_PRINTS(run_in_folder("sweep retry failed failed.db"), "failed                 0\n");
}

static void too_many_workers_leave_no_store(void **state) {
    (void)state;
    CHECK_SAYS(run_in_folder("sweep run spec.ini --store many.db --workers 100000"), 64,
               "--workers: at most ");
    assert_int_equal(access(path_of("many.db"), F_OK), -1);
    CHECK_SAYS(run_in_folder("reproduce --scale tiny -o many --workers 100000"), 64,
               "--workers: at most ");
    assert_int_equal(access(path_of("many"), F_OK), -1);
}

/* A dry run refuses what a run would. */
static void a_dry_run_looks_at_the_meaning(void **state) {
    (void)state;
    run_must("sweep run spec.ini --store meaning.db --set n=32 --set reps=1");
    run_must("sweep run spec.ini --store meaning.db --dry-run");
    execute("meaning.db",
            "UPDATE about SET text = replace(text, 'curve 5', 'curve 0') WHERE kind = "
            "'experiment'");
    CHECK_SAYS(run_in_folder("sweep run spec.ini --store meaning.db --dry-run"), 65,
               "another meaning of 'curve'");
}

static const run_result *run_task(const char *first, const char *second) {
    return run_with(
        "sweep run spec.ini --dry-run",
        &(run_setting){.directory = run_folder, .variable = first, .second_variable = second});
}

static void arrays_that_say_too_little_are_told(void **state) {
    (void)state;
    CHECK_SAYS(run_task("SLURM_ARRAY_TASK_ID=1", NULL), 64, "SLURM_ARRAY_TASK_COUNT is not");
    CHECK_SAYS(run_task("SLURM_ARRAY_TASK_ID=2", "SLURM_ARRAY_TASK_COUNT=2"), 64,
               "SLURM_ARRAY_TASK_MIN");
    assert_int_equal(run_task("SLURM_ARRAY_TASK_ID=1", "SLURM_ARRAY_TASK_COUNT=2")->code, 0);
}

/* JSON cannot hold a path that is not UTF-8; the sentence about it can. */
static void paths_that_json_cannot_hold_are_told(void **state) {
    (void)state;
    const run_result *result = run_in_folder("sweep run spec.ini --store n\xff.db --json");
    CHECK_SAYS(result, 64, "--json: 'n\\xff.db' is not UTF-8 text");
    assert_non_null(strstr(result->out, "\"error\": \"--json: 'n"));
    assert_int_equal(access(path_of("n\xff.db"), F_OK), -1);
    run_must("sweep run spec.ini --store n\xff.db --set n=32 --set reps=1");
    run_must("sweep run spec.ini --store n\xff.db --set n=32 --set reps=2"); /* it goes on */
    CHECK_PRINTS(run_in_folder("sweep status n\xff.db"), "--store n\\xff.db\n");
    result = run_in_folder("sweep rn\xff --quiet --json");
    assert_non_null(strstr(result->out, "\"error\": "));
}

/* A gnuplot that is there and cannot is told in its own words. */
static void a_failing_gnuplot_is_quoted(void **state) {
    (void)state;
    char path[64];
    write_file("gnuplot", "#!/bin/sh\necho no display today >&2\nexit 3\n");
    assert_int_equal(chmod(path_of("gnuplot"), 0700), 0);
    snprintf(path, sizeof path, "PATH=%s", run_folder);
    run_must("sweep run spec.ini --store page.db --set n=32,64 --set reps=1");
    const run_result *result = run_with("report page.db -o page.html",
                                        &(run_setting){.directory = run_folder, .variable = path});
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, ", none for paper (gnuplot failed: no display today)\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_are_not_rounded),
        cmocka_unit_test(a_retry_counts_what_had_failed),
        cmocka_unit_test(too_many_workers_leave_no_store),
        cmocka_unit_test(a_dry_run_looks_at_the_meaning),
        cmocka_unit_test(arrays_that_say_too_little_are_told),
        cmocka_unit_test(paths_that_json_cannot_hold_are_told),
        cmocka_unit_test(a_failing_gnuplot_is_quoted),
    };
    return cmocka_run_group_tests(tests, open_sweep, run_close_folder);
}
