/* Adam's method on a block of floats, on the calling thread: a step costs a hundredth of its
 * gradient, and once begun it cannot be interrupted half way. */
#include <math.h>

#include "network/learn/trainer.h"
#include "network/model/network_loops.h"

wt_status wt_adam_update(wt_context *context, const wt_adam_rule *rule,
                         const wt_train_range *ranges, size_t range_count, const float *gradient,
                         float *parameters, float *first, float *second) {
    const wt_network_loops *loops = wt_loops_best()->network;
    double t = (double)rule->step, length = 0;
    for (size_t r = 0; r < range_count; r++)
        length += loops->squares(ranges[r].end - ranges[r].begin, gradient + ranges[r].begin);
    length = sqrt(length);
    if (!isfinite(length))
        return wt_fail(context, WT_DATA, "the gradient of step %zu is not finite", rule->step);
    const wt_adam_factors by = {
        .scale = rule->clip > 0 && length > rule->clip ? (float)(rule->clip / length) : 1,
        .step = (float)(rule->rate / (1 - pow(WT_ADAM_FIRST, t))),
        .root = (float)(1 / sqrt(1 - pow(WT_ADAM_SECOND, t))),
        .decay = rule->decoupled ? 0 : (float)rule->weight_decay,
        .decoupled = rule->decoupled ? (float)(rule->rate * rule->weight_decay) : 0};
    for (size_t r = 0; r < range_count; r++) {
        size_t at = ranges[r].begin;
        loops->adam(&by, ranges[r].end - at, gradient + at, parameters + at, first + at,
                    second + at);
    }
    return WT_OK;
}
