#include "base/text.h"

#include "check.h"

static void integers_are_whole_texts(void **state) {
    (void)state;
    int64_t value;
    assert_true(wt_integer_parse("-9223372036854775808", &value) && value == INT64_MIN);
    assert_true(wt_integer_parse("+7", &value) && value == 7);
    static const char *const bad[] = {"",  " 1", "1 ", "1.0", "0x10", "9223372036854775808",
                                      "-", "--1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(wt_integer_parse(bad[i], &value));
    uint64_t natural;
    assert_true(wt_unsigned_parse("18446744073709551615", &natural) && natural == UINT64_MAX);
    static const char *const worse[] = {"", "-1", "+1", " 1", "1e3", "18446744073709551616"};
    for (size_t i = 0; i < sizeof worse / sizeof *worse; i++)
        assert_false(wt_unsigned_parse(worse[i], &natural));
}

static void reals_are_finite(void **state) {
    (void)state;
    double value;
    assert_true(wt_real_parse("-1.5e-3", &value) && value == -1.5e-3);
    assert_true(wt_real_parse(".5", &value) && value == 0.5);
    assert_true(wt_real_parse("-0e-400", &value) && value == 0);
    assert_true(wt_real_parse("5e-324", &value) && value > 0); /* rounded, but not to 0 */
    static const char *const bad[] = {"",       " 1",      "1 ",          "1,5", "inf",
                                      "-inf",   "nan",     "1e400",       ".",   "1e",
                                      "1e-400", "-1e-400", "0.00001e-320"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(wt_real_parse(bad[i], &value));
}

static void bytes_take_a_unit(void **state) {
    (void)state;
    size_t bytes;
    assert_true(wt_bytes_parse("0", &bytes) && bytes == 0);
    assert_true(wt_bytes_parse("4096", &bytes) && bytes == 4096);
    assert_true(wt_bytes_parse("64k", &bytes) && bytes == 65536);
    assert_true(wt_bytes_parse("1.5G", &bytes) && bytes == (size_t)3 << 29);
    assert_true(wt_bytes_parse("2T", &bytes) && bytes == (size_t)1 << 41);
    static const char *const bad[] = {"",         "-1",    "G",   "1GB", "1 G",   "1X",
                                      "9000000T", "1e999", "0.5", "inf", "1e-400"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(wt_bytes_parse(bad[i], &bytes));
}

static void times_take_a_unit(void **state) {
    (void)state;
    double seconds;
    assert_true(wt_seconds_parse("90", &seconds) && seconds == 90);
    assert_true(wt_seconds_parse("0.5", &seconds) && seconds == 0.5);
    assert_true(wt_seconds_parse("1.5m", &seconds) && seconds == 90);
    assert_true(wt_seconds_parse("20s", &seconds) && seconds == 20);
    assert_true(wt_seconds_parse("2h", &seconds) && seconds == 7200);
    assert_true(wt_seconds_parse("1d", &seconds) && seconds == 86400);
    assert_true(wt_seconds_parse("30:00", &seconds) && seconds == 1800);
    assert_true(wt_seconds_parse("2:00:05", &seconds) && seconds == 7205);
    assert_true(wt_seconds_parse("1-12:00:00", &seconds) && seconds == 129600);
    static const char *const bad[] = {
        "",   "0",   "0s",     "-1",      "m",        "1M",         "1 m",
        "1x", "1ms", "1hs",    "inf",     "1e999",    "1e308d",     "0:00",
        "1:", ":30", "1-2:00", "1:2:3:4", "1:2-3:00", "1-1-1:00:00"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(wt_seconds_parse(bad[i], &seconds));
}

static void bytes_are_written_short(void **state) {
    (void)state;
    char text[WT_BYTES_TEXT];
    assert_string_equal(wt_bytes_format(0, text), "0 B");
    assert_string_equal(wt_bytes_format(1023, text), "1023 B");
    assert_string_equal(wt_bytes_format(1536, text), "1.5 KiB");
    assert_string_equal(wt_bytes_format((size_t)200 << 20, text), "200 MiB");
    assert_string_equal(wt_bytes_format(SIZE_MAX, text), "16.0 EiB");
}

static void seconds_are_written_short(void **state) {
    (void)state;
    char text[WT_SECONDS_TEXT];
    assert_string_equal(wt_seconds_format(0.654, text), "0.65 s");
    assert_string_equal(wt_seconds_format(119, text), "119 s");
    assert_string_equal(wt_seconds_format(150, text), "2.5 min");
    assert_string_equal(wt_seconds_format(1800, text), "30 min");
    assert_string_equal(wt_seconds_format(1.2e5, text), "33 h");
    assert_string_equal(wt_seconds_format(1.2e6, text), "14 days");
    assert_string_equal(wt_seconds_format(NAN, text), "not known");
    assert_string_equal(wt_seconds_format(INFINITY, text), "not known");
    assert_string_equal(wt_seconds_format(-1, text), "not known");
}

static void distances_count_slips(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        size_t distance;
    } cases[] = {{"", "", 0},
                 {"abc", "abc", 0},
                 {"", "abc", 3},
                 {"abc", "", 3},
                 {"kitten", "sitting", 3},
                 {"hlep", "help", 2},
                 {"threads", "thread", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(wt_edit_distance(cases[i].a, cases[i].b), cases[i].distance);
    /* beyond the longest name that is looked at: no overrun, and far */
    char longer[200];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_true(wt_edit_distance("help", longer) >= 60);
    assert_true(wt_edit_distance(longer, "help") >= 195);
}

/* What a terminal obeys or nobody sees is spelled; text that was shown once stays as it is. */
static void shown_text_is_harmless(void **state) {
    (void)state;
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"", ""},
        {"a'b\"\\x", "a'b\"\\x"},
        {"\u00e9\u20ac\u4e2d\U0001F600 ~", "\u00e9\u20ac\u4e2d\U0001F600 ~"},
        {"\t\n\r\x1b[2J\x7f", "\\x09\\x0a\\x0d\\x1b[2J\\x7f"},
        {"\xc2\x9b|\xc2\xa0|\xc2\xad", "\\xc2\\x9b|\xc2\xa0|\\xc2\\xad"},
        {"\u200b\u202e\u2066\ufeff",
         "\\xe2\\x80\\x8b\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xef\\xbb\\xbf"},
        {"\U000E0041", "\\xf3\\xa0\\x81\\x81"},
        {"\xff\xe2\x82", "\\xff\\xe2\\x82"},
    };
    char once[128], twice[128];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(wt_show(cases[i].text, once, sizeof once), strlen(cases[i].shown));
        assert_string_equal(once, cases[i].shown);
        wt_show(once, twice, sizeof twice);
        assert_string_equal(twice, once);
    }
}

static void cuts_keep_characters_whole(void **state) {
    (void)state;
    static const char text[] =
        "a\u00e9\u20ac\U0001F600\n"; /* 1, 2, 3, 4 bytes and an escape of 4 */
    static const size_t kept[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10, 10, 10, 14};
    char out[16];
    for (size_t room = 0; room < sizeof kept / sizeof *kept; room++) {
        assert_int_equal(wt_show(text, out, room + 1), kept[room]);
        assert_true(wt_utf8_valid(out));
        /* the same by a cut and a trim */
        size_t cut = room < 10 ? room : 10;
        memcpy(out, text, cut);
        out[cut] = '\0';
        wt_utf8_trim(out);
        assert_int_equal(strlen(out), kept[cut]);
    }
    char stray[] = "\x82\x82\x82\x82", whole[] = "\u20ac";
    wt_utf8_trim(stray);
    wt_utf8_trim(whole);
    assert_int_equal(strlen(stray), 4);
    assert_string_equal(whole, "\u20ac");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_whole_texts),   cmocka_unit_test(reals_are_finite),
        cmocka_unit_test(bytes_take_a_unit),          cmocka_unit_test(times_take_a_unit),
        cmocka_unit_test(bytes_are_written_short),    cmocka_unit_test(seconds_are_written_short),
        cmocka_unit_test(distances_count_slips),      cmocka_unit_test(shown_text_is_harmless),
        cmocka_unit_test(cuts_keep_characters_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
