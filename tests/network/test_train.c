/* The trainer: Adam against its formulas, the rules of success, runs that do not depend on threads.
 * Balls are in test_train_ball.c, checkpoints in test_checkpoint.c. */
#include "check.h"
#include "network/learn/trainer.h"
#include "network/plain/network_plain.h"
#include "network/train_cases.h"
#include "wattle/random.h"
#include "wattle/search.h"

/* ---- Adam -------------------------------------------------------------------------------------
 */

/* The method in double, as its authors write it: bias-corrected moments, epsilon outside the root.
 */
static void adam_plain(const wt_adam_rule *rule, size_t count, const float *gradient, double *p,
                       double *m, double *v) {
    double length = 0, t = (double)rule->step;
    for (size_t i = 0; i < count; i++)
        length += (double)gradient[i] * (double)gradient[i];
    length = sqrt(length);
    double scale = rule->clip > 0 && length > rule->clip ? rule->clip / length : 1;
    for (size_t i = 0; i < count; i++) {
        double g = scale * (double)gradient[i] + (rule->decoupled ? 0 : rule->weight_decay * p[i]);
        m[i] = 0.9 * m[i] + 0.1 * g;
        v[i] = 0.999 * v[i] + 0.001 * g * g;
        if (rule->decoupled)
            p[i] -= rule->rate * rule->weight_decay * p[i];
        p[i] -= rule->rate * (m[i] / (1 - pow(0.9, t))) / (sqrt(v[i] / (1 - pow(0.999, t))) + 1e-8);
    }
}

static void adam_follows_its_formulas(void **state) {
    enum { COUNT = 40, STEPS = 50 };
    const wt_train_range ranges[] = {{0, 25}, {30, COUNT}};
    for (int mode = 0; mode < 4; mode++) {
        wt_adam_rule rule = {.rate = 1e-2,
                             .weight_decay = 0.1,
                             .clip = mode % 2 == 0 ? 0 : 0.5,
                             .decoupled = mode >= 2};
        float p[COUNT], g[COUNT], first[COUNT] = {0}, second[COUNT] = {0};
        double wide[2][COUNT], normal[COUNT], m[COUNT] = {0}, v[COUNT] = {0};
        wt_random_normal(wt_stream_for(3, "p", 0), 0, COUNT, normal);
        for (size_t i = 0; i < COUNT; i++)
            wide[0][i] = wide[1][i] = p[i] = (float)normal[i];
        for (rule.step = 1; rule.step <= STEPS; rule.step++) {
            wt_random_normal(wt_stream_for(3, "g", rule.step), 0, COUNT, normal);
            for (size_t i = 0; i < COUNT; i++)
                g[i] = i >= 25 && i < 30 ? 0 : (float)normal[i];
            CHECK_OK(*state, wt_adam_update(*state, &rule, ranges, 2, g, p, first, second));
            adam_plain(&rule, COUNT, g, wide[0], m, v);
        }
        /* Float rounding of 50 steps of about 1e-2: 50 times 6e-8 and some. */
        for (size_t i = 0; i < COUNT; i++)
            CHECK_NEAR((double)p[i], i >= 25 && i < 30 ? wide[1][i] : wide[0][i], 1e-5);
    }
}

/* The first steps whose loss is below 90% and 10% of ln 2 and below the mark, seen step by step. */
static void marks_are_the_first_steps_below(void **state) {
    wt_train_spec setting = small_setting("transformer");
    size_t leave = 0, mark = 0, low = 0;
    wt_trainer *trainer;
    setting.to_end = true;
    setting.steps = 400;
    CHECK_OK(*state, wt_trainer_new(*state, &setting, &trainer));
    while (!wt_trainer_ended(trainer)) {
        CHECK_OK(*state, wt_trainer_run(*state, trainer, 1));
        wt_train_result now = result_of(*state, trainer);
        leave = leave == 0 && now.loss < 0.9 * log(2) ? now.steps : leave;
        mark = mark == 0 && now.loss < setting.loss_mark ? now.steps : mark;
        low = low == 0 && now.loss < 0.1 * log(2) ? now.steps : low;
    }
    wt_train_result result = result_of(*state, trainer);
    assert_true(1 < leave && leave < mark && mark < low); /* each says something */
    assert_int_equal(result.leave_step, leave);
    assert_int_equal(result.mark_step, mark);
    assert_int_equal(result.low_step, low);
    wt_trainer_free(trainer);
}

static void adam_refuses_what_is_not_finite(void **state) {
    const wt_train_range range = {0, 2};
    float p[2] = {1, 2}, g[2] = {1, NAN}, first[2] = {0}, second[2] = {0};
    const wt_adam_rule rule = {.rate = 1, .step = 7};
    CHECK_FAILS(*state, wt_adam_update(*state, &rule, &range, 1, g, p, first, second), WT_DATA,
                "gradient of step 7");
    assert_true(p[0] == 1 && p[1] == 2 && first[0] == 0); /* nothing was touched */
}

/* ---- trials -----------------------------------------------------------------------------------
 */

/* Weights so large that floats overflow: the trial ends with a sentence, by tables and absorbed. */
static void overflow_ends_a_trial(void **state) {
    wt_context *context = *state;
    for (int drop = 0; drop < 2; drop++)
        for (int far = 0; far < 2; far++) {
            wt_train_spec setting = small_setting("transformer");
            wt_trainer *trainer;
            setting.embedding_dropout = 0.1 * drop;
            setting.init_scale = far ? 1e30 : 1e20;
            setting.to_end = true;
            CHECK_OK(context, wt_trainer_new(context, &setting, &trainer));
            CHECK_FAILS(context, wt_trainer_run(context, trainer, SIZE_MAX), WT_DATA,
                        "the gradient of step 1 is not finite");
            wt_trainer_free(trainer);
        }
}

static void small_tasks_are_learned(void **state) {
    const char *kinds[] = {"transformer", "head", "mlp"};
    for (size_t i = 0; i < 3; i++) {
        wt_train_spec setting = small_setting(kinds[i]);
        wt_train_result result = WT_SIZED(wt_train_result);
        setting.restarts = 3;
        CHECK_OK(*state, wt_train_run(*state, &setting, 2, &result));
        if (!result.success)
            fail_msg("%s: best accuracy %g", kinds[i], result.best_accuracy);
        assert_true(result.success_step > 0 && result.success_step <= setting.steps);
        assert_true(result.success_step % setting.validate == 0);
        assert_true(result.best_accuracy > setting.success);
    }
}

static void threads_do_not_change_bits(void **state) {
    wt_train_spec setting = small_setting("transformer");
    wt_trainer *one, *two;
    int threads = wt_context_threads(*state);
    setting.embedding_dropout = setting.attention_dropout = 0.1;
    CHECK_OK(*state, wt_context_set_threads(*state, 1));
    run_small(*state, &setting, 25, &one);
    CHECK_OK(*state, wt_context_set_threads(*state, 3));
    run_small(*state, &setting, 25, &two);
    CHECK_OK(*state, wt_context_set_threads(*state, threads));
    check_same(one, two);
    wt_trainer_free(one);
    wt_trainer_free(two);
}

static void online_samples_are_fresh(void **state) {
    wt_train_spec setting = small_setting("mlp");
    wt_trainer *trainer;
    setting.online = 32;
    run_small(*state, &setting, 1, &trainer);
    uint8_t first[32 * SMALL_LENGTH];
    memcpy(first, trainer->batch->bit, sizeof first);
    CHECK_OK(*state, wt_trainer_run(*state, trainer, 1));
    assert_memory_not_equal(first, trainer->batch->bit, sizeof first);
    wt_trainer_free(trainer);
}

/* Stopping a validation early may change the accuracy told, never success nor its step. */
static void hasty_validations_decide_alike(void **state) {
    wt_train_spec setting = small_setting("transformer");
    wt_trainer *full, *hasty;
    run_small(*state, &setting, SIZE_MAX, &full);
    setting.hasty = true;
    run_small(*state, &setting, SIZE_MAX, &hasty);
    wt_train_result a = result_of(*state, full), b = result_of(*state, hasty);
    assert_true(a.success && b.success);
    assert_int_equal(a.success_step, b.success_step);
    CHECK_NEAR(b.best_accuracy, a.best_accuracy, 0); /* a success is judged in full */
    assert_memory_equal(full->parameters, hasty->parameters, full->size * sizeof(float));
    wt_trainer_free(full);
    wt_trainer_free(hasty);
}

/* Nothing can be learned of a parity from few samples: all accuracies are 1/2 but for chance. The
 * best of 100 on 256 samples each would be about 1/2 + 2.5 / (2 sqrt 256) = 0.58; judged on 10^4,
 * the few that look like the best are within 4 / (2 sqrt 10^4) = 0.02. */
static void best_accuracies_are_judged_in_full(void **state) {
    wt_train_spec setting = small_setting("mlp");
    wt_trainer *trainer;
    setting.task = "parity:3";
    setting.length = 40;
    setting.samples = 10;
    setting.validation_samples = 10000;
    setting.steps = 100;
    setting.validate = 1;
    setting.restarts = 1;
    setting.hasty = true;
    run_small(*state, &setting, SIZE_MAX, &trainer);
    wt_train_result result = result_of(*state, trainer);
    assert_false(result.success);
    assert_int_equal(trainer->state.points, 100);
    CHECK_NEAR(result.best_accuracy, 0.5, 0.02);
    wt_trainer_free(trainer);
}

static void runs_follow_each_other(void **state) {
    wt_train_spec setting = small_setting("mlp");
    setting.steps = 7;
    setting.validate = 3;
    setting.restarts = 2;
    setting.rate = 1e-9; /* learns nothing */
    wt_trainer *trainer;
    size_t count;
    run_small(*state, &setting, SIZE_MAX, &trainer);
    const wt_train_point *history = wt_trainer_history(trainer, &count);
    const size_t steps[] = {3, 6, 7};
    assert_int_equal(count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(history[i].run, i / 3);
        assert_int_equal(history[i].step, steps[i % 3]);
    }
    wt_train_result result = result_of(*state, trainer);
    assert_false(result.success);
    assert_int_equal(result.runs, 2);
    assert_int_equal(result.success_step, 0);
    wt_trainer_free(trainer);
}

static void to_end_goes_on(void **state) {
    wt_train_spec setting = small_setting("mlp");
    setting.to_end = true;
    wt_trainer *trainer;
    run_small(*state, &setting, SIZE_MAX, &trainer);
    wt_train_result result = result_of(*state, trainer);
    assert_true(result.success && result.success_step < setting.steps);
    assert_int_equal(result.steps, setting.steps);
    assert_int_equal(result.runs, 1);
    wt_trainer_free(trainer);
}

/* Whether the run had settled at its point `last`, by the rule's words. */
static bool settled_at(const wt_train_point *history, size_t last, double settle) {
    double lowest = INFINITY, before = INFINITY;
    for (size_t i = 0; i <= last; i++) {
        lowest = fmin(lowest, history[i].loss);
        if (2 * history[i].step <= history[last].step)
            before = fmin(before, history[i].loss);
    }
    return before - lowest < settle * (log(2) - lowest);
}

/* A run ends at the first validation where it has settled, and not before; on coins the loss falls
 * by a part of ln 2 alone. */
static void runs_settle(void **state) {
    wt_train_spec setting = small_setting("head");
    wt_trainer *trainer, *other;
    size_t count;
    setting.balls = "v.two-one=4,w.frobenius=1";
    setting.noise = 0.49;
    setting.to_end = true;
    setting.steps = 100000;
    setting.settle = 0.1;
    run_small(*state, &setting, SIZE_MAX, &trainer);
    wt_train_result result = result_of(*state, trainer);
    const wt_train_point *history = wt_trainer_history(trainer, &count);
    assert_true(result.settled && wt_trainer_ended(trainer));
    assert_true(result.steps < setting.steps && count > 2);
    assert_int_equal(result.steps, history[count - 1].step);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(settled_at(history, i, setting.settle), i == count - 1);
    size_t half = result.steps / 2 + 1; /* cut there it has not settled, */
    setting.steps = half;
    run_small(*state, &setting, SIZE_MAX, &other);
    result = result_of(*state, other);
    assert_true(wt_trainer_ended(other) && !result.settled);
    assert_int_equal(result.steps, half);
    wt_trainer_free(other);
    setting.settle = 0; /* nor ever where it is not asked for */
    setting.steps = 2 * trainer->state.step;
    run_small(*state, &setting, SIZE_MAX, &other);
    result = result_of(*state, other);
    assert_false(result.settled);
    assert_int_equal(result.steps, setting.steps);
    wt_trainer_free(other);
    wt_trainer_free(trainer);
}

/* A run that was settled is followed by the next, and one more by hand is the same. */
static void one_run_more_is_a_restart(void **state) {
    wt_train_spec setting = small_setting("head");
    wt_trainer *two, *one;
    setting.noise = 0.49; /* no success */
    setting.settle = 0.2;
    setting.steps = 1000;
    setting.restarts = 2;
    run_small(*state, &setting, SIZE_MAX, &two);
    assert_int_equal(result_of(*state, two).runs, 2);
    assert_true(two->state.history[0].loss != two->state.history[two->state.points - 1].loss);
    setting.restarts = 1;
    run_small(*state, &setting, SIZE_MAX, &one);
    assert_true(result_of(*state, one).settled && !result_of(*state, one).success);
    wt_trainer_restart(one);
    assert_false(wt_trainer_ended(one));
    CHECK_OK(*state, wt_trainer_run(*state, one, SIZE_MAX));
    check_same(one, two);
    wt_trainer_free(one);
    wt_trainer_free(two);
}

static void fixed_tensors_stay(void **state) {
    wt_train_spec setting = small_setting("transformer");
    wt_trainer *start, *end;
    setting.fixed_positions = true;
    setting.weight_decay = 0.1;
    run_small(*state, &setting, 0, &start);
    run_small(*state, &setting, 5, &end);
    wt_train_matrix table = wt_train_matrix_at(start, "pos_emb", 0);
    assert_memory_equal(start->parameters + table.offset, end->parameters + table.offset,
                        table.rows * table.columns * sizeof(float));
    wt_train_matrix other = wt_train_matrix_at(start, "wq", 0);
    assert_memory_not_equal(start->parameters + other.offset, end->parameters + other.offset,
                            other.rows * other.columns * sizeof(float));
    wt_trainer_free(start);
    wt_trainer_free(end);
}

/* ---- ambiguous sets ---------------------------------------------------------------------------
 */

static void ambiguous_sets_are_redrawn(void **state) {
    wt_train_spec setting = small_setting("mlp");
    wt_search_result found = WT_SIZED(wt_search_result);
    wt_trainer *trainer;
    size_t redrawn = 0;
    setting.samples = 6; /* many sets of this size fit two ands */
    for (setting.seed = 0; setting.seed < 10; setting.seed++) {
        run_small(*state, &setting, 0, &trainer);
        CHECK_OK(*state,
                 wt_bits_search(*state, trainer->batch, trainer->task->function, 2, &found));
        assert_int_equal(found.found, 1);
        wt_search_result_free(&found);
        redrawn += result_of(*state, trainer).redrawn;
        wt_trainer_free(trainer);
    }
    assert_true(redrawn > 0);
    setting.samples = 1; /* tells when it has two ones alone, once in 10^7 draws */
    setting.length = 20;
    CHECK_FAILS(*state, wt_trainer_new(*state, &setting, &trainer), WT_MISSED, "fits a second and");
    wt_train_result result = WT_SIZED(wt_train_result);
    CHECK_OK(*state, wt_train_run(*state, &setting, 1, &result));
    assert_false(result.success);
    assert_int_equal(result.runs, 0);
    setting.keep_ambiguous = true;
    run_small(*state, &setting, 0, &trainer);
    wt_trainer_free(trainer);
}

/* ---- measures and refusals --------------------------------------------------------------------
 */

static void measures_are_those_of_the_formulas(void **state) {
    wt_train_spec setting = small_setting("transformer");
    wt_trainer *trainer;
    wt_train_measure measure = WT_SIZED(wt_train_measure);
    double *wide, *logits, loss, miss = 0, sum[2] = {0};
    setting.block_dropout = 0.2; /* measures are taken without */
    run_small(*state, &setting, 40, &trainer);
    CHECK_OK(*state, wt_trainer_measure(*state, trainer, 400, &measure));
    CHECK_OK(*state, WT_NEW(*state, &wide, trainer->size, "a test"));
    for (size_t i = 0; i < trainer->size; i++)
        wide[i] = (double)trainer->parameters[i];
    CHECK_OK(*state, WT_NEW(*state, &logits, 2 * trainer->batch->samples, "a test"));
    CHECK_OK(*state, wt_network_plain(*state, trainer->network, wide, trainer->batch, logits, &loss,
                                      NULL, NULL));
    for (size_t i = 0; i < trainer->batch->samples; i++) {
        uint8_t label = trainer->batch->label[i];
        miss += 1 / (1 + exp(logits[2 * i + label] - logits[2 * i + 1 - label]));
    }
    CHECK_NEAR(measure.train_miss, miss / (double)trainer->batch->samples, 1e-4);
    assert_true(measure.test_miss > 0 && measure.test_miss < measure.test_loss);
    CHECK_NEAR(measure.train_loss, loss, 1e-4); /* the float path against double */
    CHECK_NEAR(measure.gap, measure.test_loss - measure.train_loss, 1e-15);
    assert_true(measure.gap_low < measure.gap && measure.gap < measure.gap_high);
    assert_int_equal(measure.heads, 2);
    assert_int_equal(measure.positions, SMALL_LENGTH + 1);
    for (size_t t = 0; t < measure.positions; t++)
        for (size_t k = 0; k < 2; k++)
            sum[k] += measure.attention[k * measure.positions + t];
    CHECK_NEAR(sum[0], 1, 1e-5); /* weights in float */
    CHECK_NEAR(sum[1], 1, 1e-5);
    double mass = 0;
    for (size_t i = 0; i < 2; i++)
        mass += measure.attention[trainer->task->relevant[i]];
    CHECK_NEAR(measure.mass, mass, 1e-12);
    assert_true(measure.best_mass >= measure.mass && measure.best_mass <= 1 + 1e-5);
    assert_true(measure.norm_count > 9);
    for (size_t i = 0; i < measure.norm_count; i++) {
        const wt_train_norm *norm = &measure.norms[i];
        assert_true(norm->spectral > 0 && norm->spectral <= norm->frobenius * (1 + 1e-12));
        assert_true(norm->frobenius <= norm->two_one * (1 + 1e-12));
    }
    wt_release(wide);
    wt_release(logits);
    wt_train_measure_free(&measure);
    wt_trainer_free(trainer);
}

static void bad_settings_are_refused(void **state) {
    wt_trainer *trainer;
#define REFUSED(change, words)                                                                     \
    do {                                                                                           \
        wt_train_spec setting = small_setting("transformer");                                      \
        change;                                                                                    \
        CHECK_FAILS(*state, wt_trainer_new(*state, &setting, &trainer), WT_USAGE, words);          \
        assert_null(trainer);                                                                      \
    } while (0)
    REFUSED(setting.length = 1, "1 bits cannot hold the 2 relevant ones");
    REFUSED(setting.task = "and:0", "no Boolean function: 'and:0'");
    REFUSED(setting.task = "and:17", "no Boolean function");
    REFUSED(setting.samples = 0, "samples must be a whole number of 1 or more, not 0");
    REFUSED(setting.success = 0, "above 0 and at most 1, not 0");
    REFUSED(setting.success = 1.5, "at most 1, not 1.5");
    REFUSED(setting.heads = 3, "heads that divide its dim");
    REFUSED(setting.noise = 0.5, "noise must be from 0 to below 0.5");
    REFUSED(setting.rate = 0, "lr must be above 0");
    REFUSED(setting.weight_decay = -1, "weight-decay must be 0 or more");
    REFUSED(setting.clip = -1, "clip must be 0 or more");
    REFUSED(setting.steps = 0, "steps must be a whole number of 1 or more");
    REFUSED(setting.settle = -1, "0 or more, not -1");
    REFUSED(setting.settle = NAN, "settle must be a number, not nan");
    REFUSED((setting.settle = 0.1, setting.online = 8), "only on a training set");
    REFUSED((setting.settle = 0.1, setting.block_dropout = 0.1), "without dropout");
    REFUSED(setting.embedding_dropout = 1, "embedding-dropout must be from 0 to below 1");
#undef REFUSED
}

static void a_cancelled_step_is_no_step(void **state) {
    wt_train_spec setting = small_setting("head");
    wt_trainer *trainer, *other;
    setting.balls = "v.two-one=1.5,v.spectral=0.5";
    run_small(*state, &setting, 7, &trainer);
    wt_context_cancel(*state);
    assert_int_equal(wt_trainer_run(*state, trainer, 5), WT_INTERRUPTED);
    assert_int_equal(wt_train_step(*state, trainer), WT_INTERRUPTED);
    atomic_store(&((wt_context *)*state)->cancels, 0);
    CHECK_OK(*state, wt_trainer_run(*state, trainer, 5));
    run_small(*state, &setting, 12, &other);
    check_same(trainer, other);
    wt_trainer_free(trainer);
    wt_trainer_free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adam_follows_its_formulas),
        cmocka_unit_test(marks_are_the_first_steps_below),
        cmocka_unit_test(adam_refuses_what_is_not_finite),
        cmocka_unit_test(overflow_ends_a_trial),
        cmocka_unit_test(small_tasks_are_learned),
        cmocka_unit_test(threads_do_not_change_bits),
        cmocka_unit_test(online_samples_are_fresh),
        cmocka_unit_test(hasty_validations_decide_alike),
        cmocka_unit_test(best_accuracies_are_judged_in_full),
        cmocka_unit_test(runs_follow_each_other),
        cmocka_unit_test(to_end_goes_on),
        cmocka_unit_test(runs_settle),
        cmocka_unit_test(one_run_more_is_a_restart),
        cmocka_unit_test(fixed_tensors_stay),
        cmocka_unit_test(ambiguous_sets_are_redrawn),
        cmocka_unit_test(measures_are_those_of_the_formulas),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(a_cancelled_step_is_no_step),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
