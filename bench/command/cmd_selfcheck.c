#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "commands.h"
#include "linalg/backend.h"
#include "linalg/linalg.h"
#include "selfcheck.h"
#include "wattle/random.h"

/* Words 0 .. 5 of NumPy's Philox(key=[seed, stream]).random_raw(6). */
static const struct {
    wt_stream stream;
    uint64_t words[6];
} numpy_words[] = {
    {{0, 0},
     {0x02f4ba6408e4d89b, 0x3dd62b0b9ca8c5b2, 0x1c8667a55d902e79, 0x907d7a052fd5b4dc,
      0x809bf322883987c3, 0x471128b9e807f7dd}},
    {{1, 2},
     {0x4f2f4313b5536b09, 0x5b617be3219ff32a, 0x097293476f9275cb, 0xf63f3bf4962c3942,
      0x04dcc60473aa0f43, 0x6d905c9b986b0028}},
    {{UINT64_MAX, 12345},
     {0xd5282184014f1d81, 0x392c4a6fdd102ee2, 0xb678444c0dabdf37, 0xa9e1dafab7434ac8,
      0xc70f16bf26529e5a, 0x029872ad329b12a9}},
};

wt_status cli_check_random(wt_context *context, cli_finding *finding) {
    (void)context;
    size_t wrong = 0, total = 0;
    for (size_t i = 0; i < sizeof numpy_words / sizeof *numpy_words; i++)
        for (size_t j = 0; j < 6; j++, total++) {
            uint64_t word;
            wt_random_words(numpy_words[i].stream, j, 1, &word);
            wrong += word != numpy_words[i].words[j];
        }
    finding->passed = wrong == 0;
    snprintf(finding->words, sizeof finding->words, "%zu of %zu words differ from NumPy's", wrong,
             total);
    return WT_OK;
}

static const struct {
    const char *name;
    cli_check_fn run;
} checks[] = {
    {"random words", cli_check_random},
    {"gram", cli_check_gram},
    {"gram from float", cli_check_gram_float},
    {"cholesky", cli_check_cholesky},
    {"solve", cli_check_solve},
    {"same bits on 1-4 threads", cli_check_threads},
    {"eigenvalues", cli_check_eigenvalues},
    {"least squares", cli_check_least_squares},
    {"projections", cli_check_projections},
    {"threads inside BLAS", cli_check_blas_race},
};
enum { CHECKS = sizeof checks / sizeof *checks };

/* ---- the rate of GEMM --------------------------------------------------------------------------
 */

enum { SIDE = 1536, RUNS = 3 };

typedef struct {
    double real64[2], real32[2]; /* flops a second: one thread, all threads */
} rates;

/* Zeros: they multiply as fast as any other numbers. */
typedef struct {
    double *a, *c;
    float *a_float, *c_float;
} matrices;

static wt_status multiply(wt_context *context, const matrices *on) {
    return wt_gemm(context, WT_PLAIN, WT_PLAIN, SIDE, SIDE, SIDE, 1, on->a, SIDE, on->a, SIDE, 0,
                   on->c, SIDE);
}

static wt_status multiply_float(wt_context *context, const matrices *on) {
    return wt_gemm_float(context, WT_PLAIN, WT_PLAIN, SIDE, SIDE, SIDE, 1, on->a_float, SIDE,
                         on->a_float, SIDE, 0, on->c_float, SIDE);
}

static wt_status time_product(wt_context *context, const matrices *on,
                              wt_status (*product)(wt_context *, const matrices *), double *rate) {
    double best = INFINITY;
    for (int run = 0; run < RUNS; run++) {
        double start = wt_clock();
        WT_PASS(product(context, on));
        best = fmin(best, wt_clock() - start);
    }
    *rate = 2.0 * SIDE * SIDE * SIDE / best;
    return WT_OK;
}

static wt_status measure(wt_context *context, rates *out) {
    int threads = wt_context_threads(context);
    size_t elements = (size_t)SIDE * SIDE;
    matrices on = {0};
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, &on.a, elements, "matrices to measure with"));
    WT_TRY(WT_NEW_ZERO(context, &on.c, elements, "matrices to measure with"));
    WT_TRY(WT_NEW_ZERO(context, &on.a_float, elements, "matrices to measure with"));
    WT_TRY(WT_NEW_ZERO(context, &on.c_float, elements, "matrices to measure with"));
    for (int all = 0; all < (threads > 1 ? 2 : 1); all++) {
        WT_TRY(wt_context_set_threads(context, all ? threads : 1));
        WT_TRY(time_product(context, &on, multiply, &out->real64[all]));
        WT_TRY(time_product(context, &on, multiply_float, &out->real32[all]));
    }
    if (threads == 1) {
        out->real64[1] = out->real64[0];
        out->real32[1] = out->real32[0];
    }
done:
    context->threads = threads;
    wt_release(on.a);
    wt_release(on.c);
    wt_release(on.a_float);
    wt_release(on.c_float);
    return status;
}

/* ---- the report --------------------------------------------------------------------------------
 */

static void print_rate(const char *name, const double rate[2]) {
    if (rate[0] > 0)
        cli_print("%s %.1f GFLOP/s on one thread, %.1f on all\n", name, 1e-9 * rate[0],
                  1e-9 * rate[1]);
}

static void print_machine(wt_context *context, const wt_blas *blas, const rates *found) {
    char cpu[WT_PROCESSOR_TEXT], memory[WT_BYTES_TEXT];
    cli_print("machine   %s, %zu processors, %s of memory\n", wt_machine_processor(cpu),
              wt_machine_processors(), wt_bytes_format(wt_machine_memory(), memory));
    printf("threads   %d\n", wt_context_threads(context));
    cli_print("BLAS      %s, %s\n", blas->config,
              blas->parallel == 2 ? "for OpenMP threads" : "for POSIX threads");
    cli_print("kernels   %s, %s\n", blas->core, wt_blas_choice_name(blas->choice));
    if (blas->remedy[0] != '\0')
        cli_print("          %s\n", blas->remedy);
    print_rate("GEMM      double", found->real64);
    print_rate("          float ", found->real32);
    putchar('\n');
}

static void print_checks(const cli_finding *findings, size_t count) {
    for (size_t i = 0; i < count; i++)
        cli_print("%s  %-26s %s\n", findings[i].passed ? "pass" : "FAIL", checks[i].name,
                  findings[i].words);
}

/* GFLOP/s; null when it was not measured. */
static json_t *json_rate(double rate) {
    return rate > 0 ? json_real(1e-9 * rate) : json_null();
}

static wt_status print_json(cli_call *call, const wt_blas *blas, const rates *found,
                            const cli_finding *findings, size_t count, size_t failed) {
    char cpu[WT_PROCESSOR_TEXT];
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s, s:b, s:s}", "check", checks[i].name, "passed",
                                              findings[i].passed, "found", findings[i].words));
    return cli_emit_json(
        call,
        json_pack("{s:s, s:I, s:I, s:i, s:s, s:i, s:s, s:s, s:s?, s:s?, s:{s:o, s:o}, s:{s:o, "
                  "s:o}, s:I, s:o}",
                  "cpu", wt_machine_processor(cpu), "processors",
                  (json_int_t)wt_machine_processors(), "memory_bytes",
                  (json_int_t)wt_machine_memory(), "threads", wt_context_threads(call->context),
                  "blas", blas->config, "blas_parallel", blas->parallel, "blas_kernels", blas->core,
                  "blas_kernels_chosen", wt_blas_choice_name(blas->choice), "blas_kernels_best",
                  blas->best, "blas_remedy", blas->remedy[0] != '\0' ? blas->remedy : NULL,
                  "gemm_gflops", "one_thread", json_rate(found->real64[0]), "all_threads",
                  json_rate(found->real64[1]), "gemm_float_gflops", "one_thread",
                  json_rate(found->real32[0]), "all_threads", json_rate(found->real32[1]), "failed",
                  (json_int_t)failed, "checks", list));
}

typedef struct {
    bool quick, rates;
} values;

static const cli_option options[] = {
    {"quick", 0, CLI_FLAG, offsetof(values, quick), NULL, NULL,
     "The checks alone, without measuring rates."},
    {"rates", 0, CLI_FLAG, offsetof(values, rates), NULL, NULL,
     "The rates alone, without the checks."},
};

static wt_status run(cli_call *call) {
    const values *given = call->values;
    cli_finding findings[CHECKS] = {0};
    wt_blas blas = WT_SIZED(wt_blas);
    rates found = {0};
    size_t count = given->rates ? 0 : CHECKS, failed = 0;
    if (given->quick && given->rates)
        return wt_fail(call->context, WT_USAGE, "--quick and --rates leave nothing to do");
    WT_PASS(wt_blas_open(call->context, &blas));
    if (!given->quick)
        WT_PASS(measure(call->context, &found));
    wt_meter meter = wt_meter_start(call->context, "checks", (double)count);
    for (size_t i = 0; i < count; i++) {
        wt_meter_enter(&meter, checks[i].name);
        WT_PASS(checks[i].run(call->context, &findings[i]));
        failed += !findings[i].passed;
        wt_meter_set(&meter, (double)(i + 1));
    }
    if (call->common.json) {
        WT_PASS(print_json(call, &blas, &found, findings, count, failed));
    } else {
        print_machine(call->context, &blas, &found);
        print_checks(findings, count);
    }
    if (failed > 0)
        return wt_fail(call->context, WT_MISSED, "%zu of %d checks failed on this machine", failed,
                       CHECKS);
    return WT_OK;
}

const cli_command cli_selfcheck = {
    .name = "selfcheck",
    .summary = "see whether this machine computes rightly, and how fast",
    .description =
        "Prints the machine, the threads, the BLAS in use, which of its kernels run and who chose "
        "them, and its measured rate of matrix products; where the processor could run better "
        "kernels, how to get them. Then checks random numbers against NumPy's, linear algebra "
        "against plain "
        "formulas and defining equations, and that results are the same bits for every number of "
        "threads. Takes some seconds. Exits 1 when a check fails.",
    .examples = "wattle selfcheck\nwattle selfcheck --json",
    CLI_OPTIONS(options, values),
    .run = run,
};
