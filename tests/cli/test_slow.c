/* The command on a slow machine: lines of progress come between the words that tests ask for, and
 * no test may mind. */
#define _GNU_SOURCE
#include "cli/run.h"

static void progress_is_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *said, *left;
        size_t lines;
    } cases[] = {
        {"", "", 0},
        {"wattle: 0:10  cells 3/9  0.15/s  ETA 40s\n", "", 1},
        {"wattle: 0:10  start 3/20  step 7, error 2e-04  ETA ?\n", "", 1},
        {"wattle: 125:00  fit\nwattle: a remark\n", "wattle: a remark\n", 1},
        {"wattle: a\nwattle: 0:10  fit\nwattle: 0:20  fit\nb", "wattle: a\nb", 2},
        {"wattle: 3:2  fit\n", "wattle: 3:2  fit\n", 0},
        {"wattle: 0:10 o'clock\n", "wattle: 0:10 o'clock\n", 0},
        {"wattle: 12 GFLOP/s on 2 threads\n", "wattle: 12 GFLOP/s on 2 threads\n", 0},
        {"wattle: 3/s\n", "wattle: 3/s\n", 0},
        {"/s", "/s", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char said[256];
        snprintf(said, sizeof said, "%s", cases[i].said);
        assert_int_equal(run_drop(said, run_is_progress), cases[i].lines);
        assert_string_equal(said, cases[i].left);
    }
}

/* A second is a microsecond there. */
static void sentences_are_found_among_progress(void **state) {
    (void)state;
    const run_result *result =
        run_with("selfcheck --quick", &(run_setting){.variable = "LD_PRELOAD=" FAST_CLOCK,
                                                     .second_variable = "WATTLE_FAULT_WRITE=1"});
    assert_true(result->progress > 0);
    CHECK_SAYS(result, 74, "standard output");
}

/* Ten seconds by the real clock, for an answer that does not come. */
static void whoever_waits_gets_a_line(void **state) {
    (void)state;
    int ends[2];
    char said[256];
    assert_int_equal(pipe(ends), 0);
    pid_t child = run_start("query --dim 2 --oracle sleep\t60", ends[1]);
    close(ends[1]);
    ssize_t length = read(ends[0], said, sizeof said - 1);
    assert_true(length > 0);
    said[length] = '\0';
    assert_true(run_is_progress(said));
    run_end(child, SIGTERM);
    close(ends[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_is_told_apart),
        cmocka_unit_test(sentences_are_found_among_progress),
        cmocka_unit_test(whoever_waits_gets_a_line),
    };
    return cmocka_run_group_tests(tests, run_open_folder, run_close_folder);
}
