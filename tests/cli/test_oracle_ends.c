/* Oracles that neither end nor leave: no wait for one is without end, and none outlives us, however
 * we end. An oracle holds the writing end of a FIFO, so that reading it ends when the last of what
 * it started is gone; nothing here waits for a time. */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "cli/sweep_cases.h"

#define QUERY "query --dim 2 --oracle exec${IFS}sh${IFS}oracle.sh "

/* Where the words depend on what the oracle does in time, it gets as much as the machine needs. */
static void check_says_in_time(const char *words) {
    for (int timeout = 1; timeout < 1000; timeout *= 2) {
        char line[128];
        snprintf(line, sizeof line, QUERY "--timeout %d", timeout);
        const run_result *result = run_in_folder(line);
        CHECK_SAYS(result, 69, "the oracle ");
        if (strstr(result->err, words) != NULL)
            return;
    }
    fail_msg("the oracle never did what makes for '%s'", words);
}

static void an_oracle_that_complains_for_ever(void **state) {
    static const char *const scripts[] = {
        "exec 1>&-; exec yes >&2",
        "exec 1>&-; while :; do printf x >&2; done",
        "read a; echo '[1,2]'; exec 1>&-; yes >&2 & yes >&2",
        "exec 1>&-; trap '' TERM HUP INT; while :; do sleep 600; done",
    };
    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        write_file("oracle.sh", scripts[i]);
        check_says_in_time("the oracle closed its output after");
    }
    write_file("oracle.sh", "while :; do echo words >&2; done");
    CHECK_SAYS(run_in_folder(QUERY "--timeout 1"), 69, "the oracle hangs");
    write_file("oracle.sh", "exec yes '['"); /* answers faster than it is asked */
    CHECK_SAYS(run_in_folder(QUERY "--timeout 100000"), 69, "answer 1 is no list");
    write_file("oracle.sh", "exec tr '\\0' x </dev/zero");
    CHECK_SAYS(run_in_folder(QUERY "--timeout 100000"), 69, "the oracle writes without end");
}

/* What has left the group is killed all the same, if it is what was started. */
static void an_oracle_in_a_session_of_its_own(void **state) {
    (void)state;
    write_file("oracle.sh", "exec setsid sleep 600");
    CHECK_SAYS(run_in_folder(QUERY "--timeout 1"), 69, "the oracle hangs");
}

/* Waits for the oracle to open the FIFO, ends the command, and waits for the end of all that holds
 * it. Returns how the command ended. */
static int end_by(int signal) {
    char text[64];
    assert_int_equal(mkfifo(path_of("alive"), 0600), 0);
    pid_t child = run_start(QUERY "--timeout 100000", -1);
    int alive = open(path_of("alive"), O_RDONLY);
    assert_true(alive >= 0);
    assert_int_equal(read(alive, text, 1), 1);
    int status = run_end(child, signal);
    while (read(alive, text, sizeof text) > 0)
        continue;
    close(alive);
    assert_int_equal(unlink(path_of("alive")), 0);
    return status;
}

static void no_oracle_outlives_us(void **state) {
    static const char *const scripts[] = {
        "exec 9>alive; echo >&9; exec sleep 600",
        /* it and what it has started hear no signal that can be ignored */
        "trap '' HUP INT QUIT TERM; exec 9>alive; sleep 600 & sleep 600 | cat & echo >&9; sleep "
        "600",
    };
    static const int signals[] = {SIGKILL, SIGHUP, SIGQUIT, SIGTERM, SIGINT, SIGABRT};
    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) {
            write_file("oracle.sh", scripts[i]);
            int status = end_by(signals[k]);
            if (signals[k] == SIGTERM || signals[k] == SIGINT)
                assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 130);
            else
                assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signals[k]);
        }
}

int main(void) {
    const struct rlimit none = {0, 0};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_oracle_that_complains_for_ever),
        cmocka_unit_test(an_oracle_in_a_session_of_its_own),
        cmocka_unit_test(no_oracle_outlives_us),
    };
    setrlimit(RLIMIT_CORE, &none);
    return cmocka_run_group_tests(tests, run_open_folder, run_close_folder);
}
