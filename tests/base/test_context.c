#include "base/text.h"
#include "check.h"

static void statuses_have_names_and_codes(void **state) {
    (void)state;
    static const int codes[] = {0, 1, 64, 65, 66, 69, 70, 70, 73, 74, 75, 78};
    for (int status = WT_OK; status <= (int)WT_CONFIG; status++) {
        assert_int_equal(wt_status_exit_code((wt_status)status), codes[status]);
        assert_true(strlen(wt_status_name((wt_status)status)) > 3);
    }
    assert_string_equal(wt_status_name((wt_status)99), "unknown status");
    assert_int_equal(wt_status_exit_code((wt_status)99), 70);
}

static void threads_have_limits(void **state) {
    assert_true(wt_context_threads(*state) >= 1);
    CHECK_OK(*state, wt_context_set_threads(*state, WT_MAX_THREADS));
    CHECK_FAILS(*state, wt_context_set_threads(*state, 0), WT_USAGE, "1 to 1024, not 0");
    CHECK_FAILS(*state, wt_context_set_threads(*state, WT_MAX_THREADS + 1), WT_USAGE, "not 1025");
    assert_int_equal(wt_context_threads(*state), WT_MAX_THREADS);
}

static void messages_are_kept_cut_and_quoted(void **state) {
    wt_context *fresh;
    assert_int_equal(wt_context_new(&fresh), WT_OK);
    assert_string_equal(wt_context_message(fresh), "");
    wt_context_free(fresh);
    wt_context_free(NULL);
    /* a message may quote the one it replaces */
    wt_fail(*state, WT_DATA, "bad row %d", 7);
    wt_fail(*state, WT_DATA, "x.npy: %s", wt_context_message(*state));
    assert_string_equal(wt_context_message(*state), "x.npy: bad row 7");
    char longer[3 * WT_MESSAGE_BYTES];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    wt_fail(*state, WT_DATA, "%s", longer);
    assert_int_equal(strlen(wt_context_message(*state)), WT_MESSAGE_BYTES - 1);
    /* a cut goes between characters */
    for (size_t i = 0; i + 3 < sizeof longer; i += 3)
        memcpy(longer + i, "\u20ac", 3);
    for (int lead = 0; lead < 3; lead++) {
        wt_fail(*state, WT_DATA, "%.*s%s", lead, "aa", longer);
        assert_true(wt_utf8_valid(wt_context_message(*state)));
        assert_true(strlen(wt_context_message(*state)) > WT_MESSAGE_BYTES - 4);
        assert_null(strstr(wt_context_message(*state), "\\x"));
    }
}

/* Values of others reach no terminal as they are, whoever passes them on. */
static void sentences_hold_no_control_characters(void **state) {
    wt_fail(*state, WT_DATA, "key '%s' is unknown", "\x1b]0;x\a\n\u202e\xff");
    assert_string_equal(wt_context_message(*state),
                        "key '\\x1b]0;x\\x07\\x0a\\xe2\\x80\\xae\\xff' is unknown");
}

static void keep_sentence(void *user, const char *sentence) {
    snprintf(user, 64, "%s", sentence);
}
static void remarks_go_to_the_log(void **state) {
    char kept[64] = "";
    wt_remark(*state, "nobody hears %d", 1);
    wt_context_set_log(*state, keep_sentence, kept);
    wt_remark(*state, "%d of %s", 3, "4");
    assert_string_equal(kept, "3 of 4");
    wt_remark(*state, "%s", "\x1b[2J");
    assert_string_equal(kept, "\\x1b[2J");
    wt_context_set_log(*state, NULL, NULL);
}

static void a_cancelled_context_says_so(void **state) {
    (void)state;
    wt_context *context;
    assert_int_equal(wt_context_new(&context), WT_OK);
    CHECK_OK(context, wt_context_check_cancelled(context));
    wt_context_cancel(context);
    assert_true(wt_context_cancelled(context));
    CHECK_FAILS(context, wt_context_check_cancelled(context), WT_INTERRUPTED, "interrupted");
    wt_context_free(context);
}

static void time_that_is_over_says_so(void **state) {
    wt_context *context = *state;
    CHECK_FAILS(context, wt_context_set_time_limit(context, -1), WT_USAGE, "-1 seconds");
    CHECK_FAILS(context, wt_context_set_time_limit(context, NAN), WT_USAGE, "nan seconds");
    CHECK_OK(context, wt_context_set_time_limit(context, 1e9));
    CHECK_OK(context, wt_context_check_cancelled(context));
    assert_false(wt_context_end_of_time(context, WT_INTERRUPTED));
    CHECK_OK(context, wt_context_set_time_limit(context, 1e-9));
    assert_true(wt_context_stopping(context) && wt_context_out_of_time(context));
    CHECK_FAILS(context, wt_context_check_cancelled(context), WT_INTERRUPTED, "the time is over");
    CHECK_FAILS(context, wt_context_lost(context, 3, "cells"), WT_MISSED,
                "the time is over after 3 cells");
    /* it counts as one cancel, and what is in hand is finished */
    atomic_store(&context->patience, 1);
    CHECK_OK(context, wt_context_check_cancelled(context));
    wt_context_cancel(context);
    CHECK_FAILS(context, wt_context_check_cancelled(context), WT_INTERRUPTED, "interrupted");
    atomic_store(&context->patience, 0);
    /* who was cancelled does not end with the best so far */
    assert_false(wt_context_end_of_time(context, WT_INTERRUPTED));
    CHECK_FAILS(context, wt_context_lost(context, 3, "cells"), WT_INTERRUPTED,
                "interrupted after 3 cells");
    wt_context_resume(context);
    CHECK_OK(context, wt_context_check_cancelled(context));
    /* nor is it heeded by what brings the work to its end */
    CHECK_OK(context, wt_context_set_time_limit(context, 1e-9));
    wt_context_grant_time(context);
    CHECK_OK(context, wt_context_check_cancelled(context));
    wt_context_revoke_time(context);
    CHECK_FAILS(context, wt_context_check_cancelled(context), WT_INTERRUPTED, "the time is over");
    /* a learner takes notice once, and can go on to its end */
    CHECK_OK(context, wt_context_set_time_limit(context, 1e-9));
    assert_false(wt_context_end_of_time(context, WT_DATA));
    assert_true(wt_context_end_of_time(context, WT_INTERRUPTED));
    CHECK_OK(context, wt_context_check_cancelled(context));
    assert_true(wt_context_out_of_time(context));
    CHECK_OK(context, wt_context_set_time_limit(context, 0));
    assert_false(wt_context_out_of_time(context));
}

static void faults_come_once(void **state) {
    (void)state;
    atomic_long counter;
    atomic_init(&counter, 3);
    bool due[6];
    for (int i = 0; i < 6; i++)
        due[i] = wt_fault_due(&counter);
    assert_true(!due[0] && !due[1] && due[2] && !due[3] && !due[4] && !due[5]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_have_names_and_codes),
        cmocka_unit_test(threads_have_limits),
        cmocka_unit_test(messages_are_kept_cut_and_quoted),
        cmocka_unit_test(remarks_go_to_the_log),
        cmocka_unit_test(a_cancelled_context_says_so),
        cmocka_unit_test(time_that_is_over_says_so),
        cmocka_unit_test(faults_come_once),
        cmocka_unit_test(sentences_hold_no_control_characters),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
