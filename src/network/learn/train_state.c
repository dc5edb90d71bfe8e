/* The course of a trial: when it is validated, and whether it goes on, begins anew or has ended.
 * Host code for every device: who takes the steps does not matter. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "network/learn/trainer.h"
#include "wattle/random.h"

void wt_train_start(const wt_train_spec *setting, const wt_network *network, size_t run,
                    float *parameters) {
    const wt_network_tensor *tensors = network->tensors;
    wt_network_draw(network, wt_seed_for(setting->seed, "start", run), parameters);
    for (size_t i = 0; i < network->tensor_count; i++) {
        bool scaled = !tensors[i].vector && !tensors[i].fixed;
        for (size_t j = 0; scaled && j < tensors[i].rows * tensors[i].columns; j++)
            parameters[tensors[i].offset + j] *= (float)setting->init_scale;
    }
}

void wt_train_state_begin(wt_train_state *state) {
    memset(state->marks, 0, sizeof state->marks);
    state->step = 0;
}

void wt_train_state_step(const wt_train_spec *setting, wt_train_state *state, double loss,
                         double accuracy) {
    const double marks[WT_TRAIN_MARKS] = {0.9 * WT_LOG_2, setting->loss_mark, 0.1 * WT_LOG_2};
    state->step++;
    state->loss = loss;
    state->accuracy = accuracy;
    for (size_t i = 0; i < WT_TRAIN_MARKS; i++)
        if (state->marks[i] == 0 && loss < marks[i])
            state->marks[i] = state->step;
}

/* ---- validation ---- */

static bool accuracy_passes(const wt_train_spec *setting, double accuracy) {
    return accuracy > setting->success || accuracy == 1;
}

static bool passes(const wt_train_spec *setting, size_t wrong, size_t samples) {
    return accuracy_passes(setting, (double)(samples - wrong) / (double)samples);
}

size_t wt_train_state_free_steps(const wt_train_spec *setting, const wt_train_state *state) {
    const wt_train_point *last = state->points > 0 ? &state->history[state->points - 1] : NULL;
    bool validated = last != NULL && last->run == state->run && last->step == state->step;
    size_t past = state->step % setting->validate;
    bool due = state->step > 0 && (past == 0 || state->step >= setting->steps) && !validated;
    size_t next = setting->validate - past, left = setting->steps - state->step;
    return due ? 0 : next < left ? next : left;
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

wt_train_validation wt_train_validation_start(const wt_train_spec *setting) {
    return (wt_train_validation){.allowed = setting->hasty ? errors_allowed(setting) : SIZE_MAX};
}

static double best_so_far(const wt_train_state *state) {
    double best = -1;
    for (size_t i = 0; i < state->points; i++)
        best = fmax(best, state->history[i].validation_accuracy);
    return best;
}

/* While a network is far from success the first piece tells. But the best of many accuracies on a
 * few samples each is too good: one that looks like the best so far is judged on the samples of the
 * other pieces, too. */
size_t wt_train_validation_next(const wt_train_spec *setting, const wt_train_state *state,
                                wt_train_validation *at, size_t *max_errors) {
    size_t left = setting->validation_samples - at->asked, wrong = at->judged - at->correct;
    size_t piece = left < WT_TRAIN_PIECE ? left : WT_TRAIN_PIECE;
    if (piece > 0 && wrong > at->allowed) {
        if ((double)at->correct <= best_so_far(state) * (double)at->judged)
            return 0;
        at->allowed = SIZE_MAX;
    }
    *max_errors = at->allowed == SIZE_MAX ? SIZE_MAX : at->allowed - wrong;
    at->asked += piece;
    return piece;
}

wt_status wt_train_state_add(wt_context *context, wt_train_state *state, double accuracy) {
    wt_status status = WT_GROW(context, &state->history, state->points, &state->room, "a history");
    if (status == WT_OK)
        state->history[state->points++] = (wt_train_point){.run = state->run,
                                                           .step = state->step,
                                                           .loss = state->loss,
                                                           .train_accuracy = state->accuracy,
                                                           .validation_accuracy = accuracy};
    return status;
}

/* ---- the end of runs ---- */

static bool run_has_success(const wt_train_spec *setting, const wt_train_state *state) {
    for (size_t i = state->points; i > 0 && state->history[i - 1].run == state->run; i--)
        if (accuracy_passes(setting, state->history[i - 1].validation_accuracy))
            return true;
    return false;
}

/* The lowest loss that a validation of this run saw, of those up to a step. */
static double lowest_loss(const wt_train_state *state, size_t step) {
    double lowest = INFINITY;
    for (size_t i = state->points; i > 0 && state->history[i - 1].run == state->run; i--)
        if (state->history[i - 1].step <= step)
            lowest = fmin(lowest, state->history[i - 1].loss);
    return lowest;
}

static bool run_has_settled(const wt_train_spec *setting, const wt_train_state *state) {
    double now = lowest_loss(state, state->step);
    double gain = lowest_loss(state, state->step / 2) - now; /* infinite, NaN: too early */
    return gain < setting->settle * (WT_LOG_2 - now);
}

bool wt_train_state_conclude(const wt_train_spec *setting, wt_train_state *state) {
    bool success = run_has_success(setting, state);
    bool over = state->step >= setting->steps || run_has_settled(setting, state);
    bool last_run = state->run + 1 >= setting->restarts;
    state->ended = over ? success || last_run : success && !setting->to_end;
    if (!over || state->ended)
        return false;
    state->run++;
    wt_train_state_begin(state);
    return true;
}

void wt_train_state_result(const wt_train_spec *setting, const wt_train_state *state,
                           wt_train_result *out) {
    *out = (wt_train_result){.runs = state->run + 1,
                             .leave_step = state->marks[0],
                             .mark_step = state->marks[1],
                             .low_step = state->marks[2],
                             .steps = state->step,
                             .settled = run_has_settled(setting, state),
                             .best_accuracy = NAN,
                             .loss = state->loss,
                             .train_accuracy = state->accuracy,
                             .redrawn = state->redrawn};
    for (size_t i = 0; i < state->points; i++) {
        const wt_train_point *point = &state->history[i];
        out->best_accuracy = fmax(out->best_accuracy, point->validation_accuracy);
        if (!out->success && accuracy_passes(setting, point->validation_accuracy)) {
            out->success = true;
            out->success_step = point->step;
        }
    }
}
