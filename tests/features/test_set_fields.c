/* The tables of problems and models: what they say is what the structs are. */
#include "check_fields.h"
#include "wattle/fit.h"

static void problems_come_back(void **state) {
    wt_problem_spec spec;
    size_t count;
    const wt_field *fields = wt_problem_fields(&count);
    WT_INIT(wt_problem_spec, &spec);
    assert_null(spec.target);
    assert_int_equal(spec.law, WT_LAW_SPHERE);
    assert_int_equal(spec.dim, 16);
    assert_int_equal(spec.keys, 16);
    check_fields(*state, fields, count, &spec);
}

static void models_come_back(void **state) {
    wt_model_spec spec;
    size_t count;
    const wt_field *fields = wt_model_fields(&count);
    WT_INIT(wt_model_spec, &spec);
    assert_int_equal(spec.kind, WT_MODEL_KIND_RFA);
    assert_int_equal(spec.heads, 1000);
    assert_true(spec.bias == 4);
    check_fields(*state, fields, count, &spec);
}

/* Every word of an enum is the enumerator that its own function names. */
static void words_are_names(void **state) {
    size_t count;
    const wt_field *field = wt_field_find(wt_model_fields(&count), 1, "model");
    for (size_t i = 0; field->words[i] != NULL; i++) {
        wt_model_spec spec = {0};
        wt_model_kind kind;
        wt_field_set(field, (wt_value){.text = field->words[i]}, &spec);
        CHECK_OK(*state, wt_model_kind_parse(*state, field->words[i], &kind));
        assert_int_equal(spec.kind, kind);
        assert_string_equal(wt_field_get(field, &spec).text, wt_model_kind_name(kind));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problems_come_back),
        cmocka_unit_test(models_come_back),
        cmocka_unit_test(words_are_names),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
