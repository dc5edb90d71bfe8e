/* What a run is made of: its start, steps, validations. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "network/learn/trainer.h"
#include "wattle/random.h"

/* ---- steps ---- */

void wt_train_begin_run(wt_trainer *trainer) {
    const wt_network_tensor *tensors = trainer->network->tensors;
    uint64_t seed = wt_seed_for(trainer->setting.seed, "start", trainer->run);
    wt_network_draw(trainer->network, seed, trainer->parameters);
    for (size_t i = 0; i < trainer->network->tensor_count; i++) {
        bool scaled = !tensors[i].vector && !tensors[i].fixed;
        for (size_t j = 0; scaled && j < tensors[i].rows * tensors[i].columns; j++)
            trainer->parameters[tensors[i].offset + j] *= (float)trainer->setting.init_scale;
    }
    memset(trainer->first, 0, trainer->size * sizeof *trainer->first);
    memset(trainer->second, 0, trainer->size * sizeof *trainer->second);
    memset(trainer->marks, 0, sizeof trainer->marks);
    trainer->step = 0;
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
                               .step = trainer->step + 1};
    if (trainer->group_count > 0)
        keep(trainer, false);
    WT_PASS(wt_adam_update(context, &rule, trainer->ranges, trainer->range_count, trainer->gradient,
                           trainer->parameters, trainer->first, trainer->second));
    return project(context, trainer);
}

static void note_marks(wt_trainer *trainer, double loss) {
    const double marks[WT_TRAIN_MARKS] = {0.9 * WT_LOG_2, trainer->setting.loss_mark,
                                          0.1 * WT_LOG_2};
    for (size_t i = 0; i < WT_TRAIN_MARKS; i++)
        if (trainer->marks[i] == 0 && loss < marks[i])
            trainer->marks[i] = trainer->step;
}

wt_status wt_train_step(wt_context *context, wt_trainer *trainer) {
    const wt_train_spec *setting = &trainer->setting;
    uint64_t seed = wt_seed_for(setting->seed, "dropout", trainer->run);
    wt_network_result result = WT_SIZED(wt_network_result);
    if (trainer->step == 0 && trainer->group_count > 0) { /* the start, too */
        keep(trainer, false);
        WT_PASS(project(context, trainer));
    }
    if (setting->online > 0) { /* runs go on along the stream */
        uint64_t batch = (uint64_t)trainer->run * setting->steps + trainer->step;
        WT_PASS(wt_sparse_task_draw(context, trainer->task, "train", batch * setting->online, true,
                                    trainer->batch));
    }
    WT_PASS(wt_network_gradient(context, trainer->network, trainer->parameters, trainer->batch,
                                seed, trainer->step, trainer->gradient, &result));
    WT_PASS(update(context, trainer));
    trainer->step++;
    trainer->loss = result.loss;
    trainer->accuracy = (double)result.correct / (double)result.samples;
    note_marks(trainer, result.loss);
    return WT_OK;
}

/* ---- validation ---- */

static bool passes(const wt_train_spec *setting, size_t wrong, size_t samples) {
    double accuracy = (double)(samples - wrong) / (double)samples;
    return accuracy > setting->success || wrong == 0;
}

/* The most errors that still are a success; none at all always is one. */
static size_t errors_allowed(const wt_train_spec *setting) {
    size_t samples = setting->validation_samples, low = 0, high = samples;
    while (low < high) { /* passes(low) holds, passes falls with the errors */
        size_t middle = high - (high - low) / 2;
        if (passes(setting, middle, samples))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static wt_status add_point(wt_context *context, wt_trainer *trainer, double accuracy) {
    wt_status status =
        WT_GROW(context, &trainer->history, trainer->points, &trainer->room, "a history");
    if (status == WT_OK)
        trainer->history[trainer->points++] = (wt_train_point){.run = trainer->run,
                                                               .step = trainer->step,
                                                               .loss = trainer->loss,
                                                               .train_accuracy = trainer->accuracy,
                                                               .validation_accuracy = accuracy};
    return status;
}

static double best_so_far(const wt_trainer *trainer) {
    double best = -1;
    for (size_t i = 0; i < trainer->points; i++)
        best = fmax(best, trainer->history[i].validation_accuracy);
    return best;
}

/* Fresh samples, piece by piece: while a network is far from success the first piece tells. But the
 * best of many accuracies on a few samples each is too good: one that looks like the best so far is
 * judged on the samples of the other pieces, too. */
wt_status wt_train_validate(wt_context *context, wt_trainer *trainer) {
    const wt_train_spec *setting = &trainer->setting;
    size_t samples = setting->validation_samples, judged = 0, correct = 0, piece = 0;
    size_t allowed = setting->hasty ? errors_allowed(setting) : SIZE_MAX;
    size_t count = trainer->points; /* validations so far: each has its own part of the stream */
    wt_bits bits = *trainer->piece;
    wt_network_result result = WT_SIZED(wt_network_result);
    for (size_t first = 0; first < samples; first += piece) {
        if (judged - correct > allowed) {
            if ((double)correct <= best_so_far(trainer) * (double)judged)
                break;
            allowed = SIZE_MAX;
        }
        piece =
            samples - first < trainer->piece->samples ? samples - first : trainer->piece->samples;
        bits.samples = piece;
        WT_PASS(wt_train_draw(context, trainer, "validate", (uint64_t)count * samples + first,
                              false, &bits));
        WT_PASS(wt_network_evaluate(context, trainer->network, trainer->parameters, &bits,
                                    allowed == SIZE_MAX ? allowed : allowed - (judged - correct),
                                    &result));
        judged += result.samples;
        correct += result.correct;
    }
    return add_point(context, trainer, (double)correct / (double)judged);
}
