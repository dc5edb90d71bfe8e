/* `wattle bench recover`: refine on random teachers, beside the GEMM rate and beside Adam. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "bench.h"
#include "layer/learn/recovery.h"
#include "linalg/linalg.h"
#include "wattle/recover.h"

enum { GEMM_SIDE = 1024, ADAM_STEPS = 2000, ADAM_LARGEST_DIM = 16 };

/* Boolean sequences, p = d; n is 5 N_min, or the 100 of the published prototype. */
static const struct {
    size_t heads, dim, length, n;
} cases[] = {{2, 8, 4, 40}, {4, 16, 8, 100}, {4, 32, 8, 160}, {4, 64, 8, 366}};
enum { CASES = sizeof cases / sizeof *cases };

typedef struct {
    double seconds, flops, theta_error, least;
    size_t steps, products, starts;
    double adam_seconds, adam_error; /* NaN where it was not run */
    bool done;
} row;

typedef struct {
    cli_call *call;
    const cli_bench_values *given;
    double gemm_float;
    row rows[CASES];
} job;

static wt_status time_gemm(job *work) {
    wt_context *context = work->call->context;
    size_t side = GEMM_SIDE;
    float *a = NULL, *c = NULL;
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, &a, side * side, "matrices to measure with"));
    WT_TRY(WT_NEW_ZERO(context, &c, side * side, "matrices to measure with"));
    /* the first touches the memory */
    for (int turn = 0; turn < 4; turn++) {
        double start = wt_clock();
        WT_TRY(wt_gemm_float(context, WT_PLAIN, WT_PLAIN, side, side, side, 1, a, side, a, side, 0,
                             c, side));
        work->gemm_float =
            fmax(work->gemm_float, 2.0 * GEMM_SIDE * GEMM_SIDE * GEMM_SIDE / (wt_clock() - start));
    }
done:
    wt_release(a);
    wt_release(c);
    return status;
}

static wt_status run_refine(job *work, size_t index, const wt_layer *teacher,
                            const wt_sequences *data, const wt_recover_options *options) {
    wt_context *context = work->call->context;
    row *to = &work->rows[index];
    wt_layer *layer = NULL;
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_comparison comparison = WT_SIZED(wt_comparison);
    wt_compare_options compare_as;
    wt_status status;
    WT_INIT(wt_compare_options, &compare_as);
    WT_TRY(wt_refine(context, data, options, &layer, &report));
    WT_TRY(wt_layer_compare(context, teacher, layer, &compare_as, &comparison));
    if (to->done && report.seconds >= to->seconds)
        goto done;
    to->seconds = report.seconds;
    to->flops = report.flops;
    to->steps = report.steps;
    to->products = report.products;
    to->starts = report.starts;
    to->least = report.least_examples;
    to->theta_error = comparison.theta_error;
    to->done = true;
done:
    wt_layer_free(layer);
    wt_comparison_free(&comparison);
    return status;
}

/* One start of Adam on the same data; its held-out error after ADAM_STEPS tuned steps. */
static wt_status run_adam(job *work, size_t index, const wt_sequences *data,
                          wt_recover_options options) {
    wt_layer *layer = NULL;
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_status status;
    options.restarts = 1;
    options.max_steps = ADAM_STEPS;
    WT_TRY(wt_adam(work->call->context, data, &options, &layer, &report));
    work->rows[index].adam_seconds = report.seconds;
    work->rows[index].adam_error = report.holdout_error;
done:
    wt_layer_free(layer);
    return status;
}

static wt_status run_case(job *work, size_t index, bool first) {
    wt_context *context = work->call->context;
    uint64_t seed = work->call->common.seed;
    size_t d = cases[index].dim;
    const wt_teacher_options made_as = {
        .size = sizeof made_as, .heads = cases[index].heads, .dim = d, .scale = 2, .seed = seed};
    wt_recover_options options;
    wt_layer *teacher = NULL;
    wt_sequences *data = NULL;
    wt_status status;
    WT_INIT(wt_recover_options, &options);
    options.heads = cases[index].heads;
    options.seed = seed;
    WT_TRY(wt_layer_teacher(context, &made_as, &teacher));
    WT_TRY(wt_sequences_new(context, cases[index].n, cases[index].length, d, d, &data));
    WT_TRY(wt_layer_draw(context, teacher, WT_LAW_BOOLEAN, 1, 0, seed, 0, data));
    WT_TRY(run_refine(work, index, teacher, data, &options));
    if (first)
        work->rows[index].adam_seconds = work->rows[index].adam_error = NAN;
    if (first && d <= ADAM_LARGEST_DIM)
        WT_TRY(run_adam(work, index, data, options));
done:
    wt_layer_free(teacher);
    wt_sequences_free(data);
    return status;
}

static void print_table(const job *work) {
    printf("refine on Boolean sequences of random teachers, p = d, %d threads; best of %zu.\n"
           "Products are float: GEMM in float on all threads, in the same run, %.1f GFLOP/s.\n"
           "adam: held-out error after %d steps of one start on the same data.\n\n",
           wt_context_threads(work->call->context), work->given->repeats, 1e-9 * work->gemm_float,
           ADAM_STEPS);
    cli_print("%3s %3s %3s %5s %6s %9s %6s %9s %9s %8s %12s %9s %9s\n", "d", "m", "k", "n",
              "/N_min", "seconds", "steps", "products", "GFLOP/s", "of GEMM", "theta error",
              "adam s", "adam err");
    for (size_t i = 0; i < CASES; i++) {
        const row *at = &work->rows[i];
        if (!at->done)
            continue;
        double rate = at->flops / at->seconds;
        printf("%3zu %3zu %3zu %5zu %6.1f %9.3f %6zu %9zu %9.1f %7.0f%% %12.1e", cases[i].dim,
               cases[i].heads, cases[i].length, cases[i].n, (double)cases[i].n / at->least,
               at->seconds, at->steps, at->products, 1e-9 * rate, 100 * rate / work->gemm_float,
               at->theta_error);
        if (isnan(at->adam_seconds))
            cli_print(" %9s %9s\n", "-", "-");
        else
            printf(" %9.3f %9.2e\n", at->adam_seconds, at->adam_error);
    }
}

static wt_status print_json(const job *work) {
    json_t *list = json_array();
    for (size_t i = 0; i < CASES; i++) {
        const row *at = &work->rows[i];
        if (!at->done)
            continue;
        json_array_append_new(
            list,
            json_pack("{s:I, s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:f, s:o, s:o, s:o}", "dim",
                      (json_int_t)cases[i].dim, "heads", (json_int_t)cases[i].heads, "length",
                      (json_int_t)cases[i].length, "examples", (json_int_t)cases[i].n,
                      "least_examples", at->least, "seconds", at->seconds, "steps",
                      (json_int_t)at->steps, "products", (json_int_t)at->products, "gflops",
                      1e-9 * at->flops / at->seconds, "theta_error", cli_json_real(at->theta_error),
                      "adam_seconds", cli_json_real(at->adam_seconds), "adam_error",
                      cli_json_real(at->adam_error)));
    }
    return cli_emit_json(
        work->call, json_pack("{s:i, s:f, s:o}", "threads", wt_context_threads(work->call->context),
                              "gemm_float_gflops", 1e-9 * work->gemm_float, "cases", list));
}

wt_status cli_bench_recover(cli_call *call, const cli_bench_values *given) {
    job work = {.call = call, .given = given};
    char words[64];
    wt_meter meter = wt_meter_start(call->context, "layers", (double)(given->repeats * CASES));
    for (size_t r = 0; r < given->repeats; r++) {
        wt_meter_enter(&meter, "GEMM");
        WT_PASS(time_gemm(&work));
        for (size_t i = 0; i < CASES; i++) {
            snprintf(words, sizeof words, "d = %zu, m = %zu", cases[i].dim, cases[i].heads);
            wt_meter_enter(&meter, words);
            if (cases[i].dim <= given->n)
                WT_PASS(run_case(&work, i, r == 0));
            wt_meter_set(&meter, (double)(r * CASES + i + 1));
        }
    }
    if (call->common.json)
        WT_PASS(print_json(&work));
    else
        print_table(&work);
    return WT_OK;
}
