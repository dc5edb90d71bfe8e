#include <math.h>

#include "base/memory.h"
#include "features/learn/primal_curve.h"
#include "features/learn/route.h"
#include "features/model/fitted.h"
#include "linalg/tiles.h"

static wt_status check(wt_context *context, const wt_model_spec *spec, const wt_sets *train,
                       const wt_sets *test, size_t columns, size_t targets, const size_t *sizes,
                       size_t count) {
    WT_PASS(wt_sets_check(context, train, "the training data"));
    WT_PASS(wt_model_check_sets(context, spec, "the training data", train));
    WT_PASS(wt_sets_check(context, test, "the test data"));
    WT_PASS(wt_model_check_sets(context, spec, "the test data", test));
    if (targets == 0 || columns == 0 || columns % targets != 0)
        return wt_fail(context, WT_USAGE, "%zu label columns cannot be shared by %zu targets",
                       columns, targets);
    if (count == 0)
        return wt_fail(context, WT_USAGE, "a learning curve needs one size or more");
    for (size_t s = 0; s < count; s++)
        if (sizes[s] == 0 || sizes[s] > train->samples || (s > 0 && sizes[s] <= sizes[s - 1])) {
            return wt_fail(context, WT_USAGE,
                           "sizes must increase from 1 to the %zu training samples; number %zu "
                           "is %zu",
                           train->samples, s, sizes[s]);
        }
    return WT_OK;
}

/* Mean square of prediction columns [from, from + q) of `all` against label columns [c, c + q). */
static double mean_square(const double *predicted, size_t all, size_t from, const double *y,
                          size_t columns, size_t c, size_t q, size_t samples) {
    double sum = 0;
    for (size_t i = 0; i < samples; i++)
        for (size_t o = 0; o < q; o++)
            sum += pow(predicted[i * all + from + o] - y[i * columns + c + o], 2);
    return sum / (double)(samples * q);
}

/* What a call is about. */
typedef struct {
    wt_context *context;
    wt_model model;
    wt_ridge_options ridge;
    const wt_sets *train, *test;
    const double *train_y, *test_y;
    size_t columns, targets;
    const size_t *sizes;
    size_t count;
    wt_curve_point *points; /* (targets, count) */
} question;

/* The points of the sizes of `dual`, which are those of the question from number `first` on. */
static wt_status fill(const question *ask, const wt_dual *dual, const wt_dual_answer *answer,
                      size_t first) {
    size_t columns = ask->columns, targets = ask->targets, q = columns / targets;
    size_t all = dual->count * columns;
    double *predicted = NULL;
    wt_status status;
    WT_TRY(WT_NEW2(ask->context, &predicted, ask->test->samples, all, "predictions"));
    WT_TRY(wt_dual_predict(ask->context, dual, answer, ask->test, predicted));
    for (size_t t = 0; t < targets; t++) {
        double test_variance = wt_variance(ask->test_y + t * q, ask->test->samples, q, columns);
        for (size_t s = 0; s < dual->count; s++) {
            double variance = wt_variance(ask->train_y + t * q, dual->sizes[s], q, columns);
            size_t at = s * targets + t;
            ask->points[t * ask->count + first + s] = (wt_curve_point){
                .n = dual->sizes[s],
                .lambda = answer->lambda[at],
                .test_error =
                    wt_over_variance(mean_square(predicted, all, s * columns + t * q, ask->test_y,
                                                 columns, t * q, q, ask->test->samples),
                                     test_variance),
                .train_error = wt_over_variance(answer->train[at], variance),
                .loo_error = wt_over_variance(answer->loo[at], variance),
                .lambda_at_end = answer->at_end[at],
            };
        }
    }
done:
    wt_release(predicted);
    return status;
}

/* Sizes first .. end-1, in one way. */
static wt_status solve(const question *ask, const wt_curve_plan *plan, bool primal, size_t first,
                       size_t end) {
    wt_dual_answer answer = {0};
    wt_sets used;
    wt_status status;
    if (first == end)
        return WT_OK;
    used = wt_sets_part(ask->train, 0, ask->sizes[end - 1]);
    wt_dual dual = {.model = &ask->model,
                    .train = &used,
                    .y = ask->train_y,
                    .columns = ask->columns,
                    .targets = ask->targets,
                    .sizes = ask->sizes + first,
                    .count = end - first,
                    .test = ask->test,
                    .test_y = ask->test_y};
    WT_TRY(primal ? wt_primal_curve(ask->context, &dual, &ask->ridge, plan->by_spectrum, &answer)
                  : wt_dual_solve(ask->context, &dual, &ask->ridge, &answer));
    WT_TRY(fill(ask, &dual, &answer, first));
done:
    wt_dual_free(&answer);
    return status;
}

wt_status wt_ridge_curve(wt_context *context, const wt_ridge_options *ridge,
                         const wt_model_spec *spec, const wt_sets *train, const double *train_y,
                         const wt_sets *test, const double *test_y, size_t columns, size_t targets,
                         const size_t *sizes, size_t count, wt_curve_point *points) {
    question ask = {.context = context,
                    .train = train,
                    .test = test,
                    .train_y = train_y,
                    .test_y = test_y,
                    .columns = columns,
                    .targets = targets,
                    .sizes = sizes,
                    .count = count,
                    .points = points};
    wt_model_spec kind;
    wt_curve_plan plan;
    wt_status status;
    WT_TRY(wt_model_spec_read(context, spec, &kind));
    WT_TRY(check(context, &kind, train, test, columns, targets, sizes, count));
    WT_TRY(wt_ridge_read(context, ridge, true, &ask.ridge));
    WT_TRY(wt_check_matrix(context, "the training labels", WT_WHOLE, train->samples, columns,
                           train_y, columns));
    WT_TRY(wt_check_matrix(context, "the test labels", WT_WHOLE, test->samples, columns, test_y,
                           columns));
    WT_TRY(wt_curve_plan_of(context, &ask.ridge, &kind, sizes, count, columns, &plan));
    WT_TRY(wt_curve_plan_refuse(context, &kind, &plan));
    WT_TRY(wt_model_draw(context, &kind, &ask.model));
    WT_TRY(solve(&ask, &plan, false, 0, plan.by_dual));
    WT_TRY(solve(&ask, &plan, true, plan.by_dual, count));
done:
    wt_model_free(&ask.model);
    return status;
}
