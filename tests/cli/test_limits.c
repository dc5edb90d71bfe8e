/* Under a limit on memory (ulimit -v) a run ends by itself, with a documented code and one
 * sentence: never by a signal, never in a loop. */
#define _DEFAULT_SOURCE
#include "cli/run.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/* Long enough for any machine: it tells a loop without end from a slow run. */
enum { HANGS = 3600, MEGABYTE = 1 << 20, NO_LIBRARIES = 127 };

static void ends(const char *line, long megabytes) {
    const run_result *result = run_with(line, &(run_setting){.directory = run_folder,
                                                             .address_limit = megabytes * MEGABYTE,
                                                             .seconds = HANGS});
    if (result->code == 0 || result->code == NO_LIBRARIES)
        return;
    if (result->code != 70 || !run_is_sentence(result->err))
        fail_msg("wattle %s in %ld MB: exit %d, signal %d%s: %s", line, megabytes, result->code,
                 result->signal, result->signal == SIGALRM ? " (it hung)" : "", result->err);
}

/* From less than the libraries take to more than a run needs; OpenBLAS takes 128 MB a thread. */
static void runs_end_under_a_limit(void **state) {
    (void)state;
    const char *const lines[] = {
        "fit " TEST_DATA "/fixtures/sets.npz --heads 5 --lambda 1 --threads 2",
        "selfcheck --quick --threads 1",
        "draw --target mean-power:2 --dim 3 --keys 2 --n 20000 --threads 32 -o x.npz",
    };
    const long megabytes[] = {16, 24, 40, 60, 78, 100, 150, 200, 250, 300, 310, 320, 340, 400};
#ifdef SANITIZED
    skip(); /* the sanitizers take terabytes of addresses */
#endif
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (size_t j = 0; j < sizeof megabytes / sizeof *megabytes; j++)
            ends(lines[i], megabytes[j]);
}

static void what_is_missing_is_said(void **state) {
    (void)state;
#ifdef SANITIZED
    skip();
#endif
    run_setting setting = {.directory = run_folder, .address_limit = 100 * MEGABYTE};
    CHECK_SAYS(run_with("fit " TEST_DATA "/fixtures/sets.npz --heads 5 --threads 2", &setting), 70,
               "no memory is left for the work space of OpenBLAS, which takes 129 MiB for each of "
               "2 threads");
    CHECK_SAYS(run_with("draw --target mean-power:2 --dim 3 --keys 2 --n 20000 --threads 64 -o "
                        "x.npz",
                        &setting),
               70, "of 64 threads can be started");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_end_under_a_limit),
        cmocka_unit_test(what_is_missing_is_said),
    };
    return cmocka_run_group_tests(tests, run_open_folder, run_close_folder);
}
