/* Finds how many samples a small network needs to learn an AND of two bits, at three lengths.
 * cc threshold.c $(pkg-config --cflags --libs wattle) -o threshold && ./threshold */
#include <stdio.h>
#include <stdlib.h>
#include <wattle/wattle.h>

static void must(wt_context *context, wt_status status) {
    if (status == WT_OK)
        return;
    fprintf(stderr, "threshold: %s\n", wt_context_message(context));
    exit(wt_status_exit_code(status));
}

int main(void) {
    wt_context *context;
    if (wt_context_new(&context) != WT_OK)
        return 1;

    /* Small, so that it is over in a second. */
    static const size_t lengths[] = {6, 8, 10};
    wt_train_spec train;
    wt_threshold_spec setting;
    WT_INIT(wt_train_spec, &train);
    WT_INIT(wt_threshold_spec, &setting);
    setting.train = &train;
    setting.lengths = lengths;
    setting.length_count = 3;
    setting.low = 4;
    setting.high = 100;
    setting.resolution = 4;
    setting.trials = 20;
    train.task = "and:2";
    train.model = "mlp";
    train.hidden = 12;
    train.rate = 1e-2;
    train.steps = 100;
    train.validation_samples = 500;
    train.success = 0.95;
    setting.seed = 1;

    /* A file in place of NULL would keep the trials, and go on from those it has. */
    wt_threshold *threshold;
    must(context, wt_threshold_open(context, &setting, NULL, &threshold));
    must(context, wt_threshold_run(context, threshold));

    wt_threshold_summary summary = WT_SIZED(wt_threshold_summary);
    must(context, wt_threshold_summarise(context, threshold, &summary));
    for (size_t i = 0; i < summary.point_count; i++)
        printf("length %zu: fitted m %.1f, between %.1f and %.1f\n", summary.points[i].length,
               summary.points[i].fitted.value, summary.points[i].fitted.low,
               summary.points[i].fitted.high);
    for (size_t g = 0; g < WT_THRESHOLD_GROWTHS && summary.fitted_points >= 3; g++)
        printf("%s: slope %.2f, AIC %.1f\n", wt_growth_name(summary.fits[g].growth),
               summary.fits[g].fit.slope.value, summary.fits[g].fit.aic);

    wt_threshold_summary_free(&summary);
    wt_threshold_free(threshold);
    wt_context_free(context);
    return 0;
}
