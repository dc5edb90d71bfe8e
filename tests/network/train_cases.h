/* Small trials that take a moment, for the tests of the trainer. */
#ifndef TESTS_NETWORK_TRAIN_CASES_H
#define TESTS_NETWORK_TRAIN_CASES_H

#include "base/memory.h"
#include "check.h"
#include "network/learn/trainer.h"

enum { SMALL_LENGTH = 8 };

static inline wt_train_spec small_setting(const char *kind) {
    wt_train_spec setting;
    WT_INIT(wt_train_spec, &setting);
    bool mlp = strcmp(kind, "mlp") == 0;
    setting.task = "and:2";
    setting.length = SMALL_LENGTH;
    setting.model = kind;
    setting.dim = 16;
    setting.heads = 2;
    setting.hidden = mlp ? 24 : 0;
    setting.dropout = 0;
    setting.samples = 60;
    setting.rate = strcmp(kind, "head") == 0 ? 3e-2 : 1e-2;
    setting.steps = 200;
    setting.validation_samples = 600;
    setting.success = 0.97;
    setting.seed = 4;
    return setting;
}

/* A trainer after so many steps. */
static inline void run_small(wt_context *context, const wt_train_spec *setting, size_t steps,
                             wt_trainer **out) {
    CHECK_OK(context, wt_trainer_new(context, setting, out));
    CHECK_OK(context, wt_trainer_run(context, *out, steps));
}

static inline wt_train_result result_of(wt_context *context, const wt_trainer *trainer) {
    wt_train_result result = WT_SIZED(wt_train_result);
    CHECK_OK(context, wt_trainer_result(context, trainer, &result));
    return result;
}

/* Bit for bit: parameters, moments, history. */
static inline void check_same(const wt_trainer *a, const wt_trainer *b) {
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->state.run, b->state.run);
    assert_int_equal(a->state.step, b->state.step);
    assert_memory_equal(a->state.marks, b->state.marks, sizeof a->state.marks);
    assert_int_equal(a->state.ended, b->state.ended);
    assert_memory_equal(a->parameters, b->parameters, a->size * sizeof(float));
    assert_memory_equal(a->first, b->first, a->size * sizeof(float));
    assert_memory_equal(a->second, b->second, a->size * sizeof(float));
    assert_memory_equal(&a->state.loss, &b->state.loss, sizeof a->state.loss);
    assert_int_equal(a->state.points, b->state.points);
    for (size_t i = 0; i < a->state.points; i++) {
        assert_int_equal(a->state.history[i].run, b->state.history[i].run);
        assert_int_equal(a->state.history[i].step, b->state.history[i].step);
        assert_true(a->state.history[i].loss == b->state.history[i].loss);
        assert_true(a->state.history[i].train_accuracy == b->state.history[i].train_accuracy);
        assert_true(a->state.history[i].validation_accuracy ==
                    b->state.history[i].validation_accuracy);
    }
}

#endif
