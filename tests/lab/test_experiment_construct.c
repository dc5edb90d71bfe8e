/* The cell `construct` is what `wattle construct` computes. */
#include "check.h"

#include <stdlib.h>

#include "lab/experiment.h"
#include "wattle/construct.h"

static size_t metric(const wt_experiment *experiment, const char *name) {
    size_t i = 0;
    while (strcmp(experiment->metrics[i], name) != 0)
        i++;
    return i;
}

/* Values from "name=text" and the defaults. */
static void fill(const wt_experiment *experiment, const char *name, const char *text, double number,
                 wt_value *values) {
    for (size_t i = 0; i < experiment->parameter_count; i++) {
        const wt_field *parameter = &experiment->parameters[i];
        values[i] = (wt_value){.text = parameter->fallback};
        if (parameter->kind != WT_FIELD_KIND_WORD)
            values[i] = (wt_value){.number = strtod(parameter->fallback, NULL)};
    }
    size_t at = wt_experiment_parameter(experiment, name);
    assert_true(at < experiment->parameter_count);
    values[at] = (wt_value){.text = text, .number = number};
}

static void a_cell_is_a_construction(void **state) {
    wt_context *context = *state;
    const wt_experiment *experiment = wt_experiment_find("construct");
    wt_value values[16];
    double metrics[16];
    fill(experiment, "positions", "random", 0, values);
    values[wt_experiment_parameter(experiment, "length")].number = 50;
    CHECK_OK(context, experiment->settle(context, values));
    assert_string_equal(values[wt_experiment_parameter(experiment, "heads")].text, "one");
    assert_int_equal(values[wt_experiment_parameter(experiment, "position-dim")].number, 126);
    wt_trial trial = {.values = values, .seed = 3, .rep = 2, .count = 1};
    CHECK_OK(context, experiment->run(context, &trial, metrics));
    wt_construction_spec spec = {.size = sizeof spec,
                                 .function = "and:3",
                                 .length = 50,
                                 .positions = WT_POSITIONS_RANDOM,
                                 .position_dim = 126,
                                 .heads = WT_CONSTRUCTION_HEADS_ONE,
                                 .seed = wt_trial_seed(&trial)};
    wt_construction *built;
    wt_construction_report report = WT_SIZED(wt_construction_report);
    CHECK_OK(context, wt_construction_new(context, &spec, &built));
    CHECK_OK(context, wt_construction_check(context, built, 100, spec.seed, &report));
    assert_true(metrics[metric(experiment, "head_error")] == report.head_error);
    assert_true(metrics[metric(experiment, "drawn_error")] == report.drawn_error);
    assert_true(metrics[metric(experiment, "error_over_promise")] ==
                report.head_error / report.promise);
    assert_true(metrics[metric(experiment, "kept")] == 1);
    wt_construction_least least = WT_SIZED(wt_construction_least);
    CHECK_OK(context, wt_construction_find_least(context, built, &least));
    assert_true(metrics[metric(experiment, "least_strength")] == least.strength);
    assert_true(metrics[metric(experiment, "least_linear")] == least.linear);
    wt_construction_free(built);
    wt_cost cost;
    CHECK_OK(context, experiment->estimate(context, &trial, &cost));
    assert_true(cost.flops > 50 * 126 && cost.bytes >= 8.0 * 50 * 126);
}

/* One metric of a cell of `and:3`. */
static double cell(wt_context *context, const char *positions, double length, double fixed_length,
                   const char *name) {
    const wt_experiment *experiment = wt_experiment_find("construct");
    wt_value values[16];
    double metrics[16];
    fill(experiment, "positions", positions, 0, values);
    values[wt_experiment_parameter(experiment, "length")].number = length;
    values[wt_experiment_parameter(experiment, "fixed-length")].number = fixed_length;
    values[wt_experiment_parameter(experiment, "draws")].number = 1;
    CHECK_OK(context, experiment->settle(context, values));
    wt_trial trial = {.values = values, .seed = 3, .rep = 2, .count = 1};
    CHECK_OK(context, experiment->run(context, &trial, metrics));
    return metrics[metric(experiment, name)];
}

/* What a length needs is enough for it and not for a longer one. The constant of random positions
 * is of as many dimensions. */
static void a_strength_held_breaks_the_promise(void **state) {
    static const char *const positions[] = {"basis", "random", "trained"};
    for (size_t i = 0; i < 3; i++) {
        double least = cell(*state, positions[i], 64, 0, "least_strength");
        assert_true(cell(*state, positions[i], 64, 64, "strength") == least);
        assert_true(cell(*state, positions[i], 64, 64, "kept") == 1);
        CHECK_NEAR(cell(*state, positions[i], 64, 64, "error_over_promise"), 1, 1e-5);
        assert_true(cell(*state, positions[i], 1024, 64, "kept") == 0);
        assert_true(cell(*state, positions[i], 1024, 64, "error_over_promise") > 2);
        assert_true(cell(*state, positions[i], 1024, 0, "kept") == 1);
        assert_true(cell(*state, positions[i], 64, 1024, "kept") == 1);
        assert_true(cell(*state, positions[i], 1024, 64, "least_strength") ==
                    cell(*state, positions[i], 1024, 0, "least_strength"));
    }
}

/* From T = 1024 to 4096 the least R rises by log 4 and, without the exponential, fourfold: with
 * unit vectors up to terms of order s / T < 1/300. */
static void the_least_strengths_grow_like_log_T_and_T(void **state) {
    static const char *const positions[] = {"basis", "trained"};
    for (size_t i = 0; i < 2; i++) {
        double few = cell(*state, positions[i], 1024, 0, "least_strength"),
               many = cell(*state, positions[i], 4096, 0, "least_strength");
        CHECK_NEAR(many - few, log(4), 0.01);
        few = cell(*state, positions[i], 1024, 0, "least_linear");
        many = cell(*state, positions[i], 4096, 0, "least_linear");
        CHECK_NEAR(many / few, 4, 0.04);
    }
    assert_true(isinf(cell(*state, "random", 1024, 0, "least_linear")));
}

static void values_are_settled_or_refused(void **state) {
    wt_context *context = *state;
    const wt_experiment *experiment = wt_experiment_find("construct");
    size_t dim = wt_experiment_parameter(experiment, "position-dim");
    wt_value values[16];
    fill(experiment, "function", "table:0010", 0, values);
    values[dim].number = 99; /* means nothing for unit vectors */
    CHECK_OK(context, experiment->settle(context, values));
    assert_string_equal(values[wt_experiment_parameter(experiment, "heads")].text, "s");
    assert_int_equal(values[dim].number, 0);
    values[wt_experiment_parameter(experiment, "heads")].text = "one";
    CHECK_FAILS(context, experiment->settle(context, values), WT_USAGE, "not symmetric");
    fill(experiment, "positions", "learned", 0, values);
    CHECK_FAILS(context, experiment->settle(context, values), WT_USAGE, "'learned' is none of");
    fill(experiment, "length", NULL, 2, values);
    CHECK_FAILS(context, experiment->settle(context, values), WT_USAGE, "2 bits cannot hold");
    fill(experiment, "fixed-length", NULL, 2, values);
    CHECK_FAILS(context, experiment->settle(context, values), WT_USAGE, "2 bits cannot hold");
    fill(experiment, "function", "nand:2", 0, values);
    CHECK_FAILS(context, experiment->settle(context, values), WT_USAGE, "nand:2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_is_a_construction),
        cmocka_unit_test(a_strength_held_breaks_the_promise),
        cmocka_unit_test(the_least_strengths_grow_like_log_T_and_T),
        cmocka_unit_test(values_are_settled_or_refused),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
