/* Fields: reading, printing and checking members of a struct by name. */
#include <math.h>
#include <string.h>

#include "base/field.h"
#include "check.h"

typedef struct {
    const char *word, *text;
    size_t count, natural;
    double real, part;
    wt_value choice;
    bool flag;
} sample;

static const wt_field fields[] = {
    {"word", WT_FIELD_KIND_WORD, "one", "", .offset = offsetof(sample, word), .value = "one|two"},
    {"text", WT_FIELD_KIND_TEXT, "none", "", .offset = offsetof(sample, text), .none = "none"},
    {"m", WT_FIELD_KIND_COUNT, "3", "", .offset = offsetof(sample, count), .option = "samples"},
    {"natural", WT_FIELD_KIND_NATURAL, "0", "", .offset = offsetof(sample, natural)},
    {"real", WT_FIELD_KIND_REAL, "0", "", .offset = offsetof(sample, real), .none = "0",
     .range = "(0,1)"},
    {"part", WT_FIELD_KIND_REAL, "0.1", "", .offset = offsetof(sample, part), .range = "[0,1)"},
    {"choice", WT_FIELD_KIND_CHOICE, "1e-3", "", .offset = offsetof(sample, choice),
     .value = "loo|gcv"},
    {"flag", WT_FIELD_KIND_FLAG, "yes", "", .offset = offsetof(sample, flag)},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static const wt_field *find(const char *name) {
    const wt_field *field = wt_field_find(fields, FIELDS, name);
    assert_non_null(field);
    return field;
}

static void fallbacks_are_set(void **state) {
    sample made = {0};
    wt_fields_init(fields, FIELDS, &made);
    assert_string_equal(made.word, "one");
    assert_null(made.text);
    assert_int_equal(made.count, 3);
    assert_int_equal(made.natural, 0);
    assert_true(isnan(made.real));
    assert_true(wt_field_is_none(find("real"), &made) && wt_field_is_none(find("text"), &made));
    assert_false(wt_field_is_none(find("word"), &made) || wt_field_is_none(find("part"), &made));
    assert_true(made.part == 0.1 && made.choice.number == 1e-3 && made.choice.text == NULL);
    assert_true(made.flag);
    CHECK_OK(*state, wt_fields_check(*state, fields, FIELDS, &made));
}

static void both_spellings_are_found(void **state) {
    (void)state;
    assert_ptr_equal(find("m"), find("samples"));
    assert_string_equal(wt_field_option(find("m")), "samples");
    assert_string_equal(wt_field_option(find("flag")), "flag");
    assert_null(wt_field_find(fields, FIELDS, "sample"));
}

/* Text to value to member, and back. */
static void values_come_back(void **state) {
    static const struct {
        const char *name, *text;
    } cases[] = {{"word", "two"},    {"text", "none"},  {"text", "a,b"},
                 {"m", "12"},        {"natural", "0"},  {"natural", "9007199254740992"},
                 {"real", "0"},      {"real", "0.3"},   {"part", "0.1"},
                 {"part", "1e-300"}, {"choice", "loo"}, {"choice", "0.001"},
                 {"flag", "no"},     {"flag", "yes"},   {"part", "0.30000000000000004"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wt_field *field = find(cases[i].name);
        sample made = {0};
        wt_value value;
        char text[WT_FIELD_TEXT];
        CHECK_OK(*state, wt_field_parse(*state, field, cases[i].text, &value));
        wt_field_set(field, value, &made);
        assert_string_equal(wt_field_print(field, wt_field_get(field, &made), text), cases[i].text);
    }
}

static void wrong_values_are_refused(void **state) {
    static const struct {
        const char *name, *text, *sentence;
    } cases[] = {
        {"word", "three", "'three' is none of one|two"},
        {"word", "one|two", "'one|two' is none of one|two"},
        {"word", "", "the value is empty"},
        {"m", "0", "'0' is not a whole number of 1 or more"},
        {"m", "2.5", "'2.5' is not a whole number of 1 or more"},
        {"natural", "-1", "'-1' is not a whole number of 0 or more"},
        {"natural", "9007199254740993", "'9007199254740993' is not a whole number of 0 or more"},
        {"real", "x", "'x' is not a number that fits a double"},
        {"real", "1", "must be above 0 and below 1, not 1"},
        {"part", "1", "must be from 0 to below 1, not 1"},
        {"choice", "cv", "'cv' is none of loo|gcv"},
        {"flag", "1", "'1' is neither yes nor no"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_value value;
        assert_int_equal(wt_field_parse(*state, find(cases[i].name), cases[i].text, &value),
                         WT_USAGE);
        assert_string_equal(wt_context_message(*state), cases[i].sentence);
    }
}

static void intervals_are_told_in_words(void **state) {
    static const struct {
        const char *range, *sentence;
    } cases[] = {{"(0,inf)", "must be above 0, not -1"},
                 {"[0,inf)", "must be 0 or more, not -1"},
                 {"(0,1]", "must be above 0 and at most 1, not -1"},
                 {"[0,1]", "must be from 0 to 1, not -1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wt_field field = {"x", WT_FIELD_KIND_REAL, "1", "", .range = cases[i].range};
        assert_int_equal(wt_field_check(*state, &field, (wt_value){.number = -1}), WT_USAGE);
        assert_string_equal(wt_context_message(*state), cases[i].sentence);
        CHECK_OK(*state, wt_field_check(*state, &field, (wt_value){.number = 1}));
    }
}

static void members_are_checked_by_name(void **state) {
    sample made = {0};
    wt_fields_init(fields, FIELDS, &made);
    made.count = 0;
    assert_int_equal(wt_fields_check(*state, fields, FIELDS, &made), WT_USAGE);
    assert_string_equal(wt_context_message(*state),
                        "samples must be a whole number of 1 or more, not 0");
    made.count = 1;
    made.word = "three";
    assert_int_equal(wt_fields_check(*state, fields, FIELDS, &made), WT_USAGE);
    assert_string_equal(wt_context_message(*state), "word: 'three' is none of one|two");
    made.word = NULL;
    assert_int_equal(wt_fields_check(*state, fields, FIELDS, &made), WT_USAGE);
    assert_string_equal(wt_context_message(*state), "word must be given");
}

static void tables_of_values_go_both_ways(void **state) {
    sample made = {0}, back = {0};
    wt_value values[FIELDS], again[FIELDS];
    (void)state;
    wt_fields_init(fields, FIELDS, &made);
    wt_fields_get(fields, FIELDS, &made, values);
    wt_fields_set(fields, FIELDS, values, &back);
    wt_fields_get(fields, FIELDS, &back, again);
    for (size_t i = 0; i < FIELDS; i++) {
        assert_ptr_equal(values[i].text, again[i].text);
        assert_true(values[i].number == again[i].number);
    }
}

/* Words and grids, each item in the range of the field. */
static void lists_are_read_and_judged(void **state) {
    static const char *const letters[] = {"one", "two", NULL};
    static const wt_field list[] = {
        {"reals", WT_FIELD_LIST(REAL), .range = "(0,10]", .offset = offsetof(sample, text)},
        {"words", WT_FIELD_LIST(WORD), .words = letters, .value = "one|two",
         .offset = offsetof(sample, word)},
        {"choices", WT_FIELD_LIST(CHOICE), .value = "loo|gcv"}};
    wt_arena arena = wt_arena_start(*state, "a test");
    wt_list out;
    wt_value value;
    sample made = {0};
    CHECK_OK(*state, wt_field_list(&arena, &list[0], "1:8:x2,10", &out));
    assert_true(out.count == 5 && out.values[3].number == 8 && out.values[4].number == 10);
    CHECK_OK(*state, wt_field_list(&arena, &list[1], "two, one", &out));
    assert_int_equal(out.count, 2);
    assert_string_equal(out.values[1].text, "one");
    CHECK_OK(*state, wt_field_list(&arena, &list[2], "gcv,1:2:1", &out));
    assert_true(out.count == 3 && out.values[0].text != NULL && out.values[2].number == 2);
    CHECK_OK(*state, wt_field_parse(*state, &list[1], "one,two", &value));
    wt_field_set(&list[1], value, &made);
    assert_string_equal(made.word, "one,two");
    assert_string_equal(wt_field_get(&list[1], &made).text, "one,two");
    CHECK_FAILS(*state, wt_field_parse(*state, &list[0], "1,11", &value), WT_USAGE, "not 11");
    CHECK_FAILS(*state, wt_field_parse(*state, &list[1], "one,three", &value), WT_USAGE, "three");
    CHECK_FAILS(*state, wt_field_parse(*state, &list[1], "one,,two", &value), WT_USAGE, "empty");
    /* one field's own values are several of its kind */
    CHECK_OK(*state, wt_field_list(&arena, find("part"), "0:0.5:0.25", &out));
    assert_int_equal(out.count, 3);
    wt_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fallbacks_are_set),
        cmocka_unit_test(both_spellings_are_found),
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(intervals_are_told_in_words),
        cmocka_unit_test(members_are_checked_by_name),
        cmocka_unit_test(tables_of_values_go_both_ways),
        cmocka_unit_test(lists_are_read_and_judged),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
