/* A repetition of the published learning curve as the command runs it, on any device: drawing,
 * fitting and predicting, alone and among several. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "wattle/curve.h"
#include "wattle/device.h"
#include "wattle/memory.h"

enum { BESIDE = 16 }; /* repetitions, some side by side */

/* Seconds of `reps` repetitions, and the error of the last point. */
static wt_status run_curve(cli_call *call, size_t n, size_t reps, uint64_t seed, double *seconds,
                           double *error) {
    wt_curve_options options;
    wt_curves *curves = NULL;
    wt_status status;
    char sizes[32];
    WT_INIT(wt_curve_options, &options);
    snprintf(sizes, sizeof sizes, "16:%zu:x2", n);
    options.kind = "rfa";
    options.heads = "1000";
    options.target = "mean-power:2";
    options.dim = options.keys = "16";
    options.n = sizes;
    options.reps = reps;
    options.test_samples = 1000;
    options.lambda = (wt_value){.number = 1e-3};
    options.seed = seed;
    double began = wt_clock();
    WT_TRY(wt_curves_run(call->context, &options, &curves));
    *seconds = (wt_clock() - began) / (double)reps;
    *error = wt_curves_point_at(curves, 0, reps - 1, wt_curves_size_count(curves) - 1)->test_error;
done:
    wt_curves_free(curves);
    return status;
}

static int compare(const void *a, const void *b) {
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

/* The median after a warm-up. */
static wt_status measure(cli_call *call, const cli_bench_values *values, size_t reps,
                         double *seconds, double *error) {
    double *all = NULL, ignored;
    wt_status status;
    WT_TRY(WT_NEW(call->context, &all, values->repeats, "measurements"));
    WT_TRY(run_curve(call, values->n, reps, 0, &ignored, error));
    for (size_t i = 0; i < values->repeats; i++)
        WT_TRY(run_curve(call, values->n, reps, 1 + i, &all[i], error));
    qsort(all, values->repeats, sizeof *all, compare);
    *seconds = all[values->repeats / 2];
done:
    wt_release(all);
    return status;
}

wt_status cli_bench_device(cli_call *call, const cli_bench_values *values) {
    double alone, beside, error, ignored;
    wt_device_info info = WT_SIZED(wt_device_info);
    WT_PASS(measure(call, values, 1, &alone, &error));
    WT_PASS(measure(call, values, BESIDE, &beside, &ignored));
    WT_PASS(wt_context_device_info(call->context, &info));
    if (call->common.json)
        return cli_emit(call,
                        "device:s product:s threads:u n:u seconds:r seconds_beside:r "
                        "test_error:r device_bytes:u",
                        info.name, info.product, (size_t)wt_context_threads(call->context),
                        values->n, alone, beside, error, info.peak);
    cli_print(
        "A repetition of the learning curve of rfa on mean-power:2 on %s%s%s: d = N = 16,\n"
        "M = 1000, n = 16 .. %zu, 1000 test samples, lambda 1e-3, %d threads; median of %zu.\n\n",
        info.name, info.product[0] != '\0' ? ", " : "", info.product, values->n,
        wt_context_threads(call->context), values->repeats);
    cli_print("%-34s %9.2f ms\n", "alone", 1e3 * alone);
    cli_print("%-34s %9.2f ms\n", "each of 16", 1e3 * beside);
    return WT_OK;
}
