/* Ctrl-C while cells are computed: the first lets those in hand come to their end, the second
 * leaves them, and what was finished is kept: exit code 75 where the same command goes on from it,
 * 130 where there is nothing to go on from. (The third ends the program: test_terminal.c.) */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "cli/run.h"

/* Work whose first cell takes minutes. */
static const struct {
    int code;
    const char *line;
} endless[] = {
    {75, "sweep run {tmp}/long.ini --store {tmp}/long.db --workers 1 -q"},
    {130, "curve --model rfa-inf --target mean-power:2 --dim 64 --keys 64 --n 3000 --reps 2 "
          "--test-n 9 -q"},
    {75, "search --task parity:7 --length 70 --samples 300 --noise 0.3 --trials 2 --threads 2 -q "
         "-o {tmp}/search.csv"},
    {130, "threshold --task and:2 --model mlp --hidden 40 --length 20 --samples 50:60 --trials 4 "
          "--steps 100000000 --success 1 --noise 0.4 --keep-ambiguous --restarts 1 --threads 2 -q"},
};

/* A first signal that comes before the cell ends the program: it is then given more time, as much
 * as the machine needs. */
static void a_second_one_leaves_the_cells_in_hand(void **state) {
    (void)state;
    FILE *file = fopen(run_line("{tmp}/long.ini"), "w");
    assert_non_null(file);
    fputs("[sweep]\nexperiment = train\nlength = 20\nonline = 64\nsteps = 100000000\n"
          "to-end = yes\nvalidation-samples = 10\ntest-samples = 10\nreps = 1\n",
          file);
    assert_int_equal(fclose(file), 0);
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        bool goes_on = false;
        int status = 0;
        for (double pause = 0.3; !goes_on; pause *= 2) {
            pid_t child = run_start(run_line(endless[i].line), -1);
            run_pause(pause);
            run_signal(child, SIGINT);
            run_pause(pause);
            goes_on = !run_has_ended(child);
            status = run_end(child, SIGINT);
        }
        if (!WIFEXITED(status) || WEXITSTATUS(status) != endless[i].code)
            fail_msg("'%s' ended with %d", endless[i].line, status);
    }
}

/* Short trials by the thousand: the file has whole ones. */
static void searches_keep_their_trials(void **state) {
    (void)state;
    const char *path = run_line("{tmp}/trials.csv");
    struct stat about;
    for (double pause = 0.2; stat(path, &about) != 0; pause *= 2) {
        pid_t child = run_start(run_line("search --task and:3 --length 40 --samples 10:40:10 "
                                         "--trials 1000000 -q -o {tmp}/trials.csv"),
                                -1);
        run_pause(pause);
        int status = run_end(child, SIGINT);
        if (WIFEXITED(status)) /* else it was not yet listening */
            assert_int_equal(WEXITSTATUS(status), 75);
        path = run_line("{tmp}/trials.csv");
    }
    size_t lines = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int c; (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    assert_true(lines > 1 && (lines - 1) % 4 == 0);
}

/* Stopped again and again, and gone on with: the table is that of a run in one go. */
static void tables_go_on(void **state) {
    static const char *const lines[] = {
        "search --task and:3 --length 40 --samples 10:40:10 --trials 2000 --threads 1 -q -o "
        "{tmp}/%s.csv",
        "curve --model rfa,rfa-inf --heads 30 --target mean-power:2,corr-power:3 --n 16,250 --reps "
        "12 --dim 8 --keys 8 --lambda loo --threads 1 -q -o {tmp}/%s.csv",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char stopped[512], whole[512], part[1024];
        struct stat about;
        size_t stops = 0;
        int code = 75;
        snprintf(stopped, sizeof stopped, lines[i], "stopped");
        snprintf(whole, sizeof whole, lines[i], "whole");
        snprintf(part, sizeof part, "%s", run_line("{tmp}/stopped.csv.part"));
        for (double pause = 0.02; code == 75; pause *= 1.3) {
            pid_t child = run_start(run_line(stopped), -1);
            run_pause(pause);
            int status = run_end(child, SIGINT);
            code = WIFEXITED(status) ? WEXITSTATUS(status) : 75; /* else not yet listening */
            stops += code == 75 && stat(part, &about) == 0;
        }
        assert_int_equal(code, 0);
        assert_true(stops > 0);
        assert_int_not_equal(stat(part, &about), 0);
        const run_result *result = run(run_line(whole));
        if (result->code != 0)
            fail_msg("'%s' ended with %d: %s", whole, result->code, result->err);
        assert_int_equal(system(run_line("cmp {tmp}/whole.csv {tmp}/stopped.csv")), 0);
    }
}

/* What is kept for another setting, or is no file of ours, does not spoil a run. */
static void other_parts_are_told(void **state) {
    static const char line[] = "curve --model rfa --heads 4 --target mean-power:2 --n 8 --reps 2 "
                               "--dim 2 --keys 2 -o {tmp}/other.csv";
    (void)state;
    FILE *file = fopen(run_line("{tmp}/other.csv.part"), "w");
    assert_non_null(file);
    fputs("no tensors", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(run(run_line(line))->code, 65);
    assert_int_equal(unlink(run_line("{tmp}/other.csv.part")), 0);
    assert_int_equal(run(run_line(line))->code, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_one_leaves_the_cells_in_hand),
        cmocka_unit_test(searches_keep_their_trials),
        cmocka_unit_test(tables_go_on),
        cmocka_unit_test(other_parts_are_told),
    };
    return cmocka_run_group_tests(tests, run_open_folder, run_close_folder);
}
