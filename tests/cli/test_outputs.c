/* Outputs that cannot be: said before the work, not after it; and a file that fails in the end
 * loses no result. */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "cli/run.h"

/* Each would fail on its way for another reason, with another code: the output is looked at before.
 */
static void said_before_the_work(void **state) {
    static const char *const lines[] = {
        "train --length 100 --samples 2 -o none/file.safetensors",
        "train --length 100 --samples 2 --checkpoint none/file.safetensors",
        "train --length 100 --samples 2 --plot none/file.svg",
        "train --length 100 --samples 2 -o folder",
        "fit missing.npz -o none/file.safetensors",
        "fit missing.npz --ball 1,2 -o folder",
        "predict missing.safetensors missing.npz -o none/file.npy",
        "draw --layer missing.safetensors -o none/file.npz",
        "recover missing.npz -o none/file.safetensors",
        "curve missing.npz -o none/file.csv",
        "curve missing.npz --plot none/file.svg",
        "inspect missing.safetensors --plot none/file.svg",
        "search --task and:1 --trials 1000000000 --mem 1M -o none/file.csv",
        "construct --function and:2 --length 1000000000 --mem 1M -o none/file.safetensors",
        "query --oracle false --dim 2 -o none/file.safetensors",
        "bench curve --n 1000000 --mem 1M --export none/file.npz",
    };
    char folder[64];
    (void)state;
    snprintf(folder, sizeof folder, "%s/folder", run_folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK_SAYS(run_in_folder(lines[i]), 73, "cannot be created");
    assert_int_equal(rmdir(folder), 0); /* nothing was left in it */
}

/* Of two names for one file, neither of which is there yet, the later would take the place of the
 * earlier. */
static void two_names_of_one_file(void **state) {
    static const char *const pairs[][2] = {
        {"y.svg", "./y.svg"},      {"y.svg", "x/../y.svg"},   {"x/y.svg", "x/../x/y.svg"},
        {"x/y.svg", "x//./y.svg"}, {"x/y.svg", "link/y.svg"}, {"x/y.svg", "{tmp}/x/y.svg"}};
    char path[64], line[512];
    (void)state;
    snprintf(path, sizeof path, "%s/x", run_folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/link", run_folder);
    assert_int_equal(symlink("x", path), 0);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        snprintf(line, sizeof line, "curve --n 4 --heads 2 -o %s --plot %s", pairs[i][0],
                 pairs[i][1]);
        CHECK_SAYS(run_in_folder(run_line(line)), 64, "--output and --plot are both to be written");
    }
    /* one name in two folders is two files */
    CHECK_SAYS(run_in_folder("train --task none -o y.safetensors --checkpoint x/y.safetensors"), 64,
               "'none'");
}

/* The suffix decides the format where there is a choice, and is refused where it names another. */
static void suffixes_say_the_format(void **state) {
    static const struct {
        const char *line, *words;
    } bad[] = {
        {"fit s.npz -o m.npz", "--output: 'm.npz' does not end in what is written, .safetensors"},
        {"draw --target corr:1 -o d.safetensors", "written, .npz"},
        {"teacher -o t.npy", "written, .safetensors"},
        {"curve --plot c.csv", "--plot: 'c.csv' does not end in what is written, .svg|.pdf|.png"},
        {"curve --plot c", "does not end in"},
        {"curve -o c.svg", "written, .csv"},
        {"predict m s -o y", "written, .csv|.npy"},
        {"predict m s -o y.npz", "written, .csv|.npy"},
        {"report r.db -o r.pdf", "written, .html"},
        {"teacher -o -", "--output: this goes to a file, not to standard output"},
        {"draw --target corr:1 -o -", "give a name, FILE.npz"},
        {"predict m s -o - --json", "--json and --output - both want standard output"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_SAYS(run_in_folder(bad[i].line), 64, bad[i].words);
}

static size_t written(const char *line) {
    const run_result *result = run_in_folder(line);
    if (result->code != 0)
        fail_msg("%s: %s", line, result->err);
    return result->wrote;
}

static void what_is_written_is_said(void **state) {
    char printed[RUN_BYTES], path[64];
    (void)state;
    assert_int_equal(written("draw --target corr:1 -n 8 -d 2 -N 2 -o s.npz"), 1);
    assert_int_equal(written("draw --target corr:1 -n 8 -d 2 -N 2 -o plain --quiet"), 0);
    assert_int_equal(written("fit s.npz --heads 2 -o m.safetensors --json"), 1);
    assert_int_equal(written("fit s.npz --heads 2"), 0);
    assert_int_equal(written("predict m.safetensors s.npz -o y.npy"), 1);
    assert_int_equal(written("predict m.safetensors s.npz -o y.csv"), 1);
    assert_int_equal(written("predict m.safetensors s.npz -o -"), 0);
    snprintf(printed, sizeof printed, "%s", run_in_folder("predict m.safetensors s.npz")->out);
    assert_string_equal(run_in_folder("predict m.safetensors s.npz -o -")->out, printed);
    snprintf(path, sizeof path, "%s/y.csv", run_folder);
    FILE *file = fopen(path, "r");
    char text[RUN_BYTES];
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, printed);
    CHECK_PRINTS(run_in_folder("info y.npy"), "npy, 1 array");
}

#define SMALL                                                                                      \
    "train --task and:2 --length 8 --samples 60 --dim 32 --heads 2 --steps 5 --to-end "            \
    "--validation-samples 50 --test-samples 50 "

static void the_table_outlives_the_files(void **state) {
    const run_setting no_gnuplot = {.directory = run_folder, .variable = "PATH=/nowhere"};
    const run_setting full = {.directory = run_folder, .file_limit = 16384};
    (void)state;
    const run_result *result = run_with(SMALL "--plot run.svg", &no_gnuplot);
    CHECK_SAYS(result, 69, "gnuplot");
    assert_non_null(strstr(result->out, "test accuracy"));
    result = run_with(SMALL "-o model.safetensors", &full);
    CHECK_SAYS(result, 74, "model.safetensors");
    assert_non_null(strstr(result->out, "test accuracy"));
    assert_null(strstr(result->out, "model.safetensors"));
    result =
        run_with("curve --dim 2 --keys 2 --heads 3 --n 4,8 --reps 2 --plot run.svg", &no_gnuplot);
    CHECK_SAYS(result, 69, "gnuplot");
    assert_non_null(strstr(result->out, "rfmlp"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(said_before_the_work),         cmocka_unit_test(two_names_of_one_file),
        cmocka_unit_test(suffixes_say_the_format),      cmocka_unit_test(what_is_written_is_said),
        cmocka_unit_test(the_table_outlives_the_files),
    };
    return cmocka_run_group_tests(tests, run_open_folder, run_close_folder);
}
