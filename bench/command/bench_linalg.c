/* `wattle bench linalg`: our operations, their one-thread peers, and the two limits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "bench.h"
#include "bench_linalg.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

/* ---- measuring ------------------------------------------------------------------------------- */

typedef struct {
    double ours, single; /* seconds, the best of all runs */
} timing;

static wt_status time_once(cli_bench_matrices *on, const cli_bench_operation *of, timing *best) {
    if (of->restore != NULL)
        of->restore(on);
    double start = wt_clock();
    WT_PASS(of->ours(on));
    best->ours = fmin(best->ours, wt_clock() - start);
    if (of->single == NULL)
        return WT_OK;
    if (of->restore != NULL)
        of->restore(on);
    start = wt_clock();
    of->single(on);
    best->single = fmin(best->single, wt_clock() - start);
    return WT_OK;
}

typedef struct {
    double *to;
    const double *from;
} copying;

static wt_status copy_chunk(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const copying *job = argument;
    memcpy(job->to + begin, job->from + begin, (end - begin) * sizeof *job->to);
    return WT_OK;
}

/* Bytes read and written a second when all threads copy a matrix. */
static wt_status copy_rate(cli_bench_matrices *on, size_t repeats, double *rate) {
    copying job = {on->work, on->a};
    double best = INFINITY;
    for (size_t r = 0; r < repeats; r++) {
        double start = wt_clock();
        WT_PASS(wt_parallel_for(on->context, on->n * on->n, 1 << 18, copy_chunk, &job));
        best = fmin(best, wt_clock() - start);
    }
    *rate = 2 * sizeof(double) * (double)on->n * (double)on->n / best;
    return WT_OK;
}

static wt_status set_up(cli_bench_matrices *on) {
    size_t elements = on->n * on->n;
    on->blas = (wt_blas)WT_SIZED(wt_blas);
    WT_PASS(wt_blas_open(on->context, &on->blas));
    WT_PASS(wt_backend_open(on->context, &on->backend));
    WT_PASS(WT_NEW(on->context, &on->a, elements, "matrices to measure with"));
    WT_PASS(WT_NEW_ZERO(on->context, &on->definite, elements, "matrices to measure with"));
    WT_PASS(WT_NEW(on->context, &on->factor, elements, "matrices to measure with"));
    WT_PASS(WT_NEW_ZERO(on->context, &on->work, elements, "matrices to measure with"));
    WT_PASS(WT_NEW(on->context, &on->values, on->n, "matrices to measure with"));
    WT_PASS(WT_NEW(on->context, &on->a_float, elements, "matrices to measure with"));
    WT_PASS(WT_NEW_ZERO(on->context, &on->work_float, elements, "matrices to measure with"));
    wt_random_normal(wt_stream_for(0, "bench", 0), 0, elements, on->a);
    for (size_t i = 0; i < elements; i++)
        on->a_float[i] = (float)on->a[i];
    WT_PASS(wt_gram(on->context, WT_PLAIN, on->n, on->n, on->a, on->n, 0, on->definite, on->n));
    for (size_t i = 0; i < on->n; i++)
        on->definite[i * on->n + i] += (double)on->n;
    cli_bench_restore(on);
    WT_PASS(cli_bench_cholesky(on));
    memcpy(on->factor, on->work, elements * sizeof *on->work);
    return WT_OK;
}

static void tear_down(cli_bench_matrices *on) {
    wt_release(on->a);
    wt_release(on->definite);
    wt_release(on->factor);
    wt_release(on->work);
    wt_release(on->values);
    wt_release(on->a_float);
    wt_release(on->work_float);
}

/* ---- the report ------------------------------------------------------------------------------ */

typedef struct {
    double copy;    /* bytes a second */
    double gemm[2]; /* flops a second on one thread: double, float */
    timing best[CLI_BENCH_OPERATIONS];
} findings;

static double rate(double flops, double seconds) {
    return 1e-9 * flops / seconds;
}

static double bytes_of(const cli_bench_operation *of, cli_bench_cost c) {
    return c.elements * (double)(of->is_float ? sizeof(float) : sizeof(double));
}

/* What bounds the operation from below: its flops at the GEMM rate of all threads or its bytes. */
static const char *limit_of(const cli_bench_matrices *on, const findings *found,
                            const cli_bench_operation *of) {
    cli_bench_cost c = of->cost(on);
    double compute = c.flops / (wt_context_threads(on->context) * found->gemm[of->is_float]);
    return bytes_of(of, c) / found->copy > compute ? "bytes" : "flops";
}

static void print_table(const cli_bench_matrices *on, const findings *found) {
    int threads = wt_context_threads(on->context);
    char cpu[WT_PROCESSOR_TEXT];
    cli_print("%s, %d threads, %s; n = %zu\n", wt_machine_processor(cpu), threads, on->blas.config,
              on->n);
    printf("one thread: GEMM %.1f GFLOP/s in double, %.1f in float; copying memory %.1f GB/s\n\n",
           1e-9 * found->gemm[0], 1e-9 * found->gemm[1], 1e-9 * found->copy);
    cli_print("%-20s %9s %9s %10s %11s %11s %9s %9s  %s\n", "operation", "seconds", "GFLOP/s",
              "one thread", "of T x one", "of T x GEMM", "GFLOP", "MB", "limit");
    for (size_t i = 0; i < CLI_BENCH_OPERATIONS; i++) {
        const cli_bench_operation *of = &cli_bench_operations[i];
        const timing *best = &found->best[i];
        cli_bench_cost c = of->cost(on);
        cli_print("%-20s %9.4f %9.1f ", of->name, best->ours, rate(c.flops, best->ours));
        if (of->single != NULL)
            printf("%10.1f %10.1f%% ", rate(c.flops, best->single),
                   100 * best->single / best->ours / threads);
        else
            cli_print("%10s %11s ", "-", "-");
        cli_print("%10.1f%% %9.2f %9.1f  %s\n",
                  100 * c.flops / best->ours / threads / found->gemm[of->is_float], 1e-9 * c.flops,
                  1e-6 * bytes_of(of, c), limit_of(on, found, of));
    }
}

static json_t *operation_json(const cli_bench_matrices *on, const findings *found, size_t index) {
    const cli_bench_operation *of = &cli_bench_operations[index];
    const timing *best = &found->best[index];
    cli_bench_cost c = of->cost(on);
    int threads = wt_context_threads(on->context);
    bool peer = of->single != NULL;
    return json_pack(
        "{s:s, s:f, s:f, s:o, s:o, s:f, s:f, s:f, s:s}", "operation", of->name, "seconds",
        best->ours, "gflops", rate(c.flops, best->ours), "one_thread_gflops",
        peer ? cli_json_real(rate(c.flops, best->single)) : json_null(), "of_one_thread",
        peer ? cli_json_real(best->single / best->ours / threads) : json_null(), "of_gemm",
        c.flops / best->ours / threads / found->gemm[of->is_float], "flops", c.flops, "bytes",
        bytes_of(of, c), "limit", limit_of(on, found, of));
}

static wt_status print_json(cli_call *call, const cli_bench_matrices *on, const findings *found) {
    char cpu[WT_PROCESSOR_TEXT];
    json_t *list = json_array();
    for (size_t i = 0; i < CLI_BENCH_OPERATIONS; i++)
        json_array_append_new(list, operation_json(on, found, i));
    return cli_emit_json(
        call,
        json_pack("{s:s, s:s, s:s, s:i, s:I, s:f, s:f, s:f, s:o}", "bench", "linalg", "cpu",
                  wt_machine_processor(cpu), "blas", on->blas.config, "threads",
                  wt_context_threads(on->context), "n", (json_int_t)on->n, "one_thread_gemm_gflops",
                  1e-9 * found->gemm[0], "one_thread_gemm_float_gflops", 1e-9 * found->gemm[1],
                  "copy_gbytes_per_second", 1e-9 * found->copy, "operations", list));
}

wt_status cli_bench_linalg(cli_call *call, const cli_bench_values *values) {
    wt_context *context = call->context;
    size_t n = values->n, repeats = values->repeats;
    if (n < 16 || n > 32768)
        return wt_fail(context, WT_USAGE, "--n: bench linalg takes 16 to 32768, not %zu", n);
    cli_bench_matrices on = {.context = context, .n = n, .sides = n / 4, .small = n / 4};
    findings found = {0};
    wt_status status;
    WT_TRY(set_up(&on));
    WT_TRY(copy_rate(&on, repeats + 1, &found.copy));
    for (size_t i = 0; i < CLI_BENCH_OPERATIONS; i++)
        found.best[i] = (timing){INFINITY, INFINITY};
    wt_meter meter = wt_meter_start(context, "runs", (double)(repeats * CLI_BENCH_OPERATIONS));
    for (size_t r = 0; r < repeats; r++)
        for (size_t i = 0; i < CLI_BENCH_OPERATIONS; i++) {
            wt_meter_enter(&meter, cli_bench_operations[i].name);
            WT_TRY(time_once(&on, &cli_bench_operations[i], &found.best[i]));
            wt_meter_set(&meter, (double)(r * CLI_BENCH_OPERATIONS + i + 1));
        }
    for (size_t i = 0; i < 2; i++) /* the first two rows are GEMM */
        found.gemm[i] = cli_bench_operations[i].cost(&on).flops / found.best[i].single;
    if (call->common.json)
        WT_TRY(print_json(call, &on, &found));
    else
        print_table(&on, &found);
done:
    tear_down(&on);
    return status;
}
