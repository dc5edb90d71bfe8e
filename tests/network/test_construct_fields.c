/* The one table of a construction: what it says is what the specification is. */
#include "check_fields.h"
#include "wattle/construct.h"

static void every_field_comes_back(void **state) {
    wt_construction_spec spec;
    size_t count;
    const wt_field *fields = wt_construction_fields(&count);
    WT_INIT(wt_construction_spec, &spec);
    assert_string_equal(spec.function, "and:3");
    assert_int_equal(spec.length, 1024);
    assert_int_equal(spec.heads, WT_CONSTRUCTION_HEADS_AUTO);
    check_fields(*state, fields, count, &spec);
}

static void no_enumerators_are_refused(void **state) {
    wt_construction_spec spec;
    WT_INIT(wt_construction_spec, &spec);
    spec.heads = (wt_construction_heads)3;
    CHECK_FAILS(*state, wt_construction_spec_check(*state, &spec), WT_USAGE, "heads");
    WT_INIT(wt_construction_spec, &spec);
    spec.tokens = (wt_construction_tokens)2;
    CHECK_FAILS(*state, wt_construction_spec_check(*state, &spec), WT_USAGE, "tokens");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_comes_back),
        cmocka_unit_test(no_enumerators_are_refused),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
