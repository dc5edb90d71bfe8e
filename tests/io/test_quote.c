#include "base/text.h"

#include "check.h"
#include "io/script.h"

static void check_quoted(const char *text, size_t size, const char *wanted) {
    char out[64];
    assert_string_equal(wt_quote(text, out, size), wanted);
    assert_true(strlen(out) < size);
    assert_true(wt_utf8_valid(out));
}

static void plain_text_stays(void **state) {
    (void)state;
    check_quoted("", 16, "");
    check_quoted("a b/c.npy", 16, "a b/c.npy");
    check_quoted("\u00e9\u20ac\U0001F600", 16, "\u00e9\u20ac\U0001F600");
    check_quoted("123456789012345", 16, "123456789012345");
}

static void controls_and_stray_bytes_are_spelled(void **state) {
    (void)state;
    check_quoted("a\nb\x1b[2J\x7f", 32, "a\\x0ab\\x1b[2J\\x7f");
    check_quoted("\xc2\x9b", 32, "\\xc2\\x9b"); /* C1: a terminal may obey it */
    check_quoted("\xff\xc3", 32, "\\xff\\xc3");
}

static void long_text_loses_its_middle(void **state) {
    (void)state;
    check_quoted("1234567890123456", 16, "12345...0123456");
    /* A character is shown whole or not at all. */
    check_quoted("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", 16,
                 "\u00e9\u00e9...\u00e9\u00e9\u00e9");
    check_quoted("\n\n\n\n\n\n", 16, "\\x0a...\\x0a");
}

static void what_utf8_is(void **state) {
    (void)state;
    static const char *const bad[] = {"\x80",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xe2\x82",
                                      "\xe2(\xa1",
                                      "a\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(wt_utf8_valid(bad[i]));
    static const char *const good[] = {"",
                                       "a",
                                       "\xc2\x80",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(wt_utf8_valid(good[i]));
}

/* A spreadsheet computes nothing, numbers stay numbers, and one quote less is the text again. */
static void cells_are_safe_in_spreadsheets(void **state) {
    (void)state;
    static const char *const led[] = {"=1+1", "+a", "-a",  "@SUM(A1)", "\t=1", "\r=1",
                                      "-1+1", "'",  "'=1", "=",        "-inf", "+1e999"};
    static const char *const bare[] = {"", "a", "1=1", "-1.5e-3", "+7", " =1", "rfa"};
    for (size_t i = 0; i < sizeof led / sizeof *led; i++)
        assert_string_equal(wt_csv_lead(led[i]), "'");
    for (size_t i = 0; i < sizeof bare / sizeof *bare; i++)
        assert_string_equal(wt_csv_lead(bare[i]), "");
}

static void words_are_quoted_for_a_shell(void **state) {
    (void)state;
    static const struct {
        const char *word, *shell;
    } cases[] = {{"runs/a-1.db", "runs/a-1.db"},
                 {"n=16:512:x2,1e+3", "n=16:512:x2,1e+3"},
                 {"\u00e9t\u00e9", "\u00e9t\u00e9"},
                 {"", "''"},
                 {"my runs", "'my runs'"},
                 {"$HOME/*", "'$HOME/*'"},
                 {"~", "'~'"},
                 {"it's", "'it'\\''s'"}};
    char out[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = strlen(cases[i].shell);
        assert_int_equal(wt_shell_word(cases[i].word, out, sizeof out), length);
        assert_string_equal(out, cases[i].shell);
        assert_int_equal(wt_shell_word(cases[i].word, NULL, 0), length);
        /* what does not fit is cut off */
        memset(out, '#', sizeof out);
        assert_int_equal(wt_shell_word(cases[i].word, out, length), length);
        assert_int_equal(strlen(out), length - 1);
        assert_memory_equal(out, cases[i].shell, length - 1);
        assert_int_equal(out[length], '#');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_stays),
        cmocka_unit_test(controls_and_stray_bytes_are_spelled),
        cmocka_unit_test(long_text_loses_its_middle),
        cmocka_unit_test(what_utf8_is),
        cmocka_unit_test(cells_are_safe_in_spreadsheets),
        cmocka_unit_test(words_are_quoted_for_a_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
