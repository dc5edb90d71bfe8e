/* From grids to named cells, and what the experiments themselves compute. */
#include "lab/plan.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/work.h"
#include "check.h"
#include "lab/curve_cell.h"

static void set_all(wt_context *context, wt_sweep_spec **spec, const char *const *keys) {
    CHECK_OK(context, wt_sweep_spec_parse(context, "", spec));
    for (; *keys != NULL; keys++)
        CHECK_OK(context, wt_sweep_spec_set(context, *spec, *keys));
}

static void make(wt_context *context, const char *const *keys, wt_shard shard, wt_plan **out) {
    wt_sweep_spec *spec;
    set_all(context, &spec, keys);
    CHECK_OK(context, wt_plan_new(context, spec, shard, out));
    wt_sweep_spec_free(spec);
}

static const wt_shard all_of_it = {0, 1};

/* The name of a cell, good until that of two others is asked for. */
static const char *name_of(const wt_plan *plan, size_t cell) {
    static char names[2][WT_HASH_TEXT];
    static size_t turn;
    const size_t count = plan->groups->trial.count;
    const wt_plan_group group = wt_plan_at(plan, cell / count);
    wt_cell_form form = {0};
    char *name = names[turn++ % 2];
    CHECK_OK(plan->arena.context,
             wt_plan_name(plan->arena.context, &group, cell % count, &form, name));
    wt_cell_form_free(&form);
    return name;
}

/* Names decide what a store has: were they to change, every store would be computed again. The
 * text is SHA-256'd by another program: printf 'curve\n%s\n9\n2\n' PARAMETERS | sha256sum */
static void names_stay_what_they_are(void **state) {
    const char *keys[] = {"experiment=curve",
                          "target=mean-power:2",
                          "dim=8",
                          "keys=6",
                          "heads=60",
                          "n=16",
                          "reps=1",
                          "seed=9",
                          NULL};
    wt_plan *plan;
    char *text;
    make(*state, keys, all_of_it, &plan);
    assert_int_equal(plan->cell_count, 1);
    CHECK_OK(*state, wt_plan_parameters(*state, plan->groups, 0, &text));
    assert_string_equal(
        text,
        "{\"activation\":\"relu\",\"bias\":0.0,\"dim\":8,\"heads\":60,\"keys\":6,\"lambda\":0.001,"
        "\"lambda-path\":\"\",\"model\":\"rfa\",\"n\":16,\"noise\":0.0,\"rep\":0,\"target\":\"mean-"
        "power:2\",\"test-n\":1000,\"token-scale\":1.0,\"tokens\":\"sphere\",\"width\":0}");
    assert_string_equal(name_of(plan, 0),
                        "6d436e1af458da2687550a42b1edb83bf8c93f4acc4e833e0fb9546ce99b80b8");
    wt_release(text);
    wt_plan_free(plan);
}

typedef struct {
    wt_context *context;
    const wt_plan *plan;
    size_t draws, setting, size;
} following;

/* Settings come in the order of the plan's cells, each by its first seed and repetition. */
static wt_status follow(void *user, const wt_experiment *experiment, const char *parameters) {
    following *all = user;
    const wt_plan_group at = wt_plan_at(all->plan, all->setting * all->draws), *group = &at;
    char hash[WT_HASH_TEXT];
    CHECK_OK(all->context,
             wt_cell_hash(all->context, experiment, parameters, group->trial.seed, hash));
    assert_string_equal(hash, name_of(all->plan, group->first + all->size));
    all->size = (all->size + 1) % group->trial.count;
    all->setting += all->size == 0;
    return WT_OK;
}

/* Cells of a setting are spelled from one text: the name of each is that of its own. */
static void every_cell_has_the_name_of_its_parameters(void **state) {
    const char *const sweeps[][8] = {
        {"experiment=curve", "target=mean-power:2,corr:1", "lambda=1e-3,loo", "noise=0,1e-9",
         "n=9,10,1000", "reps=11", "seed=4,123456789012", NULL},
        {"experiment=recover", "heads=1,2", "noise=0,0.25", "reps=12", NULL},
        {"experiment=construct", "function=and:3,parity:4", "length=16,64", "reps=2", NULL},
        {"experiment=train", "m=20,30", "length=12", "dropout=0,0.1", "reps=2", NULL},
        {"experiment=threshold", "m=20,30", "length=12,15", "reps=2", NULL}};
    for (size_t s = 0; s < sizeof sweeps / sizeof *sweeps; s++) {
        wt_plan *plan;
        wt_sweep_spec *spec;
        make(*state, sweeps[s], all_of_it, &plan);
        for (size_t g = 0; g < plan->group_count; g++)
            for (size_t i = 0; i < plan->groups->trial.count; i++) {
                const wt_plan_group at = wt_plan_at(plan, g), *group = &at;
                char *text, hash[WT_HASH_TEXT];
                CHECK_OK(*state, wt_plan_parameters(*state, group, i, &text));
                CHECK_OK(*state,
                         wt_cell_hash(*state, group->experiment, text, group->trial.seed, hash));
                assert_string_equal(name_of(plan, group->first + i), hash);
                wt_release(text);
            }
        const wt_axes *axes = &plan->axes;
        following all = {*state, plan, .draws = axes->seeds.count * axes->reps};
        wt_axes walked;
        set_all(*state, &spec, sweeps[s]);
        CHECK_OK(*state, wt_plan_walk(*state, spec, &walked, follow, &all));
        assert_int_equal(all.setting * all.draws, plan->group_count);
        assert_int_equal(walked.reps, axes->reps);
        assert_int_equal(walked.seeds.count, axes->seeds.count);
        wt_axes_free(&walked);
        wt_sweep_spec_free(spec);
        wt_plan_free(plan);
    }
}

static void grids_make_groups_and_cells(void **state) {
    const char *keys[] = {"experiment=curve",
                          "target=mean-power:2,corr:1",
                          "model=rfa,brfa",
                          "n=64,16,64:128:x2",
                          "reps=3",
                          "seed=4,2",
                          NULL};
    wt_plan *plan;
    make(*state, keys, all_of_it, &plan);
    assert_int_equal(plan->group_count, 2 * 2 * 3 * 2);
    assert_int_equal(plan->cell_count, 3 * plan->group_count);
    double wanted[] = {16, 64, 128}; /* increasing, each once */
    for (size_t g = 0; g < plan->group_count; g++)
        assert_memory_equal(wt_plan_at(plan, g).trial.sizes, wanted, sizeof wanted);
    for (size_t i = 0; i < plan->cell_count; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(name_of(plan, i), name_of(plan, j));
    wt_plan_free(plan);
}

/* What means nothing for a model does not multiply its cells. */
static void equal_cells_are_one(void **state) {
    const char *keys[] = {"experiment=curve", "target=corr:1", "model=rfa-inf", "heads=10,20,40",
                          "bias=1,2",         "n=16",          "reps=1",        NULL};
    wt_plan *plan;
    make(*state, keys, all_of_it, &plan);
    assert_int_equal(plan->cell_count, 1);
    wt_plan_free(plan);
    keys[2] = "model=brfa";
    make(*state, keys, all_of_it, &plan);
    assert_int_equal(plan->cell_count, 6);
    wt_plan_free(plan);
}

static void the_same_number_has_one_name(void **state) {
    const char *grid[] = {"experiment=recover", "noise=0.1:0.4:0.1", "reps=1", NULL};
    const char *list[] = {"experiment=recover", "noise=0.1,.2,3e-1,0.40", "reps=1", NULL};
    wt_plan *one, *two;
    make(*state, grid, all_of_it, &one);
    make(*state, list, all_of_it, &two);
    assert_int_equal(one->cell_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(name_of(one, i), name_of(two, i));
    wt_plan_free(one);
    wt_plan_free(two);
}

static void shards_part_the_groups(void **state) {
    const char *keys[] = {"experiment=curve", "target=corr:1", "n=16:64:x2", "reps=40", NULL};
    wt_plan *whole, *part;
    size_t found = 0;
    make(*state, keys, all_of_it, &whole);
    for (size_t i = 0; i < 3; i++) {
        make(*state, keys, (wt_shard){i, 3}, &part);
        /* 40 coins of three sides: 2 or fewer of one side has a chance of 3e-5, and the draw is
         * fixed by the names */
        assert_true(part->group_count > 2);
        found += part->group_count;
        for (size_t g = 0; g < part->group_count; g++) {
            size_t same = 0;
            for (size_t h = 0; h < whole->group_count; h++)
                same += strcmp(name_of(part, wt_plan_at(part, g).first),
                               name_of(whole, wt_plan_at(whole, h).first)) == 0;
            assert_int_equal(same, 1);
        }
        wt_plan_free(part);
    }
    assert_int_equal(found, whole->group_count);
    wt_plan_free(whole);
}

/* A parameter that came later is in the name of a cell only where it says something, so that cells
 * of before are found; every one that is listed is there and has a fallback. */
static void later_parameters_leave_names_alone(void **state) {
    static const char *const without[] = {"experiment=construct", "length=16", "reps=1", NULL};
    static const char *const at_rest[] = {"experiment=construct", "length=16", "reps=1",
                                          "fixed-length=0", NULL};
    static const char *const set[] = {"experiment=construct", "length=16", "reps=1",
                                      "fixed-length=8", NULL};
    wt_plan *one, *two, *three;
    char *text, *meaning;
    make(*state, without, all_of_it, &one);
    make(*state, at_rest, all_of_it, &two);
    make(*state, set, all_of_it, &three);
    assert_string_equal(name_of(one, 0), name_of(two, 0));
    assert_string_not_equal(name_of(one, 0), name_of(three, 0));
    const wt_plan_group *group = one->groups;
    CHECK_OK(*state,
             wt_cell_parameters(*state, group->experiment, &group->trial, 0, WT_CELL_WHOLE, &text));
    assert_null(strstr(text, "fixed-length"));
    json_t *object = json_loads(text, 0, NULL);
    wt_value values[32];
    uint64_t rep;
    CHECK_OK(*state, wt_cell_read(*state, group->experiment, object, values, &rep));
    CHECK_NEAR(values[wt_experiment_parameter(group->experiment, "fixed-length")].number, 0, 0);
    CHECK_OK(*state, wt_cell_meaning(*state, group->experiment, &meaning));
    assert_null(strstr(meaning, "fixed-length"));
    wt_release(meaning);
    wt_release(text);
    json_decref(object);
    wt_plan_free(one);
    wt_plan_free(two);
    wt_plan_free(three);
    const wt_experiment *experiment;
    for (size_t i = 0; (experiment = wt_experiment_at(i)) != NULL; i++)
        for (size_t p = 0; p < experiment->parameter_count; p++)
            if (experiment->parameters[p].since > 0)
                assert_non_null(experiment->parameters[p].fallback);
}

/* Columns of a table are called by these names, and by those of the store. */
static void parameters_and_metrics_share_no_name(void **state) {
    (void)state;
    static const char *const columns[] = {"hash",    "experiment", "result_version", "seed",
                                          "state",   "rep",        "message",        "wall_seconds",
                                          "version", "machine",    "finished_date"};
    const wt_experiment *a, *b;
    for (size_t i = 0; (a = wt_experiment_at(i)) != NULL; i++)
        for (size_t m = 0; m < a->metric_count; m++) {
            for (size_t j = 0; (b = wt_experiment_at(j)) != NULL; j++)
                if (wt_experiment_parameter(b, a->metrics[m]) < b->parameter_count)
                    fail_msg("'%s' is a metric of %s and a parameter of %s", a->metrics[m], a->name,
                             b->name);
            for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
                assert_string_not_equal(a->metrics[m], columns[c]);
                assert_int_equal(wt_experiment_parameter(a, columns[c]), a->parameter_count);
            }
        }
}

/* Values go to text and back: what retry relies on. */
static void values_come_back(void **state) {
    const char *keys[] = {"experiment=recover", "known-heads=no", "noise=0.125", "reps=1", NULL};
    wt_plan *plan;
    wt_value values[64];
    uint64_t rep;
    char *text, *again;
    make(*state, keys, all_of_it, &plan);
    CHECK_OK(*state, wt_plan_parameters(*state, plan->groups, 0, &text));
    json_t *object = json_loads(text, 0, NULL);
    CHECK_OK(*state, wt_cell_read(*state, plan->groups[0].experiment, object, values, &rep));
    wt_trial trial = {.values = values, .rep = rep};
    CHECK_OK(*state, wt_cell_parameters(*state, plan->groups[0].experiment, &trial, 0,
                                        WT_CELL_WHOLE, &again));
    assert_string_equal(text, again);
    json_object_del(object, "noise");
    CHECK_FAILS(*state, wt_cell_read(*state, plan->groups[0].experiment, object, values, &rep),
                WT_DATA, "no sound value of 'noise'");
    json_decref(object);
    wt_release(text);
    wt_release(again);
    wt_plan_free(plan);
}

/* The cell of a sweep is the repetition that `wattle curve` computes, to the bit. */
static void a_curve_cell_is_a_curve(void **state) {
    /* A path of one lambda, as low as rounding lets it be, is an end of what can be tried. */
    const char *keys[] = {"experiment=curve",
                          "target=mean-power:2",
                          "dim=4",
                          "keys=3",
                          "heads=8",
                          "n=8,16",
                          "test-n=20",
                          "reps=2",
                          "seed=5",
                          "lambda=loo",
                          "lambda-path=1e-12",
                          NULL};
    const char *target = "mean-power:2";
    const size_t sizes[] = {8, 16};
    const double path = 1e-12;
    wt_ridge_options ridge = {
        .size = sizeof(wt_ridge_options), .rule = WT_LAMBDA_LOO, .path = &path, .path_count = 1};
    wt_curve_point points[2];
    double metrics[2 * 5];
    wt_plan *plan;
    make(*state, keys, all_of_it, &plan);
    const wt_plan_group at = wt_plan_at(plan, 1), *group = &at;
    wt_curve_setting setting = {
        .model = {.size = sizeof(wt_model_spec), .kind = WT_MODEL_KIND_RFA, .heads = 8},
        .problem = {.size = sizeof(wt_problem_spec), .token_scale = 1, .dim = 4, .keys = 3},
        .target = &target,
        .targets = 1,
        .test_samples = 20,
        .sizes = sizes,
        .size_count = 2,
        .ridge = &ridge,
        .seed = 5,
        .rep = 1};
    assert_int_equal(group->experiment->metric_count, 5);
    CHECK_OK(*state, group->experiment->run(*state, &group->trial, metrics));
    CHECK_OK(*state, wt_curve_cell(*state, &setting, points));
    for (size_t i = 0; i < 2; i++) {
        assert_true(metrics[5 * i] == points[i].test_error);
        assert_true(metrics[5 * i + 1] == points[i].train_error);
        assert_true(metrics[5 * i + 2] == points[i].loo_error);
        assert_true(metrics[5 * i + 3] == points[i].lambda);
        assert_true(metrics[5 * i + 4] == points[i].lambda_at_end);
    }
    assert_true(metrics[4] == 1);
    wt_plan_free(plan);
}

/* Targets of a model, seed and repetition are solved together: less work than each alone, and the
 * same numbers to rounding, which is magnified by at most the condition of a ridge of 1e-2. */
static void targets_share_the_work(void **state) {
    const char *keys[] = {"experiment=curve",
                          "model=rfa,brfa",
                          "target=mean-power:2,corr:1,corr-power:3",
                          "dim=4",
                          "keys=3",
                          "heads=40",
                          "lambda=1e-2",
                          "n=32,64",
                          "test-n=20",
                          "reps=2",
                          NULL};
    double alone[3][2 * 5], together[3][2 * 5], began, work[2] = {0, 0};
    wt_trial trials[3];
    wt_plan *plan, *part;
    size_t leaders = 0, dealt = 0, k = 0;
    make(*state, keys, all_of_it, &plan);
    for (size_t g = 0; g < plan->group_count; g++)
        leaders += !wt_plan_at(plan, g).follows;
    assert_int_equal(plan->group_count, 2 * 3 * 2);
    assert_int_equal(leaders, 2 * 2);
    wt_plan_group group = wt_plan_at(plan, 1);
    for (wt_plan_group at = group; at.experiment != NULL; at = wt_plan_next(plan, &at)) {
        assert_true(k < 3 && at.trial.rep == 1);
        trials[k] = at.trial;
        began = wt_work_done(*state);
        CHECK_OK(*state, at.experiment->run(*state, &at.trial, alone[k++]));
        work[0] += wt_work_done(*state) - began;
    }
    assert_int_equal(k, 3);
    began = wt_work_done(*state);
    CHECK_OK(*state, group.experiment->run_together(*state, trials, 3, together[0]));
    work[1] = wt_work_done(*state) - began;
    if (!(work[1] < 0.5 * work[0]))
        fail_msg("%g flops together, %g alone", work[1], work[0]);
    for (size_t t = 0; t < 3; t++)
        for (size_t i = 0; i < 10; i++)
            if (!isnan(alone[t][i]))
                CHECK_NEAR(together[t][i], alone[t][i], 1e-10);
    /* a shard has all targets of what it computes */
    for (size_t s = 0; s < 3; s++) {
        make(*state, keys, (wt_shard){s, 3}, &part);
        for (size_t g = 0; g < part->group_count; g++)
            dealt += !wt_plan_at(part, g).follows;
        wt_plan_free(part);
    }
    assert_int_equal(dealt, leaders);
    wt_plan_free(plan);
}

static double metric(const wt_experiment *experiment, const double *metrics, const char *name) {
    for (size_t i = 0; i < experiment->metric_count; i++)
        if (strcmp(experiment->metrics[i], name) == 0)
            return metrics[i];
    fail_msg("no metric '%s'", name);
    return NAN;
}

/* Five times N_min examples: docs/recover.md finds every such teacher. */
static void a_recover_cell_recovers(void **state) {
    const char *keys[] = {"experiment=recover", "heads=1", "dim=4", "reps=1", NULL};
    double metrics[32];
    wt_plan *plan;
    wt_cost cost;
    make(*state, keys, all_of_it, &plan);
    const wt_experiment *experiment = plan->groups[0].experiment;
    CHECK_OK(*state, experiment->run(*state, &plan->groups[0].trial, metrics));
    assert_true(metric(experiment, metrics, "success") == 1);
    assert_true(metric(experiment, metrics, "test_error") < 1e-7);
    assert_true(metric(experiment, metrics, "samples") ==
                ceil(5 * metric(experiment, metrics, "least_samples")));
    CHECK_OK(*state, wt_plan_total(*state, plan, &cost));
    assert_true(cost.flops > 0 && cost.bytes > 0);
    wt_plan_free(plan);
    /* sculpt says that it cannot: a cell without success, not one that failed */
    const char *hopeless[] = {"experiment=recover", "heads=4", "dim=4",
                              "method=sculpt",      "reps=1",  NULL};
    make(*state, hopeless, all_of_it, &plan);
    CHECK_OK(*state, experiment->run(*state, &plan->groups[0].trial, metrics));
    assert_true(metric(experiment, metrics, "success") == 0);
    wt_plan_free(plan);
}

static void bad_values_are_told(void **state) {
    static const struct {
        const char *keys[5], *words;
    } bad[] = {
        {{"experiment=recover", "method=magic", NULL}, "'magic' is none of auto|refine"},
        {{"experiment=recover", "length=1", NULL}, "length must be 2 or more"},
        {{"experiment=recover", "parity=4", "dim=4", NULL}, "parity of 4 bits needs dim 5"},
        {{"experiment=recover", "holdout=1", NULL}, "holdout must be from 0 to below 1"},
        {{"experiment=recover", "noise=-1", NULL}, "noise must be 0 or more"},
        {{"experiment=recover", "samples-ratio=0", NULL}, "samples-ratio must be above 0"},
        {{"experiment=recover", "samples-ratio=1e300", NULL}, "sequences: too many"},
        {{"experiment=curve", "target=corr:1", "activation=tanh", NULL},
         "'tanh' is none of relu|softmax"},
        {{"experiment=curve", "target=corr:1", "lambda=loud", NULL}, "loud"},
        {{"experiment=curve", "target=corr:1", "n=16:2000000:1", NULL}, "more than"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        wt_sweep_spec *spec;
        wt_plan *plan;
        set_all(*state, &spec, bad[i].keys);
        CHECK_FAILS(*state, wt_plan_new(*state, spec, all_of_it, &plan), WT_USAGE, bad[i].words);
        wt_plan_free(plan);
        wt_sweep_spec_free(spec);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stay_what_they_are),
        cmocka_unit_test(every_cell_has_the_name_of_its_parameters),
        cmocka_unit_test(grids_make_groups_and_cells),
        cmocka_unit_test(equal_cells_are_one),
        cmocka_unit_test(the_same_number_has_one_name),
        cmocka_unit_test(shards_part_the_groups),
        cmocka_unit_test(later_parameters_leave_names_alone),
        cmocka_unit_test(parameters_and_metrics_share_no_name),
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(a_curve_cell_is_a_curve),
        cmocka_unit_test(targets_share_the_work),
        cmocka_unit_test(a_recover_cell_recovers),
        cmocka_unit_test(bad_values_are_told),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
