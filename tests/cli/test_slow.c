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
        {"wattle: cells 3/9  0.15/s  ETA 40s\n", "", 1},
        {"wattle: cells 0/9  0/s  ETA ?\n", "", 1},
        {"wattle: products 1000000  1.5e+06/s\n", "", 1},
        {"wattle: adam steps 7/8  inf/s  ETA 2h05m\nwattle: a remark\n", "wattle: a remark\n", 1},
        {"wattle: a\nwattle: cells 1/2  1/s  ETA 1s\nwattle: cells 2/2  1/s  ETA 0s\nb",
         "wattle: a\nb", 2},
        {"wattle: 12 GFLOP/s on 2 threads\n", "wattle: 12 GFLOP/s on 2 threads\n", 0},
        {"wattle: 3/s\n", "wattle: 3/s\n", 0},
        {"/s", "/s", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char said[256];
        snprintf(said, sizeof said, "%s", cases[i].said);
        assert_int_equal(run_drop_progress(said), cases[i].lines);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_is_told_apart),
        cmocka_unit_test(sentences_are_found_among_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
