/* `wattle bench linalg` and `wattle selfcheck` as the shell sees them. No rate is judged here. */
#define _POSIX_C_SOURCE 200809L /* popen */
#include <jansson.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "check.h"

/* Runs the command with the words; stdout as JSON (NULL if it is none) and the exit code. */
static json_t *run(const char *before, const char *words, int *code) {
    char line[1000];
    snprintf(line, sizeof line, "%s %s %s 2>/dev/null", before, WATTLE_COMMAND, words);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    json_t *json = json_loadf(pipe, 0, NULL);
    while (fgetc(pipe) != EOF)
        continue;
    *code = WEXITSTATUS(pclose(pipe));
    return json;
}

static void bench_reports_every_operation(void **state) {
    (void)state;
    int code;
    json_t *json = run("", "bench linalg --n 300 --repeats 2 --json", &code), *row;
    assert_int_equal(code, 0);
    assert_int_equal(json_integer_value(json_object_get(json, "n")), 300);
    json_t *rows = json_object_get(json, "operations");
    assert_true(json_array_size(rows) >= 8);
    size_t i;
    json_array_foreach(rows, i, row) {
        assert_true(json_number_value(json_object_get(row, "gflops")) > 0);
        assert_true(json_number_value(json_object_get(row, "flops")) > 0);
        assert_true(json_number_value(json_object_get(row, "bytes")) > 0);
        const char *limit = json_string_value(json_object_get(row, "limit"));
        assert_true(strcmp(limit, "flops") == 0 || strcmp(limit, "bytes") == 0);
    }
    /* n^3 flops for the Gram matrix of n rows of n */
    json_t *gram = json_array_get(rows, 2);
    assert_string_equal(json_string_value(json_object_get(gram, "operation")), "gram");
    CHECK_NEAR(json_number_value(json_object_get(gram, "flops")), 2.7e7, 1e-12);
    json_decref(json);
    json = run("", "bench linalg --n 64 --repeats 1", &code); /* a table, no JSON */
    assert_int_equal(code, 0);
    assert_null(json);
}

static void bench_refuses_nonsense(void **state) {
    (void)state;
    static const char *const words[] = {"bench --json", "bench lineal --json",
                                        "bench zzzzzzzzz --json", "bench linalg --n 3 --json",
                                        "bench linalg --n 99999 --json"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        int code;
        json_t *json = run("", words[i], &code);
        assert_int_equal(code, 64);
        assert_non_null(json_object_get(json, "error"));
        json_decref(json);
    }
}

static void selfcheck_passes_here(void **state) {
    (void)state;
    int code;
    json_t *json = run("", "selfcheck --json", &code), *row;
    assert_int_equal(code, 0);
    assert_int_equal(json_integer_value(json_object_get(json, "failed")), 0);
    json_t *rows = json_object_get(json, "checks");
    assert_true(json_array_size(rows) >= 10);
    size_t i;
    json_array_foreach(rows, i, row) {
        if (!json_is_true(json_object_get(row, "passed")))
            fail_msg("%s: %s", json_string_value(json_object_get(row, "check")),
                     json_string_value(json_object_get(row, "found")));
    }
    json_decref(json);
}

/* The k-th allocation fails, for k from the options of the command line into the work. */
static void failing_memory_is_reported(void **state) {
    (void)state;
    for (int k = 1; k <= 40; k += 3) {
        char before[80];
        snprintf(before, sizeof before, "WATTLE_FAULT_ALLOCATION=%d", k);
        int code;
        json_t *json = run(before, "bench linalg --n 16 --repeats 1 --json", &code);
        if (code != 0) {
            assert_int_equal(code, 70);
            assert_string_equal(json_string_value(json_object_get(json, "status")),
                                "out of memory");
        }
        assert_true(k > 10 || code == 70);
        json_decref(json);
    }
    int code;
    json_t *json = run("", "selfcheck --mem 1M --json", &code);
    assert_int_equal(code, 70);
    assert_non_null(strstr(json_string_value(json_object_get(json, "error")), "memory budget"));
    json_decref(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bench_reports_every_operation),
        cmocka_unit_test(bench_refuses_nonsense),
        cmocka_unit_test(selfcheck_passes_here),
        cmocka_unit_test(failing_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
