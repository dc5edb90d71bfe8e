/* The one table of a recovery, and the methods it names. */
#define _DEFAULT_SOURCE /* strsep */
#include "check_fields.h"
#include "layers.h"
#include "wattle/sculpt.h"

static void every_field_comes_back(void **state) {
    wt_recover_options options;
    size_t count;
    const wt_field *fields = wt_recover_fields(&count);
    WT_INIT(wt_recover_options, &options);
    assert_int_equal(options.restarts, 20);
    assert_true(options.holdout == 0.2 && options.goal == 1e-9);
    assert_string_equal(options.method, "auto");
    check_fields(*state, fields, count, &options);
}

/* The words of the field are the names of the table. */
static void every_method_is_known(void **state) {
    size_t count;
    const wt_field *fields = wt_recover_fields(&count);
    const wt_field *method = wt_field_find(fields, count, "method");
    char words[128], *rest = words, *word;
    (void)state;
    snprintf(words, sizeof words, "%s", method->value);
    while ((word = strsep(&rest, "|")) != NULL) {
        const wt_recover_method *found = wt_recover_method_find(word);
        assert_non_null(found);
        assert_string_equal(found->name, word);
        assert_int_equal(found->asks, strcmp(word, "query") == 0);
    }
    assert_null(wt_recover_method_find("magic"));
}

static void methods_are_dispatched(void **state) {
    static const char *const names[] = {"auto", "refine", "adam"};
    wt_context *context = *state;
    wt_layer *teacher = NULL, *layer = NULL;
    wt_sequences *data = NULL;
    wt_recover_options options;
    CHECK_OK(context, make_teacher(context, 1, 3, 3, 2, 0, 1, &teacher));
    CHECK_OK(context, wt_sequences_new(context, 60, 4, 3, 3, &data));
    CHECK_OK(context, wt_layer_draw(context, teacher, WT_LAW_BOOLEAN, 1, 0, 1, 0, data));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        wt_recover_report report = WT_SIZED(wt_recover_report);
        wt_sculpt_report stages = WT_SIZED(wt_sculpt_report);
        WT_INIT(wt_recover_options, &options);
        options.heads = 1;
        options.restarts = 2;
        options.max_steps = 30;
        options.method = names[i];
        CHECK_OK(context, wt_layer_recover(context, data, &options, &layer, &report, &stages));
        assert_string_equal(report.method, i == 2 ? "adam" : "refine");
        assert_int_equal(stages.stage, WT_SCULPT_STAGE_NONE);
        wt_layer_free(layer);
    }
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_sculpt_report stages = WT_SIZED(wt_sculpt_report);
    options.method = "query";
    CHECK_FAILS(context, wt_layer_recover(context, data, &options, &layer, &report, &stages),
                WT_USAGE, "query chooses its inputs");
    options.method = "magic";
    CHECK_FAILS(context, wt_layer_recover(context, data, &options, &layer, &report, &stages),
                WT_USAGE, "method: 'magic' is none of auto|refine|sculpt|adam|query");
    assert_null(layer);
    wt_layer_free(teacher);
    wt_sequences_free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_comes_back),
        cmocka_unit_test(every_method_is_known),
        cmocka_unit_test(methods_are_dispatched),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
