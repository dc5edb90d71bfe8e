/* The one table of a training run: what it says is what the setting is. */
#include "check_fields.h"
#include "train_cases.h"

static const wt_field *field_named(const char *name) {
    size_t count;
    const wt_field *fields = wt_train_fields(&count), *found = wt_field_find(fields, count, name);
    assert_non_null(found);
    return found;
}

static void every_field_comes_back(void **state) {
    wt_train_spec setting;
    size_t count;
    const wt_field *fields = wt_train_fields(&count);
    WT_INIT(wt_train_spec, &setting);
    check_fields(*state, fields, count, &setting);
}

static void the_recipe_is_the_published_one(void **state) {
    wt_train_spec setting;
    (void)state;
    WT_INIT(wt_train_spec, &setting);
    assert_int_equal(setting.size, sizeof setting);
    assert_string_equal(setting.task, "and:3");
    assert_string_equal(setting.model, "transformer");
    assert_int_equal(setting.length, 300);
    assert_int_equal(setting.samples, 100);
    assert_int_equal(setting.dim, 64);
    assert_int_equal(setting.heads, 16);
    assert_int_equal(setting.steps, 1000);
    assert_int_equal(setting.restarts, 1);
    assert_true(isnan(setting.probability) && isnan(setting.dropout));
    assert_true(isnan(setting.embedding_dropout) && isnan(setting.attention_dropout));
    assert_true(setting.rate == 1e-3 && setting.weight_decay == 1e-4 && setting.clip == 1);
    assert_true(setting.success == 0.99 && setting.loss_mark == 0.35 && setting.settle == 0);
    assert_null(setting.activation);
    assert_null(setting.balls);
    assert_false(setting.to_end || setting.hasty || setting.decoupled || setting.keep_ambiguous);
}

static void out_of_range_is_refused(void **state) {
    static const struct {
        const char *name, *text, *sentence;
    } cases[] = {{"samples", "0", "'0' is not a whole number of 1 or more"},
                 {"lr", "0", "must be above 0, not 0"},
                 {"success", "1.5", "must be above 0 and at most 1, not 1.5"},
                 {"noise", "0.5", "must be from 0 to below 0.5, not 0.5"},
                 {"dropout", "1", "must be from 0 to below 1, not 1"},
                 {"probability", "1.5", "must be from 0 to 1, not 1.5"},
                 {"model", "tree", "'tree' is none of transformer|head|mlp"},
                 {"settle", "-1", "must be 0 or more, not -1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_value value;
        CHECK_FAILS(*state,
                    wt_field_parse(*state, field_named(cases[i].name), cases[i].text, &value),
                    WT_USAGE, cases[i].sentence);
    }
}

/* A setting from a library that knew less, and one from a library that knows more. */
static void settings_are_sized(void **state) {
    wt_train_spec setting = small_setting("mlp");
    wt_trainer *trainer;
    setting.size = offsetof(wt_train_spec, settle);
    setting.settle = -1; /* not read */
    CHECK_OK(*state, wt_trainer_new(*state, &setting, &trainer));
    wt_trainer_free(trainer);
    setting.size = 0;
    CHECK_FAILS(*state, wt_trainer_new(*state, &setting, &trainer), WT_USAGE, "size");
    setting.size = sizeof setting + 8;
    CHECK_FAILS(*state, wt_trainer_new(*state, &setting, &trainer), WT_USAGE, "later version");
}

/* Files say every field by its option, the model as their kind, and not the one that three others
 * say. */
static void files_say_every_field(void **state) {
    wt_train_spec setting = small_setting("transformer");
    wt_trainer *trainer;
    size_t count;
    const wt_field *fields = wt_train_fields(&count);
    CHECK_OK(*state, wt_trainer_new(*state, &setting, &trainer));
    for (size_t i = 0; i < count; i++) {
        const char *option = wt_field_option(&fields[i]);
        const char *key = strcmp(option, "model") == 0 ? "kind" : option;
        size_t found = 0;
        for (size_t j = 0; j < trainer->about_count; j++)
            found += strcmp(trainer->about[j].key, key) == 0;
        assert_int_equal(found, strcmp(key, "dropout") != 0);
    }
    wt_trainer_free(trainer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_comes_back),
        cmocka_unit_test(the_recipe_is_the_published_one),
        cmocka_unit_test(out_of_range_is_refused),
        cmocka_unit_test(settings_are_sized),
        cmocka_unit_test(files_say_every_field),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
