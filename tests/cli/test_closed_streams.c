/* Commands whose standard streams are closed, all eight ways: files are what they are with open
 * ones, and a result that nobody can read is exit code 74. */
#define _GNU_SOURCE
#include <ftw.h>
#include <sys/stat.h>

#include "cli/sweep_cases.h"

/* The files must be the same whatever is closed. Tables of stores hold times: there the command
 * must end as it should, and a store be one. */
static const struct {
    const char *line;
    bool silent; /* nothing on standard output */
    bool slow;   /* not for every way */
    const char *files[4];
} cases[] = {
    {"draw --target mean-power:2 --dim 3 --keys 2 --n 40 -o data.npz", false, false, {"data.npz"}},
    {"fit data.npz --heads 5 -o fit.safetensors --verbose", false, false, {"fit.safetensors"}},
    {"curve --dim 2 --keys 2 --heads 3 --n 4,8 --reps 2 --test-n 9 -o c.csv --plot c.svg",
     false,
     false,
     {"c.csv", "c.svg"}},
    {"train --task and:2 --length 8 --samples 60 --dim 8 --heads 2 --steps 5 --to-end "
     "--validation-samples 50 --test-samples 50 --checkpoint k.safetensors -o m.safetensors",
     false,
     false,
     {"k.safetensors", "m.safetensors"}},
    {"query --dim 4 --heads 1 --check 0 --oracle " WATTLE_COMMAND
     "${IFS}serve-layer${IFS}" TEST_DATA "/fixtures/layer.safetensors -o layer.safetensors",
     false,
     false,
     {"layer.safetensors"}},
    {"sweep run spec.ini --store r.db --set n=32,64 --set reps=2 --verbose", false, false, {NULL}},
    {"sweep status r.db", false, false, {NULL}},
    {"sweep export r.db -o table.csv", true, false, {NULL}},
    {"reproduce --scale tiny -o d", false, true, {NULL}},
    {"sweep status d/results.db", false, true, {NULL}},
    {"report r.db -o page.html",
     false,
     false,
     {"page-figures/curve-samples.csv", "page-figures/curve-samples.svg"}},
};
enum { CASES = sizeof cases / sizeof *cases };

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *walk) {
    (void)about;
    (void)kind;
    return walk->level == 0 || strcmp(path + walk->base, "spec.ini") == 0 ? 0 : remove(path);
}

/* All of a file, after what is in `out` already. */
static size_t add_file(const char *name, char *out, size_t used) {
    FILE *file = fopen(path_of(name), "rb");
    if (file == NULL)
        fail_msg("there is no %s", name);
    used += fread(out + used, 1, TABLE_BYTES / 8, file);
    fclose(file);
    return used;
}

/* Runs all cases in their order, and keeps the bytes of their files. */
static size_t run_cases(unsigned closed, char *out) {
    size_t used = 0;
    nftw(run_folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    for (size_t i = 0; i < CASES; i++) {
        if (cases[i].slow && closed != 0 && closed != 4 && closed != 7)
            continue;
        const run_setting setting = {.directory = run_folder, .closed = closed};
        const run_result *result = run_with(cases[i].line, &setting);
        int wanted = (closed & 2) == 0 || cases[i].silent ? 0 : 74;
        if (result->code != wanted)
            fail_msg("closed %u: wattle %s: exit %d (signal %d), not %d: %s", closed, cases[i].line,
                     result->code, result->signal, wanted, result->err);
        for (size_t f = 0; f < 4 && cases[i].files[f] != NULL; f++)
            used = add_file(cases[i].files[f], out, used);
        assert_true(used < TABLE_BYTES / 2);
    }
    return used;
}

static void files_are_those_of_open_streams(void **state) {
    static char whole[TABLE_BYTES], got[TABLE_BYTES];
    (void)state;
    size_t bytes = run_cases(0, whole);
    for (unsigned closed = 1; closed < 8; closed++) {
        assert_int_equal(run_cases(closed, got), bytes);
        assert_memory_equal(got, whole, bytes);
        run_must("sweep status r.db");
        if (closed == 4 || closed == 7)
            run_must("sweep status d/results.db");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_those_of_open_streams)};
    return cmocka_run_group_tests(tests, open_sweep, run_close_folder);
}
