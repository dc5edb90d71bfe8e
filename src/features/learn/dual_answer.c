#include <math.h>

#include "features/learn/dual.h"

wt_status wt_dual_answer_new(wt_context *context, const wt_dual *dual, bool with_alpha,
                             wt_dual_answer *out) {
    size_t all = dual->count * dual->columns, points = dual->count * dual->targets;
    *out = (wt_dual_answer){.condition = NAN, .results = wt_arena_start(context, "results")};
    if (with_alpha)
        WT_PASS(WT_NEW2_ZERO(context, &out->alpha, dual->train->samples, all, "dual weights"));
    if (!wt_model_kind_infinite(dual->model->spec.kind))
        WT_PASS(WT_NEW2(context, &out->v, wt_features_count(&dual->model->features), all,
                        "value vectors"));
    out->lambda = WT_TAKE(&out->results, double, points);
    out->train = WT_TAKE(&out->results, double, points);
    out->loo = WT_TAKE(&out->results, double, points);
    out->freedom = WT_TAKE(&out->results, double, points);
    out->rank = WT_TAKE_ZERO(&out->results, size_t, points);
    out->at_end = WT_TAKE_ZERO(&out->results, bool, points);
    WT_PASS(out->results.status);
    for (size_t i = 0; i < points; i++)
        out->lambda[i] = out->train[i] = out->loo[i] = out->freedom[i] = NAN;
    return WT_OK;
}

void wt_dual_free(wt_dual_answer *answer) {
    wt_release(answer->alpha);
    wt_release(answer->v);
    wt_arena_free(&answer->results);
    *answer = (wt_dual_answer){0};
}

size_t wt_dual_place(const wt_dual *dual, size_t i, size_t s, size_t t) {
    return (i * dual->count + s) * dual->columns + t * (dual->columns / dual->targets);
}

double wt_dual_train_score(const wt_dual *dual, const double *alpha, size_t s, size_t t,
                           double lambda) {
    size_t size = dual->sizes[s], q = dual->columns / dual->targets;
    double sum = 0;
    for (size_t i = 0; i < size; i++)
        for (size_t o = 0; o < q; o++)
            sum += pow(lambda * alpha[wt_dual_place(dual, i, s, t) + o], 2);
    return sum / (double)(size * q);
}

wt_status wt_dual_predict(wt_context *context, const wt_dual *dual, const wt_dual_answer *answer,
                          const wt_sets *sets, double *out) {
    return wt_model_predict(context, dual->model, dual->train, dual->count * dual->columns,
                            answer->v != NULL ? answer->v : answer->alpha, sets, out);
}
