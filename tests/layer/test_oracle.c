/* Both ends of the conversation, from C; tests/cli has programs that misbehave. */
#define _GNU_SOURCE
#include "wattle/oracle.h"

#include <unistd.h>

#include "check.h"

static void a_program_is_asked(void **state) {
    wt_oracle *oracle;
    double y[2], x[] = {1, 0, 0, 1};
    /* the number of the question, and the length of its line */
    CHECK_OK(*state, wt_oracle_open(*state,
                                    "n=0; while read -r line; do n=$((n + 1)); echo "
                                    "\"[$n,${#line}]\"; done",
                                    2, 10, &oracle));
    assert_int_equal(wt_oracle_outputs(oracle), 2);
    CHECK_OK(*state, wt_oracle_ask(oracle, 1, x, y)); /* was asked by opening */
    assert_true(y[0] == 1 && y[1] == (double)strlen("[[1,0]]"));
    CHECK_OK(*state, wt_oracle_ask(oracle, 2, x, y));
    assert_true(y[0] == 2 && y[1] == (double)strlen("[[1,0],[0,1]]"));
    wt_oracle_free(oracle);
    wt_oracle_free(NULL);
}

static void what_cannot_be_asked_is_refused(void **state) {
    wt_oracle *oracle;
    CHECK_FAILS(*state, wt_oracle_open(*state, "exit 3", 2, 10, &oracle), WT_UNAVAILABLE,
                "exit code 3");
    assert_null(oracle);
    assert_int_equal(wt_oracle_open(*state, "cat", 0, 10, &oracle), WT_USAGE);
    assert_int_equal(wt_oracle_open(*state, "cat", 1, 0, &oracle), WT_USAGE);
}

static wt_status keep(void *user, const char *line, size_t count) {
    char *all = user;
    strncat(all, line, count);
    return WT_OK;
}

static void a_layer_answers_lines(void **state) {
    const char questions[] = "[[1]]\n[[1],[3]]\n[[1],[2],[4]]";
    wt_layer *layer;
    char answers[128] = "";
    int ends[2];
    wt_teacher_options one;
    WT_INIT(wt_teacher_options, &one);
    one.heads = one.dim = one.outputs = 1;
    CHECK_OK(*state, wt_layer_teacher(*state, &one, &layer));
    double weight, x = 1;
    CHECK_OK(*state, wt_layer_forward(*state, layer, 1, 1, &x, &weight));
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], questions, sizeof questions - 1), sizeof questions - 1);
    close(ends[1]);
    CHECK_OK(*state, wt_layer_serve(*state, layer, ends[0], keep, answers));
    close(ends[0]);
    double first = 0, second = 0, third = 0;
    assert_int_equal(sscanf(answers, "[%lf]\n[%lf]\n[%lf]\n", &first, &second, &third), 3);
    assert_true(first == weight);
    assert_true(fabs(second) > fabs(first) && fabs(third) > fabs(first)); /* means of 1..3, 1..4 */
    wt_layer_free(layer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_asked),
        cmocka_unit_test(what_cannot_be_asked_is_refused),
        cmocka_unit_test(a_layer_answers_lines),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
