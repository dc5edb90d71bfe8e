/* teacher, draw --layer, recover and compare, as a user runs them. */
#define _GNU_SOURCE
#include <jansson.h>
#include <sys/stat.h>

#include "cli/run.h"

static char folder[] = "/tmp/wattle-recover-XXXXXX";
static const run_setting in_folder = {.directory = folder};

static int open_folder(void **state) {
    return mkdtemp(folder) == NULL ? -1 : check_open(state);
}

static int close_folder(void **state) {
    char line[64];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line) == 0 ? check_close(state) : -1;
}

static const run_result *here(const char *line) {
    return run_with(line, &in_folder);
}

static void must(const char *line) {
    const run_result *result = here(line);
    if (result->code != 0)
        fail_msg("wattle %s: exit %d: %s", line, result->code, result->err);
}

/* The command must fail with the code and a sentence that holds the words, and leave no file. */
static void refuses(const char *line, int code, const char *words) {
    const run_result *result = here(line);
    if (result->code != code || strstr(result->err, words) == NULL)
        fail_msg("wattle %s: exit %d, not %d with '%s': %s", line, result->code, code, words,
                 result->err);
    char path[96];
    snprintf(path, sizeof path, "%s/no", folder);
    assert_int_equal(access(path, F_OK), -1);
}

static double number(const char *line, const char *key) {
    const run_result *result = here(line);
    json_t *all = json_loads(result->out, JSON_REJECT_DUPLICATES, NULL);
    if (all == NULL || !json_is_number(json_object_get(all, key)))
        fail_msg("wattle %s has no number '%s': %s%s", line, key, result->out, result->err);
    double value = json_number_value(json_object_get(all, key));
    json_decref(all);
    return value;
}

static void a_layer_is_made_drawn_and_recovered(void **state) {
    (void)state;
    must("teacher --heads 2 --dim 6 --out-dim 5 --seed 1 -o teacher.safetensors");
    must("draw --layer teacher.safetensors --tokens boolean --length 4 --n 60 --seed 2 -o d.npz");
    must("recover d.npz --heads 2 -o layer.safetensors");
    /* noise-free: rounding times a condition number of some tens */
    assert_true(number("compare teacher.safetensors layer.safetensors --json", "theta_error") <
                1e-9);
    must("recover d.npz -o found.safetensors --json");
    assert_int_equal((int)number("recover d.npz --heads auto --json", "heads"), 2);
    assert_true(number("recover d.npz --heads 2 --json", "holdout_error") < 1e-9);
    assert_non_null(
        strstr(here("compare teacher.safetensors found.safetensors")->out, "theta error"));
    must("teacher --parity 3 --dim 5 -o parity.safetensors");
    must("draw --layer parity.safetensors --tokens boolean --length 2 --n 9 -o p.npz --json");
}

static void failure_is_exit_1_and_no_file(void **state) {
    (void)state;
    must("teacher --heads 3 --dim 6 --seed 1 -o teacher.safetensors");
    must("draw --layer teacher.safetensors --tokens boolean --length 4 --n 60 --seed 2 -o d.npz");
    refuses("recover d.npz --heads 1 --restarts 2 -o no", 1, "not recovered");
    assert_non_null(strstr(here("recover d.npz --heads 1 --restarts 2")->out, "NO"));
    refuses("recover d.npz --heads 3 --method adam --steps 20 --restarts 1 -o no", 1,
            "not recovered");
}

static void bad_input_is_refused(void **state) {
    (void)state;
    must("teacher --heads 2 --dim 4 --seed 1 -o teacher.safetensors");
    must("draw --layer teacher.safetensors --tokens boolean --length 1 --n 60 -o one.npz");
    must("draw --layer teacher.safetensors --tokens boolean --length 3 --n 2 -o few.npz");
    must("draw --layer teacher.safetensors --tokens boolean --length 3 --n 60 -o d.npz");
    must("teacher --heads 2 --dim 5 --seed 1 -o other.safetensors");
    refuses("teacher --heads 0 -o no", 64, "--heads");
    refuses("teacher --rank 9 --dim 8 -o no", 64, "rank");
    refuses("teacher --parity 8 --dim 8 -o no", 64, "parity");
    refuses("teacher --parity 3 --heads 2 -o no", 64, "exclude");
    refuses("teacher --scale -1 -o no", 64, "scale");
    refuses("teacher", 64, "--output");
    refuses("draw --layer teacher.safetensors --target corr:1 -o no", 64, "exclude");
    refuses("draw --target corr:1 --length 3 -o no", 64, "--layer");
    refuses("draw --layer missing.safetensors -o no", 66, "missing.safetensors");
    refuses("draw --layer d.npz -o no", 65, "theta");
    refuses("draw --layer teacher.safetensors --noise -1 -o no", 64, "noise");
    refuses("recover one.npz --heads 2 -o no", 65, "only the sum of all W");
    refuses("recover few.npz --heads 2 -o no", 65, "hopeless");
    refuses("recover d.npz --heads 0 -o no", 64, "--heads");
    refuses("recover d.npz --heads -2 -o no", 64, "--heads");
    refuses("recover d.npz --heads two -o no", 64, "two");
    refuses("recover d.npz --heads 2 --method magic -o no", 64, "magic");
    refuses("recover d.npz --heads 2 --holdout 1 -o no", 64, "held-out");
    refuses("recover d.npz --method adam -o no", 64, "heads");
    refuses("recover missing.npz --heads 2 -o no", 66, "missing.npz");
    refuses("recover " TEST_DATA "/fixtures/sets.npz --heads 2 -o no", 65, "'x'");
    refuses("recover d.npz --heads 2 --mem 1K -o no", 70, "memory budget");
    refuses("compare teacher.safetensors other.safetensors", 65, "compared");
    refuses("compare teacher.safetensors d.npz", 65, "theta");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layer_is_made_drawn_and_recovered),
        cmocka_unit_test(failure_is_exit_1_and_no_file),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
