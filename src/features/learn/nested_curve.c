#include <math.h>

#include "base/memory.h"
#include "features/learn/dual.h"
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

wt_status wt_ridge_curve(wt_context *context, const wt_ridge_options *ridge,
                         const wt_model_spec *spec, const wt_sets *train, const double *train_y,
                         const wt_sets *test, const double *test_y, size_t columns, size_t targets,
                         const size_t *sizes, size_t count, wt_curve_point *points) {
    wt_model model = {0};
    wt_model_spec kind;
    wt_ridge_options settings;
    wt_dual_answer answer = {0};
    double *predicted = NULL;
    size_t all = count * columns, q = columns / (targets == 0 ? 1 : targets);
    wt_sets used = count > 0 ? wt_sets_part(train, 0, sizes[count - 1]) : *train;
    wt_dual dual = {.model = &model,
                    .train = &used,
                    .y = train_y,
                    .columns = columns,
                    .targets = targets,
                    .sizes = sizes,
                    .count = count,
                    .test = test,
                    .test_y = test_y};
    wt_status status;
    WT_TRY(wt_model_spec_read(context, spec, &kind));
    WT_TRY(check(context, &kind, train, test, columns, targets, sizes, count));
    WT_TRY(wt_ridge_read(context, ridge, true, &settings));
    WT_TRY(wt_check_matrix(context, "the training labels", WT_WHOLE, train->samples, columns,
                           train_y, columns));
    WT_TRY(wt_check_matrix(context, "the test labels", WT_WHOLE, test->samples, columns, test_y,
                           columns));
    WT_TRY(wt_model_draw(context, &kind, &model));
    WT_TRY(wt_dual_solve(context, &dual, &settings, &answer));
    WT_TRY(WT_NEW2(context, &predicted, test->samples, all, "predictions"));
    WT_TRY(wt_dual_predict(context, &dual, &answer, test, predicted));
    for (size_t t = 0; t < targets; t++) {
        double test_variance = wt_variance(test_y + t * q, test->samples, q, columns);
        for (size_t s = 0; s < count; s++) {
            double variance = wt_variance(train_y + t * q, sizes[s], q, columns);
            size_t at = s * targets + t;
            points[t * count + s] = (wt_curve_point){
                .n = sizes[s],
                .lambda = answer.lambda[at],
                .test_error =
                    wt_over_variance(mean_square(predicted, all, s * columns + t * q, test_y,
                                                 columns, t * q, q, test->samples),
                                     test_variance),
                .train_error = wt_over_variance(answer.train[at], variance),
                .loo_error = wt_over_variance(answer.loo[at], variance),
                .lambda_at_end = answer.at_end[at],
            };
        }
    }
done:
    wt_model_free(&model);
    wt_dual_free(&answer);
    wt_release(predicted);
    return status;
}
