/* Groups of cells of which some fail: every cell has a fate of its own. */
#define _GNU_SOURCE
#include "cli/sweep_cases.h"

static const char small[] = "sweep run spec.ini --set reps=1 --set model=rfa --mem 64M --quiet ";

static const run_result *run_small(const char *rest) {
    char line[512];
    snprintf(line, sizeof line, "%s%s", small, rest);
    return run_in_folder(line);
}

/* One n far too large for the memory: the others are those of a sweep without it. */
static void one_n_fails_alone(void **state) {
    static table plain;
    assert_int_equal(run_small("--set n=32,64 --store plain.db")->code, 0);
    read_table(*state, "plain.db", &plain);
    const run_result *result =
        run_small("--set n=32,64,900000000,1000000000 --store large.db --json");
    assert_int_equal(result->code, 1);
    assert_non_null(strstr(result->out, "\"done\": 4,"));
    assert_non_null(strstr(result->out, "\"failed\": 4,"));
    /* none but they have failed, each for its own size */
    CHECK_PRINTS(run_in_folder("sweep list large.db --failed"), "\"n\":900000000,");
    assert_null(strstr(run_in_folder("sweep list large.db --failed")->out, "\"n\":32,"));
    execute("large.db", "DELETE FROM cell WHERE state = 'failed'");
    check_table(*state, "large.db", &plain);
}

/* A sweep that is widened beside a cell that failed computes what is new. */
static void a_failed_cell_does_not_hinder_new_ones(void **state) {
    static table plain, wide;
    assert_int_equal(run_small("--set n=32,1000000000 --store wide.db")->code, 1);
    assert_int_equal(run_small("--set n=32,64,1000000000 --store wide.db")->code, 1);
    CHECK_PRINTS(run_in_folder("sweep status wide.db"), "4 done, 2 failed");
    /* and once more, when it is tried again by itself */
    assert_int_equal(run_in_folder("sweep retry failed wide.db --mem 64M --quiet")->code, 1);
    CHECK_PRINTS(run_in_folder("sweep status wide.db"), "4 done, 2 failed");
    assert_int_equal(run_small("--set n=32,64 --store both.db")->code, 0);
    read_table(*state, "both.db", &plain);
    execute("wide.db", "DELETE FROM cell WHERE state = 'failed'");
    read_table(*state, "wide.db", &wide);
    assert_int_equal(wide.rows, plain.rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_n_fails_alone),
        cmocka_unit_test(a_failed_cell_does_not_hinder_new_ones),
    };
    return cmocka_run_group_tests(tests, open_sweep, run_close_folder);
}
