/* JSON as stores hold it: what is of ours, what its members are, and that nothing else passes. */
#include "lab/flat.h"

#include <jansson.h>

#include "check.h"
#include "wattle/random.h"

static void texts_of_ours_pass(void **state) {
    (void)state;
    static const char *const ours[] = {
        "{}",
        "{\"a\":1}",
        "{\"a\":-0.5,\"b\":1e-7,\"c\":null,\"d\":true,\"e\":false,\"f\":\"\"}",
        "{\"a\":\"x\\\"y\\\\z\\u00e9\\ud834\\udd1e\\n\",\"ab\":0}",
    };
    static const char *const others[] = {
        "",
        "{",
        "}",
        "[]",
        "1",
        "{}x",
        "{ }",
        "{\"a\" :1}",
        "{\"a\":1,}",
        "{\"a\":1 }",
        "{,\"a\":1}",
        "{\"a\":1\"b\":2}",
        "{\"b\":1,\"a\":2}",
        "{\"a\":1,\"a\":2}",
        "{\"ab\":1,\"a\":2}",
        "{\"a\":01}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":-}",
        "{\"a\":1e}",
        "{\"a\":+1}",
        "{\"a\":nan}",
        "{\"a\":nul}",
        "{\"a\":truex}",
        "{\"a\":{}}",
        "{\"a\":[1]}",
        "{\"a\":\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"\\u0000\"}",
        "{\"a\":\"\\ud834\"}",
        "{\"a\":\"\\udd1e\"}",
        "{\"a\":\"\n\"}",
        "{\"a:1}",
        "{a:1}",
        "{\"a\":1",
        "{\"a\":\"\\",
        "{\"a\":\"\\u",
    };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (!wt_flat_check(ours[i]))
            fail_msg("%s is none of ours", ours[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (wt_flat_check(others[i]))
            fail_msg("%s is of ours", others[i]);
}

static void members_come_one_by_one(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double number;
        wt_flat_kind kind;
    } wanted[] = {{"a", 3, WT_FLAT_WHOLE},  {"b", -2.5e-7, WT_FLAT_REAL}, {"c", 1, WT_FLAT_TRUE},
                  {"d", 0, WT_FLAT_FALSE},  {"e", NAN, WT_FLAT_NULL},     {"f", 12, WT_FLAT_WORDS},
                  {"g", NAN, WT_FLAT_WORDS}};
    wt_flat walk = {.at = "{\"a\":3,\"b\":-2.5e-7,\"c\":true,\"d\":false,\"e\":null,\"f\":\"12\","
                          "\"g\":\"\\u00e9\\ud834\\udd1e\\t/\"}"};
    wt_flat_member member;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_true(wt_flat_next(&walk, &member));
        assert_int_equal(member.kind, wanted[i].kind);
        assert_memory_equal(member.name, wanted[i].name, 1);
        double number = wt_flat_number(&member);
        assert_true(isnan(wanted[i].number) ? isnan(number) : number == wanted[i].number);
    }
    char words[16], few[4];
    wt_flat_spell(member.value, member.value_length, words, sizeof words);
    assert_string_equal(words, "\xc3\xa9\xf0\x9d\x84\x9e\t/");
    wt_flat_spell(member.value, member.value_length, few, sizeof few);
    assert_string_equal(few, "\xc3\xa9"); /* not in the midst of a character */
    assert_false(wt_flat_next(&walk, &member));
    assert_false(walk.wrong);
}

/* Numbers no 64-bit integer, or no double, holds. */
static void large_numbers_are_not_cast(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool natural;
    } cases[] = {{"{\"a\":0}", true},
                 {"{\"a\":9007199254740992}", true},
                 {"{\"a\":9007199254740994}", false},
                 {"{\"a\":-1}", false},
                 {"{\"a\":1e300}", false},
                 {"{\"a\":1.0}", false},
                 {"{\"a\":99999999999999999999999}", false},
                 {"{\"a\":\"1\"}", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_flat walk = {.at = cases[i].text};
        wt_flat_member member;
        int64_t number;
        assert_true(wt_flat_next(&walk, &member));
        assert_int_equal(wt_flat_natural(&member, &number), cases[i].natural);
    }
    wt_flat walk = {.at = "{\"a\":1e999}"};
    wt_flat_member member;
    assert_true(wt_flat_next(&walk, &member));
    assert_true(isnan(wt_flat_number(&member)));
}

/* Texts with a few letters changed: what passes is JSON to others too. */
static void what_passes_is_json(void **state) {
    (void)state;
    static const char text[] =
        "{\"a\":\"x\\u00e9\\\\\",\"b\":-12.5e-3,\"c\":null,\"d\":true,\"e\":7}";
    static const char letters[] = "{}\":,\\u0123abe.-+ntrfls \n";
    size_t passed = 0;
    for (uint64_t round = 0; round < 20000; round++) {
        char changed[sizeof text];
        double uniform[6];
        memcpy(changed, text, sizeof text);
        wt_random_uniform(wt_stream_for(3, "letters", round), 0, 6, uniform);
        for (size_t i = 0; i < 6; i += 2 + 2 * (round % 2))
            changed[(size_t)(uniform[i] * (sizeof text - 1))] =
                letters[(size_t)(uniform[i + 1] * (sizeof letters - 1))];
        if (!wt_flat_check(changed))
            continue;
        passed++;
        json_t *json = json_loads(changed, JSON_REJECT_DUPLICATES, NULL);
        if (!json_is_object(json))
            fail_msg("%s is no JSON", changed);
        json_decref(json);
    }
    assert_true(passed > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_ours_pass),
        cmocka_unit_test(members_come_one_by_one),
        cmocka_unit_test(large_numbers_are_not_cast),
        cmocka_unit_test(what_passes_is_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
