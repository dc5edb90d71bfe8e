/* --time: whoever can go on says so and ends with 75, whoever cannot shows the best so far and ends
 * with 1. The work is endless, so that no machine is too fast. */
#define _GNU_SOURCE
#include "cli/run.h"

#define TRAIN                                                                                      \
    "train --length 8 --samples 20 --dim 8 --heads 2 --steps 1000000000 --success 1 --to-end "
#define THRESHOLD                                                                                  \
    "threshold --task and:2 --model mlp --hidden 12 --length 4 --samples 4:40 --trials 100000 "    \
    "--all-trials --steps 60 "

/* With a time that grows until a machine under load comes so far: exit code, and words on stderr
 * and stdout. */
static void ends_in_time(const char *line, int code, const char *says, const char *shows) {
    const run_result *result = NULL;
    bool fine = false;
    for (double seconds = 0.2; !fine && seconds < 100; seconds *= 2) {
        char timed[1024];
        snprintf(timed, sizeof timed, "%s --time %g", line, seconds);
        result = run_in_folder(timed);
        fine = result->code == code && strstr(result->err, says) != NULL &&
               strstr(result->out, shows) != NULL;
    }
    if (!fine)
        fail_msg("wattle %s: exit %d: %s", line, result->code, result->err);
}

static void bad_times_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"0", "-1", "1x", "m", "10M", "inf", "nan", "1e400"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[128];
        snprintf(line, sizeof line, "train --time %s", bad[i]);
        run_refuses(line, 64, "is not a time above 0");
    }
}

static void what_goes_on_says_so(void **state) {
    (void)state;
    char path[64];
    ends_in_time(TRAIN "--checkpoint c.safetensors", 75, "it can be resumed from", "");
    ends_in_time(TRAIN "--checkpoint c.safetensors --resume", 75, "the time is over at step", "");
    ends_in_time(THRESHOLD "-o t.csv", 75, "the same command goes on from them", "");
    snprintf(path, sizeof path, "%s/s.ini", run_folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("[sweep]\nexperiment = train\nlength = 8\nm = 20\ndim = 8\nheads = 2\nreps = 2000\n",
          file);
    assert_int_equal(fclose(file), 0);
    ends_in_time("sweep run s.ini --store s.db", 75, "running again does the rest", "");
}

static void what_cannot_ends_with_the_best_so_far(void **state) {
    (void)state;
    ends_in_time(TRAIN "-o no.safetensors", 1, "the time is over", "accuracy");
    ends_in_time(THRESHOLD, 1, "the time is over after", "");
    run_must("teacher --heads 4 --dim 6 -o t.safetensors");
    run_must("draw --layer t.safetensors --length 4 -n 100 --noise 0.3 -o e.npz");
    ends_in_time("recover e.npz --heads 3 --method adam --steps 1000000 -o no.safetensors", 1,
                 "the time is over", "held-out error");
    run_must("teacher --heads 3 --dim 6 --residual -o q.safetensors");
    ends_in_time("query --dim 6 --heads 2 --bias --restarts 100000000 -o no.safetensors "
                 "--oracle " WATTLE_COMMAND "${IFS}serve-layer${IFS}q.safetensors",
                 1, "the time is over: 2 heads", "recovered              no");
    run_refuses("fit --target mean-power:2 --time 0.000001 -o no.safetensors", 1,
                "there is no result yet");
    assert_int_equal(run_in_folder("info no.safetensors")->code, 66);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_times_are_refused),
        cmocka_unit_test(what_goes_on_says_so),
        cmocka_unit_test(what_cannot_ends_with_the_best_so_far),
    };
    return cmocka_run_group_tests(tests, run_open_folder, run_close_folder);
}
