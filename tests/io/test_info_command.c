/* `wattle info`, the real command. */
#define _XOPEN_SOURCE 700
#include <jansson.h>
#include <sys/wait.h>

#include "files.h"

/* Runs `wattle info` with the words; stdout and stderr are kept apart. */
static char said[65536], complained[4096];
static int run_info(const char *words) {
    char line[4096];
    const char *errors = file_path("stderr");
    snprintf(line, sizeof line, "'%s' info %s 2>'%s'", WATTLE_COMMAND, words, errors);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    said[fread(said, 1, sizeof said - 1, pipe)] = '\0';
    int result = pclose(pipe);
    FILE *file = fopen(errors, "r");
    complained[fread(complained, 1, sizeof complained - 1, file)] = '\0';
    fclose(file);
    remove(errors);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

static void check_says(const char *text, const char *words) {
    if (strstr(text, words) == NULL)
        fail_msg("no '%s' in:\n%s", words, text);
}

static void a_table_for_people(void **state) {
    (void)state;
    assert_int_equal(run_info(FIXTURE("zip64.npz")), 0);
    check_says(said, "zip64.npz: npz, 2 arrays, 750 B\n"
                     "  name   type  shape   bytes  min    max     mean  nan  inf\n"
                     "  query  F64   (3, 4)     96   -1  0.375  -0.3125    0    0\n"
                     "  y      F64   (4,)       32  0.5  0.875   0.6875    0    0\n");
    assert_string_equal(complained, "");
    assert_int_equal(run_info(FIXTURE("types.safetensors") " " FIXTURE("fortran.npy")), 0);
    check_says(said, "\n  kind: layer\n  gr\u00f6\u00dfe: 7 \u20ac\n");
    check_says(said, "  none    F32   (4, 0)         0             -            -");
    check_says(said, "fortran.npy: npy, 1 array, 224 B\n");
    check_says(said, "(2, 3, 4) F");
}

static void bad_files_do_not_hide_good_ones(void **state) {
    (void)state;
    assert_int_equal(run_info(FIXTURE("object.npy") " " FIXTURE("scalar.npy")), 65);
    check_says(said, "scalar.npy: npy, 1 array");
    check_says(complained, "object.npy: type '|O': an object array");
    assert_int_equal(run_info("/none/at/all " FIXTURE("object.npy") " " FIXTURE("text.npy")), 66);
    check_says(complained, "wattle: /none/at/all: there is no such file\n");
    check_says(complained, "object.npy: ");
    check_says(complained, "text.npy: ");
    check_says(complained, "wattle: 3 of 3 files cannot be shown\n");
    assert_string_equal(said, "");
    assert_int_equal(run_info("."), 65);
    check_says(complained, "wattle: .: is a directory, not a file\n");
    assert_int_equal(run_info(""), 64);
}

/* The whole of stdout must be one JSON value. */
static json_t *parse_said(void) {
    json_error_t error;
    json_t *all = json_loads(said, JSON_REJECT_DUPLICATES, &error);
    if (all == NULL)
        fail_msg("%s in:\n%s", error.text, said);
    return all;
}

static void json_for_programs(void **state) {
    (void)state;
    assert_int_equal(run_info("--json " FIXTURE("types.safetensors")), 0);
    json_t *all = parse_said();
    const char *format, *path, *kind;
    json_t *arrays;
    json_int_t bytes;
    assert_int_equal(json_unpack(all, "{s:[{s:s, s:s, s:I, s:{s:s}, s:o}]}", "files", "path", &path,
                                 "format", &format, "bytes", &bytes, "metadata", "kind", &kind,
                                 "arrays", &arrays),
                     0);
    assert_null(json_object_get(all, "error"));
    assert_string_equal(path, FIXTURE("types.safetensors"));
    assert_string_equal(format, "safetensors");
    assert_string_equal(kind, "layer");
    assert_int_equal(bytes, 1020);
    assert_int_equal(json_array_size(arrays), 10);
    const char *name, *type, *order;
    json_int_t shape[3], count, stored, nan, inf;
    double min, max, mean;
    assert_int_equal(json_unpack(json_array_get(arrays, 1),
                                 "{s:s, s:s, s:s, s:[I,I,I!], s:I, s:I, s:F, s:F, s:F, s:I, s:I!}",
                                 "name", &name, "type", &type, "order", &order, "shape", &shape[0],
                                 &shape[1], &shape[2], "count", &count, "bytes", &stored, "min",
                                 &min, "max", &max, "mean", &mean, "nan", &nan, "inf", &inf),
                     0);
    assert_string_equal(name, "f64");
    assert_string_equal(type, "F64");
    assert_string_equal(order, "C");
    assert_true(shape[0] == 2 && shape[1] == 3 && shape[2] == 4 && count == 24 && stored == 192);
    assert_true(min == -1 && max == 1.875 && mean == 0.4375 && nan == 0 && inf == 0);
    assert_true(json_is_null(json_object_get(json_array_get(arrays, 8), "mean"))); /* no values */
    json_decref(all);
}

static void json_on_errors(void **state) {
    (void)state;
    assert_int_equal(run_info("--json " FIXTURE("scalar.npy") " /none " FIXTURE("object.npy")), 66);
    json_t *all = parse_said();
    const char *error, *status, *second, *whole;
    int code;
    json_t *first;
    assert_int_equal(json_unpack(all, "{s:[o, {s:s, s:s}, {s:s}], s:s, s:i}", "files", &first,
                                 "error", &error, "status", &status, "error", &second, "error",
                                 &whole, "exit", &code),
                     0);
    assert_non_null(json_object_get(first, "arrays"));
    assert_string_equal(error, "/none: there is no such file");
    assert_string_equal(status, "no such input");
    check_says(second, "object array");
    assert_string_equal(whole, "2 of 3 files cannot be shown");
    assert_int_equal(code, 66);
    json_decref(all);
}

static void json_is_valid_for_any_path(void **state) {
    (void)state;
    file_make("\xff\n.npy", "x", 1);
    char words[256];
    snprintf(words, sizeof words, "--json '%s'", file_path("\xff\n.npy"));
    assert_int_equal(run_info(words), 65);
    json_decref(parse_said());
    check_says(said, "\\\\xff\\\\x0a.npy");
}

static void every_allocation_fails_once(void **state) {
    (void)state;
    static const char *const modes[] = {"", "--json "};
    for (int i = 0; i < 2; i++) {
        int code = -1;
        for (int k = 1; code != 0; k++) {
            char words[512], count[16];
            snprintf(words, sizeof words, "%s%s", modes[i], FIXTURE("zip64.npz"));
            snprintf(count, sizeof count, "%d", k);
            setenv("WATTLE_FAULT_ALLOCATION", count, 1);
            code = run_info(words);
            assert_true(code == 0 || code == 70);
            assert_true(k < 200);
            if (i == 1)
                json_decref(parse_said());
        }
    }
    unsetenv("WATTLE_FAULT_ALLOCATION");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_for_people),
        cmocka_unit_test(bad_files_do_not_hide_good_ones),
        cmocka_unit_test(json_for_programs),
        cmocka_unit_test(json_on_errors),
        cmocka_unit_test(json_is_valid_for_any_path),
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, files_open, files_close);
}
