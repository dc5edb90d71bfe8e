/* Outside programs that answer, die, hang and do not read. */
#define _GNU_SOURCE
#include "io/program.h"

#include "base/memory.h"
#include "check.h"

/* Seconds that no machine takes. */
#define LONG 1e6

static wt_status run_words(wt_context *context, const char *const *words, const char *input,
                           size_t bytes, double seconds, char **out, size_t *count) {
    wt_program program = {.words = words,
                          .install = "apt-get install it",
                          .input = input,
                          .input_bytes = bytes,
                          .seconds = seconds};
    return wt_program_run(context, &program, out, count);
}

static wt_status run_shell(wt_context *context, const char *script, double seconds) {
    const char *words[] = {"sh", "-c", script, NULL};
    char *out;
    size_t count;
    wt_status status = run_words(context, words, "", 0, seconds, &out, &count);
    wt_release(out);
    return status;
}

/* More than any pipe holds goes in and comes out at the same time. */
static void what_goes_in_comes_out(void **state) {
    enum { BYTES = 3 << 20 };
    char *input, *out;
    CHECK_OK(*state, WT_NEW(*state, &input, BYTES, "input"));
    for (size_t i = 0; i < BYTES; i++)
        input[i] = (char)(i * 7 + i / 251);
    const char *words[] = {"cat", NULL};
    size_t count;
    CHECK_OK(*state, run_words(*state, words, input, BYTES, LONG, &out, &count));
    assert_int_equal(count, BYTES);
    assert_memory_equal(input, out, BYTES);
    wt_release(input);
    wt_release(out);
}

static void a_missing_program_is_named(void **state) {
    const char *words[] = {"no-such-program-at-all", NULL};
    char *out;
    size_t count;
    CHECK_FAILS(*state, run_words(*state, words, "", 0, LONG, &out, &count), WT_UNAVAILABLE,
                "no-such-program-at-all is not installed: apt-get install it");
    assert_null(out);
}

static void a_program_that_fails_is_quoted(void **state) {
    CHECK_FAILS(*state, run_shell(*state, "echo; echo '  broken tooth' >&2; exit 3", LONG),
                WT_UNAVAILABLE, "sh failed: broken tooth");
    CHECK_FAILS(*state, run_shell(*state, "exit 3", LONG), WT_UNAVAILABLE,
                "sh failed: it says nothing");
    CHECK_FAILS(*state, run_shell(*state, "kill -9 $$", LONG), WT_UNAVAILABLE, "died of signal 9");
}

/* The second closes its streams and goes on, with nothing left to wait for but its end. */
static void a_program_that_hangs_is_ended(void **state) {
    CHECK_FAILS(*state, run_shell(*state, "sleep 1000", 0.2), WT_UNAVAILABLE, "sh hangs");
    CHECK_FAILS(*state, run_shell(*state, "exec >&- 2>&-; sleep 1000", 0.2), WT_UNAVAILABLE,
                "sh hangs");
}

/* Writing to it must not raise SIGPIPE, which would end this test. */
static void a_program_that_does_not_read_is_told(void **state) {
    enum { BYTES = 1 << 20 };
    char *input, *out;
    CHECK_OK(*state, WT_NEW_ZERO(*state, &input, BYTES, "input"));
    const char *words[] = {"true", NULL};
    size_t count;
    CHECK_FAILS(*state, run_words(*state, words, input, BYTES, LONG, &out, &count), WT_UNAVAILABLE,
                "true stopped reading");
    wt_release(input);
}

static void cancelling_ends_it(void **state) {
    wt_context *context = *state;
    wt_context_cancel(context);
    assert_int_equal(run_shell(context, "sleep 1000", LONG), WT_INTERRUPTED);
    atomic_store(&context->cancels, 0);
}

static void memory_may_run_out(void **state) {
    wt_context *context = *state;
    atomic_store(&context->allocation_to_fail, 1);
    assert_int_equal(run_shell(context, "echo fine", LONG), WT_MEMORY);
    CHECK_OK(context, run_shell(context, "echo fine", LONG));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(a_missing_program_is_named),
        cmocka_unit_test(a_program_that_fails_is_quoted),
        cmocka_unit_test(a_program_that_hangs_is_ended),
        cmocka_unit_test(a_program_that_does_not_read_is_told),
        cmocka_unit_test(cancelling_ends_it),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
