/* Fits random-feature attention to a drawn problem and predicts.
 * cc fit.c $(pkg-config --cflags --libs wattle) -o fit && ./fit */
#include <stdio.h>
#include <stdlib.h>
#include <wattle/wattle.h>

static void must(wt_context *context, wt_status status) {
    if (status == WT_OK)
        return;
    fprintf(stderr, "fit: %s\n", wt_context_message(context));
    exit(wt_status_exit_code(status));
}

int main(void) {
    wt_context *context;
    if (wt_context_new(&context) != WT_OK)
        return 1;

    /* 400 sets of 8 key tokens in 8 dimensions; the label is the mean of <beta, x_i>^2. */
    wt_problem_spec about;
    wt_problem *problem;
    wt_sets *train, *test;
    WT_INIT(wt_problem_spec, &about);
    about.target = "mean-power:2";
    about.dim = about.keys = 8;
    about.seed = 1;
    must(context, wt_problem_new(context, &about, &problem));
    must(context, wt_sets_new(context, 400, 8, 8, 1, false, &train));
    must(context, wt_sets_new(context, 200, 8, 8, 1, false, &test));
    must(context, wt_problem_draw(context, problem, 0, train));
    must(context, wt_problem_draw(context, problem, 400, test));

    /* 200 heads with frozen weights; lambda by leave-one-out. */
    wt_model_spec model;
    wt_ridge_options ridge;
    wt_fitted *fitted;
    wt_fit_report report = WT_SIZED(wt_fit_report);
    WT_INIT(wt_model_spec, &model);
    model.kind = WT_MODEL_KIND_RFA;
    model.heads = 200;
    model.dim = model.keys = 8;
    model.seed = 1;
    WT_INIT(wt_ridge_options, &ridge);
    ridge.rule = WT_LAMBDA_LOO;
    must(context, wt_ridge_fit(context, &ridge, &model, train, test, &fitted, &report));
    printf("lambda %g: leave-one-out error %.3f, test error %.3f\n", report.lambda,
           report.loo_error, report.test_error);

    double predicted[200];
    must(context, wt_fitted_predict(context, fitted, test, predicted));
    printf("first test label %.4f, predicted %.4f\n", wt_sets_y(test)[0], predicted[0]);

    wt_fitted_free(fitted);
    wt_sets_free(train);
    wt_sets_free(test);
    wt_problem_free(problem);
    wt_context_free(context);
    return 0;
}
