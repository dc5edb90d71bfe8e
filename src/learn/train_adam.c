/* Adam's method on a block of floats, on the calling thread: a step costs a hundredth of its
 * gradient, and once begun it cannot be interrupted half way. */
#include <math.h>

#include "learn/train.h"

#define BETA_FIRST  0.9
#define BETA_SECOND 0.999
#define EPSILON     1e-8f

/* The numbers that a step needs, in float. */
typedef struct {
    float scale;  /* of the gradient, by the clip */
    float step;   /* rate / (1 - b1^t) */
    float root;   /* 1 / sqrt(1 - b2^t) */
    float decay;  /* added to the gradient, times the parameter */
    float shrink; /* what the decoupled decay leaves of a parameter */
} factors;

/* |g|, in eight sums that are added at the end. */
static double length_of(const wt_train_range *ranges, size_t range_count, const float *g) {
    enum { LANES = 8 };
    double lane[LANES] = {0}, sum = 0;
    for (size_t r = 0; r < range_count; r++)
        for (size_t i = ranges[r].begin; i < ranges[r].end; i++)
            lane[i % LANES] += (double)g[i] * (double)g[i];
    for (size_t i = 0; i < LANES; i++)
        sum += lane[i];
    return sqrt(sum);
}

/* m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;
 * p -= rate m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps) */
static void update(const factors *by, size_t count, const float *restrict g, float *restrict p,
                   float *restrict m, float *restrict v) {
    const float b1 = (float)BETA_FIRST, b2 = (float)BETA_SECOND;
    const float c1 = (float)(1 - BETA_FIRST), c2 = (float)(1 - BETA_SECOND);
    const float scale = by->scale, decay = by->decay, shrink = by->shrink;
    const float step = by->step, root = by->root;
    for (size_t i = 0; i < count; i++) {
        float slope = scale * g[i] + decay * p[i];
        m[i] = b1 * m[i] + c1 * slope;
        v[i] = b2 * v[i] + c2 * slope * slope;
        p[i] = shrink * p[i] - step * m[i] / (sqrtf(v[i]) * root + EPSILON);
    }
}

wt_status wt_adam_update(wt_context *context, const wt_adam_rule *rule,
                         const wt_train_range *ranges, size_t range_count, const float *gradient,
                         float *parameters, float *first, float *second) {
    double t = (double)rule->step, length = length_of(ranges, range_count, gradient);
    if (!isfinite(length))
        return wt_fail(context, WT_DATA, "the gradient of step %zu is not finite", rule->step);
    const factors by = {
        .scale = rule->clip > 0 && length > rule->clip ? (float)(rule->clip / length) : 1,
        .step = (float)(rule->rate / (1 - pow(BETA_FIRST, t))),
        .root = (float)(1 / sqrt(1 - pow(BETA_SECOND, t))),
        .decay = rule->decoupled ? 0 : (float)rule->weight_decay,
        .shrink = rule->decoupled ? (float)(1 - rule->rate * rule->weight_decay) : 1};
    for (size_t r = 0; r < range_count; r++) {
        size_t at = ranges[r].begin;
        update(&by, ranges[r].end - at, gradient + at, parameters + at, first + at, second + at);
    }
    return WT_OK;
}
