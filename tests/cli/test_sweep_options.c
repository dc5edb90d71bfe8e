/* Options of `wattle sweep` at their limits: what is refused, and in whose words. */
#define _GNU_SOURCE
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_are_not_rounded),
    };
    return cmocka_run_group_tests(tests, open_sweep, run_close_folder);
}
