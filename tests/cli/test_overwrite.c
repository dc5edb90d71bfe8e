/* No output takes the place of an input, nor of a store of results. */
#define _GNU_SOURCE
#include "cli/sweep_cases.h"

/* Copies of fixtures, and a link to the store. */
static int open_files(void **state) {
    char line[512];
    int code = open_sweep(state);
    snprintf(
        line, sizeof line,
        "cp %s/fixtures/sweep.db %s/r.db && cp %s/r.db %s/other.csv && cp %s/fixtures/sets.npz "
        "%s/fixtures/rfa.safetensors %s && ln -s r.db %s/link.db && ln %s/sets.npz "
        "%s/hard.npz && cp %s/r.db %s/export",
        TEST_DATA, run_folder, run_folder, run_folder, TEST_DATA, TEST_DATA, run_folder, run_folder,
        run_folder, run_folder, run_folder, run_folder);
    return code == 0 && system(line) == 0 ? 0 : -1;
}

static size_t read_bytes(const char *name, char out[TABLE_BYTES]) {
    FILE *file = fopen(path_of(name), "rb");
    assert_non_null(file);
    size_t bytes = fread(out, 1, TABLE_BYTES, file);
    fclose(file);
    assert_true(bytes > 0 && bytes < TABLE_BYTES);
    return bytes;
}

/* The line is refused with the code and words, and the file stays as it was. */
static void check_kept(const char *line, const char *name, int code, const char *words) {
    static char before[TABLE_BYTES], after[TABLE_BYTES];
    size_t bytes = read_bytes(name, before);
    CHECK_SAYS(run_in_folder(line), code, words);
    assert_int_equal(read_bytes(name, after), bytes);
    assert_memory_equal(before, after, bytes);
}

static void inputs_are_kept(void **state) {
    (void)state;
    check_kept("report r.db -o r.db", "r.db", 64, "r.db is read, and --output would");
    check_kept("report r.db -o link.db", "r.db", 64, "r.db is read");
    check_kept("report link.db -o ./r.db", "r.db", 64, "link.db is read");
    check_kept("sweep export r.db -o r.db", "r.db", 64, "r.db is read");
    check_kept("sweep export r.db -o link.db", "r.db", 64, "r.db is read");
    check_kept("predict rfa.safetensors sets.npz -o sets.npz", "sets.npz", 64, "sets.npz is read");
    check_kept("predict rfa.safetensors sets.npz -o rfa.safetensors", "rfa.safetensors", 64,
               "rfa.safetensors is read");
    check_kept("curve hard.npz --plot sets.npz", "sets.npz", 64,
               "hard.npz is read, and --plot would");
    /* inputs that are options */
    check_kept("fit --test sets.npz -o sets.npz", "sets.npz", 64, "sets.npz is read");
}

static void stores_are_kept(void **state) {
    (void)state;
    check_kept("report r.db -o export", "export", 73,
               "export: cannot be created: it is an SQLite database");
    assert_int_equal(access(path_of("export-figures"), F_OK), -1);
    check_kept("sweep export r.db -o other.csv", "other.csv", 73, "SQLite database");
}

/* An action is no file: a store may be called like it. */
static void words_are_no_inputs(void **state) {
    (void)state;
    run_must("sweep run spec.ini --store run --set n=32 --set reps=1 --quiet");
    run_must("sweep run spec.ini --store run --set n=32 --set reps=1 --quiet");
    run_must("sweep export export -o table.csv");
    run_must("sweep export export -o table.csv"); /* what is no input is replaced as ever */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_kept),
        cmocka_unit_test(stores_are_kept),
        cmocka_unit_test(words_are_no_inputs),
    };
    return cmocka_run_group_tests(tests, open_files, run_close_folder);
}
