/* The cells `train` and `threshold` of a sweep: their numbers are those of the trainer itself. */
#include <stdlib.h>

#include "check.h"
#include "lab/experiment.h"
#include "wattle/train.h"

enum { MOST = 40 };

static size_t place(const wt_experiment *experiment, const char *name) {
    size_t at = wt_experiment_parameter(experiment, name);
    assert_true(at < experiment->parameter_count);
    return at;
}

static double metric(const wt_experiment *experiment, const double *metrics, const char *name) {
    size_t at = 0;
    while (at < experiment->metric_count && strcmp(experiment->metrics[at], name) != 0)
        at++;
    assert_true(at < experiment->metric_count);
    return metrics[at];
}

static void set(const wt_experiment *experiment, wt_value *values, const char *name, double number,
                const char *text) {
    values[place(experiment, name)] = (wt_value){number, text};
}

/* The defaults as a sweep reads them, then a task of a moment. */
static void fill(const wt_experiment *experiment, wt_value *values) {
    assert_true(experiment->parameter_count <= MOST);
    for (size_t i = 0; i < experiment->parameter_count; i++) {
        const wt_parameter *parameter = &experiment->parameters[i];
        bool text = parameter->kind == WT_PARAMETER_WORD || parameter->kind == WT_PARAMETER_TEXT;
        values[i] = text ? (wt_value){0, parameter->fallback}
                         : (wt_value){parameter->kind == WT_PARAMETER_FLAG
                                          ? strcmp(parameter->fallback, "yes") == 0
                                          : strtod(parameter->fallback, NULL),
                                      NULL};
    }
    set(experiment, values, "task", 0, "and:2");
    set(experiment, values, "length", 8, NULL);
    set(experiment, values, "m", 60, NULL);
    set(experiment, values, "dim", 8, NULL);
    set(experiment, values, "heads", 2, NULL);
    set(experiment, values, "lr", 1e-2, NULL);
    set(experiment, values, "steps", 100, NULL);
    set(experiment, values, "validation-samples", 300, NULL);
    set(experiment, values, "success-accuracy", 0.95, NULL);
}

static wt_train_setting same_setting(void) {
    wt_train_setting setting = wt_train_setting_default();
    setting.task.function = "and:2";
    setting.task.length = 8;
    setting.samples = 60;
    setting.network.dim = 8;
    setting.network.heads = 2;
    setting.rate = 1e-2;
    setting.steps = 100;
    setting.validation_samples = 300;
    setting.success = 0.95;
    return setting;
}

static void a_cell_is_a_trial(void **state) {
    const char *names[] = {"train", "threshold"};
    for (size_t i = 0; i < 2; i++) {
        const wt_experiment *experiment = wt_experiment_find(names[i]);
        assert_non_null(experiment);
        wt_value values[MOST];
        double metrics[MOST];
        wt_train_result result;
        fill(experiment, values);
        CHECK_OK(*state, experiment->settle(*state, values));
        const wt_trial trial = {.values = values, .seed = 3, .rep = 1, .count = 1};
        CHECK_OK(*state, experiment->run(*state, &trial, metrics));
        wt_train_setting setting = same_setting();
        setting.restarts = i == 0 ? 1 : 5;
        setting.hasty = i == 1;
        CHECK_OK(*state, wt_train_trial(*state, &setting, wt_trial_seed(&trial), &result));
        CHECK_NEAR(metric(experiment, metrics, "success"), result.success, 0);
        CHECK_NEAR(metric(experiment, metrics, "best_accuracy"), result.best_accuracy, 0);
        assert_true(result.success);
        CHECK_NEAR(metric(experiment, metrics, "success_step"), (double)result.success_step, 0);
        if (i == 0) {
            double gap = metric(experiment, metrics, "test_loss") -
                         metric(experiment, metrics, "train_loss");
            CHECK_NEAR(metric(experiment, metrics, "gap"), gap, 1e-15);
            assert_true(metric(experiment, metrics, "attention_mass") > 0.1);
            assert_true(metric(experiment, metrics, "qk_two_one") > 0);
        }
    }
}

static void equal_cells_have_equal_values(void **state) {
    const wt_experiment *experiment = wt_experiment_find("train");
    wt_value a[MOST], b[MOST];
    fill(experiment, a);
    fill(experiment, b);
    set(experiment, a, "dropout", 0.2, NULL);
    set(experiment, b, "embedding-dropout", 0.2, NULL);
    set(experiment, b, "attention-dropout", 0.2, NULL);
    set(experiment, b, "block-dropout", 0.2, NULL);
    set(experiment, b, "hidden", 32, NULL);
    CHECK_OK(*state, experiment->settle(*state, a));
    CHECK_OK(*state, experiment->settle(*state, b));
    for (size_t i = 0; i < experiment->parameter_count; i++)
        if (a[i].text == NULL)
            CHECK_NEAR(a[i].number, b[i].number, 0);
    set(experiment, a, "model", 0, "head"); /* has no dropout: none is left */
    CHECK_OK(*state, experiment->settle(*state, a));
    CHECK_NEAR(a[place(experiment, "block-dropout")].number, 0, 0);
    CHECK_NEAR(a[place(experiment, "heads")].number, 0, 0);
}

static void wrong_values_are_told_before_the_sweep(void **state) {
    const wt_experiment *experiment = wt_experiment_find("train");
    wt_value values[MOST];
#define REFUSED(name, number, text, words)                                                         \
    do {                                                                                           \
        fill(experiment, values);                                                                  \
        set(experiment, values, name, number, text);                                               \
        CHECK_FAILS(*state, experiment->settle(*state, values), WT_USAGE, words);                  \
    } while (0)
    REFUSED("length", 1, NULL, "1 bits cannot hold");
    REFUSED("success-accuracy", 2, NULL, "at most 1, not 2");
    REFUSED("heads", 3, NULL, "heads that divide");
    REFUSED("task", 0, "xor", "no Boolean function");
    REFUSED("model", 0, "tree", "no network 'tree'");
    REFUSED("ball", 0, "qk.two-one", "no ball");
    REFUSED("test-samples", 1, NULL, "2 or more");
#undef REFUSED
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_is_a_trial),
        cmocka_unit_test(equal_cells_have_equal_values),
        cmocka_unit_test(wrong_values_are_told_before_the_sweep),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
