/* What a run is made of: its start, steps, validations. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "network/learn/trainer.h"
#include "wattle/random.h"

/* ---- steps ---- */

void wt_train_begin_run(wt_trainer *trainer) {
    wt_train_start(&trainer->setting, trainer->network, trainer->state.run, trainer->parameters);
    memset(trainer->first, 0, trainer->size * sizeof *trainer->first);
    memset(trainer->second, 0, trainer->size * sizeof *trainer->second);
    wt_train_state_begin(&trainer->state);
}

/* Keeps (into `before`) or brings back parameters and moments. */
static void keep(wt_trainer *trainer, bool back) {
    size_t bytes = trainer->size * sizeof *trainer->before;
    float *parts[] = {trainer->parameters, trainer->first, trainer->second};
    for (size_t i = 0; i < 3; i++) {
        float *kept = trainer->before + i * trainer->size;
        memcpy(back ? parts[i] : kept, back ? kept : parts[i], bytes);
    }
}

/* Back into the balls; a projection that is interrupted leaves what was kept. */
static wt_status project(wt_context *context, wt_trainer *trainer) {
    wt_status status = wt_train_project(context, trainer);
    if (status != WT_OK)
        keep(trainer, true);
    return status;
}

static wt_status update(wt_context *context, wt_trainer *trainer) {
    const wt_train_spec *setting = &trainer->setting;
    const wt_adam_rule rule = {.rate = setting->rate,
                               .weight_decay = setting->weight_decay,
                               .clip = setting->clip,
                               .decoupled = setting->decoupled,
                               .step = trainer->state.step + 1};
    if (trainer->group_count > 0)
        keep(trainer, false);
    WT_PASS(wt_adam_update(context, &rule, trainer->ranges, trainer->range_count, trainer->gradient,
                           trainer->parameters, trainer->first, trainer->second));
    return project(context, trainer);
}

wt_status wt_train_step(wt_context *context, wt_trainer *trainer) {
    const wt_train_spec *setting = &trainer->setting;
    uint64_t seed = wt_seed_for(setting->seed, "dropout", trainer->state.run);
    wt_network_result result = WT_SIZED(wt_network_result);
    if (trainer->state.step == 0 && trainer->group_count > 0) { /* the start, too */
        keep(trainer, false);
        WT_PASS(project(context, trainer));
    }
    if (setting->online > 0) { /* runs go on along the stream */
        uint64_t batch = (uint64_t)trainer->state.run * setting->steps + trainer->state.step;
        WT_PASS(wt_sparse_task_draw(context, trainer->task, "train", batch * setting->online, true,
                                    trainer->batch));
    }
    WT_PASS(wt_network_gradient(context, trainer->network, trainer->parameters, trainer->batch,
                                seed, trainer->state.step, trainer->gradient, &result));
    WT_PASS(update(context, trainer));
    wt_train_state_step(setting, &trainer->state, result.loss,
                        (double)result.correct / (double)result.samples);
    return WT_OK;
}

/* ---- validation ---- */

wt_status wt_train_validate(wt_context *context, wt_trainer *trainer) {
    const wt_train_spec *setting = &trainer->setting;
    const wt_train_state *state = &trainer->state;
    wt_train_validation at = wt_train_validation_start(setting);
    /* each validation has its own part of the stream */
    uint64_t first = (uint64_t)state->points * setting->validation_samples;
    wt_bits bits = *trainer->piece;
    wt_network_result result = WT_SIZED(wt_network_result);
    size_t max_errors;
    while ((bits.samples = wt_train_validation_next(setting, state, &at, &max_errors)) > 0) {
        WT_PASS(wt_train_draw(context, trainer, "validate", first + at.asked - bits.samples, false,
                              &bits));
        WT_PASS(wt_network_evaluate(context, trainer->network, trainer->parameters, &bits,
                                    max_errors, &result));
        at.judged += result.samples;
        at.correct += result.correct;
    }
    return wt_train_state_add(context, &trainer->state, (double)at.correct / (double)at.judged);
}
