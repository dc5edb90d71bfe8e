/* Fleets on the host: what becomes of a trial does not depend on who else is in the fleet, nor on
 * its size, nor on the number of threads. All comparisons are to the bit: the host's engine runs
 * the code of wt_trainer. */
#include "network/learn/fleet.h"
#include "network/train_cases.h"

enum { TRIALS = 5 };

/* The host's engine with few slots. */
static size_t most_slots;
static wt_status begin_few(wt_context *context, wt_device *device, const wt_fleet_form *form,
                           size_t *networks, wt_fleet **out) {
    wt_fleet_form few = *form;
    few.networks = form->networks < most_slots ? form->networks : most_slots;
    return wt_fleet_host.begin(context, device, &few, networks, out);
}

typedef struct {
    wt_context *context;
    const wt_train_spec *setting;
    const wt_fleet_trial *trials;
    size_t told, cancel_at;
    bool trainers;
} expected;

static wt_train_spec setting_of(const expected *of, size_t trial) {
    wt_train_spec setting = *of->setting;
    setting.seed = of->trials[trial].seed;
    setting.samples = of->trials[trial].samples;
    return setting;
}

static wt_status compare(void *user, size_t trial, const wt_train_result *result,
                         wt_trainer *trainer) {
    expected *of = user;
    wt_train_spec setting = setting_of(of, trial);
    wt_train_result alone = WT_SIZED(wt_train_result);
    CHECK_OK(of->context, wt_train_run(of->context, &setting, setting.seed, &alone));
    alone.seconds = result->seconds;
    assert_int_equal(result->success, alone.success);
    assert_int_equal(result->runs, alone.runs);
    assert_int_equal(result->success_step, alone.success_step);
    assert_int_equal(result->steps, alone.steps);
    assert_int_equal(result->redrawn, alone.redrawn);
    assert_int_equal(result->mark_step, alone.mark_step);
    assert_int_equal(result->settled, alone.settled);
    assert_memory_equal(&result->best_accuracy, &alone.best_accuracy, sizeof(double));
    assert_memory_equal(&result->loss, &alone.loss, sizeof(double));
    assert_memory_equal(&result->train_accuracy, &alone.train_accuracy, sizeof(double));
    assert_int_equal(trainer != NULL, of->trainers && alone.runs > 0);
    if (trainer != NULL) {
        wt_trainer *other;
        CHECK_OK(of->context, wt_trainer_new(of->context, &setting, &other));
        CHECK_OK(of->context, wt_trainer_run(of->context, other, SIZE_MAX));
        check_same(trainer, other);
        wt_trainer_free(other);
    }
    if (++of->told == of->cancel_at)
        wt_context_cancel(of->context);
    return WT_OK;
}

static void run_fleet(wt_context *context, const wt_train_spec *setting, size_t slots) {
    wt_fleet_trial trials[TRIALS];
    wt_fleet_engine engine = wt_fleet_host;
    expected of = {
        .context = context, .setting = setting, .trials = trials, .trainers = slots == 2};
    for (size_t i = 0; i < TRIALS; i++)
        trials[i] = (wt_fleet_trial){.seed = 10 + i, .samples = setting->samples + 7 * (i % 3)};
    wt_fleet_job job = {.setting = setting,
                        .trials = trials,
                        .count = TRIALS,
                        .trainers = of.trainers,
                        .done = compare,
                        .user = &of};
    most_slots = slots;
    engine.begin = begin_few;
    CHECK_OK(context, wt_fleet_run(context, NULL, &engine, &job));
    assert_int_equal(of.told, TRIALS);
}

static wt_train_spec small(const char *model) {
    wt_train_spec setting;
    WT_INIT(wt_train_spec, &setting);
    setting.model = model;
    setting.length = 12;
    setting.samples = 40;
    setting.dim = 16;
    setting.heads = 4;
    setting.steps = 35;
    setting.restarts = 2;
    setting.rate = 5e-3;
    setting.success = 0.9;
    setting.validation_samples = 700;
    return setting;
}

static void test_transformers(void **state) {
    wt_context *context = *state;
    wt_train_spec setting = small("transformer");
    for (size_t slots = 1; slots <= TRIALS; slots += slots == 1 ? 1 : 3)
        run_fleet(context, &setting, slots);
    setting.hasty = true;
    setting.embedding_dropout = 0;
    run_fleet(context, &setting, 3);
    setting.to_end = true;
    setting.success = 1;
    run_fleet(context, &setting, 3);
}

static void test_perceptrons(void **state) {
    wt_train_spec setting = small("mlp");
    setting.dropout = 0.1;
    setting.hasty = true;
    run_fleet(*state, &setting, 2);
    setting.validate = 7;
    run_fleet(*state, &setting, 3);
}

static void test_heads_online(void **state) {
    wt_train_spec setting = small("head");
    setting.task = "parity:2";
    setting.online = 32;
    setting.noise = 0.1;
    setting.hasty = true;
    run_fleet(*state, &setting, 3);
    setting.online = 0;
    setting.settle = 0.02;
    run_fleet(*state, &setting, 2);
}

/* Ambiguous sets are trials that fail, and end no fleet. */
static void test_ambiguous(void **state) {
    wt_train_spec setting = small("mlp");
    setting.samples = 1;
    run_fleet(*state, &setting, 2);
}

static void test_balls_are_refused(void **state) {
    wt_context *context = *state;
    wt_train_spec setting = small("head");
    wt_fleet_trial trial = {.seed = 1, .samples = 40};
    wt_fleet_job job = {.setting = &setting, .trials = &trial, .count = 1};
    setting.balls = "qk.frobenius=1";
    CHECK_FAILS(context, wt_fleet_run(context, NULL, &wt_fleet_host, &job), WT_USAGE,
                "qk.frobenius=1");
}

/* Told to stop once inside work that finishes what it has in hand: no further trial begins. */
static void test_cancelled(void **state) {
    wt_context *context = *state;
    wt_train_spec setting = small("mlp");
    wt_fleet_trial trials[TRIALS];
    expected of = {.context = context, .setting = &setting, .trials = trials, .cancel_at = 1};
    wt_fleet_job job = {
        .setting = &setting, .trials = trials, .count = TRIALS, .done = compare, .user = &of};
    wt_fleet_engine engine = wt_fleet_host;
    for (size_t i = 0; i < TRIALS; i++)
        trials[i] = (wt_fleet_trial){.seed = 30 + i, .samples = 40};
    most_slots = 2;
    engine.begin = begin_few;
    atomic_store(&context->patience, 1);
    assert_int_equal(wt_fleet_run(context, NULL, &engine, &job), WT_INTERRUPTED);
    assert_int_equal(of.told, 2);
}

/* A trainer whose context has a device, in pieces, beside one without: on drawn samples, online,
 * and on samples of the caller's own. */
static void test_trainers(void **state) {
    wt_context *context = *state;
    static wt_device fake = {.name = "fake:0", .fleet = &wt_fleet_host};
    for (size_t i = 0; i < 3; i++) {
        wt_trainer *here, *there;
        wt_train_spec setting = small(i == 1 ? "mlp" : "transformer");
        wt_bits *train = NULL, *held = NULL;
        setting.online = i == 1 ? 24 : 0;
        if (i == 2) {
            wt_sparse_task *task;
            CHECK_OK(context, wt_train_task_open(context, &setting, &task));
            CHECK_OK(context, wt_bits_new(context, 40, setting.length, &train));
            CHECK_OK(context, wt_bits_new(context, 90, setting.length, &held));
            CHECK_OK(context, wt_sparse_task_draw(context, task, "train", 0, false, train));
            CHECK_OK(context, wt_sparse_task_draw(context, task, "held", 0, false, held));
            wt_sparse_task_free(task);
            CHECK_OK(context, wt_trainer_new_on(context, &setting, train, held, &here));
            CHECK_OK(context, wt_trainer_new_on(context, &setting, train, held, &there));
        } else {
            CHECK_OK(context, wt_trainer_new(context, &setting, &here));
            CHECK_OK(context, wt_trainer_new(context, &setting, &there));
        }
        CHECK_OK(context, wt_trainer_run(context, here, SIZE_MAX));
        context->device = &fake;
        CHECK_OK(context, wt_trainer_run(context, there, 13));
        assert_int_equal(there->state.step, 13);
        CHECK_OK(context, wt_trainer_run(context, there, SIZE_MAX));
        context->device = NULL;
        check_same(here, there);
        wt_trainer_free(here);
        wt_trainer_free(there);
        wt_bits_free(train);
        wt_bits_free(held);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_transformers, check_open, check_close),
        cmocka_unit_test_setup_teardown(test_perceptrons, check_open, check_close),
        cmocka_unit_test_setup_teardown(test_heads_online, check_open, check_close),
        cmocka_unit_test_setup_teardown(test_ambiguous, check_open, check_close),
        cmocka_unit_test_setup_teardown(test_balls_are_refused, check_open, check_close),
        cmocka_unit_test_setup_teardown(test_trainers, check_open, check_close),
        cmocka_unit_test_setup_teardown(test_cancelled, check_open, check_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
