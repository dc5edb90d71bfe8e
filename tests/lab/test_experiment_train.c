/* The cells `train` and `threshold` of a sweep: their numbers are those of the trainer itself. */
#include <math.h>
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
        const wt_field *parameter = &experiment->parameters[i];
        bool text = parameter->kind == WT_FIELD_KIND_WORD || parameter->kind == WT_FIELD_KIND_TEXT;
        values[i] = text ? (wt_value){0, parameter->fallback}
                         : (wt_value){parameter->kind == WT_FIELD_KIND_FLAG
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

static wt_train_spec same_setting(void) {
    wt_train_spec setting;
    WT_INIT(wt_train_spec, &setting);
    setting.task = "and:2";
    setting.length = 8;
    setting.samples = 60;
    setting.dim = 8;
    setting.heads = 2;
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
        wt_train_result result = WT_SIZED(wt_train_result);
        fill(experiment, values);
        CHECK_OK(*state, experiment->settle(*state, values));
        const wt_trial trial = {.values = values, .seed = 3, .rep = 1, .count = 1};
        CHECK_OK(*state, experiment->run(*state, &trial, metrics));
        wt_train_spec setting = same_setting();
        setting.restarts = i == 0 ? 1 : 5;
        setting.hasty = i == 1;
        CHECK_OK(*state, wt_train_run(*state, &setting, wt_trial_seed(&trial), &result));
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

/* A head on labels that are coins, as the gaps are measured. */
static void fill_gap(const wt_experiment *experiment, wt_value *values) {
    fill(experiment, values);
    set(experiment, values, "model", 0, "head");
    set(experiment, values, "noise", 0.49, NULL);
    set(experiment, values, "lr", 0.1, NULL);
    set(experiment, values, "steps", 3000, NULL);
    set(experiment, values, "settle", 0.1, NULL);
    set(experiment, values, "test-samples", 200, NULL);
}

/* The trainer of such a cell, with so many runs. */
static wt_train_spec gap_setting(size_t runs) {
    wt_train_spec setting = same_setting();
    const wt_trial trial = {.seed = 3, .rep = 1};
    setting.model = "head";
    setting.heads = 0;
    setting.noise = 0.49;
    setting.rate = 0.1;
    setting.steps = 3000;
    setting.settle = 0.1;
    setting.restarts = runs;
    setting.seed = wt_trial_seed(&trial);
    return setting;
}

static void run_cell(wt_context *context, const wt_experiment *experiment, wt_value *values,
                     double *metrics) {
    CHECK_OK(context, experiment->settle(context, values));
    const wt_trial trial = {.values = values, .seed = 3, .rep = 1, .count = 1};
    CHECK_OK(context, experiment->run(context, &trial, metrics));
}

/* The worst gap is the largest of as many runs, each by a trainer of its own; the other numbers are
 * those of the first. */
static void the_worst_gap_is_the_largest(void **state) {
    const wt_experiment *experiment = wt_experiment_find("train");
    enum { STARTS = 4 };
    wt_value values[MOST];
    double metrics[MOST], gap[STARTS], largest = -1;
    for (size_t s = 0; s < STARTS; s++) {
        wt_train_spec setting = gap_setting(s + 1);
        wt_trainer *trainer;
        wt_train_measure measure = WT_SIZED(wt_train_measure);
        CHECK_OK(*state, wt_trainer_new(*state, &setting, &trainer));
        CHECK_OK(*state, wt_trainer_run(*state, trainer, SIZE_MAX));
        wt_train_result result = WT_SIZED(wt_train_result);
        CHECK_OK(*state, wt_trainer_result(*state, trainer, &result));
        assert_int_equal(result.runs, s + 1);
        CHECK_OK(*state, wt_trainer_measure(*state, trainer, 200, &measure));
        gap[s] = measure.test_miss - measure.train_miss;
        largest = gap[s] > largest ? gap[s] : largest;
        wt_train_measure_free(&measure);
        wt_trainer_free(trainer);
    }
    assert_true(largest > gap[0]); /* else the starts would not matter here */
    fill_gap(experiment, values);
    run_cell(*state, experiment, values, metrics);
    CHECK_NEAR(metric(experiment, metrics, "miss_gap"), gap[0], 0);
    CHECK_NEAR(metric(experiment, metrics, "worst_miss_gap"), gap[0], 0);
    CHECK_NEAR(metric(experiment, metrics, "settled"), 1, 0);
    double steps = metric(experiment, metrics, "steps_taken");
    set(experiment, values, "gap-starts", STARTS, NULL);
    run_cell(*state, experiment, values, metrics);
    CHECK_NEAR(metric(experiment, metrics, "miss_gap"), gap[0], 0);
    CHECK_NEAR(metric(experiment, metrics, "steps_taken"), steps, 0);
    CHECK_NEAR(metric(experiment, metrics, "worst_miss_gap"), largest, 0);
    CHECK_NEAR(metric(experiment, metrics, "settled"), 1, 0);
}

/* One run that was cut is enough for `settled` to be 0. */
static void every_start_must_settle(void **state) {
    const wt_experiment *experiment = wt_experiment_find("train");
    wt_value values[MOST];
    double metrics[MOST], longest = 0;
    fill_gap(experiment, values);
    run_cell(*state, experiment, values, metrics);
    double first = metric(experiment, metrics, "steps_taken");
    wt_trainer *trainer;
    size_t count, starts = 6;
    wt_train_spec setting = gap_setting(starts);
    CHECK_OK(*state, wt_trainer_new(*state, &setting, &trainer));
    CHECK_OK(*state, wt_trainer_run(*state, trainer, SIZE_MAX));
    const wt_train_point *history = wt_trainer_history(trainer, &count);
    for (size_t i = 0; i < count; i++)
        longest = (double)history[i].step > longest ? (double)history[i].step : longest;
    wt_trainer_free(trainer);
    assert_true(longest > first); /* a later start takes longer than the first */
    set(experiment, values, "steps", first, NULL);
    run_cell(*state, experiment, values, metrics);
    CHECK_NEAR(metric(experiment, metrics, "settled"), 1, 0);
    set(experiment, values, "gap-starts", (double)starts, NULL);
    run_cell(*state, experiment, values, metrics);
    CHECK_NEAR(metric(experiment, metrics, "settled"), 0, 0);
}

/* The width follows the length; the cell is that of the width itself but for its name. */
static void the_width_follows_the_length(void **state) {
    const wt_experiment *experiment = wt_experiment_find("train");
    wt_value values[MOST];
    double by_ratio[MOST], by_dim[MOST];
    wt_cost whole, wide;
    fill_gap(experiment, values);
    set(experiment, values, "dim", 4, NULL);
    run_cell(*state, experiment, values, by_dim);
    set(experiment, values, "dim", 64, NULL);
    set(experiment, values, "dim-ratio", 0.5, NULL); /* of length 8 */
    run_cell(*state, experiment, values, by_ratio);
    CHECK_NEAR(values[place(experiment, "dim")].number, 1, 0);
    CHECK_NEAR(values[place(experiment, "dim-ratio")].number, 0.5, 0);
    for (size_t i = 0; i < experiment->metric_count; i++)
        assert_true(by_ratio[i] == by_dim[i] || (isnan(by_ratio[i]) && isnan(by_dim[i])));
    wt_trial trial = {.values = values, .seed = 3, .count = 1};
    CHECK_OK(*state, experiment->estimate(*state, &trial, &whole));
    set(experiment, values, "dim-ratio", 1, NULL);
    CHECK_OK(*state, experiment->estimate(*state, &trial, &wide));
    assert_true(wide.flops > 1.9 * whole.flops); /* no less than twice the products with X */
    set(experiment, values, "gap-starts", 3, NULL);
    CHECK_OK(*state, experiment->estimate(*state, &trial, &whole));
    CHECK_NEAR(whole.flops, 3 * wide.flops, 1e-9 * whole.flops);
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
    REFUSED("model", 0, "tree", "'tree' is none of transformer|head|mlp");
    REFUSED("ball", 0, "qk.two-one", "no ball");
    REFUSED("test-samples", 1, NULL, "2 or more");
    REFUSED("dim-ratio", 1, NULL, "of model=head");
    REFUSED("dim-ratio", -1, NULL, "0 or more");
    REFUSED("dim-ratio", 1e9, NULL, "at most 100000");
    REFUSED("settle", 0.1, NULL, "without dropout"); /* the transformer's own */
#undef REFUSED
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_is_a_trial),
        cmocka_unit_test(equal_cells_have_equal_values),
        cmocka_unit_test(the_worst_gap_is_the_largest),
        cmocka_unit_test(every_start_must_settle),
        cmocka_unit_test(the_width_follows_the_length),
        cmocka_unit_test(wrong_values_are_told_before_the_sweep),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
