/* `wattle bench curve`: one repetition of the paper's learning curve as reconstructed (d = N = 16,
 * M = 1000), step by step, beside the machine's own GEMM rate. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "bench.h"
#include "features/learn/mixed.h"
#include "features/model/fitted.h"
#include "features/model/kernel.h"
#include "io/output.h"
#include "linalg/linalg.h"
#include "set_options.h"
#include "wattle/io.h"

enum { DIM = 16, KEYS = 16, HEADS = 1000, TEST = 1000, FIRST_SIZE = 16, MOST_SIZES = 32 };
enum { GEMM_SIDE = 1536 };
#define LAMBDA 1e-6 /* what 1e-3 is to a script that does not divide the kernel by M */

typedef struct {
    double draw, gram, factor, correct, test, total; /* seconds */
} timing;

typedef struct {
    cli_call *call;
    const cli_bench_values *given;
    wt_problem *problem;
    wt_model model;
    wt_sets *train, *test;
    size_t sizes[MOST_SIZES], count, features;
    double *alpha, *v, *predicted; /* (n, sizes), (features, sizes), (test, sizes) */
    double error[MOST_SIZES];
    wt_mixed_result mixed;
    timing best;
    double kernel_seconds, gemm, gemm_float; /* of rfa-inf's Gram matrix; flops a second */
} job;

/* Drawn anew each time, as a script would. */
static wt_status draw(job *work) {
    wt_context *context = work->call->context;
    wt_model_spec spec = {.size = sizeof(wt_model_spec),
                          .kind = WT_MODEL_KIND_RFA,
                          .heads = HEADS,
                          .dim = DIM,
                          .keys = KEYS};
    spec.seed = work->call->common.seed;
    wt_sets_free(work->train);
    wt_sets_free(work->test);
    work->train = work->test = NULL;
    wt_model_free(&work->model);
    WT_PASS(cli_problem_draw(work->call, work->problem, 0, work->given->n, &work->train));
    WT_PASS(cli_problem_draw(work->call, work->problem, WT_PROBLEM_FIRST_TEST, TEST, &work->test));
    return wt_model_draw(context, &spec, &work->model);
}

static void score(job *work) {
    double variance = wt_variance(work->test->y, TEST, 1, 1);
    for (size_t s = 0; s < work->count; s++) {
        double sum = 0;
        for (size_t i = 0; i < TEST; i++)
            sum += pow(work->predicted[i * work->count + s] - work->test->y[i], 2);
        work->error[s] = sum / TEST / variance;
    }
}

static wt_status run_once(job *work) {
    wt_context *context = work->call->context;
    const wt_features *features = &work->model.features;
    double began = wt_clock();
    timing now = {0};
    WT_PASS(draw(work));
    now.draw = wt_clock() - began;
    WT_PASS(wt_mixed_solve(context, features, work->train, LAMBDA, work->sizes, work->count, 1,
                           work->train->y, work->alpha, work->v, &work->mixed));
    if (!work->mixed.converged)
        return wt_fail(context, WT_INTERNAL, "the corrections did not converge: residual %g",
                       work->mixed.residual);
    double before_test = wt_clock();
    WT_PASS(
        wt_features_apply(context, features, work->test, work->count, work->v, work->predicted));
    score(work);
    now.gram = work->mixed.seconds_gram;
    now.factor = work->mixed.seconds_factor;
    now.correct = work->mixed.seconds_correct;
    now.test = wt_clock() - before_test;
    now.total = wt_clock() - began;
    if (now.total < work->best.total)
        work->best = now;
    return WT_OK;
}

/* The Gram matrix of infinitely many heads over the same samples. */
static wt_status time_kernel(job *work) {
    wt_model_spec spec = {
        .size = sizeof(wt_model_spec), .kind = WT_MODEL_KIND_RFA_INF, .dim = DIM, .keys = KEYS};
    size_t n = work->given->n;
    double *k = NULL, began;
    wt_status status;
    WT_TRY(WT_NEW(work->call->context, &k, n * n, "the kernel matrix"));
    began = wt_clock();
    WT_TRY(wt_kernel_gram(work->call->context, &spec, work->train, k, n));
    work->kernel_seconds = fmin(work->kernel_seconds, wt_clock() - began);
done:
    wt_release(k);
    return status;
}

/* Flops a second of our GEMM on all threads, in double and in float. */
static wt_status time_gemm(job *work) {
    wt_context *context = work->call->context;
    size_t side = GEMM_SIDE;
    double *a = NULL, *c = NULL, flops = 2.0 * GEMM_SIDE * GEMM_SIDE * GEMM_SIDE;
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, &a, side * side, "matrices to measure with"));
    WT_TRY(WT_NEW_ZERO(context, &c, side * side, "matrices to measure with"));
    double start = wt_clock();
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, side, side, side, 1, a, side, a, side, 0, c, side));
    work->gemm = fmax(work->gemm, flops / (wt_clock() - start));
    start = wt_clock();
    WT_TRY(wt_gemm_float(context, WT_PLAIN, WT_PLAIN, side, side, side, 1, (float *)a, side,
                         (float *)a, side, 0, (float *)c, side));
    work->gemm_float = fmax(work->gemm_float, flops / (wt_clock() - start));
done:
    wt_release(a);
    wt_release(c);
    return status;
}

/* What each step computes at the least, and in which precision. */
typedef struct {
    const char *name;
    double seconds, flops;
    bool is_float;
} step;

static size_t fill_steps(const job *work, step out[5]) {
    double n = (double)work->given->n, f = (double)work->features, w = DIM + 1;
    /* Q, S and phi of every head: see features_block.c */
    double features = 2 * HEADS * (w * w + 2 * KEYS * w);
    double samples = 0; /* of all sizes */
    for (size_t s = 0; s < work->count; s++)
        samples += (double)work->sizes[s];
    double corrections = 4 * (double)work->mixed.steps * f * samples;
    const step steps[] = {
        {"draw", work->best.draw, 0, false},
        {"gram (float)", work->best.gram, n * n * f + n * features, true},
        {"factor (float)", work->best.factor, n * n * n / 3, true},
        {"corrections", work->best.correct, corrections, false},
        {"test", work->best.test, TEST * (features + 2 * f * (double)work->count), false},
    };
    memcpy(out, steps, sizeof steps);
    return sizeof steps / sizeof *steps;
}

static void print_table(const job *work) {
    step steps[5];
    size_t count = fill_steps(work, steps);
    printf("One repetition of the learning curve of rfa on mean-power:2: d = N = 16, M = 1000,\n"
           "n = 16 .. %zu (%zu sizes), %d test samples, lambda 1e-6, %d threads; best of %zu.\n"
           "GEMM on all threads, in the same run: %.1f GFLOP/s double, %.1f float.\n\n",
           work->given->n, work->count, TEST, wt_context_threads(work->call->context),
           work->given->repeats, 1e-9 * work->gemm, 1e-9 * work->gemm_float);
    cli_print("%-16s %9s %9s %9s %10s\n", "step", "seconds", "GFLOP", "GFLOP/s", "of GEMM");
    for (size_t i = 0; i < count; i++) {
        double rate = steps[i].flops / steps[i].seconds;
        cli_print("%-16s %9.3f", steps[i].name, steps[i].seconds);
        if (steps[i].flops > 0)
            printf(" %9.1f %9.1f %9.0f%%", 1e-9 * steps[i].flops, 1e-9 * rate,
                   100 * rate / (steps[i].is_float ? work->gemm_float : work->gemm));
        putchar('\n');
    }
    cli_print("%-16s %9.3f\n\n", "total", work->best.total);
    printf("%zu corrections leave a residual of %.1e.\n", work->mixed.steps, work->mixed.residual);
    printf("Gram matrix of rfa-inf: %.3f s, %.2f times that of M = 1000.\n", work->kernel_seconds,
           work->kernel_seconds / work->best.gram);
}

static wt_status print_json(const job *work) {
    step steps[5];
    size_t count = fill_steps(work, steps);
    json_t *list = json_array(), *errors = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s, s:f, s:f, s:b}", "step", steps[i].name,
                                              "seconds", steps[i].seconds, "flops", steps[i].flops,
                                              "float", steps[i].is_float));
    for (size_t s = 0; s < work->count; s++)
        json_array_append_new(errors, json_pack("{s:I, s:f}", "n", (json_int_t)work->sizes[s],
                                                "test_error", work->error[s]));
    return cli_emit_json(
        work->call, json_pack("{s:i, s:f, s:f, s:f, s:f, s:I, s:f, s:o, s:o}", "threads",
                              wt_context_threads(work->call->context), "seconds", work->best.total,
                              "gemm_gflops", 1e-9 * work->gemm, "gemm_float_gflops",
                              1e-9 * work->gemm_float, "rfa_inf_gram_seconds", work->kernel_seconds,
                              "corrections", (json_int_t)work->mixed.steps, "residual",
                              work->mixed.residual, "steps", list, "curve", errors));
}

/* Everything another program needs to repeat the job: train and test samples in one, the weights,
 * and our test errors. */
static wt_status export_data(const job *work, const char *path) {
    size_t n = work->given->n + TEST, side = DIM + 1;
    wt_sets all = {0};
    wt_status status;
    WT_TRY(wt_sets_open(work->call->context, n, KEYS, DIM, 1, false, &all));
    const wt_sets *parts[] = {work->train, work->test};
    for (size_t p = 0, at = 0; p < 2; at += parts[p++]->samples) {
        wt_sets to = wt_sets_part(&all, at, at + parts[p]->samples);
        memcpy(to.query, parts[p]->query, to.samples * DIM * sizeof *to.query);
        memcpy(to.key, parts[p]->key, to.samples * KEYS * DIM * sizeof *to.key);
        memcpy(to.y, parts[p]->y, to.samples * sizeof *to.y);
    }
    const wt_tensor tensors[] = {
        {.name = "query", .rank = 2, .shape = {n, DIM}, .values = all.query},
        {.name = "keys", .rank = 3, .shape = {n, KEYS, DIM}, .values = all.key},
        {.name = "y", .rank = 1, .shape = {n}, .values = all.y},
        {.name = "W",
         .rank = 3,
         .shape = {HEADS, side, side},
         .values = work->model.features.weights},
        {.name = "test_error", .rank = 1, .shape = {work->count}, .values = work->error},
    };
    WT_TRY(wt_npz_write(work->call->context, path, tensors, sizeof tensors / sizeof *tensors));
done:
    wt_sets_close(&all);
    return status;
}

static wt_status prepare(job *work) {
    wt_context *context = work->call->context;
    size_t n = work->given->n;
    wt_problem_spec spec = {.size = sizeof(wt_problem_spec),
                            .target = "mean-power:2",
                            .law = WT_LAW_SPHERE,
                            .dim = DIM,
                            .keys = KEYS};
    if (n < FIRST_SIZE)
        return wt_fail(context, WT_USAGE, "--n must be %d or more for this bench", FIRST_SIZE);
    for (size_t size = FIRST_SIZE; size <= n && work->count < MOST_SIZES; size *= 2)
        work->sizes[work->count++] = size;
    work->features = HEADS * (DIM + 1);
    spec.seed = work->call->common.seed;
    WT_PASS(wt_problem_new(context, &spec, &work->problem));
    WT_PASS(WT_NEW(context, &work->alpha, n * work->count, "dual weights"));
    WT_PASS(WT_NEW(context, &work->v, work->features * work->count, "value vectors"));
    return WT_NEW(context, &work->predicted, TEST * work->count, "predictions");
}

wt_status cli_bench_curve(cli_call *call, const cli_bench_values *given) {
    job work = {
        .call = call, .given = given, .best = {.total = INFINITY}, .kernel_seconds = INFINITY};
    wt_status status;
    WT_TRY(prepare(&work));
    wt_meter meter = wt_meter_start(call->context, "runs", (double)given->repeats);
    for (size_t r = 0; r < given->repeats; r++) {
        wt_meter_enter(&meter, "curves");
        WT_TRY(run_once(&work));
        wt_meter_enter(&meter, "kernel matrix");
        WT_TRY(time_kernel(&work));
        wt_meter_enter(&meter, "GEMM");
        WT_TRY(time_gemm(&work));
        wt_meter_set(&meter, (double)(r + 1));
    }
    if (given->export != NULL)
        WT_TRY(export_data(&work, given->export));
    if (call->common.json)
        WT_TRY(print_json(&work));
    else
        print_table(&work);
done:
    wt_problem_free(work.problem);
    wt_model_free(&work.model);
    wt_sets_free(work.train);
    wt_sets_free(work.test);
    wt_release(work.alpha);
    wt_release(work.v);
    wt_release(work.predicted);
    return status;
}
