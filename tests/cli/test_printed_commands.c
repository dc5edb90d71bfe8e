/* Commands that a page, a store or a sentence prints run as they stand, where the first one ran. */
#define _GNU_SOURCE
#include "cli/sweep_cases.h"

/* A script of sh in the folder, with `wattle` in it; its exit code. */
static int shell(const char *script) {
    static char line[8192];
    int length =
        snprintf(line, sizeof line, "cd %s && set -e && wattle() { %s \"$@\"; } && { %s\n}",
                 run_folder, WATTLE_COMMAND, script);
    assert_true(length < (int)sizeof line);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int open_spec(void **state) {
    int code = run_open_folder(state);
    return code == 0 && shell("cp " TEST_DATA "/fixtures/sweep.ini spec.ini") == 0 ? 0 : -1;
}

/* The commands of page.txt, a line each, into commands.sh. */
#define COMMANDS                                                                                   \
    "sed -n -e 's/<[^>]*>//g' -e \"s/&#39;/'/g\" -e '/^wattle /p' page.txt | sort -u "             \
    ">commands.sh\n"

static void names_with_blanks_run(void **state) {
    (void)state;
    assert_int_equal(
        shell("mkdir -p 'my runs' \"it's\"\n"
              "wattle sweep run spec.ini --set 'model=rfa, rfa-inf' --store 'my runs/a.db' -q\n"
              "wattle report 'my runs/a.db' -o \"it's/page one.html\" -q\n"
              "cp \"it's/page one.html\" page.txt\n" COMMANDS "test $(wc -l <commands.sh) = 3\n"
              "grep -q 'page one-figures.*/sweep-1.ini' commands.sh\n"
              ". ./commands.sh\n"
              "cmp \"it's/page one.html\" page.txt"),
        0);
    assert_int_equal(shell("wattle sweep status 'my runs/a.db' >status.txt\n"
                           "sed -n 's/^commands *//p' status.txt >commands.sh\n"
                           "test -s commands.sh\n"
                           ". ./commands.sh | grep 'done now  *0$'"),
                     0);
    assert_int_equal(
        shell("wattle reproduce --scale tiny --only rfa -o 'my runs/tiny' -q\n"
              "wattle sweep status 'my runs/tiny/results.db' | grep \" -o 'my runs/tiny'$\""),
        0);
}

/* The page lies elsewhere than the store. */
static void paths_are_those_that_were_given(void **state) {
    (void)state;
    assert_int_equal(shell("mkdir -p tiny other\n"
                           "wattle sweep run spec.ini --store tiny/results.db -q\n"
                           "wattle report tiny/results.db -o other/report.html -q\n"
                           "cp other/report.html page.txt\n" COMMANDS
                           "grep -qx 'wattle report tiny/results.db -o other/report.html' "
                           "commands.sh\n"
                           "grep -qx 'wattle sweep run other/report-figures/sweep-1.ini --store "
                           "tiny/results.db' commands.sh\n"
                           ". ./commands.sh\n"
                           "cmp other/report.html page.txt"),
                     0);
}

/* A list too long for a line of the file that the page writes stands in the command. */
static void long_lists_are_read_back(void **state) {
    (void)state;
    assert_int_equal(shell("list=$(seq -s, 1000001 1000060)\n"
                           "wattle sweep run spec.ini --set seed=$list --set model=rfa --set n=4,8 "
                           "--store seeds.db -q\n"
                           "wattle report seeds.db -o seeds.html -q\n"
                           "cp seeds.html page.txt\n" COMMANDS
                           "grep -q ' --set seed=1000001,' commands.sh\n"
                           ". ./commands.sh | grep 'done before  *120$'"),
                     0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_with_blanks_run),
        cmocka_unit_test(paths_are_those_that_were_given),
        cmocka_unit_test(long_lists_are_read_back),
    };
    return cmocka_run_group_tests(tests, open_spec, run_close_folder);
}
